#include "cmd/loadgen/http_connection.h"

#include <fmt/format.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/uio.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <system_error>
#include <utility>

namespace tidemark::loadgen {
namespace {

constexpr time_t kSilenceSeconds = 60;
constexpr size_t kMaxHead = 64 << 10;
constexpr size_t kKeptText = 512;
constexpr uint64_t kMaxBody = 1 << 30;

tl::unexpected<Error> Failed(std::string_view what, int number) {
  return Fail(ErrorCode::kUnavailable,
              fmt::format("{}: {}", what, std::generic_category().message(number)));
}

bool SameName(std::string_view a, std::string_view b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), [](unsigned char x, unsigned char y) {
    return std::tolower(x) == std::tolower(y);
  });
}

/// The value of a header; empty without it.
std::string_view HeaderOf(std::string_view head, std::string_view name) {
  for (size_t at = head.find("\r\n"); at != std::string_view::npos;) {
    const size_t begin = at + 2;
    at = head.find("\r\n", begin);
    const std::string_view line = head.substr(begin, at - begin);
    const size_t colon = line.find(':');
    if (colon == std::string_view::npos || !SameName(line.substr(0, colon), name)) continue;
    std::string_view value = line.substr(colon + 1);
    while (value.starts_with(' ') || value.starts_with('\t')) value.remove_prefix(1);
    while (value.ends_with(' ') || value.ends_with('\t')) value.remove_suffix(1);
    return value;
  }
  return {};
}

template <class T>
std::optional<T> ToNumber(std::string_view text, int base = 10) {
  T value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value, base);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

}  // namespace

Result<void> HttpConnection::Connect() {
  Close();
  addrinfo hints{};
  hints.ai_socktype = SOCK_STREAM;
  addrinfo* found = nullptr;
  if (const int error = getaddrinfo(target_.host.c_str(), target_.port.c_str(), &hints, &found);
      error != 0) {
    return Fail(ErrorCode::kUnavailable, fmt::format("{}: {}", target_.host, gai_strerror(error)));
  }
  int error_number = 0;
  for (const addrinfo* at = found; at != nullptr && socket_ < 0; at = at->ai_next) {
    socket_ = socket(at->ai_family, at->ai_socktype | SOCK_CLOEXEC, at->ai_protocol);
    if (socket_ < 0) {
      error_number = errno;
      continue;
    }
    const timeval silence{.tv_sec = kSilenceSeconds, .tv_usec = 0};
    const int on = 1;
    setsockopt(socket_, SOL_SOCKET, SO_RCVTIMEO, &silence, sizeof(silence));
    setsockopt(socket_, SOL_SOCKET, SO_SNDTIMEO, &silence, sizeof(silence));
    setsockopt(socket_, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
    if (connect(socket_, at->ai_addr, at->ai_addrlen) != 0) {
      error_number = errno;
      Close();
    }
  }
  freeaddrinfo(found);
  if (socket_ < 0) {
    return Failed(fmt::format("no connection to {}:{}", target_.host, target_.port), error_number);
  }
  return {};
}

void HttpConnection::Close() {
  if (socket_ >= 0) close(socket_);
  socket_ = -1;
  input_.clear();
}

Result<Answer> HttpConnection::Send(std::string_view head, std::string_view body) {
  const bool was_open = socket_ >= 0;
  for (bool again = was_open;; again = false) {
    if (socket_ < 0) {
      if (auto connected = Connect(); !connected) return tl::unexpected(connected.error());
    }
    Result<void> sent = SendAll(head, body);
    Result<Answer> answer = sent ? ReadAnswer() : Result<Answer>(tl::unexpected(sent.error()));
    if (answer) return answer;
    const bool nothing_came = input_.empty();
    Close();
    // An idle connection may be closed by the server just when it is used again.
    if (!again || !nothing_came) return answer;
  }
}

Result<void> HttpConnection::SendAll(std::string_view head, std::string_view body) {
  while (!head.empty() || !body.empty()) {
    std::array<iovec, 2> parts = {iovec{const_cast<char*>(head.data()), head.size()},
                                  iovec{const_cast<char*>(body.data()), body.size()}};
    msghdr message{};
    message.msg_iov = parts.data();
    message.msg_iovlen = parts.size();
    const ssize_t sent = sendmsg(socket_, &message, MSG_NOSIGNAL);
    if (sent < 0 && errno == EINTR) continue;
    // A server may answer and close before it has read everything: the answer is worth reading.
    if (sent < 0 && (errno == EPIPE || errno == ECONNRESET)) return {};
    if (sent < 0) return Failed("sending failed", errno);
    auto left = static_cast<size_t>(sent);
    const size_t of_head = std::min(left, head.size());
    head.remove_prefix(of_head);
    body.remove_prefix(left - of_head);
  }
  return {};
}

Result<void> HttpConnection::ReadMore() {
  std::array<char, 4096> space;
  for (;;) {
    const ssize_t count = recv(socket_, space.data(), space.size(), 0);
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return Failed("no answer", errno);
    if (count == 0) return Fail(ErrorCode::kUnavailable, "the server closed the connection");
    input_.append(space.data(), static_cast<size_t>(count));
    return {};
  }
}

Result<Answer> HttpConnection::ReadAnswer() {
  for (;;) {
    const size_t end = input_.find("\r\n\r\n");
    if (end == std::string::npos) {
      if (input_.size() > kMaxHead) return Fail(ErrorCode::kUnavailable, "endless headers");
      if (auto more = ReadMore(); !more) return tl::unexpected(more.error());
      continue;
    }
    const std::string head = input_.substr(0, end);
    input_.erase(0, end + 4);
    Answer answer;
    const auto status = head.starts_with("HTTP/1.") && head.size() >= 12
                            ? ToNumber<unsigned>(std::string_view(head).substr(9, 3))
                            : std::nullopt;
    if (!status) return Fail(ErrorCode::kUnavailable, "the answer is not HTTP/1.1");
    if (*status < 200) continue;  // an interim answer
    answer.status = *status;
    answer.retry_after_seconds = ToNumber<unsigned>(HeaderOf(head, "Retry-After"));
    if (auto read = ReadBody(head, answer); !read) return tl::unexpected(read.error());
    if (SameName(HeaderOf(head, "Connection"), "close")) Close();
    return answer;
  }
}

Result<void> HttpConnection::ReadBody(std::string_view head, Answer& answer) {
  if (answer.status == 204 || answer.status == 304) return {};
  if (SameName(HeaderOf(head, "Transfer-Encoding"), "chunked")) {
    for (;;) {
      const size_t end = input_.find("\r\n");
      if (end == std::string::npos) {
        if (auto more = ReadMore(); !more) return more;
        continue;
      }
      const auto size = ToNumber<uint64_t>(std::string_view(input_).substr(0, end), 16);
      if (!size || *size > kMaxBody) return Fail(ErrorCode::kUnavailable, "malformed chunks");
      input_.erase(0, end + 2);
      if (auto taken = TakeBytes(*size, answer); !taken) return taken;
      Answer unused;
      if (auto taken = TakeBytes(2, unused); !taken) return taken;  // its line end
      if (*size == 0) return {};
    }
  }
  const std::string_view length = HeaderOf(head, "Content-Length");
  const auto size = ToNumber<uint64_t>(length);
  if (!size || *size > kMaxBody) {
    return Fail(ErrorCode::kUnavailable, "the answer has no usable length");
  }
  return TakeBytes(*size, answer);
}

Result<void> HttpConnection::TakeBytes(size_t count, Answer& answer) {
  while (count > 0) {
    const size_t here = std::min(count, input_.size());
    answer.text.append(input_, 0, std::min(here, kKeptText - answer.text.size()));
    input_.erase(0, here);
    count -= here;
    if (count == 0) break;
    if (auto more = ReadMore(); !more) return more;
  }
  return {};
}

std::string RequestHead(const LoadOptions& options, size_t body_size) {
  const Target& target = options.target;
  const bool v2 = options.protocol == Protocol::kV2;
  const bool is_ipv6 = target.host.find(':') != std::string::npos;
  std::string head = fmt::format(
      "POST {} HTTP/1.1\r\nHost: {}{}{}:{}\r\nUser-Agent: tidetool-loadgen\r\n"
      "Content-Type: application/x-protobuf{}\r\nContent-Encoding: snappy\r\n"
      "X-Prometheus-Remote-Write-Version: {}\r\nContent-Length: {}\r\n",
      target.path, is_ipv6 ? "[" : "", target.host, is_ipv6 ? "]" : "", target.port,
      v2 ? ";proto=io.prometheus.write.v2.Request" : "", v2 ? "2.0.0" : "0.1.0", body_size);
  for (const auto& [name, value] : options.headers) {
    head += fmt::format("{}: {}\r\n", name, value);
  }
  return head += "\r\n";
}

}  // namespace tidemark::loadgen
