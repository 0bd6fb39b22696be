#pragma once
// One HTTP client for what Tidemark asks of others: Prometheus' query API, the Kubernetes API.
//
// HTTP/1.1 over TCP or TLS (1.2 and later, verified unless the options say otherwise), keep-alive,
// gzip accepted. Redirects are never followed, so credentials go nowhere but to the configured
// host. No environment variable, no .netrc is looked at. The program has to ignore SIGPIPE: TLS is
// written without a way to hold it back.

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <stop_token>
#include <string>
#include <string_view>
#include <tl/expected.hpp>
#include <utility>
#include <vector>

#include "client/fault.h"
#include "client/options.h"
#include "model/result.h"

namespace tidemark::client {

using Parameters = std::vector<std::pair<std::string, std::string>>;

struct Request {
  std::string method = "GET";
  std::string path;    ///< behind the options' URL, as it goes on the wire; begins with /
  Parameters query{};  ///< is encoded
  std::string content_type{};
  std::string body{};
};

struct Response {
  unsigned status = 0;
  std::string content_type;
  std::string body;    ///< empty when a taker took it
  uint64_t bytes = 0;  ///< of the body, unpacked
  std::chrono::milliseconds took{0};
};

/// Gets the body of a 2xx answer piece by piece; false: no more is wanted (FaultKind::kRefused).
/// Must not throw.
using BodyTaker = std::function<bool(std::string_view piece)>;

/// `a=1&b=%22` (application/x-www-form-urlencoded).
std::string EncodeForm(const Parameters& parameters);

/// Not thread-safe: one request at a time. Keeps its connection between requests.
class HttpClient {
 public:
  /// kInvalidArgument as CheckOptions. Nothing is connected yet.
  static Result<std::unique_ptr<HttpClient>> Open(const HttpClientOptions& options);
  ~HttpClient();
  HttpClient(const HttpClient&) = delete;
  HttpClient& operator=(const HttpClient&) = delete;

  /// Blocks until the answer is there, at most the options' timeout; ends at once when stopped.
  /// Anything but 2xx is a Fault.
  tl::expected<Response, Fault> Fetch(const Request& request, const BodyTaker& take = nullptr,
                                      const std::stop_token& stop = {});

  /// What a server has said, without the credentials of the last request, which it may have
  /// repeated. Faults are so already.
  std::string WithoutSecrets(std::string text) const;

 private:
  class Impl;
  explicit HttpClient(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace tidemark::client
