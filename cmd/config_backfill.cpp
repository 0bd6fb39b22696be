#include "cmd/config_backfill.h"

#include <fmt/format.h>

#include <chrono>
#include <iterator>
#include <string_view>
#include <utility>

#include "cmd/config_fields.h"
#include "cmd/text.h"
#include "cmd/units.h"
#include "cmd/web_config.h"
#include "model/label.h"

namespace tidemark::cmd {
namespace {

using namespace std::chrono_literals;

constexpr size_t kMaxPairs = 64;
constexpr auto kMinRange = 1h;
constexpr auto kMinTimeout = 1s;
constexpr auto kMaxTimeout = 1h;
constexpr std::string_view kSecret = "<secret>";

FieldReader Text(std::string& out) {
  return [&out](const YamlValue& value) -> Result<void> {
    auto text = value.ReadText();
    if (!text) return tl::unexpected(text.error());
    out = *std::move(text);
    return {};
  };
}

FieldReader Path(std::string& out, const std::string& config_file) {
  return [&out, &config_file](const YamlValue& value) -> Result<void> {
    auto text = value.ReadText();
    if (!text) return tl::unexpected(text.error());
    out = PathBeside(config_file, *text);
    return {};
  };
}

FieldReader Milliseconds(std::chrono::milliseconds& out) {
  return [&out](const YamlValue& value) -> Result<void> {
    int64_t read_ms = 0;
    auto done = Duration(read_ms, kMinTimeout, kMaxTimeout)(value);
    if (done) out = std::chrono::milliseconds(read_ms);
    return done;
  };
}

FieldReader Step(int64_t& out_ms) {
  return [&out_ms](const YamlValue& value) -> Result<void> {
    auto text = value.ReadText();
    if (!text) return tl::unexpected(text.error());
    if (*text == "auto") {
      out_ms = 0;
      return {};
    }
    const auto step = ParseDuration(*text);
    if (step && step->count() >= backfill::kMinStepMs && step->count() <= backfill::kMaxStepMs) {
      out_ms = step->count();
      return {};
    }
    return value.Wrong(fmt::format(
        "{} is no step, allowed: auto, or 15s to 5m (counters are not bridged over longer gaps "
        "than 5 minutes)",
        Shown(*text, text->empty())));
  };
}

FieldReader Pairs(std::vector<std::pair<std::string, std::string>>& out) {
  return [&out](const YamlValue& value) -> Result<void> {
    auto entries = value.ReadEntries(kMaxPairs);
    if (!entries) return tl::unexpected(entries.error());
    for (auto& [name, entry] : *entries) {
      auto text = entry.ReadText();
      if (!text) return tl::unexpected(text.error());
      out.emplace_back(std::move(name), *std::move(text));
    }
    return {};
  };
}

FieldReader Labels(backfill::LabelPairs& out) {
  return [&out](const YamlValue& value) -> Result<void> {
    backfill::LabelPairs labels;
    if (auto done = Pairs(labels)(value); !done) return done;
    for (const auto& [name, text] : labels) {
      if (name.empty() || name == kMetricNameLabel || text.empty()) {
        return value.Wrong(
            "a name or a value is empty, or the name is __name__, allowed: labels "
            "as in external_labels of Prometheus");
      }
    }
    out = std::move(labels);
    return {};
  };
}

FieldReader Section(std::function<Result<void>(const YamlValue&)> read) { return read; }

FieldReader Tls(client::TlsConfig& out, const std::string& config_file) {
  return Section([&out, &config_file](const YamlValue& value) {
    return value.ReadMap({{"ca_file", Path(out.ca_file, config_file)},
                          {"ca", Text(out.ca)},
                          {"cert_file", Path(out.cert_file, config_file)},
                          {"cert", Text(out.cert)},
                          {"key_file", Path(out.key_file, config_file)},
                          {"key", Text(out.key)},
                          {"server_name", Text(out.server_name)},
                          {"insecure_skip_verify", Boolean(out.insecure_skip_verify)}});
  });
}

FieldReader Bearer(client::Authorization& out, const std::string& config_file) {
  return Section([&out, &config_file](const YamlValue& value) {
    const auto type = [](const YamlValue& field) -> Result<void> {
      auto text = field.ReadText();
      if (!text) return tl::unexpected(text.error());
      if (*text == "Bearer" || *text == "bearer") return {};
      return field.Wrong("this type is not supported, allowed: Bearer");
    };
    return value.ReadMap({{"type", type},
                          {"credentials", Text(out.credentials)},
                          {"credentials_file", Path(out.credentials_file, config_file)}});
  });
}

}  // namespace

Result<void> ReadBackfill(const YamlValue& value, const std::string& config_file,
                          backfill::Options& out) {
  client::HttpClientOptions& http = out.http;
  const auto basic = [&](const YamlValue& section) {
    return section.ReadMap({{"username", Text(http.basic_auth.username)},
                            {"password", Text(http.basic_auth.password)},
                            {"password_file", Path(http.basic_auth.password_file, config_file)}});
  };
  auto done =
      value.ReadMap({{"url", Text(http.url)},
                     {"range", Duration(out.range_ms, kMinRange,
                                        std::chrono::milliseconds(backfill::kMaxRangeMs))},
                     {"step", Step(out.step_ms)},
                     {"concurrency", WholeNumber(out.concurrency, 1, backfill::kMaxConcurrency)},
                     {"timeout", Milliseconds(http.timeout)},
                     {"connect_timeout", Milliseconds(http.connect_timeout)},
                     {"external_labels", Labels(out.external_labels)},
                     {"basic_auth", basic},
                     {"authorization", Bearer(http.authorization, config_file)},
                     {"tls_config", Tls(http.tls_config, config_file)},
                     {"http_headers", Pairs(http.http_headers)},
                     {"proxy_url", Text(http.proxy_url)}});
  if (!done) return done;
  client::HttpClientOptions checked = http;
  // What stands beside an empty URL is checked all the same.
  if (checked.url.empty()) checked.url = "http://localhost";
  if (auto good = client::CheckOptions(checked); !good) return value.Wrong(good.error().message);
  return {};
}

std::string DumpBackfill(const backfill::Options& options, Secrets secrets) {
  const auto secret_text = [secrets](const std::string& text) {
    return YamlQuoted(text.empty() || secrets == Secrets::kShown ? std::string_view(text)
                                                                 : kSecret);
  };
  const client::HttpClientOptions& http = options.http;
  const client::TlsConfig& tls = http.tls_config;
  std::string out = fmt::format(
      "backfill:\n  url: {}\n  range: {}\n  step: {}\n  concurrency: {}\n  timeout: {}\n"
      "  connect_timeout: {}\n",
      YamlQuoted(http.url), FormatDuration(std::chrono::milliseconds(options.range_ms)),
      options.step_ms == 0 ? "auto" : FormatDuration(std::chrono::milliseconds(options.step_ms)),
      options.concurrency, FormatDuration(http.timeout), FormatDuration(http.connect_timeout));
  const auto map = [&](std::string_view key, const auto& pairs, bool secret) {
    fmt::format_to(std::back_inserter(out), "  {}: {{", key);
    for (size_t i = 0; i < pairs.size(); ++i) {
      fmt::format_to(std::back_inserter(out), "{}{}: {}", i > 0 ? ", " : "",
                     YamlQuoted(pairs[i].first),
                     secret ? secret_text(pairs[i].second) : YamlQuoted(pairs[i].second));
    }
    out.append("}\n");
  };
  map("external_labels", options.external_labels, false);
  fmt::format_to(std::back_inserter(out),
                 "  basic_auth:\n    username: {}\n    password: {}\n    password_file: {}\n"
                 "  authorization:\n    type: Bearer\n    credentials: {}\n"
                 "    credentials_file: {}\n",
                 YamlQuoted(http.basic_auth.username), secret_text(http.basic_auth.password),
                 YamlQuoted(http.basic_auth.password_file),
                 secret_text(http.authorization.credentials),
                 YamlQuoted(http.authorization.credentials_file));
  fmt::format_to(std::back_inserter(out),
                 "  tls_config:\n    ca_file: {}\n    ca: {}\n    cert_file: {}\n    cert: {}\n"
                 "    key_file: {}\n    key: {}\n    server_name: {}\n"
                 "    insecure_skip_verify: {}\n",
                 YamlQuoted(tls.ca_file), YamlQuoted(tls.ca), YamlQuoted(tls.cert_file),
                 YamlQuoted(tls.cert), YamlQuoted(tls.key_file), secret_text(tls.key),
                 YamlQuoted(tls.server_name), tls.insecure_skip_verify);
  map("http_headers", http.http_headers, true);
  fmt::format_to(std::back_inserter(out), "  proxy_url: {}\n", YamlQuoted(http.proxy_url));
  return out;
}

}  // namespace tidemark::cmd
