#include "cmd/backfill_flags.h"

#include <fmt/format.h>

#include <algorithm>
#include <boost/json/object.hpp>
#include <boost/json/serialize.hpp>
#include <charconv>
#include <fstream>
#include <functional>
#include <iterator>
#include <map>
#include <string_view>
#include <utility>

#include "client/secret_file.h"
#include "cmd/prometheus_access.h"
#include "cmd/text.h"
#include "cmd/units.h"

namespace tidemark::cmd {
namespace {

namespace json = boost::json;

constexpr std::string_view kName = "tidetool backfill";
constexpr std::string_view kDefaultTidemark = "http://localhost:9849";
constexpr size_t kMaxPem = size_t{64} << 10;

using Flags = GivenFlags;

json::string Json(std::string_view text) { return json::string(text.data(), text.size()); }

/// Seconds since 1970, a time as RFC 3339 writes it (the daemon reads it), or a duration ago.
Result<json::value> ReadTime(std::string_view flag, const std::string& text, int64_t now_ms) {
  if (const auto ago = ParseDuration(text); ago && text != "0") {
    return json::value(static_cast<double>(now_ms - ago->count()) / 1000);
  }
  double seconds = 0;
  const auto [end, wrong] = std::from_chars(text.data(), text.data() + text.size(), seconds);
  if (wrong == std::errc() && end == text.data() + text.size() && seconds > 0 && seconds < 1e11) {
    return json::value(seconds);
  }
  if (text.find('T') != std::string::npos) return json::value(Json(text));
  return WrongFlag(flag, fmt::format("{} is no time, allowed: RFC 3339 such as "
                                     "2026-11-01T00:00:00Z, seconds since 1970, or a duration ago "
                                     "such as 8d",
                                     Shown(text, text.empty())));
}

/// As a JSON object, in the order in which they were given.
json::object JsonOf(const std::vector<std::pair<std::string, std::string>>& pairs) {
  json::object out;
  for (const auto& [name, value] : pairs) {
    out[json::string_view(name.data(), name.size())] = Json(value);
  }
  return out;
}

Result<std::string> ReadPem(std::string_view flag, const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::string text(kMaxPem + 1, '\0');
  file.read(text.data(), static_cast<std::streamsize>(text.size()));
  text.resize(static_cast<size_t>(std::max<std::streamsize>(file.gcount(), 0)));
  if (text.empty() || text.size() > kMaxPem) {
    return WrongFlag(flag, fmt::format("{} cannot be read, or is empty or over 64 KiB, allowed: a "
                                       "file with PEM",
                                       Shown(path)));
  }
  return text;
}

Result<void> ReadSecret(const Flags& flags, std::string_view flag, json::object& out,
                        std::string_view key) {
  const std::string path = FlagValue(flags, flag);
  if (path.empty()) return {};
  auto secret = client::ReadSecretFile(path);
  if (!secret) return WrongFlag(flag, secret.error().message);
  out[json::string_view(key.data(), key.size())] = Json(*secret);
  return {};
}

Result<void> ReadAccess(const Flags& flags, json::object& out) {
  if (const std::string user = FlagValue(flags, "username"); !user.empty()) {
    out["username"] = Json(user);
  }
  if (auto good = ReadSecret(flags, "password-file", out, "password"); !good) return good;
  if (auto good = ReadSecret(flags, "bearer-token-file", out, "bearer_token"); !good) return good;
  json::object tls;
  for (const auto& [flag, key] :
       {std::pair("ca-file", "ca"), std::pair("cert-file", "cert"), std::pair("key-file", "key")}) {
    const std::string path = FlagValue(flags, flag);
    if (path.empty()) continue;
    auto pem = ReadPem(flag, path);
    if (!pem) return tl::unexpected(pem.error());
    tls[key] = Json(*pem);
  }
  if (const std::string name = FlagValue(flags, "server-name"); !name.empty()) {
    tls["server_name"] = Json(name);
  }
  if (flags.contains("insecure-skip-verify")) tls["insecure_skip_verify"] = true;
  if (!tls.empty()) out["tls"] = std::move(tls);
  auto headers = ReadHeaderFlag(flags);
  if (!headers) return tl::unexpected(headers.error());
  if (!headers->empty()) out["headers"] = JsonOf(*headers);
  return {};
}

Result<std::string> ReadBody(const Flags& flags, int64_t now_ms) {
  json::object body;
  if (const std::string url = FlagValue(flags, "prometheus"); !url.empty()) {
    if (auto good = client::CheckUrl(url); !good) {
      return WrongFlag("prometheus", good.error().message);
    }
    body["prometheus"] = Json(url);
  }
  for (const char* const flag : {"start", "end"}) {
    if (!flags.contains(flag)) continue;
    auto time = ReadTime(flag, FlagValue(flags, flag), now_ms);
    if (!time) return tl::unexpected(time.error());
    body[flag] = *std::move(time);
  }
  if (flags.contains("step")) {
    const auto step = ParseDuration(FlagValue(flags, "step"));
    if (!step) return WrongFlag("step", step.error().message);
    body["step"] = static_cast<double>(step->count()) / 1000;
  }
  if (flags.contains("external-labels")) {
    auto labels = ReadLabelsFlag(flags, "external-labels");
    if (!labels) return tl::unexpected(labels.error());
    body["external_labels"] = JsonOf(*labels);
  }
  if (flags.contains("restart")) body["restart"] = true;
  if (auto good = ReadAccess(flags, body); !good) return tl::unexpected(good.error());
  return std::string(json::serialize(body));
}

Result<client::HttpClientOptions> ReadTidemark(const Flags& flags) {
  client::HttpClientOptions http;
  http.url = flags.contains("tidemark") ? FlagValue(flags, "tidemark") : kDefaultTidemark;
  if (auto good = client::CheckUrl(http.url); !good) {
    return WrongFlag("tidemark", good.error().message);
  }
  http.timeout = std::chrono::seconds(30);
  http.basic_auth.username = FlagValue(flags, "tidemark.username");
  http.basic_auth.password_file = FlagValue(flags, "tidemark.password-file");
  http.authorization.credentials_file = FlagValue(flags, "tidemark.bearer-token-file");
  http.tls_config.ca_file = FlagValue(flags, "tidemark.ca-file");
  http.tls_config.cert_file = FlagValue(flags, "tidemark.cert-file");
  http.tls_config.key_file = FlagValue(flags, "tidemark.key-file");
  http.tls_config.insecure_skip_verify = flags.contains("tidemark.insecure-skip-verify");
  if (auto good = client::CheckOptions(http); !good) {
    return Fail(ErrorCode::kInvalidArgument, "--tidemark.*: " + good.error().message);
  }
  return http;
}

/// How the daemon is reached.
std::vector<FlagSpec> TidemarkFlags() {
  return {{"tidemark", std::string(kDefaultTidemark), "The daemon."},
          {"tidemark.username", "NAME", "Basic authentication at the daemon."},
          {"tidemark.password-file", "PATH", "File with the password."},
          {"tidemark.bearer-token-file", "PATH",
           "File with a token of the daemon's remote_write.bearer_token_file."},
          {"tidemark.ca-file", "PATH", "Authority of the daemon's certificate, PEM."},
          {"tidemark.cert-file", "PATH", "Client certificate for the daemon, PEM."},
          {"tidemark.key-file", "PATH", "Its key."},
          {"tidemark.insecure-skip-verify", "", "Do not verify the daemon's certificate."}};
}

}  // namespace

CommandSpec BackfillSpec() {
  CommandSpec spec = {
      std::string(kName),
      "Ask a running daemon to take in history from a Prometheus-compatible API, and follow it. "
      "Exit code 0: all is in; 1: it failed, or some is not covered. When interrupted, the daemon "
      "goes on.",
      {{"prometheus", "URL",
        "Where the history is: Prometheus, Thanos, Mimir, VictoriaMetrics. Without it: the URL of "
        "the daemon's configuration, with the credentials from there."},
       {"start", "TIME",
        "RFC 3339, seconds since 1970, or a duration ago such as 8d. Default: the configured range "
        "before the end."},
       {"end", "TIME", "The same. Default: now."},
       {"step", "DURATION", "15s to 5m. Default: fit for the range, 1m for 8 days."},
       {"external-labels", "NAME=VALUE,...",
        "Labels that Prometheus puts on what it sends to the daemon (external_labels): its API "
        "does not tell them."},
       {"restart", "", "Begin anew instead of going on with an unfinished job of the same URL."},
       {"cancel", "", "End the running job instead."},
       {"detach", "", "Do not follow the job."}},
      {}};
  for (FlagSpec& flag : PrometheusAccessFlags()) spec.flags.push_back(std::move(flag));
  for (FlagSpec& flag : TidemarkFlags()) spec.flags.push_back(std::move(flag));
  return spec;
}

Result<BackfillOrder> ReadBackfillFlags(const CommandLine& line, int64_t now_ms) {
  BackfillOrder order;
  auto tidemark = ReadTidemark(line.flags);
  if (!tidemark) return tl::unexpected(tidemark.error());
  order.tidemark = *std::move(tidemark);
  order.cancel = line.flags.contains("cancel");
  order.detach = line.flags.contains("detach");
  auto body = ReadBody(line.flags, now_ms);
  if (!body) return tl::unexpected(body.error());
  order.body = *std::move(body);
  return order;
}

}  // namespace tidemark::cmd
