#include "bench/kubernetes/connection.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <charconv>

namespace tidemark::bench {
namespace {

constexpr time_t kTimeoutSeconds = 10;
constexpr size_t kLargestAnswer = size_t{8} << 20;

/// The value of a header in the head of an answer, up to the line's end; empty without it.
std::string_view HeaderIn(std::string_view head, std::string_view name) {
  const auto same = [](char a, char b) {
    return std::tolower(static_cast<unsigned char>(a)) ==
           std::tolower(static_cast<unsigned char>(b));
  };
  for (size_t line = head.find("\r\n"); line != std::string_view::npos;
       line = head.find("\r\n", line + 2)) {
    const std::string_view rest = head.substr(line + 2);
    if (rest.size() <= name.size() || rest[name.size()] != ':' ||
        !std::equal(name.begin(), name.end(), rest.begin(), same)) {
      continue;
    }
    std::string_view value = rest.substr(name.size() + 1, rest.find("\r\n") - name.size() - 1);
    while (value.starts_with(' ')) value.remove_prefix(1);
    return value;
  }
  return {};
}

template <typename Number>
bool ReadNumber(std::string_view text, Number& out) {
  return std::from_chars(text.data(), text.data() + text.size(), out).ec == std::errc();
}

}  // namespace

SslContext MakeContext(const std::string& ca_file, const std::string& certificate_file,
                       const std::string& key_file) {
  SslContext context(SSL_CTX_new(TLS_client_method()));
  if (!context || SSL_CTX_load_verify_locations(context.get(), ca_file.c_str(), nullptr) != 1) {
    return nullptr;
  }
  SSL_CTX_set_verify(context.get(), SSL_VERIFY_PEER, nullptr);
  SSL_CTX_set_session_cache_mode(context.get(), SSL_SESS_CACHE_OFF);
  if (X509_VERIFY_PARAM_set1_ip_asc(SSL_CTX_get0_param(context.get()), "127.0.0.1") != 1) {
    return nullptr;
  }
  if (!certificate_file.empty() &&
      (SSL_CTX_use_certificate_chain_file(context.get(), certificate_file.c_str()) != 1 ||
       SSL_CTX_use_PrivateKey_file(context.get(), key_file.c_str(), SSL_FILETYPE_PEM) != 1)) {
    return nullptr;
  }
  return context;
}

bool Connection::Open() {
  Close();
  socket_ = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (socket_ < 0) return false;
  const int on = 1;
  const timeval timeout{kTimeoutSeconds, 0};
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(port_);
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  setsockopt(socket_, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
  setsockopt(socket_, SOL_SOCKET, SO_RCVTIMEO, &timeout, sizeof timeout);
  setsockopt(socket_, SOL_SOCKET, SO_SNDTIMEO, &timeout, sizeof timeout);
  if (connect(socket_, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0) {
    ssl_.reset(SSL_new(context_));
    if (ssl_ && SSL_set_fd(ssl_.get(), socket_) == 1 && SSL_connect(ssl_.get()) == 1) return true;
  }
  Close();
  return false;
}

void Connection::Close() {
  if (ssl_) SSL_shutdown(ssl_.get());
  ssl_.reset();
  if (socket_ >= 0) close(socket_);
  socket_ = -1;
}

bool Connection::Send(std::string_view bytes) {
  size_t written = 0;
  return SSL_write_ex(ssl_.get(), bytes.data(), bytes.size(), &written) == 1;
}

bool Connection::Receive() {
  constexpr size_t kPiece = 16 << 10;  // a TLS record
  const size_t before = buffer_.size();
  if (before > kLargestAnswer) return false;
  buffer_.resize(before + kPiece);
  size_t got = 0;
  const bool good = SSL_read_ex(ssl_.get(), buffer_.data() + before, kPiece, &got) == 1;
  buffer_.resize(before + got);
  return good;
}

Answer Connection::Ask(std::string_view request) {
  buffer_.clear();
  Answer answer;
  const auto fail = [&] {
    Close();
    return Answer();
  };
  if (!ssl_ && !Open()) return fail();
  if (!Send(request)) return fail();
  size_t head_end = std::string::npos;
  while ((head_end = buffer_.find("\r\n\r\n")) == std::string::npos) {
    if (!Receive()) return fail();
  }
  const size_t body = head_end + 4;
  std::string_view head = std::string_view(buffer_).substr(0, head_end + 2);
  size_t length = 0;
  if (!head.starts_with("HTTP/1.1 ") || !ReadNumber(head.substr(9, 3), answer.status) ||
      !ReadNumber(HeaderIn(head, "content-length"), length) || length > kLargestAnswer) {
    return fail();
  }
  const bool closes = HeaderIn(head, "connection") == "close";
  while (buffer_.size() < body + length) {
    if (!Receive()) return fail();
  }
  answer.body = std::string_view(buffer_).substr(body, length);
  if (closes) Close();
  return answer;
}

}  // namespace tidemark::bench
