#pragma once
// One keep-alive HTTP/1.1 connection that sends a request and waits for its answer.

#include <chrono>
#include <optional>
#include <string>
#include <string_view>

#include "cmd/loadgen/options.h"
#include "model/result.h"

namespace tidemark::loadgen {

struct Answer {
  unsigned status = 0;
  std::optional<unsigned> retry_after_seconds;
  std::string text;  ///< the first bytes of the body
};

/// Not thread-safe. Connects when it must; a connection that the server has closed between two
/// requests is opened anew.
class HttpConnection {
 public:
  explicit HttpConnection(Target target) : target_(std::move(target)) {}
  ~HttpConnection() { Close(); }
  HttpConnection(const HttpConnection&) = delete;
  HttpConnection& operator=(const HttpConnection&) = delete;

  /// Sends `head` (request line and headers with the empty line) and `body`. kUnavailable when
  /// there is no connection, or it ends or is silent for 60 s before the whole answer has come.
  Result<Answer> Send(std::string_view head, std::string_view body);

  Result<void> Connect();

 private:
  void Close();
  Result<void> SendAll(std::string_view head, std::string_view body);
  Result<Answer> ReadAnswer();
  Result<void> ReadMore();
  Result<void> ReadBody(std::string_view head, Answer& answer);
  Result<void> TakeBytes(size_t count, Answer& answer);

  const Target target_;
  int socket_ = -1;
  std::string input_;  // what has come and is not used yet
};

/// The head of a write request with this body size.
std::string RequestHead(const LoadOptions& options, size_t body_size);

}  // namespace tidemark::loadgen
