#include "client/curl_fault.h"

#include <fmt/format.h>

#include <system_error>

namespace tidemark::client {
namespace {

std::string Seconds(std::chrono::milliseconds time) {
  return fmt::format("{:g}s", static_cast<double>(time.count()) / 1000);
}

std::string TlsHint(std::string_view detail) {
  const auto has = [&](std::string_view text) { return detail.find(text) != detail.npos; };
  if (has("wrong version number") || has("packet length too long")) {
    return "; does the server speak plain HTTP? Then the URL begins with http://";
  }
  if (has("self-signed") || has("self signed") || has("unable to get")) {
    return "; name its authority in tls_config.ca_file";
  }
  if (has("does not match") || has("subject name")) {
    return "; name what it is for in tls_config.server_name";
  }
  if (has("certificate required") || has("bad certificate")) {
    return "; the server wants a client certificate: tls_config.cert_file and key_file";
  }
  return "";
}

std::string StatusHint(unsigned status) {
  switch (status) {
    case 401:
      return "; the credentials are missing or wrong (basic_auth, authorization), or a tenant's "
             "header is missing";
    case 403: return "; these credentials may not do this, or a tenant's header is missing";
    case 404: return "; is the URL right, with its prefix and without /api/v1?";
    case 407: return "; the proxy wants credentials";
    default: return "";
  }
}

}  // namespace

Fault FaultOf(CURLcode code, std::string_view url, std::string_view detail, long os_error,
              const HttpClientOptions& options) {
  const std::string words(detail.empty() ? curl_easy_strerror(code) : detail);
  const auto fault = [&](FaultKind kind, std::string_view what) {
    return Fault{.kind = kind, .message = fmt::format("{}: {}", url, what)};
  };
  switch (code) {
    case CURLE_COULDNT_RESOLVE_HOST:
      return fault(FaultKind::kUnreachable, "unreachable: the host's name has no address (DNS)");
    case CURLE_COULDNT_RESOLVE_PROXY:
      return fault(FaultKind::kUnreachable, "unreachable: the proxy's name has no address (DNS)");
    case CURLE_COULDNT_CONNECT:
      return fault(FaultKind::kUnreachable,
                   fmt::format("unreachable: {}", os_error == 0 ? words
                                                                : std::generic_category().message(
                                                                      static_cast<int>(os_error))));
    case CURLE_OPERATION_TIMEDOUT:
      return fault(FaultKind::kTimeout,
                   fmt::format("no answer in time (at most {} to connect, {} in all): {}",
                               Seconds(options.connect_timeout), Seconds(options.timeout), words));
    case CURLE_SSL_CACERT_BADFILE:
      return fault(FaultKind::kOptions,
                   fmt::format("the certificates of tls_config.ca_file {} cannot be used: {}",
                               options.tls_config.ca_file, words));
    case CURLE_SSL_CERTPROBLEM:
      return fault(FaultKind::kOptions,
                   fmt::format("the client certificate or key of tls_config ({}, {}) cannot be "
                               "used: {}",
                               options.tls_config.cert_file, options.tls_config.key_file, words));
    case CURLE_SSL_CONNECT_ERROR:
    case CURLE_PEER_FAILED_VERIFICATION:
    case CURLE_SSL_CIPHER:
    case CURLE_SSL_ISSUER_ERROR:
    case CURLE_SSL_INVALIDCERTSTATUS:
    case CURLE_SSL_CLIENTCERT:
      return fault(FaultKind::kTls, fmt::format("TLS failed: {}{}", words, TlsHint(words)));
    case CURLE_UNSUPPORTED_PROTOCOL:
    case CURLE_WEIRD_SERVER_REPLY:
      return fault(FaultKind::kNotHttp,
                   fmt::format("what answers does not speak HTTP/1.1 here: {}; does it want "
                               "https://?",
                               words));
    case CURLE_BAD_CONTENT_ENCODING:
      return fault(FaultKind::kNotHttp, fmt::format("the answer cannot be unpacked: {}", words));
    case CURLE_RECV_ERROR:
    case CURLE_SEND_ERROR:
      // With TLS 1.3 a refused client certificate is told only when data flows.
      if (words.find("SSL") != std::string::npos) {
        return fault(FaultKind::kTls, fmt::format("TLS failed: {}{}", words, TlsHint(words)));
      }
      return fault(FaultKind::kUnreachable, fmt::format("the connection broke: {}", words));
    case CURLE_GOT_NOTHING:
    case CURLE_PARTIAL_FILE:
      return fault(FaultKind::kUnreachable,
                   fmt::format("the connection was closed before the answer was whole: {}", words));
    default: return fault(FaultKind::kUnreachable, fmt::format("the request failed: {}", words));
  }
}

Fault FaultOfStatus(unsigned status, std::string_view url, std::string_view body,
                    std::string_view redirect) {
  Fault fault{.kind = FaultKind::kStatus, .status = status};
  if (status >= 300 && status < 400) {
    fault.kind = FaultKind::kRedirect;
    fault.message = fmt::format(
        "{}: answered {}, redirected to {}; redirects are not followed, "
        "configure the URL that answers itself",
        url, status, redirect.empty() ? "nowhere" : OneLineOf(redirect));
    return fault;
  }
  fault.server_text = ErrorTextOf(body);
  fault.message =
      fmt::format("{}: answered {}{}{}{}", url, status, fault.server_text.empty() ? "" : ": ",
                  fault.server_text, StatusHint(status));
  return fault;
}

}  // namespace tidemark::client
