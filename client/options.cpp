#include "client/options.h"

#include <curl/curl.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <memory>

namespace tidemark::client {
namespace {

// Those of which the client or the transfer takes care, as in Prometheus
// (common/config/headers.go).
constexpr std::array<std::string_view, 16> kReservedHeaders = {"accept-encoding",
                                                               "authorization",
                                                               "connection",
                                                               "content-encoding",
                                                               "content-length",
                                                               "content-type",
                                                               "expect",
                                                               "host",
                                                               "keep-alive",
                                                               "proxy-authenticate",
                                                               "proxy-authorization",
                                                               "te",
                                                               "trailer",
                                                               "transfer-encoding",
                                                               "upgrade",
                                                               "www-authenticate"};

std::string Lower(std::string_view text) {
  std::string out(text);
  std::ranges::transform(out, out.begin(), [](unsigned char c) { return std::tolower(c); });
  return out;
}

bool HasControl(std::string_view text) {
  return std::ranges::any_of(
      text, [](char c) { return static_cast<unsigned char>(c) < 0x20 || c == '\x7f'; });
}

bool IsToken(std::string_view text) {
  constexpr std::string_view kOthers = "!#$%&'*+-.^_`|~";  // RFC 9110, 5.6.2
  return !text.empty() && std::ranges::all_of(text, [&](unsigned char c) {
    return (std::isalnum(c) != 0 && c < 0x80) || kOthers.find(static_cast<char>(c)) != kOthers.npos;
  });
}

tl::unexpected<Error> Wrong(std::string message) {
  return Fail(ErrorCode::kInvalidArgument, std::move(message));
}

struct UrlFree {
  void operator()(CURLU* url) const { curl_url_cleanup(url); }
};
struct TextFree {
  void operator()(char* text) const { curl_free(text); }
};

bool HasPart(CURLU* url, CURLUPart part) {
  char* text = nullptr;
  const CURLUcode code = curl_url_get(url, part, &text, 0);
  const std::unique_ptr<char, TextFree> free(text);
  return code == CURLUE_OK && text != nullptr && *text != '\0';
}

Result<void> CheckAnyUrl(std::string_view url, std::string_view what) {
  constexpr std::string_view kAllowed = ", allowed: http://HOST[:PORT][/PREFIX] or https://...";
  if (HasControl(url) || url.find(' ') != url.npos) {
    return Wrong(std::string(what) + ": it has blanks or control characters" +
                 std::string(kAllowed));
  }
  const std::string lower = Lower(url.substr(0, 8));
  if (!lower.starts_with("http://") && !lower.starts_with("https://")) {
    return Wrong(std::string(what) + ": it does not begin with http:// or https://" +
                 std::string(kAllowed));
  }
  const std::unique_ptr<CURLU, UrlFree> parsed(curl_url());
  if (curl_url_set(parsed.get(), CURLUPART_URL, std::string(url).c_str(), 0) != CURLUE_OK ||
      !HasPart(parsed.get(), CURLUPART_HOST)) {
    return Wrong(std::string(what) + ": it is no URL" + std::string(kAllowed));
  }
  if (HasPart(parsed.get(), CURLUPART_USER) || HasPart(parsed.get(), CURLUPART_PASSWORD)) {
    return Wrong(std::string(what) +
                 ": it carries a user or a password, which would stand in logs"
                 ", allowed: credentials in basic_auth or authorization");
  }
  if (url.find_first_of("?#") != url.npos) {
    return Wrong(std::string(what) + ": it has a query or a fragment" + std::string(kAllowed));
  }
  return {};
}

}  // namespace

Result<void> CheckUrl(std::string_view url) { return CheckAnyUrl(url, "the URL"); }

Result<void> CheckHeader(std::string_view name, std::string_view value) {
  if (!IsToken(name)) return Wrong("this is no name of a header, allowed: letters, digits, -, _");
  if (std::ranges::find(kReservedHeaders, Lower(name)) != kReservedHeaders.end()) {
    return Wrong("the header " + std::string(name) +
                 " is set by the client itself, allowed: any other; credentials stand in "
                 "basic_auth or authorization");
  }
  if (HasControl(value)) {
    return Wrong("the value of the header " + std::string(name) +
                 " has control characters, allowed: text of one line");
  }
  return {};
}

Result<void> CheckOptions(const HttpClientOptions& options) {
  if (auto good = CheckUrl(options.url); !good) return good;
  if (!options.proxy_url.empty()) {
    if (auto good = CheckAnyUrl(options.proxy_url, "proxy_url"); !good) return good;
  }
  if (HasControl(options.user_agent)) {
    return Wrong("user_agent has control characters, allowed: text of one line");
  }
  const BasicAuth& basic = options.basic_auth;
  const Authorization& bearer = options.authorization;
  const TlsConfig& tls = options.tls_config;
  const auto both = [](const std::string& a, const std::string& b) {
    return !a.empty() && !b.empty();
  };
  if (both(basic.password, basic.password_file)) {
    return Wrong("basic_auth: password and password_file are both given, allowed: one of them");
  }
  if (basic.username.empty() && !(basic.password.empty() && basic.password_file.empty())) {
    return Wrong("basic_auth: a password without username, allowed: both or none");
  }
  if (basic.username.find(':') != std::string::npos) {
    return Wrong("basic_auth: username has a colon, which basic authentication cannot send");
  }
  if (both(bearer.credentials, bearer.credentials_file)) {
    return Wrong(
        "authorization: credentials and credentials_file are both given, allowed: one of them");
  }
  if (!basic.username.empty() && !(bearer.credentials.empty() && bearer.credentials_file.empty())) {
    return Wrong("basic_auth and authorization are both given, allowed: one of them");
  }
  if (HasControl(bearer.credentials)) {
    return Wrong("authorization: credentials has control characters, allowed: text of one line");
  }
  if (both(tls.ca, tls.ca_file) || both(tls.cert, tls.cert_file) || both(tls.key, tls.key_file)) {
    return Wrong("tls_config: the same thing is given as text and as file, allowed: one of them");
  }
  if ((tls.cert.empty() && tls.cert_file.empty()) != (tls.key.empty() && tls.key_file.empty())) {
    return Wrong(
        "tls_config: a certificate without key or a key without certificate, allowed: "
        "both or none");
  }
  if (tls.server_name.find_first_of(":/?#@ []") != std::string::npos ||
      HasControl(tls.server_name)) {
    return Wrong("tls_config: server_name is no name of a host");
  }
  for (const auto& [name, value] : options.http_headers) {
    if (auto good = CheckHeader(name, value); !good) {
      return Wrong("http_headers: " + good.error().message);
    }
  }
  return {};
}

bool HasCredentials(const HttpClientOptions& options) {
  return !options.basic_auth.username.empty() || !options.authorization.credentials.empty() ||
         !options.authorization.credentials_file.empty() || !options.tls_config.cert.empty() ||
         !options.tls_config.cert_file.empty() || !options.http_headers.empty();
}

}  // namespace tidemark::client
