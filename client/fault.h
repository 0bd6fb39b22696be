#pragma once
// What can go wrong between a request and its answer.

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace tidemark::client {

enum class FaultKind : uint8_t {
  kOptions,      ///< a file of a password, token or certificate cannot be read
  kUnreachable,  ///< no such host, refused, reset, cut off
  kTimeout,      ///< nobody answered in time
  kTls,          ///< no agreement, or a certificate that is not trusted
  kStatus,       ///< an answer with a status that is not 2xx; see `status`
  kRedirect,     ///< 3xx: never followed
  kTooLarge,     ///< the answer has more bytes than allowed
  kNotHttp,      ///< what answered does not speak HTTP
  kRefused,      ///< whoever takes the body wanted no more of it
  kCancelled,
};

struct Fault {
  FaultKind kind = FaultKind::kUnreachable;
  unsigned status = 0;  ///< of the answer, where there was one
  /// One line: the URL without credentials, what happened and, where it is known, what to do.
  std::string message{};
  /// Of an answer that is not 2xx: the error that it tells, one line; may be empty.
  std::string server_text{};
  std::optional<std::chrono::seconds> retry_after{};
};

/// The error in the body of a refused request, as one line of at most about 500 bytes: `error` or
/// `message` of a JSON object (Prometheus, Kubernetes), else the title of an HTML page, else the
/// first line.
std::string ErrorTextOf(std::string_view body);
bool LooksLikeHtml(std::string_view body);
/// One line: control bytes and what is not ASCII replaced, cut to `max_bytes`.
std::string OneLineOf(std::string_view text, size_t max_bytes = 500);

}  // namespace tidemark::client
