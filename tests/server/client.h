#pragma once
// A blocking HTTP client over POSIX sockets that can be as rude as a test needs. Every wait ends
// after 10 s.

#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace tidemark::server {

struct Reply {
  unsigned status = 0;
  std::string head;  ///< with the status line, as received
  std::string body;

  /// First header of that name (no case); absent when it is not there.
  std::optional<std::string> Header(std::string_view name) const;
};

/// Takes one answer out of `input`, which `read_more` fills; absent when that gives no more (0 or
/// less) before its end. `to_head`: the body is left.
std::optional<Reply> TakeReply(std::string& input, const std::function<int()>& read_more,
                               bool to_head = false);

class Client {
 public:
  /// Connects to 127.0.0.1 (or another address); connected() tells.
  explicit Client(uint16_t port, const char* address = "127.0.0.1");
  ~Client();
  Client(Client&& other) noexcept
      : socket_(std::exchange(other.socket_, -1)), input_(std::move(other.input_)) {}
  Client(const Client&) = delete;
  Client& operator=(const Client&) = delete;
  Client& operator=(Client&&) = delete;

  bool connected() const { return socket_ >= 0; }
  /// "address:port" of this end.
  std::string LocalName() const;

  /// False when the server has closed before all was sent.
  bool Send(std::string_view bytes);
  /// Sends no more; the answer can still be read.
  void FinishSending();
  /// Closes; with RST instead of FIN when asked.
  void Disconnect(bool reset = false);

  /// One answer; absent when the connection ended, was reset or stayed silent before its end.
  std::optional<Reply> Read(bool to_head = false);
  /// Send and Read.
  std::optional<Reply> Ask(std::string_view request);

  /// True when the server closes in good order (FIN), after whatever it still sends, within the
  /// time.
  bool WaitForEnd(std::chrono::milliseconds timeout = std::chrono::seconds(10));
  /// True when something has been read that belongs to no whole answer.
  bool HasInput() const { return !input_.empty(); }
  /// True when nothing at all comes within the time.
  bool StaysSilent(std::chrono::milliseconds time);

 private:
  /// Bytes read: 0 at the end, -1 on failure or timeout.
  int ReadMore(std::chrono::milliseconds timeout = std::chrono::seconds(10));

  int socket_ = -1;
  std::string input_;
};

/// "METHOD target HTTP/1.1", Host, the given header lines (each with CR LF) and a body with its
/// length, if there is one.
std::string MakeRequest(std::string_view method, std::string_view target,
                        std::string_view body = {}, std::string_view header_lines = {});

}  // namespace tidemark::server
