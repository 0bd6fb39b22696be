#pragma once
// A blocking TLS client. Every wait ends after 10 s.

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "tests/server/certificates.h"
#include "tests/server/client.h"

struct ssl_ctx_st;
struct ssl_st;

namespace tidemark::server {

class TlsClient {
 public:
  /// Connects to 127.0.0.1 and shakes hands; `change` may set versions, ciphers and the like
  /// before. The server's certificate is not checked; Peer() shows it.
  explicit TlsClient(
      uint16_t port, const MadeCertificate* certificate = nullptr,
      const std::function<void(ssl_ctx_st*)>& change = [](ssl_ctx_st*) {});
  ~TlsClient();
  TlsClient(const TlsClient&) = delete;
  TlsClient& operator=(const TlsClient&) = delete;

  /// The handshake went well, as far as this end knows (in TLS 1.3 the server's refusal of a
  /// certificate comes with the first read).
  bool connected() const { return connected_; }
  std::optional<Reply> Ask(std::string_view request);
  bool Send(std::string_view bytes);
  std::optional<Reply> Read();
  /// True when the server ends with close_notify, after whatever it still sends.
  bool WaitForCloseNotify();
  std::string cipher() const;
  std::string version() const;
  std::string alpn() const;
  /// The server's certificate in PEM.
  std::string Peer() const;

 private:
  int ReadMore();

  int socket_ = -1;
  std::shared_ptr<ssl_ctx_st> context_;
  std::shared_ptr<ssl_st> ssl_;
  bool connected_ = false;
  std::string input_;
};

}  // namespace tidemark::server
