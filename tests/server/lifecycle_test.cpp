// Starting, stopping, limits and many clients at a time.

#include <netdb.h>

#include "tests/server/fixture.h"

namespace tidemark::server {
namespace {

using std::chrono::milliseconds;
using std::chrono::steady_clock;

TEST_CASE("A server says where it listens", "[server][lifecycle]") {
  Fixture fixture;
  CHECK(fixture.server->port() != 0);
  CHECK(fixture.server->address() == "127.0.0.1:" + std::to_string(fixture.server->port()));
}

TEST_CASE("Without a host all interfaces are listened on", "[server][lifecycle]") {
  Fixture fixture([](Options& options) { options.listen_address = ":0"; });
  Client client(fixture.server->port(), "127.0.0.2");
  REQUIRE(client.connected());
  const std::string local = client.LocalName();
  const auto reply = client.Ask(MakeRequest("GET", "/show"));
  REQUIRE(reply);
  // Also where IPv6 takes the connection, the peer is written as IPv4.
  CHECK(reply->body == "GET\n/show\n" + local + "\nnone");
}

TEST_CASE("A host name can be listened on", "[server][lifecycle]") {
  addrinfo* found = nullptr;
  if (getaddrinfo("localhost", nullptr, nullptr, &found) != 0) {
    WARN("skipped: this machine has no name \"localhost\"");
    return;
  }
  freeaddrinfo(found);
  Fixture fixture([](Options& options) { options.listen_address = "localhost:0"; });
  CHECK(fixture.server->port() != 0);
}

TEST_CASE("An address in use is an error that names it", "[server][lifecycle]") {
  Fixture first;
  Options options;
  options.listen_address = first.server->address();
  HttpCounters counters;
  ManualClock clock(FromUnixMs(0));
  const auto second = Server::Start(options, {}, counters, clock);
  REQUIRE_FALSE(second);
  CHECK(second.error().code == ErrorCode::kIo);
  CHECK(second.error().message.find(first.server->address()) != std::string::npos);
}

TEST_CASE("Options and routes that make no sense are errors", "[server][lifecycle]") {
  HttpCounters counters;
  ManualClock clock(FromUnixMs(0));
  const auto start = [&](const std::function<void(Options&)>& change,
                         std::vector<HttpRoute> routes) {
    Options options;
    options.listen_address = "127.0.0.1:0";
    change(options);
    const auto started = Server::Start(options, std::move(routes), counters, clock);
    return started ? std::string("started") : started.error().message;
  };
  CHECK(start([](Options&) {}, {}) == "started");
  CHECK(start([](Options& o) { o.listen_address = "nonsense"; }, {}).find("nonsense") !=
        std::string::npos);
  CHECK(start([](Options& o) { o.listen_address = "192.0.2.1:0"; }, {}).find("192.0.2.1:0") !=
        std::string::npos);
  CHECK(start([](Options& o) { o.max_header_bytes = 1; }, {}).find("max_header_bytes") !=
        std::string::npos);
  CHECK(start([](Options& o) { o.max_connections = 0; }, {}).find("max_connections") !=
        std::string::npos);
  CHECK(start([](Options& o) { o.body_deadline = milliseconds(0); }, {}).find("body_deadline") !=
        std::string::npos);
  CHECK(start([](Options&) {}, {HttpRoute{"x", {"GET"}, {}, {}, 1}}).find("\"x\"") !=
        std::string::npos);
}

TEST_CASE("A stop answers what is in flight and refuses what is new", "[server][lifecycle]") {
  Fixture fixture;
  const uint16_t port = fixture.server->port();
  Client handled = fixture.Connect();
  REQUIRE(handled.Send(MakeRequest("GET", "/gate")));
  Client sending = fixture.Connect();
  REQUIRE(sending.Send(MakeRequest("POST", "/echo", {}, "Content-Length: 5\r\n") + "he"));
  Client idle = fixture.Connect();
  REQUIRE(idle.Ask(MakeRequest("GET", "/hello")));
  Client half = fixture.Connect();
  REQUIRE(half.Send("GET /hel"));
  Client silent = fixture.Connect();
  REQUIRE(fixture.gate.AwaitArrivals(1));
  REQUIRE(Eventually(
      [&] { return fixture.counters.requests_now == 2 && fixture.counters.connections_now == 5; }));

  std::atomic<bool> stopped = false;
  std::thread stopper([&] {
    fixture.server->Stop();
    stopped = true;
  });
  CHECK(idle.WaitForEnd());
  // With unread input the end may be a reset; an answer it is not.
  CHECK_FALSE(half.Read());
  CHECK(silent.WaitForEnd());
  CHECK_FALSE(Client(port).connected());
  CHECK_FALSE(stopped);

  const auto echoed = sending.Ask("llo");
  REQUIRE(echoed);
  CHECK(echoed->status == 200);
  CHECK(echoed->body == "hello");
  CHECK(echoed->Header("Connection") == "close");
  CHECK(sending.WaitForEnd());
  CHECK_FALSE(stopped);

  fixture.gate.Open();
  const auto through = handled.Read();
  REQUIRE(through);
  CHECK(through->status == 200);
  CHECK(through->Header("Connection") == "close");
  CHECK(handled.WaitForEnd());
  stopper.join();
  CHECK(fixture.counters.connections_now == 0);
  CHECK(fixture.counters.requests_now == 0);
  fixture.server->Stop();
}

TEST_CASE("A stop does not wait for a client longer than the drain timeout",
          "[server][lifecycle]") {
  Fixture fixture([](Options& options) { options.drain_timeout = milliseconds(100); });
  Client client = fixture.Connect();
  REQUIRE(client.Send(MakeRequest("POST", "/echo", {}, "Content-Length: 5\r\n") + "he"));
  REQUIRE(Eventually([&] { return fixture.counters.requests_now == 1; }));
  const auto begin = steady_clock::now();
  fixture.server->Stop();
  const auto took = steady_clock::now() - begin;
  CHECK(took >= milliseconds(100));
  CHECK(took < milliseconds(5000));
  CHECK_FALSE(client.Read());
  CHECK(fixture.handled == 0);
  CHECK(fixture.counters.requests_now == 0);
}

TEST_CASE("Two threads may stop a server, and both return when it has stopped",
          "[server][lifecycle]") {
  Fixture fixture;
  Client client = fixture.Connect();
  REQUIRE(client.Ask(MakeRequest("GET", "/hello")));
  std::thread other([&] {
    fixture.server->Stop();
    CHECK(fixture.counters.connections_now == 0);
  });
  fixture.server->Stop();
  const int64_t open = fixture.counters.connections_now;
  other.join();
  CHECK(open == 0);
}

TEST_CASE("A port is free again after a stop", "[server][lifecycle]") {
  std::string address;
  {
    Fixture fixture;
    address = fixture.server->address();
    Client client = fixture.Connect();
    REQUIRE(client.Ask(MakeRequest("GET", "/hello", {}, "Connection: close\r\n")));
  }
  Fixture again([&](Options& options) { options.listen_address = address; });
  CHECK(again.server->address() == address);
}

TEST_CASE("A connection over the limit is told so when all are busy, and there is room again later",
          "[server][lifecycle]") {
  Fixture fixture([](Options& options) { options.max_connections = 2; });
  Client first = fixture.Connect();
  Client second = fixture.Connect();
  REQUIRE(first.Send(MakeRequest("GET", "/gate")));
  REQUIRE(second.Send(MakeRequest("POST", "/echo", {}, "Content-Length: 5\r\n") + "he"));
  REQUIRE(Eventually([&] { return fixture.counters.requests_now == 2; }));
  Client third = fixture.Connect();
  const auto refused = third.Ask(MakeRequest("POST", "/large", std::string(100'000, 'x')));
  REQUIRE(refused);
  CHECK(refused->status == 503);
  CHECK(refused->Header("Connection") == "close");
  CHECK(refused->Header("Retry-After") == "5");
  CHECK(third.WaitForEnd());
  CHECK(fixture.counters.connections_refused == 1);
  CHECK(fixture.counters.connections_now == 2);
  CHECK(fixture.handled == 0);
  second.Disconnect();
  REQUIRE(Eventually([&] { return fixture.counters.connections_now == 1; }));
  Client fourth = fixture.Connect();
  CHECK(fourth.Ask(MakeRequest("GET", "/hello"))->status == 200);
  CHECK(fixture.counters.connections_total == 3);
  CHECK(fixture.counters.connections_evicted == 0);
  fixture.gate.Open();
  CHECK(first.Read()->status == 200);
}

TEST_CASE("A new connection takes the place of the one that has been idle longest",
          "[server][lifecycle]") {
  Fixture fixture([](Options& options) { options.max_connections = 3; });
  Client busy = fixture.Connect();
  REQUIRE(busy.Send(MakeRequest("GET", "/gate")));
  REQUIRE(fixture.gate.AwaitArrivals(1));
  // A client has its answer a moment before the server takes the connection for idle.
  const auto ask = [&](Client& client) {
    const auto reply = client.Ask(MakeRequest("GET", "/hello"));
    const bool idle = Eventually([&] { return fixture.counters.requests_now == 1; });
    return reply && reply->status == 200 && idle;
  };
  Client longest = fixture.Connect();
  Client shorter = fixture.Connect();
  REQUIRE(ask(longest));
  REQUIRE(ask(shorter));

  Client fresh = fixture.Connect();
  CHECK(ask(fresh));
  CHECK(longest.WaitForEnd());
  CHECK(ask(shorter));
  CHECK(fixture.counters.connections_evicted == 1);
  CHECK(fixture.counters.connections_refused == 0);
  // Now the fresh one is idle longest.
  Client next = fixture.Connect();
  CHECK(ask(next));
  CHECK(fresh.WaitForEnd());
  CHECK(ask(shorter));
  fixture.gate.Open();
  CHECK(busy.Read()->status == 200);
  CHECK(Eventually([&] { return fixture.counters.connections_now == 3; }));
}

TEST_CASE("Connections that have never asked for anything shut nobody out for their sake",
          "[server][lifecycle]") {
  Fixture fixture([](Options& options) {
    options.max_connections = 1;
    options.header_deadline = milliseconds(200);
  });
  Client silent = fixture.Connect();
  REQUIRE(Eventually([&] { return fixture.counters.connections_now == 1; }));
  // It may be about to send its first request: the new one is told to come again...
  Client early = fixture.Connect();
  CHECK(early.Ask(MakeRequest("GET", "/hello"))->status == 503);
  // ... and the silent one goes at its deadline.
  CHECK(silent.WaitForEnd());
  REQUIRE(Eventually([&] { return fixture.counters.connections_now == 0; }));
  CHECK(fixture.Connect().Ask(MakeRequest("GET", "/hello"))->status == 200);
}

TEST_CASE("A crowd of idle connections and a stream of new ones all get their answers",
          "[server][lifecycle]") {
  Fixture fixture([](Options& options) { options.max_connections = 4; });
  std::vector<Client> all;
  all.reserve(200);
  for (int i = 0; i < 200; ++i) {
    all.emplace_back(fixture.server->port());
    const auto reply = all.back().Ask(MakeRequest("GET", "/hello"));
    REQUIRE(reply);
    // Between its answer and being idle a connection cannot be evicted yet.
    REQUIRE((reply->status == 200 || reply->status == 503));
  }
  CHECK(fixture.counters.connections_evicted > 150);
  CHECK(Eventually([&] { return fixture.counters.connections_now <= 4; }));
}

TEST_CASE("A crowd over the limit is turned away without harm", "[server][lifecycle]") {
  Fixture fixture([](Options& options) { options.max_connections = 1; });
  Client first = fixture.Connect();
  REQUIRE(first.Send(MakeRequest("GET", "/gate")));
  REQUIRE(fixture.gate.AwaitArrivals(1));
  std::vector<Client> crowd;
  crowd.reserve(200);
  for (int i = 0; i < 200; ++i) crowd.emplace_back(fixture.server->port());
  CHECK(Eventually([&] { return fixture.counters.connections_refused == 200; }));
  fixture.gate.Open();
  CHECK(first.Read()->status == 200);
  CHECK(fixture.counters.connections_now == 1);
}

TEST_CASE("Handlers run side by side", "[server][lifecycle]") {
  Fixture fixture;
  std::vector<Client> clients;
  for (int i = 0; i < 3; ++i) {
    clients.push_back(fixture.Connect());
    REQUIRE(clients.back().Send(MakeRequest("GET", "/gate")));
  }
  REQUIRE(fixture.gate.AwaitArrivals(3));
  // The fourth worker goes on.
  Client quick = fixture.Connect();
  CHECK(quick.Ask(MakeRequest("GET", "/hello"))->status == 200);
  fixture.gate.Open();
  for (Client& client : clients) {
    const auto reply = client.Read();
    REQUIRE(reply);
    CHECK(reply->body == "through");
  }
}

TEST_CASE("Many clients are served at a time and every request is counted", "[server][lifecycle]") {
  constexpr int kClients = 50;
  constexpr int kRequests = 100;
  Fixture fixture;
  std::atomic<int> good = 0;
  std::vector<std::thread> threads;
  threads.reserve(kClients);
  for (int t = 0; t < kClients; ++t) {
    threads.emplace_back([&fixture, &good, t] {
      Client client(fixture.server->port());
      for (int i = 0; i < kRequests; ++i) {
        const std::string body =
            std::to_string(t) + "/" + std::to_string(i) + std::string(static_cast<size_t>(i), '.');
        const auto reply = client.Ask(MakeRequest("POST", "/echo", body));
        if (reply && reply->status == 200 && reply->body == body) ++good;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  CHECK(good == kClients * kRequests);
  CHECK(fixture.handled == kClients * kRequests);
  CHECK(fixture.counters.requests_by_class[2] == kClients * kRequests);
  CHECK(fixture.counters.connections_total == kClients);
  fixture.server->Stop();
  CHECK(fixture.counters.connections_now == 0);
  CHECK(fixture.counters.requests_now == 0);
  CHECK(fixture.counters.protocol_errors == 0);
}

TEST_CASE("A stop under load cuts no answer", "[server][lifecycle]") {
  Fixture fixture;
  std::atomic<int> answered = 0;
  std::atomic<int> cut = 0;
  std::vector<std::thread> threads;
  threads.reserve(10);
  for (int t = 0; t < 10; ++t) {
    threads.emplace_back([&] {
      Client client(fixture.server->port());
      for (;;) {
        if (!client.Send(MakeRequest("POST", "/echo", "x"))) return;
        const auto reply = client.Read();
        if (!reply) {  // closed between two requests: then nothing of an answer has come
          if (client.HasInput()) ++cut;
          return;
        }
        ++answered;
        if (reply->status != 200 || reply->body != "x") ++cut;
        if (reply->Header("Connection") == "close") return;
      }
    });
  }
  CHECK(Eventually([&] { return answered > 200; }));
  fixture.server->Stop();
  for (std::thread& thread : threads) thread.join();
  CHECK(cut == 0);
  CHECK(fixture.counters.requests_by_class[2] == static_cast<uint64_t>(fixture.handled));
}

}  // namespace
}  // namespace tidemark::server
