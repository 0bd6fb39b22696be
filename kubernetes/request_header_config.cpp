#include "kubernetes/request_header_config.h"

#include <algorithm>
#include <string_view>

#include "kubernetes/x509.h"

namespace tidemark::kubernetes {
namespace {

constexpr std::string_view kRequestHeaderCa = "requestheader-client-ca-file";
constexpr std::string_view kClientCa = "client-ca-file";

tl::unexpected<Error> Bad(std::string message) {
  return Fail(ErrorCode::kInvalidArgument, std::move(message));
}

/// RFC 9110 section 5.6.2: a token.
bool IsHeaderName(std::string_view name) {
  static constexpr std::string_view kMarks = "!#$%&'*+-.^_`|~";
  return !name.empty() && std::ranges::all_of(name, [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
           kMarks.find(c) != std::string_view::npos;
  });
}

Result<void> CheckHeaderNames(std::string_view key, const std::vector<std::string>& names) {
  for (const std::string& name : names) {
    if (!IsHeaderName(name)) {
      return Bad(std::string(key) + ": \"" + name + "\" is no name of an HTTP header");
    }
  }
  return {};
}

Result<void> CheckRequestHeader(const RequestHeaderConfig& config) {
  if (auto read = ReadCertificates(config.ca_pem, kRequestHeaderCa); !read) {
    return tl::unexpected(read.error());
  }
  if (config.username_headers.empty()) {
    return Bad("requestheader-username-headers: there must be one, such as X-Remote-User");
  }
  if (std::ranges::find(config.allowed_names, "") != config.allowed_names.end()) {
    return Bad("requestheader-allowed-names: a name is empty; for any name, leave the list empty");
  }
  for (const auto& [key, names] :
       {std::pair("requestheader-username-headers", &config.username_headers),
        std::pair("requestheader-uid-headers", &config.uid_headers),
        std::pair("requestheader-group-headers", &config.group_headers),
        std::pair("requestheader-extra-headers-prefix", &config.extra_header_prefixes)}) {
    if (auto good = CheckHeaderNames(key, *names); !good) return good;
  }
  return {};
}

}  // namespace

Result<void> Check(const AuthenticationConfig& config) {
  const bool front_proxy = !config.request_header.ca_pem.empty();
  if (!front_proxy && config.client_ca_pem.empty()) {
    return Bad(std::string(kRequestHeaderCa) + " and " + std::string(kClientCa) +
               " are both missing: nobody could be let in");
  }
  if (front_proxy) {
    if (auto good = CheckRequestHeader(config.request_header); !good) return good;
  }
  if (!config.client_ca_pem.empty()) {
    if (auto read = ReadCertificates(config.client_ca_pem, kClientCa); !read) {
      return tl::unexpected(read.error());
    }
  }
  return {};
}

std::vector<std::string> Warnings(const AuthenticationConfig& config) {
  const RequestHeaderConfig& front_proxy = config.request_header;
  if (front_proxy.ca_pem.empty() || config.client_ca_pem.empty()) return {};
  if (!front_proxy.allowed_names.empty()) return {};
  const auto proxies = ReadCertificates(front_proxy.ca_pem, kRequestHeaderCa);
  const auto users = ReadCertificates(config.client_ca_pem, kClientCa);
  if (!proxies || !users) return {};
  const bool shared = std::ranges::any_of(*proxies, [&](const Certificate& proxy) {
    return std::ranges::any_of(
        *users, [&](const Certificate& user) { return X509_cmp(proxy.get(), user.get()) == 0; });
  });
  if (!shared) return {};
  return {
      "requestheader-client-ca-file and client-ca-file share a CA, and requestheader-allowed-names "
      "is empty: whoever has a certificate of that CA can act as any user; name the front proxy in "
      "requestheader-allowed-names, or give it a CA of its own"};
}

}  // namespace tidemark::kubernetes
