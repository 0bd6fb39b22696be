#include "cmd/prometheus_access.h"

#include <fmt/format.h>

#include <algorithm>
#include <fstream>

#include "client/secret_file.h"
#include "cmd/text.h"

namespace tidemark::cmd {
namespace {

using Pairs = std::vector<std::pair<std::string, std::string>>;

Result<void> CheckReadable(const GivenFlags& flags, std::string_view name) {
  const std::string path = FlagValue(flags, name);
  if (path.empty()) return {};
  std::ifstream file(path, std::ios::binary);
  if (file && file.peek() != std::ifstream::traits_type::eof()) return {};
  return WrongFlag(
      name, fmt::format("{} cannot be read or is empty, allowed: a file with PEM", Shown(path)));
}

Result<void> CheckSecret(const GivenFlags& flags, std::string_view name) {
  const std::string path = FlagValue(flags, name);
  if (path.empty()) return {};
  if (auto secret = client::ReadSecretFile(path); !secret) {
    return WrongFlag(name, secret.error().message);
  }
  return {};
}

}  // namespace

std::string FlagValue(const GivenFlags& flags, std::string_view name) {
  const auto found = flags.find(name);
  return found == flags.end() ? "" : found->second;
}

std::vector<FlagSpec> PrometheusAccessFlags() {
  return {{"username", "NAME", "Basic authentication at Prometheus, with --password-file."},
          {"password-file", "PATH", "File with the password."},
          {"bearer-token-file", "PATH", "File with a bearer token for Prometheus."},
          {"header", "\"NAME: VALUE\"", "An additional header for Prometheus, e.g. X-Scope-OrgID."},
          {"ca-file", "PATH", "Authority of Prometheus' certificate, PEM."},
          {"cert-file", "PATH", "Client certificate for Prometheus, PEM; with --key-file."},
          {"key-file", "PATH", "Its key."},
          {"server-name", "NAME", "What Prometheus' certificate is for, if not the URL's host."},
          {"insecure-skip-verify", "", "Do not verify Prometheus' certificate."}};
}

bool BringsAccess(const GivenFlags& flags) {
  return std::ranges::any_of(PrometheusAccessFlags(),
                             [&](const FlagSpec& flag) { return flags.contains(flag.name); });
}

Result<Pairs> ReadHeaderFlag(const GivenFlags& flags) {
  const std::string header = FlagValue(flags, "header");
  if (header.empty()) return Pairs{};
  const size_t colon = header.find(':');
  const std::string name = header.substr(0, colon);
  const size_t begin =
      colon == std::string::npos ? colon : header.find_first_not_of(' ', colon + 1);
  const std::string value = begin == std::string::npos ? "" : header.substr(begin);
  if (auto good = client::CheckHeader(name, value); !good || colon == std::string::npos) {
    return WrongFlag("header",
                     good ? "this is no header, allowed: \"NAME: VALUE\"" : good.error().message);
  }
  return Pairs{{name, value}};
}

Result<Pairs> ReadLabelsFlag(const GivenFlags& flags, std::string_view flag) {
  Pairs labels;
  const std::string given = FlagValue(flags, flag);
  std::string_view text = given;
  while (!text.empty()) {
    const std::string_view pair = text.substr(0, text.find(','));
    text.remove_prefix(std::min(pair.size() + 1, text.size()));
    const size_t equal = pair.find('=');
    if (equal == 0 || equal == pair.npos || equal + 1 == pair.size()) {
      return WrongFlag(flag, fmt::format("{} is no label, allowed: NAME=VALUE,NAME=VALUE",
                                         Shown(pair, pair.empty())));
    }
    labels.emplace_back(pair.substr(0, equal), pair.substr(equal + 1));
  }
  return labels;
}

Result<void> ReadPrometheusAccess(const GivenFlags& flags, client::HttpClientOptions& out) {
  for (const char* const name : {"password-file", "bearer-token-file"}) {
    if (auto good = CheckSecret(flags, name); !good) return good;
  }
  for (const char* const name : {"ca-file", "cert-file", "key-file"}) {
    if (auto good = CheckReadable(flags, name); !good) return good;
  }
  out.basic_auth = {.username = FlagValue(flags, "username"),
                    .password = {},
                    .password_file = FlagValue(flags, "password-file")};
  out.authorization = {.credentials = {},
                       .credentials_file = FlagValue(flags, "bearer-token-file")};
  out.tls_config = {};
  out.tls_config.ca_file = FlagValue(flags, "ca-file");
  out.tls_config.cert_file = FlagValue(flags, "cert-file");
  out.tls_config.key_file = FlagValue(flags, "key-file");
  out.tls_config.server_name = FlagValue(flags, "server-name");
  out.tls_config.insecure_skip_verify = flags.contains("insecure-skip-verify");
  auto headers = ReadHeaderFlag(flags);
  if (!headers) return tl::unexpected(headers.error());
  out.http_headers = *std::move(headers);
  return {};
}

Result<void> ReadPrometheusServer(const GivenFlags& flags, client::HttpClientOptions& out) {
  out.url = FlagValue(flags, "prometheus");
  if (auto good = client::CheckUrl(out.url); !good) {
    return WrongFlag("prometheus", good.error().message);
  }
  if (auto good = ReadPrometheusAccess(flags, out); !good) return good;
  if (auto good = client::CheckOptions(out); !good) {
    return WrongFlag("prometheus", good.error().message);
  }
  return {};
}

}  // namespace tidemark::cmd
