#include "client/in_cluster.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "client/secret_file.h"

namespace tidemark::client {
namespace {

constexpr const char* kHostVariable = "KUBERNETES_SERVICE_HOST";
constexpr const char* kPortVariable = "KUBERNETES_SERVICE_PORT";

tl::unexpected<Error> NotInCluster(const std::string& what) {
  return Fail(ErrorCode::kUnavailable,
              fmt::format("this is no pod of a Kubernetes cluster with a service account: {}; give "
                          "the files or the server by flags, or run it in a pod with "
                          "automountServiceAccountToken",
                          what));
}

bool IsPort(std::string_view text) {
  unsigned port = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), port);
  return error == std::errc() && end == text.data() + text.size() && port >= 1 && port <= 65535;
}

/// A name, an IPv4 or an IPv6 address; what could change a URL's meaning is none.
bool IsHost(std::string_view text) {
  constexpr std::string_view kAllowed =
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789.-:";
  return !text.empty() && text.find_first_not_of(kAllowed) == text.npos;
}

Result<void> CheckFile(const std::string& path) {
  std::error_code error;
  if (!std::filesystem::is_regular_file(path, error)) {
    return NotInCluster(fmt::format("there is no file {}", path));
  }
  const std::ifstream file(path);
  if (!file) return NotInCluster(fmt::format("{} cannot be read", path));
  return {};
}

}  // namespace

std::string ProcessEnvironment(const char* name) {
  const char* const value = std::getenv(name);  // NOLINT(concurrency-mt-unsafe): see the header
  return value == nullptr ? "" : value;
}

bool IsInCluster(const Environment& environment, const std::string& folder) {
  std::error_code error;
  return !environment(kHostVariable).empty() && !environment(kPortVariable).empty() &&
         std::filesystem::exists(folder + "/token", error);
}

Result<HttpClientOptions> InClusterOptions(std::string_view user_agent,
                                           const Environment& environment,
                                           const std::string& folder) {
  const std::string host = environment(kHostVariable);
  const std::string port = environment(kPortVariable);
  if (host.empty()) return NotInCluster(fmt::format("{} is not set", kHostVariable));
  if (port.empty()) return NotInCluster(fmt::format("{} is not set", kPortVariable));
  if (!IsHost(host)) {
    return Fail(ErrorCode::kInvalidArgument,
                fmt::format("{}: it is no host, allowed: a name or an address", kHostVariable));
  }
  if (!IsPort(port)) {
    return Fail(ErrorCode::kInvalidArgument,
                fmt::format("{}: it is no port, allowed: 1 to 65535", kPortVariable));
  }
  for (const char* const name : {"/token", "/ca.crt"}) {
    if (auto good = CheckFile(folder + name); !good) return tl::unexpected(good.error());
  }
  HttpClientOptions options;
  const bool is_v6 = host.find(':') != std::string::npos;
  options.url = fmt::format(fmt::runtime(is_v6 ? "https://[{}]:{}" : "https://{}:{}"), host, port);
  options.authorization.credentials_file = folder + "/token";
  options.tls_config.ca_file = folder + "/ca.crt";
  options.user_agent = user_agent;
  options.connect_timeout = std::chrono::seconds(5);
  options.timeout = std::chrono::seconds(30);
  if (auto good = CheckOptions(options); !good) return tl::unexpected(good.error());
  return options;
}

Result<std::string> InClusterNamespace(const std::string& folder) {
  auto name = ReadSecretFile(folder + "/namespace");
  if (!name) return Fail(ErrorCode::kUnavailable, name.error().message);
  return name;
}

}  // namespace tidemark::client
