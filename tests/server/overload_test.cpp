// Row 46 of docs/remote-write.md, the server's half: a request for which there is no room is
// refused before its body is read, the connection stays usable, and other routes do not notice.

#include <string>
#include <vector>

#include "server/handler_pool.h"
#include "tests/server/fixture.h"

namespace tidemark::server {
namespace {

/// A server with one bulk route, POST /bulk (the length of the body, at most 1 MiB), beside those
/// of Fixture, and handlers that wait at a gate.
struct BulkFixture {
  explicit BulkFixture(
      uint64_t budget_bytes = 64 << 20,
      const std::function<void(Options&)>& change = [](Options&) {})
      : budget(budget_bytes) {
    Options options;
    options.listen_address = "127.0.0.1:0";
    options.worker_threads = 4;  // three for bulk
    options.body_budget = &budget;
    change(options);
    HttpRoute bulk;
    bulk.path = "/bulk";
    bulk.methods = {"POST"};
    bulk.max_body_bytes = 1 << 20;
    bulk.bulk = true;
    bulk.handler = [this](const HttpRequest& request) {
      ++handled;
      gate.Pass();
      return HttpResponse::Text(200, std::to_string(request.body.size()));
    };
    bulk.overloaded = [this](const HttpRequest& request, OverloadCause cause) {
      ++refused;
      HttpResponse response =
          HttpResponse::Text(503, cause == OverloadCause::kBytes ? "bytes" : "queue");
      response.headers.push_back({"Retry-After", std::string(request.Header("Retry-Attempt"))});
      return response;
    };
    HttpRoute hello;
    hello.path = "/hello";
    hello.methods = {"GET"};
    hello.handler = [](const HttpRequest&) { return HttpResponse::Text(200, "hello"); };
    auto started = Server::Start(options, {std::move(bulk), std::move(hello)}, counters, clock);
    REQUIRE(started);
    server = std::move(*started);
  }
  ~BulkFixture() { gate.Open(); }
  BulkFixture(const BulkFixture&) = delete;
  BulkFixture& operator=(const BulkFixture&) = delete;

  Client Connect() const {
    Client client(server->port());
    REQUIRE(client.connected());
    return client;
  }
  /// Fills the three workers that bulk may take and lets `waiting` more wait behind them.
  std::vector<Client> Crowd(int waiting) {
    std::vector<Client> clients;
    for (int i = 0; i < 3 + waiting; ++i) {
      clients.push_back(Connect());
      REQUIRE(clients.back().Send(MakeRequest("POST", "/bulk", "crowd")));
      if (i < 3) REQUIRE(gate.AwaitArrivals(i + 1));
    }
    REQUIRE(Eventually([&] { return counters.queued_requests_now == waiting; }));
    return clients;
  }

  const SystemClock clock;
  HttpCounters counters;
  ByteBudget budget;
  Gate gate;
  std::atomic<int> handled = 0;
  std::atomic<int> refused = 0;
  std::unique_ptr<Server> server;
};

std::string Announce(uint64_t bytes, const std::string& more = {}) {
  return MakeRequest("POST", "/bulk", {},
                     more + "Content-Length: " + std::to_string(bytes) + "\r\n");
}

TEST_CASE("Without room for a body its headers are answered 503, and the connection is kept",
          "[server][overload]") {
  BulkFixture fixture(300'000);
  fixture.gate.Open();
  Client client = fixture.Connect();
  // Only the headers: the answer does not wait for the body.
  REQUIRE(client.Send(Announce(300'001, "Retry-Attempt: 40\r\n")));
  auto reply = client.Read();
  REQUIRE(reply);
  CHECK(reply->status == 503);
  CHECK(reply->body == "bytes\n");
  CHECK(reply->Header("Retry-After") == "40");
  CHECK(reply->Header("Connection") == "keep-alive");
  CHECK(fixture.budget.taken() == 0);
  // The body comes all the same, and the next request behind it.
  REQUIRE(client.Send(std::string(300'001, 'x')));
  reply = client.Ask(MakeRequest("POST", "/bulk", std::string(200'000, 'x')));
  REQUIRE(reply);
  CHECK(reply->status == 200);
  CHECK(reply->body == "200000\n");
  CHECK(fixture.counters.connections_total == 1);
  CHECK(fixture.handled == 1);
}

TEST_CASE("A refused body that comes with its headers is thrown away up to the next request",
          "[server][overload]") {
  BulkFixture fixture(5000);
  fixture.gate.Open();
  Client client = fixture.Connect();
  const std::string large = MakeRequest("POST", "/bulk", std::string(20'000, 'x'));
  const std::string small = MakeRequest("POST", "/bulk", "small");
  REQUIRE(client.Send(large + small + large + large + small));
  for (const unsigned status : {503, 200, 503, 503, 200}) {
    const auto reply = client.Read();
    REQUIRE(reply);
    CHECK(reply->status == status);
  }
  CHECK_FALSE(client.HasInput());
}

TEST_CASE("A body that is too long to throw away, or that may not come, closes the connection",
          "[server][overload]") {
  BulkFixture fixture(1000, [](Options& options) { options.discard_bytes = 5000; });
  for (const std::string& request :
       {Announce(5001), Announce(2000, "Expect: 100-continue\r\n"),
        MakeRequest("POST", "/bulk", {}, "Transfer-Encoding: chunked\r\n")}) {
    Client client = fixture.Connect();
    const auto reply = client.Ask(request);
    REQUIRE(reply);
    CHECK(reply->status == 503);
    CHECK(reply->Header("Connection") == "close");
    CHECK(client.WaitForEnd());
  }
  CHECK(fixture.counters.requests_by_class[1] == 0);
}

TEST_CASE("A refused body that does not come is waited for only so long", "[server][overload]") {
  BulkFixture fixture(
      1000, [](Options& options) { options.linger_timeout = std::chrono::milliseconds(50); });
  Client client = fixture.Connect();
  const auto reply = client.Ask(Announce(2000));
  REQUIRE(reply);
  CHECK(reply->Header("Connection") == "keep-alive");
  CHECK(client.WaitForEnd());
}

TEST_CASE("A body that outgrows the room while it comes is refused, and what it held is given back",
          "[server][overload]") {
  BulkFixture fixture(200'000);
  fixture.gate.Open();
  Client first = fixture.Connect();
  Client second = fixture.Connect();
  // Both are admitted: neither holds anything yet.
  REQUIRE(first.Send(Announce(190'000)));
  REQUIRE(Eventually([&] { return fixture.budget.taken() > 0; }));
  const uint64_t held = fixture.budget.taken();
  SECTION("announced") {
    REQUIRE(second.Send(Announce(200'000 - held)));
    REQUIRE(Eventually([&] { return fixture.budget.taken() > held; }));
    REQUIRE(first.Send(std::string(190'000, 'x')));
    const auto reply = first.Read();
    REQUIRE(reply);
    CHECK(reply->status == 503);
    CHECK(reply->Header("Connection") == "keep-alive");
    REQUIRE(second.Send(std::string(200'000 - held, 'x')));
    CHECK(second.Read()->status == 200);
    CHECK(first.Ask(MakeRequest("POST", "/bulk", "again"))->status == 200);
  }
  SECTION("in chunks") {
    REQUIRE(second.Send(MakeRequest("POST", "/bulk", {}, "Transfer-Encoding: chunked\r\n") +
                        "30000\r\n" + std::string(0x30000, 'x') + "\r\n"));
    const auto reply = second.Read();
    REQUIRE(reply);
    CHECK(reply->status == 503);
    CHECK(reply->Header("Connection") == "close");
    REQUIRE(first.Send(std::string(190'000, 'x')));
    CHECK(first.Read()->status == 200);
  }
  CHECK(Eventually([&] { return fixture.budget.taken() == 0; }));
}

TEST_CASE("Each request of a connection books its body, and an idle connection holds nothing",
          "[server][overload]") {
  BulkFixture fixture;
  fixture.gate.Open();
  Client client = fixture.Connect();
  const std::string request = MakeRequest("POST", "/bulk", std::string(200'000, 'x'));
  for (int round = 0; round < 3; ++round) {
    REQUIRE(client.Send(request.substr(0, 150'000)));
    CHECK(Eventually([&] { return fixture.budget.taken() >= 140'000; }));
    REQUIRE(client.Send(request.substr(150'000)));
    CHECK(client.Read()->status == 200);
    CHECK(fixture.budget.taken() == 0);  // let go before the answer
  }
}

TEST_CASE("A body of the size of the whole budget passes, by length and in chunks",
          "[server][overload]") {
  BulkFixture fixture(1 << 20);
  fixture.gate.Open();
  Client client = fixture.Connect();
  const std::string body(1 << 20, 'x');
  // In two pieces of an odd size, so that growing by doubling would pass the budget.
  const std::string request = MakeRequest("POST", "/bulk", body);
  REQUIRE(client.Send(request.substr(0, 3333)));
  REQUIRE(Eventually([&] { return fixture.budget.taken() > 0; }));
  REQUIRE(client.Send(request.substr(3333)));
  CHECK(client.Read()->body == "1048576\n");
  REQUIRE(client.Send(MakeRequest("POST", "/bulk", {}, "Transfer-Encoding: chunked\r\n")));
  for (size_t at = 0; at < body.size(); at += 4096) {
    REQUIRE(client.Send("1000\r\n" + body.substr(at, 4096) + "\r\n"));
  }
  CHECK(client.Ask("0\r\n\r\n")->body == "1048576\n");
  CHECK(fixture.refused == 0);
}

TEST_CASE("While requests wait long for a worker, new ones are refused before their body is read",
          "[server][overload]") {
  // Long enough that on a busy machine the crowd itself is let in.
  BulkFixture fixture(64 << 20, [](Options& options) {
    options.max_bulk_delay = std::chrono::milliseconds(500);
    options.max_bulk_wait = std::chrono::minutes(1);
  });
  std::vector<Client> crowd = fixture.Crowd(2);
  Client client = fixture.Connect();
  CHECK(client.StaysSilent(std::chrono::milliseconds(600)));  // so long the two have waited then
  const auto reply = client.Ask(Announce(1000));
  REQUIRE(reply);
  CHECK(reply->status == 503);
  CHECK(reply->body == "queue\n");
  CHECK(reply->Header("Connection") == "keep-alive");
  // Whoever asks for little is not behind them.
  CHECK(fixture.Connect().Ask(MakeRequest("GET", "/hello"))->status == 200);

  fixture.gate.Open();
  for (Client& waiting : crowd) {
    const auto answer = waiting.Read();
    REQUIRE(answer);
    CHECK(answer->status == 200);
  }
  REQUIRE(client.Send(std::string(1000, 'x')));
  CHECK(client.Ask(MakeRequest("POST", "/bulk", "now"))->status == 200);
  CHECK(fixture.counters.queued_requests_now == 0);
}

TEST_CASE("A request that has waited too long for a worker is refused undone",
          "[server][overload]") {
  BulkFixture fixture(64 << 20, [](Options& options) {
    options.max_bulk_delay = std::chrono::minutes(1);
    options.max_bulk_wait = std::chrono::milliseconds(500);
  });
  std::vector<Client> crowd = fixture.Crowd(5);
  // The last has come more than 500 ms before the gate opens.
  CHECK(fixture.Connect().StaysSilent(std::chrono::milliseconds(600)));
  fixture.gate.Open();
  for (size_t i = 0; i < crowd.size(); ++i) {
    const auto reply = crowd[i].Read();
    REQUIRE(reply);
    CHECK(reply->status == (i < 3 ? 200 : 503));
    CHECK(reply->Header("Connection") == "keep-alive");
  }
  CHECK(fixture.handled == 3);
  CHECK(fixture.refused == 5);
  CHECK(crowd.back().Ask(MakeRequest("POST", "/bulk", "again"))->status == 200);
}

TEST_CASE("A crowd that comes at once is foreseen by the pace at which it is served",
          "[server][overload]") {
  HttpCounters counters;
  HandlerPool pool(counters);
  constexpr int kTasks = 60;
  constexpr int kLook = 30;
  std::atomic<int> done = 0;
  HandlerPool::Duration waited_at_look{};
  HandlerPool::Duration delay_at_look{};
  for (int i = 0; i < kTasks; ++i) {
    pool.Post(true, [&](HandlerPool::Duration waited) {
      const auto end = std::chrono::steady_clock::now() + std::chrono::milliseconds(5);
      while (std::chrono::steady_clock::now() < end) {
      }
      if (++done != kLook) return;
      waited_at_look = waited;
      delay_at_look = pool.BulkDelay();
    });
  }
  CHECK(counters.queued_requests_now == kTasks);
  pool.Start(2);  // one for bulk
  CHECK(Eventually([&] { return done == kTasks; }));
  CHECK(waited_at_look >= (kLook - 1) * std::chrono::milliseconds(5));
  CHECK(delay_at_look >= (kTasks - kLook) * std::chrono::milliseconds(5) / 2);
  CHECK(pool.BulkDelay() == HandlerPool::Duration::zero());
  CHECK(counters.queued_requests_now == 0);
}

TEST_CASE("Bulk requests are handled while others never cease", "[server][overload]") {
  constexpr int kMost = 20'000;
  HttpCounters counters;
  HandlerPool pool(counters);
  std::atomic<int> prompt_runs = 0;
  std::atomic<int> runs_before_bulk = kMost;
  std::atomic<bool> bulk_done = false;
  // Each is followed by another before it ends, so that the queue is never empty.
  std::function<void(HandlerPool::Duration)> prompt = [&](HandlerPool::Duration) {
    if (!bulk_done && ++prompt_runs < kMost) pool.Post(false, prompt);
  };
  for (int i = 0; i < 4; ++i) pool.Post(false, prompt);
  pool.Post(true, [&](HandlerPool::Duration) {
    runs_before_bulk = prompt_runs.load();
    bulk_done = true;
  });
  pool.Start(2);
  CHECK(Eventually([&] { return bulk_done.load(); }));
  pool.Stop();
  CHECK(runs_before_bulk < kMost);
}

TEST_CASE("A stop answers the bulk requests that wait for a worker", "[server][overload]") {
  BulkFixture fixture;
  std::vector<Client> crowd = fixture.Crowd(4);
  std::thread stopper([&] { fixture.server->Stop(); });
  fixture.gate.Open();
  for (Client& client : crowd) {
    const auto reply = client.Read();
    REQUIRE(reply);
    CHECK(reply->status == 200);
  }
  stopper.join();
  CHECK(fixture.budget.taken() == 0);
}

}  // namespace
}  // namespace tidemark::server
