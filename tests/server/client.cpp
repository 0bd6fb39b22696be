#include "tests/server/client.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <strings.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <cstdlib>
#include <cstring>

namespace tidemark::server {

std::optional<std::string> Reply::Header(std::string_view name) const {
  size_t line = head.find("\r\n");
  while (line != std::string::npos && line + 2 < head.size()) {
    line += 2;
    const size_t end = head.find("\r\n", line);
    const size_t colon = head.find(':', line);
    if (colon < end && colon - line == name.size() &&
        strncasecmp(&head[line], name.data(), name.size()) == 0) {
      const size_t value = head.find_first_not_of(' ', colon + 1);
      return head.substr(value, end - value);
    }
    line = end;
  }
  return std::nullopt;
}

Client::Client(uint16_t port, const char* address)
    : socket_(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
  timeval timeout{};
  timeout.tv_sec = 10;
  setsockopt(socket_, SOL_SOCKET, SO_SNDTIMEO, &timeout, sizeof(timeout));
  const int on = 1;
  setsockopt(socket_, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
  sockaddr_in server{};
  server.sin_family = AF_INET;
  server.sin_port = htons(port);
  inet_pton(AF_INET, address, &server.sin_addr);
  if (connect(socket_, reinterpret_cast<const sockaddr*>(&server), sizeof(server)) != 0)
    Disconnect();
}

Client::~Client() { Disconnect(); }

std::string Client::LocalName() const {
  sockaddr_in local{};
  socklen_t size = sizeof(local);
  getsockname(socket_, reinterpret_cast<sockaddr*>(&local), &size);
  std::array<char, INET_ADDRSTRLEN> text{};
  inet_ntop(AF_INET, &local.sin_addr, text.data(), text.size());
  return std::string(text.data()) + ":" + std::to_string(ntohs(local.sin_port));
}

bool Client::Send(std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t sent = send(socket_, bytes.data(), bytes.size(), MSG_NOSIGNAL);
    if (sent <= 0) return false;
    bytes.remove_prefix(static_cast<size_t>(sent));
  }
  return true;
}

void Client::FinishSending() { shutdown(socket_, SHUT_WR); }

void Client::Disconnect(bool reset) {
  if (socket_ < 0) return;
  if (reset) {
    const linger hard{1, 0};
    setsockopt(socket_, SOL_SOCKET, SO_LINGER, &hard, sizeof(hard));
  }
  close(socket_);
  socket_ = -1;
}

int Client::ReadMore(std::chrono::milliseconds timeout) {
  pollfd readable{socket_, POLLIN, 0};
  if (poll(&readable, 1, static_cast<int>(timeout.count())) <= 0) return -1;
  std::array<char, 65536> bytes{};
  const ssize_t got = recv(socket_, bytes.data(), bytes.size(), 0);
  if (got > 0) input_.append(bytes.data(), static_cast<size_t>(got));
  return static_cast<int>(got);
}

std::optional<Reply> TakeReply(std::string& input, const std::function<int()>& read_more,
                               bool to_head) {
  size_t head_end = 0;
  while ((head_end = input.find("\r\n\r\n")) == std::string::npos) {
    if (read_more() <= 0) return std::nullopt;
  }
  Reply reply;
  reply.head = input.substr(0, head_end + 2);
  input.erase(0, head_end + 4);
  if (!reply.head.starts_with("HTTP/1.1 ")) return std::nullopt;
  reply.status = static_cast<unsigned>(std::atoi(&reply.head[9]));
  if (to_head) return reply;
  const size_t length =
      std::strtoul(reply.Header("Content-Length").value_or("0").c_str(), nullptr, 10);
  while (input.size() < length) {
    if (read_more() <= 0) return std::nullopt;
  }
  reply.body = input.substr(0, length);
  input.erase(0, length);
  return reply;
}

std::optional<Reply> Client::Read(bool to_head) {
  return TakeReply(
      input_, [this] { return ReadMore(); }, to_head);
}

std::optional<Reply> Client::Ask(std::string_view request) {
  if (!Send(request)) return std::nullopt;
  return Read();
}

bool Client::WaitForEnd(std::chrono::milliseconds timeout) {
  const auto end = std::chrono::steady_clock::now() + timeout;
  for (;;) {
    const auto left =
        std::chrono::ceil<std::chrono::milliseconds>(end - std::chrono::steady_clock::now());
    if (left.count() <= 0) return false;
    const int got = ReadMore(left);
    if (got <= 0) return got == 0;
  }
}

bool Client::StaysSilent(std::chrono::milliseconds time) {
  pollfd readable{socket_, POLLIN, 0};
  return input_.empty() && poll(&readable, 1, static_cast<int>(time.count())) == 0;
}

std::string MakeRequest(std::string_view method, std::string_view target, std::string_view body,
                        std::string_view header_lines) {
  std::string request;
  request.append(method)
      .append(" ")
      .append(target)
      .append(" HTTP/1.1\r\nHost: test\r\n")
      .append(header_lines);
  if (!body.empty())
    request.append("Content-Length: ").append(std::to_string(body.size())).append("\r\n");
  return request.append("\r\n").append(body);
}

}  // namespace tidemark::server
