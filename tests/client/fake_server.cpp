#include "tests/client/fake_server.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <openssl/err.h>
#include <openssl/pem.h>
#include <openssl/ssl.h>
#include <signal.h>  // NOLINT(modernize-deprecated-headers): SIGPIPE is POSIX
#include <strings.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <stdexcept>

namespace tidemark::client {
namespace {

struct Bio {
  explicit Bio(const std::string& text)
      : bio(BIO_new_mem_buf(text.data(), static_cast<int>(text.size()))) {}
  ~Bio() { BIO_free(bio); }
  Bio(const Bio&) = delete;
  Bio& operator=(const Bio&) = delete;
  BIO* bio;
};

std::shared_ptr<void> MakeContext(const FakeTls& tls) {
  SSL_CTX* const context = SSL_CTX_new(TLS_server_method());
  const Bio certificate(tls.certificate_pem);
  const Bio key(tls.key_pem);
  X509* const x509 = PEM_read_bio_X509(certificate.bio, nullptr, nullptr, nullptr);
  EVP_PKEY* const pkey = PEM_read_bio_PrivateKey(key.bio, nullptr, nullptr, nullptr);
  if (SSL_CTX_use_certificate(context, x509) != 1 || SSL_CTX_use_PrivateKey(context, pkey) != 1) {
    throw std::runtime_error("the test's certificate cannot be used");
  }
  X509_free(x509);
  EVP_PKEY_free(pkey);
  if (!tls.client_ca_pem.empty()) {
    const Bio authority(tls.client_ca_pem);
    X509* const ca = PEM_read_bio_X509(authority.bio, nullptr, nullptr, nullptr);
    X509_STORE_add_cert(SSL_CTX_get_cert_store(context), ca);
    X509_free(ca);
    SSL_CTX_set_verify(context, SSL_VERIFY_PEER | SSL_VERIFY_FAIL_IF_NO_PEER_CERT, nullptr);
  }
  return {context, [](void* made) { SSL_CTX_free(static_cast<SSL_CTX*>(made)); }};
}

std::string Decoded(const std::string& text) {
  std::string out;
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '%' && i + 2 < text.size()) {
      out.push_back(static_cast<char>(std::strtol(text.substr(i + 1, 2).c_str(), nullptr, 16)));
      i += 2;
    } else {
      out.push_back(text[i] == '+' ? ' ' : text[i]);
    }
  }
  return out;
}

std::optional<std::string> FindParameter(const std::string& form, const std::string& name) {
  for (size_t begin = 0; begin <= form.size();) {
    const size_t end = std::min(form.find('&', begin), form.size());
    const std::string pair = form.substr(begin, end - begin);
    const size_t equal = pair.find('=');
    if (Decoded(pair.substr(0, equal)) == name && equal != std::string::npos) {
      return Decoded(pair.substr(equal + 1));
    }
    begin = end + 1;
  }
  return std::nullopt;
}

FakeRequest ParseHead(const std::string& head) {
  FakeRequest request;
  request.method = head.substr(0, head.find(' '));
  const size_t target = request.method.size() + 1;
  request.target = head.substr(target, head.find(' ', target) - target);
  for (size_t line = head.find("\r\n"); line + 2 < head.size();) {
    const size_t end = head.find("\r\n", line + 2);
    const std::string text = head.substr(line + 2, end - line - 2);
    const size_t colon = text.find(':');
    if (colon != std::string::npos) {
      const size_t value = text.find_first_not_of(' ', colon + 1);
      request.headers.emplace_back(text.substr(0, colon),
                                   value == std::string::npos ? "" : text.substr(value));
    }
    if (end == std::string::npos) break;
    line = end;
  }
  return request;
}

}  // namespace

std::string FakeRequest::Header(const std::string& name) const {
  for (const auto& [known, value] : headers) {
    if (strcasecmp(known.c_str(), name.c_str()) == 0) return value;
  }
  return "";
}

std::string FakeRequest::Path() const { return target.substr(0, target.find('?')); }

std::optional<std::string> FakeRequest::Parameter(const std::string& name) const {
  const size_t query = target.find('?');
  if (query != std::string::npos) {
    if (auto found = FindParameter(target.substr(query + 1), name)) return found;
  }
  return FindParameter(body, name);
}

/// A socket with or without TLS.
class FakeServer::Connection {
 public:
  Connection(int socket, SSL_CTX* context) : socket_(socket) {
    if (context == nullptr) return;
    ssl_ = SSL_new(context);
    SSL_set_fd(ssl_, socket);
    open_ = SSL_accept(ssl_) == 1;
  }
  ~Connection() {
    if (ssl_ != nullptr) {
      if (open_) SSL_shutdown(ssl_);
      SSL_free(ssl_);
    }
  }
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;

  bool open() const { return open_; }
  bool Read(std::string& into) {
    char block[4096];
    const auto got = ssl_ != nullptr ? SSL_read(ssl_, block, sizeof block)
                                     : static_cast<int>(recv(socket_, block, sizeof block, 0));
    if (got <= 0) return false;
    into.append(block, static_cast<size_t>(got));
    return true;
  }
  void Write(const std::string& text) {
    size_t sent = 0;
    while (sent < text.size()) {
      const auto left = static_cast<int>(std::min<size_t>(text.size() - sent, 1 << 16));
      const auto done = ssl_ != nullptr
                            ? SSL_write(ssl_, text.data() + sent, left)
                            : static_cast<int>(send(socket_, text.data() + sent,
                                                    static_cast<size_t>(left), MSG_NOSIGNAL));
      if (done <= 0) return;
      sent += static_cast<size_t>(done);
    }
  }

 private:
  int socket_;
  SSL* ssl_ = nullptr;
  bool open_ = true;
};

FakeServer::FakeServer(FakeHandler handler, std::optional<FakeTls> tls)
    : handler_(std::move(handler)) {
  signal(SIGPIPE, SIG_IGN);  // as the programs do: both ends of TLS write without MSG_NOSIGNAL
  if (tls) tls_context_ = MakeContext(*tls);
  listener_ = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof address;
  if (bind(listener_, reinterpret_cast<sockaddr*>(&address), size) != 0 ||
      listen(listener_, 64) != 0 ||
      getsockname(listener_, reinterpret_cast<sockaddr*>(&address), &size) != 0) {
    throw std::runtime_error("the test's server cannot listen");
  }
  port_ = ntohs(address.sin_port);
  acceptor_ = std::jthread([this] { Accept(); });
}

FakeServer::~FakeServer() {
  stopping_ = true;
  shutdown(listener_, SHUT_RDWR);
  acceptor_.join();
  close(listener_);
  {
    const std::lock_guard lock(mutex_);
    for (const int socket : sockets_) shutdown(socket, SHUT_RDWR);
  }
  threads_.clear();
}

std::string FakeServer::url() const {
  return (tls_context_ ? "https://127.0.0.1:" : "http://127.0.0.1:") + std::to_string(port_);
}

void FakeServer::Accept() {
  while (!stopping_) {
    const int socket = accept4(listener_, nullptr, nullptr, SOCK_CLOEXEC);
    if (socket < 0) continue;
    ++connections_;
    const std::lock_guard lock(mutex_);
    sockets_.push_back(socket);
    threads_.emplace_back([this, socket] { Serve(socket); });
  }
}

void FakeServer::Serve(int socket) {
  {
    Connection connection(socket, static_cast<SSL_CTX*>(tls_context_.get()));
    std::string text;
    size_t end = std::string::npos;
    if (!connection.open()) {  // the alert has to arrive before the socket goes
      shutdown(socket, SHUT_WR);
      char rest[256];
      while (recv(socket, rest, sizeof rest, 0) > 0) {
      }
    }
    while (connection.open() && (end = text.find("\r\n\r\n")) == std::string::npos) {
      if (!connection.Read(text)) break;
      if (tls_context_ == nullptr && text.front() == '\x16') {  // TLS where there is none
        connection.Write("HTTP/1.0 400 Bad Request\r\n\r\n");
        break;
      }
    }
    if (end != std::string::npos) {
      FakeRequest request = ParseHead(text.substr(0, end));
      const size_t length = std::strtoul(request.Header("Content-Length").c_str(), nullptr, 10);
      request.body = text.substr(end + 4);
      while (request.body.size() < length && connection.Read(request.body)) {
      }
      const std::optional<std::string> answer = handler_(request);
      if (answer) {
        connection.Write(*answer);
      } else {
        while (!stopping_ && connection.Read(text)) {
        }
      }
    }
  }
  const std::lock_guard lock(mutex_);
  std::erase(sockets_, socket);
  close(socket);
}

std::string HttpAnswer(int status, const std::string& body, const std::string& content_type,
                       const std::string& more_headers) {
  return "HTTP/1.1 " + std::to_string(status) + " Whatever\r\nContent-Type: " + content_type +
         "\r\nContent-Length: " + std::to_string(body.size()) + "\r\nConnection: close\r\n" +
         more_headers + "\r\n" + body;
}

int ClosedPort() {
  const int probe = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof address;
  bind(probe, reinterpret_cast<sockaddr*>(&address), size);
  getsockname(probe, reinterpret_cast<sockaddr*>(&address), &size);
  close(probe);
  return ntohs(address.sin_port);
}

}  // namespace tidemark::client
