#pragma once
// A keep-alive HTTPS connection of a load generator: blocking, one request at a time.

#include <openssl/ssl.h>

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

namespace tidemark::bench {

struct FreeSsl {
  void operator()(SSL* ssl) const { SSL_free(ssl); }
  void operator()(SSL_CTX* context) const { SSL_CTX_free(context); }
};
using SslContext = std::unique_ptr<SSL_CTX, FreeSsl>;

/// Verifies 127.0.0.1 against `ca_file`; shows a certificate where there is one. Sessions are not
/// resumed, so that each connection takes a whole handshake, as Go's clients do it by default.
/// Null when a file cannot be used.
SslContext MakeContext(const std::string& ca_file, const std::string& certificate_file,
                       const std::string& key_file);

struct Answer {
  unsigned status = 0;    ///< 0: there was none within ten seconds, or the connection broke
  std::string_view body;  ///< until the next Ask
};

/// To 127.0.0.1. Not thread-safe; `context` must outlive it.
class Connection {
 public:
  Connection(SSL_CTX* context, uint16_t port) : context_(context), port_(port) {}
  ~Connection() { Close(); }
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;

  bool is_open() const { return ssl_ != nullptr; }
  /// TCP and TLS; false when it does not come about. Closes what was open.
  bool Open();
  void Close();
  /// Sends a whole request and reads its answer, which has to have a Content-Length. Opens when it
  /// is not open, and closes when the server says so or anything goes wrong.
  Answer Ask(std::string_view request);

 private:
  bool Send(std::string_view bytes);
  /// At least one more byte into buffer_.
  bool Receive();

  SSL_CTX* const context_;
  const uint16_t port_;
  std::unique_ptr<SSL, FreeSsl> ssl_;
  int socket_ = -1;
  std::string buffer_;
};

}  // namespace tidemark::bench
