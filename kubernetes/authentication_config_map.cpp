#include "kubernetes/authentication_config_map.h"

#include <fmt/format.h>

#include <algorithm>
#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <boost/json/parse.hpp>
#include <random>
#include <utility>
#include <vector>

#include "client/fault.h"
#include "model/log.h"

namespace tidemark::kubernetes {
namespace {

namespace json = boost::json;

constexpr std::string_view kName = "kube-system/extension-apiserver-authentication";
constexpr uint64_t kMaxBytes = 4ULL << 20;  // etcd keeps objects of at most 1.5 MiB

tl::unexpected<Error> Bad(std::string_view key, std::string_view what) {
  return tidemark::Fail(ErrorCode::kInvalidArgument, fmt::format("{}: {}: {}", kName, key, what));
}

/// Empty when the key is not there.
Result<std::string> TextOf(const json::object& data, std::string_view key) {
  const json::value* const value = data.if_contains(key);
  if (value == nullptr) return std::string();
  const json::string* const text = value->if_string();
  if (text == nullptr) return Bad(key, "it is no text");
  return std::string(*text);
}

/// A JSON list of strings within a string. Empty when the key is not there.
Result<std::vector<std::string>> ListOf(const json::object& data, std::string_view key) {
  constexpr std::string_view kAllowed =
      "it is no JSON list of strings, allowed: e.g. [\"a\",\"b\"]";
  auto text = TextOf(data, key);
  if (!text) return tl::unexpected(text.error());
  std::vector<std::string> list;
  if (text->empty()) return list;
  boost::system::error_code error;
  const json::value value = json::parse(*text, error);
  const json::array* const items = error ? nullptr : value.if_array();
  if (items == nullptr) return Bad(key, kAllowed);
  for (const json::value& item : *items) {
    if (!item.is_string()) return Bad(key, kAllowed);
    list.emplace_back(item.get_string());
  }
  return list;
}

std::string_view KindOf(ConfigMapFault fault) {
  switch (fault) {
    case ConfigMapFault::kForbidden: return "authentication_config_map_forbidden";
    case ConfigMapFault::kUnauthorized: return "authentication_config_map_unauthorized";
    case ConfigMapFault::kNotFound: return "authentication_config_map_not_found";
    case ConfigMapFault::kUnreachable: return "authentication_config_map_unreachable";
    case ConfigMapFault::kBad: return "authentication_config_map_bad";
  }
  return "authentication_config_map";
}

std::string_view AdviceOn(ConfigMapFault fault) {
  switch (fault) {
    case ConfigMapFault::kForbidden:
      return "a RoleBinding in kube-system from the Role extension-apiserver-authentication-reader "
             "to the service account is missing";
    case ConfigMapFault::kUnauthorized:
      return "the service account's token is not taken: it may have been deleted";
    case ConfigMapFault::kNotFound:
      return "kube-apiserver writes it when it starts; give "
             "--kubernetes.requestheader-client-ca-file where it does not";
    case ConfigMapFault::kUnreachable: return "it is tried again";
    case ConfigMapFault::kBad: return "the configuration before stays in force";
  }
  return "";
}

ConfigMapFault FaultOf(const client::Fault& fault) {
  switch (fault.status) {
    case 401: return ConfigMapFault::kUnauthorized;
    case 403: return ConfigMapFault::kForbidden;
    case 404: return ConfigMapFault::kNotFound;
    default: return ConfigMapFault::kUnreachable;
  }
}

}  // namespace

Result<AuthenticationConfig> ParseAuthenticationConfigMap(std::string_view text,
                                                          bool with_client_ca) {
  boost::system::error_code error;
  const json::value value = json::parse(text, error);
  const json::object* const map = error ? nullptr : value.if_object();
  if (map == nullptr) return Bad("data", "the answer is no JSON object");
  const json::value* const found = map->if_contains("data");
  const json::object* const data = found == nullptr ? nullptr : found->if_object();
  if (data == nullptr) return Bad("data", "it is missing");

  AuthenticationConfig config;
  RequestHeaderConfig& proxy = config.request_header;
  const auto read_text = [&](std::string_view key, std::string& out) -> Result<void> {
    auto read = TextOf(*data, key);
    if (!read) return tl::unexpected(read.error());
    out = *std::move(read);
    return {};
  };
  const auto read_list = [&](std::string_view key, std::vector<std::string>& out) -> Result<void> {
    auto read = ListOf(*data, key);
    if (!read) return tl::unexpected(read.error());
    out = *std::move(read);
    return {};
  };
  const auto read_all = [&]() -> Result<void> {
    if (auto good = read_text("requestheader-client-ca-file", proxy.ca_pem); !good) return good;
    for (const auto& [key, list] :
         {std::pair("requestheader-allowed-names", &proxy.allowed_names),
          std::pair("requestheader-username-headers", &proxy.username_headers),
          std::pair("requestheader-uid-headers", &proxy.uid_headers),
          std::pair("requestheader-group-headers", &proxy.group_headers),
          std::pair("requestheader-extra-headers-prefix", &proxy.extra_header_prefixes)}) {
      if (auto good = read_list(key, *list); !good) return good;
    }
    if (!with_client_ca) return {};
    return read_text("client-ca-file", config.client_ca_pem);
  };
  if (auto good = read_all(); !good) return tl::unexpected(good.error());
  if (proxy.ca_pem.empty()) {
    return Bad("requestheader-client-ca-file",
               "it is missing: kube-apiserver runs without --requestheader-client-ca-file, so the "
               "aggregation layer is off");
  }
  if (auto good = Check(config); !good) {
    return tidemark::Fail(good.error().code, fmt::format("{}: {}", kName, good.error().message));
  }
  return config;
}

Result<std::unique_ptr<AuthenticationConfigMap>> AuthenticationConfigMap::Start(
    const ConfigMapOptions& options, TakeAuthentication take, KubernetesCounters& counters) {
  client::HttpClientOptions api = options.api;
  api.max_response_bytes = std::min(api.max_response_bytes, kMaxBytes);
  auto client = client::HttpClient::Open(api);
  if (!client) return tl::unexpected(client.error());
  return std::unique_ptr<AuthenticationConfigMap>(
      new AuthenticationConfigMap(options, *std::move(client), std::move(take), counters));
}

AuthenticationConfigMap::AuthenticationConfigMap(const ConfigMapOptions& options,
                                                 std::unique_ptr<client::HttpClient> client,
                                                 TakeAuthentication take,
                                                 KubernetesCounters& counters)
    : options_(options), client_(std::move(client)), take_(std::move(take)), counters_(counters) {
  counters_.authentication_good_now = 0;
  thread_ = std::jthread([this](const std::stop_token& stop) { Run(stop); });
}

AuthenticationConfigMap::~AuthenticationConfigMap() { StopWatching(); }

void AuthenticationConfigMap::ReadSoon() {
  const std::lock_guard lock(mutex_);
  wanted_ = true;
  changed_.notify_all();
}

bool AuthenticationConfigMap::has_taken() const {
  const std::lock_guard lock(mutex_);
  return has_taken_;
}

void AuthenticationConfigMap::StopWatching() {
  thread_.request_stop();
  if (thread_.joinable()) thread_.join();
}

void AuthenticationConfigMap::Run(const std::stop_token& stop) {
  std::mt19937 random(options_.seed == 0 ? std::random_device{}() : options_.seed);
  auto retry = options_.first_retry;
  while (!stop.stop_requested()) {
    const auto began = std::chrono::steady_clock::now();
    auto wait = options_.every;
    if (ReadOnce(stop)) {
      retry = options_.first_retry;
    } else {
      wait = std::chrono::milliseconds(
          std::uniform_int_distribution<int64_t>(retry.count() / 2, retry.count() * 3 / 2)(random));
      retry = std::min(2 * retry, options_.most_retry);
    }
    std::unique_lock lock(mutex_);
    if (changed_.wait_until(lock, stop, began + wait, [this] { return wanted_; })) {
      wanted_ = false;
      // What is asked for meanwhile is asked for by the same read.
      changed_.wait_until(lock, stop, began + options_.least_between, [] { return false; });
      wanted_ = false;
    }
  }
}

bool AuthenticationConfigMap::ReadOnce(const std::stop_token& stop) {
  const auto answer =
      client_->Fetch({.path = std::string(kAuthenticationConfigMapPath)}, nullptr, stop);
  if (!answer) {
    if (answer.error().kind != client::FaultKind::kCancelled) {
      Fail(FaultOf(answer.error()), answer.error().message);
    }
    return false;
  }
  auto config = ParseAuthenticationConfigMap(answer->body, options_.with_client_ca);
  if (!config) {
    Fail(ConfigMapFault::kBad, config.error().message);
    return false;
  }
  if (!taken_ || *taken_ != *config) {
    if (const auto done = take_(*config); !done) {
      Fail(ConfigMapFault::kBad, done.error().message);
      return false;
    }
    Log(LogLevel::kInfo,
        taken_ ? "the authority of front proxies has changed"
               : "the authority of front proxies is known",
        {{"source", std::string(kName)},
         {"allowed_names",
          fmt::format("{}", fmt::join(config->request_header.allowed_names, ","))}});
    for (const std::string& warning : Warnings(*config)) Log(LogLevel::kWarn, warning);
    taken_ = *std::move(config);
    const std::lock_guard lock(mutex_);
    has_taken_ = true;
  }
  counters_.authentication_good_now = 1;
  return true;
}

void AuthenticationConfigMap::Fail(ConfigMapFault fault, const std::string& what) {
  counters_.authentication_good_now = 0;
  LogOncePerMinute(
      KindOf(fault), LogLevel::kError, "the authority of front proxies cannot be read",
      {{"source", std::string(kName)}, {"error", what}, {"hint", std::string(AdviceOn(fault))}});
}

}  // namespace tidemark::kubernetes
