#include "client/http_client.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <mutex>
#include <optional>

#include "client/curl_fault.h"
#include "client/curl_handles.h"
#include "client/secret_file.h"
#include "client/secrets.h"

namespace tidemark::client {
namespace {

constexpr size_t kMaxErrorBody = size_t{64} << 10;
constexpr int kPollMs = 500;  // a stop wakes it earlier

void InitOnce() {
  static std::once_flag done;
  std::call_once(done, [] { curl_global_init(CURL_GLOBAL_DEFAULT); });
}

/// Tenants of Mimir and Thanos are no secrets, and their errors are not understood without.
bool IsTenant(std::string_view header) {
  constexpr std::array<std::string_view, 2> kTenants = {"x-scope-orgid", "thanos-tenant"};
  return std::ranges::any_of(kTenants, [header](std::string_view tenant) {
    return std::ranges::equal(header, tenant, [](char a, char b) {
      return std::tolower(static_cast<unsigned char>(a)) == b;
    });
  });
}

bool IsSuccess(long status) { return status >= 200 && status < 300; }

/// What the body's callback needs; lives for one request.
struct Reception {
  CURL* easy;
  uint64_t max_bytes;
  const BodyTaker& take;
  std::string body{};
  std::string error_body{};
  uint64_t bytes = 0;
  bool too_large = false;
  bool refused = false;

  bool Take(std::string_view piece) {
    long status = 0;
    curl_easy_getinfo(easy, CURLINFO_RESPONSE_CODE, &status);
    if (!IsSuccess(status)) {
      error_body.append(piece.substr(0, kMaxErrorBody - error_body.size()));
      return error_body.size() < kMaxErrorBody;
    }
    bytes += piece.size();
    if (bytes > max_bytes) {
      too_large = true;
      return false;
    }
    if (!take) {
      body.append(piece);
      return true;
    }
    refused = !take(piece);
    return !refused;
  }
};

size_t OnBody(char* data, size_t size, size_t count, void* reception) {
  return static_cast<Reception*>(reception)->Take({data, size * count}) ? size * count : 0;
}

curl_blob BlobOf(const std::string& text) {
  curl_blob blob{};
  blob.data = const_cast<char*>(text.data());  // NOLINT: copied by libcurl, as the flag says
  blob.len = text.size();
  blob.flags = CURL_BLOB_COPY;
  return blob;
}

struct HostAndPort {
  std::string host;
  std::string port;
  bool is_default_port = false;
};

/// Of a URL that CheckUrl found good.
HostAndPort HostOf(CURLU* url) {
  HostAndPort out;
  char* text = nullptr;
  if (curl_url_get(url, CURLUPART_HOST, &text, 0) == CURLUE_OK) out.host = text;
  curl_free(text);
  text = nullptr;
  if (curl_url_get(url, CURLUPART_PORT, &text, CURLU_DEFAULT_PORT) == CURLUE_OK) out.port = text;
  curl_free(text);
  text = nullptr;
  out.is_default_port = curl_url_get(url, CURLUPART_PORT, &text, 0) != CURLUE_OK;
  curl_free(text);
  return out;
}

}  // namespace

std::string EncodeForm(const Parameters& parameters) {
  static constexpr std::string_view kPlain =  // unreserved, RFC 3986, 2.3
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~";
  std::string out;
  const auto append = [&out](std::string_view text) {
    for (const char c : text) {
      if (kPlain.find(c) != kPlain.npos) {
        out.push_back(c);
      } else {
        fmt::format_to(std::back_inserter(out), "%{:02X}", static_cast<unsigned char>(c));
      }
    }
  };
  for (const auto& [name, value] : parameters) {
    if (!out.empty()) out.push_back('&');
    append(name);
    out.push_back('=');
    append(value);
  }
  return out;
}

class HttpClient::Impl {
 public:
  explicit Impl(const HttpClientOptions& options)
      : options_(options), multi_(curl_multi_init()), easy_(curl_easy_init()) {
    while (options_.url.ends_with('/')) options_.url.pop_back();
    target_ = options_.url;
    UseServerName();
  }

  tl::expected<Response, Fault> Fetch(const Request& request, const BodyTaker& take,
                                      const std::stop_token& stop) {
    const std::string shown = options_.url + request.path;
    Reception reception{
        .easy = easy_.get(), .max_bytes = options_.max_response_bytes, .take = take};
    std::array<char, CURL_ERROR_SIZE> detail{};
    curl_easy_reset(easy_.get());
    HeaderList headers;
    if (auto good = SetUp(request, headers); !good) {
      return tl::unexpected(Fault{.kind = FaultKind::kOptions, .message = good.error().message});
    }
    Set(CURLOPT_HTTPHEADER, headers.get());
    Set(CURLOPT_ERRORBUFFER, detail.data());
    Set(CURLOPT_WRITEFUNCTION, &OnBody);
    Set(CURLOPT_WRITEDATA, &reception);
    const auto begin = std::chrono::steady_clock::now();
    const std::optional<CURLcode> code = Perform(stop);
    Set(CURLOPT_ERRORBUFFER, nullptr);
    if (!code) {
      return tl::unexpected(
          Fault{.kind = FaultKind::kCancelled, .message = shown + ": the request was cancelled"});
    }
    const auto took = std::chrono::duration_cast<std::chrono::milliseconds>(
        std::chrono::steady_clock::now() - begin);
    return Judge(*code, shown, detail.data(), std::move(reception), took);
  }

  std::string WithoutSecrets(std::string text) const { return secrets_.Hide(std::move(text)); }

 private:
  template <class T>
  void Set(CURLoption option, T value) {
    curl_easy_setopt(easy_.get(), option, value);
  }

  /// A certificate for another name than the URL's host: the name goes into the URL, so that both
  /// SNI and verification use it, and the connection to where the host is.
  void UseServerName() {
    const std::string& name = options_.tls_config.server_name;
    CURLU* const url = curl_url();
    if (!name.empty() && curl_url_set(url, CURLUPART_URL, target_.c_str(), 0) == CURLUE_OK) {
      const HostAndPort at = HostOf(url);
      char* text = nullptr;
      if (curl_url_set(url, CURLUPART_HOST, name.c_str(), 0) == CURLUE_OK &&
          curl_url_get(url, CURLUPART_URL, &text, 0) == CURLUE_OK) {
        target_ = text;
        while (target_.ends_with('/')) target_.pop_back();
        connect_to_.reset(curl_slist_append(
            nullptr, fmt::format("{}:{}:{}:{}", name, at.port, at.host, at.port).c_str()));
        host_header_ = "Host: " + at.host + (at.is_default_port ? "" : ":" + at.port);
      }
      curl_free(text);
    }
    curl_url_cleanup(url);
  }

  static void Append(HeaderList& list, const std::string& line) {
    curl_slist* const longer = curl_slist_append(list.get(), line.c_str());
    static_cast<void>(list.release());
    list.reset(longer);
  }

  Result<void> SetUp(const Request& request, HeaderList& headers) {
    std::string url = target_ + request.path;
    if (!request.query.empty()) url += "?" + EncodeForm(request.query);
    Set(CURLOPT_URL, url.c_str());
    Set(CURLOPT_PROTOCOLS_STR, "http,https");
    Set(CURLOPT_PROXY, options_.proxy_url.c_str());  // empty: none, not even the environment's
    Set(CURLOPT_NOPROXY, "");
    Set(CURLOPT_FOLLOWLOCATION, 0L);
    Set(CURLOPT_NOSIGNAL, 1L);
    Set(CURLOPT_QUICK_EXIT, 1L);  // a cancelled look-up of a name is not waited for
    Set(CURLOPT_HTTP_VERSION, static_cast<long>(CURL_HTTP_VERSION_1_1));
    Set(CURLOPT_HTTP09_ALLOWED, 0L);
    Set(CURLOPT_ACCEPT_ENCODING, "gzip");
    Set(CURLOPT_TCP_KEEPALIVE, 1L);
    Set(CURLOPT_CONNECTTIMEOUT_MS, static_cast<long>(options_.connect_timeout.count()));
    Set(CURLOPT_TIMEOUT_MS, static_cast<long>(options_.timeout.count()));
    Set(CURLOPT_USERAGENT, options_.user_agent.empty() ? "tidemark" : options_.user_agent.c_str());
    SetUpTls();
    SetUpMethod(request, headers);
    for (const auto& [name, value] : options_.http_headers) {
      // libcurl sends a header without value only when it ends in a semicolon.
      Append(headers, value.empty() ? name + ";" : fmt::format("{}: {}", name, value));
    }
    if (!host_header_.empty()) Append(headers, host_header_);
    return SetUpCredentials(headers);
  }

  void SetUpMethod(const Request& request, HeaderList& headers) {
    if (request.body.empty() && request.method == "GET") return;
    Set(CURLOPT_CUSTOMREQUEST, request.method.c_str());
    if (request.body.empty() && request.method != "POST" && request.method != "PUT") return;
    Set(CURLOPT_POSTFIELDSIZE_LARGE, static_cast<curl_off_t>(request.body.size()));
    Set(CURLOPT_COPYPOSTFIELDS, request.body.c_str());
    Append(headers, "Expect:");  // no round trip before the body
    Append(headers, "Content-Type: " + (request.content_type.empty() ? "application/octet-stream"
                                                                     : request.content_type));
  }

  void SetUpTls() {
    const TlsConfig& tls = options_.tls_config;
    Set(CURLOPT_SSLVERSION, static_cast<long>(CURL_SSLVERSION_TLSv1_2));
    if (tls.insecure_skip_verify) {
      Set(CURLOPT_SSL_VERIFYPEER, 0L);
      Set(CURLOPT_SSL_VERIFYHOST, 0L);
    }
    const auto set_blob = [this](CURLoption option, const std::string& text) {
      const curl_blob blob = BlobOf(text);
      Set(option, &blob);
    };
    if (!tls.ca_file.empty()) Set(CURLOPT_CAINFO, tls.ca_file.c_str());
    if (!tls.ca.empty()) set_blob(CURLOPT_CAINFO_BLOB, tls.ca);
    if (!tls.ca_file.empty() || !tls.ca.empty()) Set(CURLOPT_CAPATH, nullptr);
    if (!tls.cert_file.empty()) Set(CURLOPT_SSLCERT, tls.cert_file.c_str());
    if (!tls.cert.empty()) set_blob(CURLOPT_SSLCERT_BLOB, tls.cert);
    if (!tls.key_file.empty()) Set(CURLOPT_SSLKEY, tls.key_file.c_str());
    if (!tls.key.empty()) set_blob(CURLOPT_SSLKEY_BLOB, tls.key);
    if (connect_to_) Set(CURLOPT_CONNECT_TO, connect_to_.get());
  }

  Result<void> SetUpCredentials(HeaderList& headers) {
    secrets_.Clear();
    for (const auto& [name, value] : options_.http_headers) {
      if (!IsTenant(name)) secrets_.Add(value);
    }
    const BasicAuth& basic = options_.basic_auth;
    if (!basic.username.empty()) {
      std::string password = basic.password;
      if (!basic.password_file.empty()) {
        auto read = ReadSecretFile(basic.password_file);
        if (!read) return tl::unexpected(read.error());
        password = *std::move(read);
      }
      Set(CURLOPT_HTTPAUTH, static_cast<long>(CURLAUTH_BASIC));
      Set(CURLOPT_USERNAME, basic.username.c_str());
      Set(CURLOPT_PASSWORD, password.c_str());
      secrets_.AddBasic(basic.username, password);
    }
    std::string token = options_.authorization.credentials;
    if (!options_.authorization.credentials_file.empty()) {
      auto read = ReadSecretFile(options_.authorization.credentials_file);
      if (!read) return tl::unexpected(read.error());
      token = *std::move(read);
    }
    if (!token.empty()) Append(headers, "Authorization: Bearer " + token);
    secrets_.Add(token);
    return {};
  }

  /// Nothing: it was stopped.
  std::optional<CURLcode> Perform(const std::stop_token& stop) {
    const std::stop_callback wake(stop, [this] { curl_multi_wakeup(multi_.get()); });
    const Attached attached(multi_.get(), easy_.get());
    for (int running = 1; running > 0;) {
      if (stop.stop_requested()) return std::nullopt;
      if (curl_multi_perform(multi_.get(), &running) != CURLM_OK) return CURLE_FAILED_INIT;
      if (running > 0) curl_multi_poll(multi_.get(), nullptr, 0, kPollMs, nullptr);
    }
    int left = 0;
    const CURLMsg* const message = curl_multi_info_read(multi_.get(), &left);
    return message == nullptr ? CURLE_FAILED_INIT : message->data.result;
  }

  tl::expected<Response, Fault> Judge(CURLcode code, const std::string& shown, const char* detail,
                                      Reception reception, std::chrono::milliseconds took) const {
    long status = 0;
    curl_easy_getinfo(easy_.get(), CURLINFO_RESPONSE_CODE, &status);
    if (reception.too_large) {
      return tl::unexpected(Fault{.kind = FaultKind::kTooLarge,
                                  .status = static_cast<unsigned>(status),
                                  .message = fmt::format("{}: the answer is larger than {} bytes",
                                                         shown, options_.max_response_bytes)});
    }
    if (reception.refused) {
      return tl::unexpected(Fault{.kind = FaultKind::kRefused,
                                  .status = static_cast<unsigned>(status),
                                  .message = shown + ": the answer was not wanted any more"});
    }
    const bool cut_error_body = reception.error_body.size() >= kMaxErrorBody;
    if (code != CURLE_OK && !cut_error_body) {
      long os_error = 0;
      curl_easy_getinfo(easy_.get(), CURLINFO_OS_ERRNO, &os_error);
      return tl::unexpected(FaultOf(code, shown, OneLineOf(detail), os_error, options_));
    }
    if (!IsSuccess(status)) return tl::unexpected(StatusFault(status, shown, reception));
    const char* type = nullptr;
    curl_easy_getinfo(easy_.get(), CURLINFO_CONTENT_TYPE, &type);
    return Response{.status = static_cast<unsigned>(status),
                    .content_type = type == nullptr ? "" : type,
                    .body = std::move(reception.body),
                    .bytes = reception.bytes,
                    .took = took};
  }

  Fault StatusFault(long status, const std::string& shown, const Reception& reception) const {
    char* redirect = nullptr;
    curl_easy_getinfo(easy_.get(), CURLINFO_REDIRECT_URL, &redirect);
    std::string_view to = redirect == nullptr ? "" : redirect;
    to = to.substr(0, to.find('?'));  // a session's secrets may stand in its query
    // Before it is cut to length, and what unpacking JSON brings out.
    Fault fault =
        FaultOfStatus(static_cast<unsigned>(status), shown, secrets_.Hide(reception.error_body),
                      secrets_.Hide(std::string(to)));
    fault.message = secrets_.Hide(std::move(fault.message));
    fault.server_text = secrets_.Hide(std::move(fault.server_text));
    curl_off_t wait = 0;
    curl_easy_getinfo(easy_.get(), CURLINFO_RETRY_AFTER, &wait);
    if (wait > 0) fault.retry_after = std::chrono::seconds(wait);
    return fault;
  }

  HttpClientOptions options_;
  std::string target_;  // the URL that libcurl gets
  std::string host_header_;
  HeaderList connect_to_;
  Secrets secrets_;  // of the request under way, or the last one
  MultiHandle multi_;
  EasyHandle easy_;  // goes before the multi handle, which keeps the connections
};

HttpClient::HttpClient(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
HttpClient::~HttpClient() = default;

Result<std::unique_ptr<HttpClient>> HttpClient::Open(const HttpClientOptions& options) {
  InitOnce();
  if (auto good = CheckOptions(options); !good) return tl::unexpected(good.error());
  return std::unique_ptr<HttpClient>(new HttpClient(std::make_unique<Impl>(options)));
}

tl::expected<Response, Fault> HttpClient::Fetch(const Request& request, const BodyTaker& take,
                                                const std::stop_token& stop) {
  return impl_->Fetch(request, take, stop);
}

std::string HttpClient::WithoutSecrets(std::string text) const {
  return impl_->WithoutSecrets(std::move(text));
}

}  // namespace tidemark::client
