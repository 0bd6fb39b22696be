#include "tests/server/tls_client.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <openssl/pem.h>
#include <openssl/ssl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>

namespace tidemark::server {

TlsClient::TlsClient(uint16_t port, const MadeCertificate* certificate,
                     const std::function<void(ssl_ctx_st*)>& change)
    : socket_(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)),
      context_(SSL_CTX_new(TLS_client_method()), SSL_CTX_free) {
  timeval timeout{};
  timeout.tv_sec = 10;
  setsockopt(socket_, SOL_SOCKET, SO_SNDTIMEO, &timeout, sizeof(timeout));
  setsockopt(socket_, SOL_SOCKET, SO_RCVTIMEO, &timeout, sizeof(timeout));
  sockaddr_in server{};
  server.sin_family = AF_INET;
  server.sin_port = htons(port);
  inet_pton(AF_INET, "127.0.0.1", &server.sin_addr);
  if (connect(socket_, reinterpret_cast<const sockaddr*>(&server), sizeof(server)) != 0) return;
  // Whatever the test wants to try, the client's own caution is not what is tested.
  SSL_CTX_set_security_level(context_.get(), 0);
  SSL_CTX_set_min_proto_version(context_.get(), TLS1_VERSION);
  SSL_CTX_set_cipher_list(context_.get(), "ALL");
  if (certificate != nullptr) {
    SSL_CTX_use_certificate(context_.get(), certificate->x509());
    SSL_CTX_use_PrivateKey(context_.get(), certificate->pkey());
  }
  change(context_.get());
  ssl_ = std::shared_ptr<SSL>(SSL_new(context_.get()), SSL_free);
  SSL_set_fd(ssl_.get(), socket_);
  connected_ = SSL_connect(ssl_.get()) == 1;
}

TlsClient::~TlsClient() { close(socket_); }

bool TlsClient::Send(std::string_view bytes) {
  return SSL_write(ssl_.get(), bytes.data(), static_cast<int>(bytes.size())) ==
         static_cast<int>(bytes.size());
}

int TlsClient::ReadMore() {
  std::array<char, 65536> bytes{};
  const int got = SSL_read(ssl_.get(), bytes.data(), static_cast<int>(bytes.size()));
  if (got > 0) input_.append(bytes.data(), static_cast<size_t>(got));
  return got;
}

std::optional<Reply> TlsClient::Read() {
  return TakeReply(input_, [this] { return ReadMore(); });
}

std::optional<Reply> TlsClient::Ask(std::string_view request) {
  if (!connected_ || !Send(request)) return std::nullopt;
  return Read();
}

bool TlsClient::WaitForCloseNotify() {
  int got = 0;
  while ((got = ReadMore()) > 0) {
  }
  return SSL_get_error(ssl_.get(), got) == SSL_ERROR_ZERO_RETURN;
}

std::string TlsClient::cipher() const { return SSL_get_cipher_name(ssl_.get()); }
std::string TlsClient::version() const { return SSL_get_version(ssl_.get()); }

std::string TlsClient::alpn() const {
  const unsigned char* name = nullptr;
  unsigned size = 0;
  SSL_get0_alpn_selected(ssl_.get(), &name, &size);
  return {reinterpret_cast<const char*>(name), size};
}

std::string TlsClient::Peer() const {
  X509* const certificate = SSL_get1_peer_certificate(ssl_.get());
  if (certificate == nullptr) return {};
  BIO* const bio = BIO_new(BIO_s_mem());
  PEM_write_bio_X509(bio, certificate);
  X509_free(certificate);
  char* data = nullptr;
  const long size = BIO_get_mem_data(bio, &data);
  std::string text(data, static_cast<size_t>(size));
  BIO_free(bio);
  return text;
}

}  // namespace tidemark::server
