#pragma once
// A server on a free port with routes that show what arrives, for the tests that talk to it over
// sockets.

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "model/clock.h"
#include "model/counters.h"
#include "model/http.h"
#include "server/access.h"
#include "server/server.h"
#include "tests/catch.h"
#include "tests/server/client.h"

namespace tidemark::server {

/// A door that handlers wait at until the test opens it.
class Gate {
 public:
  void Open() {
    const std::lock_guard lock(mutex_);
    open_ = true;
    changed_.notify_all();
  }
  void Pass() {
    std::unique_lock lock(mutex_);
    ++waiting_;
    changed_.notify_all();
    changed_.wait(lock, [this] { return open_; });
  }
  /// True when that many have come, ever; false after 10 s.
  bool AwaitArrivals(int count) {
    std::unique_lock lock(mutex_);
    return changed_.wait_for(lock, std::chrono::seconds(10),
                             [this, count] { return waiting_ >= count; });
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  int waiting_ = 0;
  bool open_ = false;
};

/// Polls until the condition holds; false after 10 s.
inline bool Eventually(const std::function<bool()>& condition) {
  const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(10);
  while (!condition()) {
    if (std::chrono::steady_clock::now() > end) return false;
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  return true;
}

/// The routes:
///   GET /hello          "hello"
///   POST /echo          the body; at most 1000 bytes
///   POST /large         the length of the body; at most 16 MiB
///   GET|POST /show      method, path, query, peer and announced length, a line each
///   GET /below/*        the path
///   POST /completed     a body of at most 1000 bytes; every answer gets X-Complete: PATH
///   POST /admitted      admission answers 415 unless X-Admit is "yes"; then the body
///   GET /empty          204
///   GET /throws         throws
///   GET|POST /gate      "through", once the gate is open
///   POST /hold          the same, with a body of at most 16 MiB
///   POST /write         the body; wants a bearer token
///   GET /big            64 MiB
///   GET /shown          the certificates that the client showed, in DER, one after the other
struct Fixture {
  explicit Fixture(
      const std::function<void(Options&)>& change = [](Options&) {}, AccessSources sources = {}) {
    Options options;
    options.listen_address = "127.0.0.1:0";
    options.worker_threads = 4;
    change(options);
    auto opened = Access::Open(std::move(sources), counters, clock);
    INFO((opened ? "" : opened.error().message));
    REQUIRE(opened);
    access = std::move(*opened);
    auto started = Server::Start(options, Routes(), counters, clock, access);
    REQUIRE(started);
    server = std::move(*started);
  }
  ~Fixture() { gate.Open(); }
  Fixture(const Fixture&) = delete;
  Fixture& operator=(const Fixture&) = delete;

  Client Connect() const {
    Client client(server->port());
    REQUIRE(client.connected());
    return client;
  }

  std::vector<HttpRoute> Routes();

  ManualClock clock{FromUnixMs(784'111'777'000)};  // Sun, 06 Nov 1994 08:49:37 GMT
  HttpCounters counters;
  Gate gate;
  std::atomic<int> handled = 0;  // calls of the handlers of /echo, /large and /admitted
  std::shared_ptr<Access> access;
  std::unique_ptr<Server> server;
};

inline std::vector<HttpRoute> Fixture::Routes() {
  const auto text = [](std::string body) {
    HttpResponse response;
    response.body = std::move(body);
    return response;
  };
  std::vector<HttpRoute> routes;
  routes.push_back(
      {"/hello", {"GET"}, [text](const HttpRequest&) { return text("hello"); }, {}, 1000});
  routes.push_back({"/echo",
                    {"POST"},
                    [this, text](const HttpRequest& request) {
                      ++handled;
                      return text(request.body);
                    },
                    {},
                    1000});
  routes.push_back({"/large",
                    {"POST"},
                    [this, text](const HttpRequest& request) {
                      ++handled;
                      return text(std::to_string(request.body.size()));
                    },
                    {},
                    16 << 20});
  // More than the sockets' buffers hold: an answer that nobody reads stays in memory.
  routes.push_back({"/page",
                    {"GET"},
                    [this, text](const HttpRequest&) {
                      ++handled;
                      return text(std::string(20 << 20, 'p'));
                    },
                    {},
                    0});
  routes.push_back({"/show",
                    {"GET", "POST"},
                    [text](const HttpRequest& request) {
                      std::string out = request.method + "\n" + request.path + "\n";
                      for (const auto& [name, value] : request.query) {
                        out.append(name).append("=").append(value).append("\n");
                      }
                      out.append(request.peer).append("\n");
                      out +=
                          request.content_length ? std::to_string(*request.content_length) : "none";
                      return text(out);
                    },
                    {},
                    1000});
  routes.push_back({"/below/*",
                    {"GET"},
                    [text](const HttpRequest& request) { return text(request.path); },
                    {},
                    1000});
  routes.push_back({"/completed",
                    {"POST"},
                    [text](const HttpRequest& request) { return text(request.body); },
                    {},
                    1000,
                    [](const HttpRequest& request, HttpResponse& response) {
                      response.headers.push_back({"X-Complete", request.path});
                    }});
  routes.push_back({"/admitted",
                    {"POST"},
                    [this, text](const HttpRequest& request) {
                      ++handled;
                      return text(request.body);
                    },
                    [](const HttpRequest& request) -> std::optional<HttpResponse> {
                      if (request.Header("x-admit") == "yes") return std::nullopt;
                      return HttpResponse::Text(415, "not admitted");
                    },
                    16 << 20});
  routes.push_back({"/empty",
                    {"GET"},
                    [](const HttpRequest&) {
                      HttpResponse response;
                      response.status = 204;
                      return response;
                    },
                    {},
                    1000});
  routes.push_back(
      {"/throws",
       {"GET"},
       [](const HttpRequest&) -> HttpResponse { throw std::runtime_error("on purpose"); },
       {},
       1000});
  routes.push_back({"/gate",
                    {"GET", "POST"},
                    [this, text](const HttpRequest&) {
                      gate.Pass();
                      return text("through");
                    },
                    {},
                    1000});
  routes.push_back({"/hold",
                    {"POST"},
                    [this, text](const HttpRequest&) {
                      gate.Pass();
                      return text("through");
                    },
                    {},
                    16 << 20});
  routes.push_back({"/write",
                    {"POST"},
                    [this, text](const HttpRequest& request) {
                      ++handled;
                      return text(request.body);
                    },
                    {},
                    16 << 20});
  routes.back().wants_bearer_token = true;
  routes.push_back({"/big",
                    {"GET"},
                    [text](const HttpRequest&) { return text(std::string(64 << 20, 'b')); },
                    {},
                    1000});
  routes.push_back({"/shown",
                    {"GET"},
                    [text](const HttpRequest& request) {
                      std::string all;
                      if (!request.peer_certificates) return text("none");
                      for (const std::string& one : *request.peer_certificates) all += one;
                      return text(all);
                    },
                    {},
                    1000});
  return routes;
}

}  // namespace tidemark::server
