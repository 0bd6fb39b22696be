#pragma once
// An HTTP server for tests that answers whatever it is told to, also what no server should.

#include <atomic>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace tidemark::client {

struct FakeRequest {
  std::string method;
  std::string target;  ///< path and query as they came
  std::vector<std::pair<std::string, std::string>> headers;
  std::string body;

  std::string Header(const std::string& name) const;  ///< no case; empty: absent
  std::string Path() const;
  /// Decoded, from the query and from a form in the body.
  std::optional<std::string> Parameter(const std::string& name) const;
};

/// The raw bytes of an answer, after which the connection is closed; nothing: it stays open and
/// silent until the server stops.
using FakeHandler = std::function<std::optional<std::string>(const FakeRequest&)>;

struct FakeTls {
  std::string certificate_pem;
  std::string key_pem;
  std::string client_ca_pem;  ///< not empty: clients must show a certificate of it
};

/// Listens on 127.0.0.1 from construction to destruction. The handler is called on any thread.
class FakeServer {
 public:
  explicit FakeServer(FakeHandler handler, std::optional<FakeTls> tls = std::nullopt);
  ~FakeServer();
  FakeServer(const FakeServer&) = delete;
  FakeServer& operator=(const FakeServer&) = delete;

  int port() const { return port_; }
  std::string url() const;
  size_t connections() const { return connections_; }

 private:
  class Connection;
  void Accept();
  void Serve(int socket);

  FakeHandler handler_;
  std::shared_ptr<void> tls_context_;
  int listener_ = -1;
  int port_ = 0;
  std::atomic<bool> stopping_{false};
  std::atomic<size_t> connections_{0};
  std::mutex mutex_;
  std::vector<int> sockets_;
  std::vector<std::jthread> threads_;
  std::jthread acceptor_;
};

/// `HTTP/1.1 STATUS …` with the body and its length.
std::string HttpAnswer(int status, const std::string& body,
                       const std::string& content_type = "application/json",
                       const std::string& more_headers = "");

/// A port on which nobody listens.
int ClosedPort();

}  // namespace tidemark::client
