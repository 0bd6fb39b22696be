// Clients that are too slow.

#include "tests/server/fixture.h"

namespace tidemark::server {
namespace {

using std::chrono::milliseconds;
using std::chrono::steady_clock;

/// Sends a byte every 20 ms for as long as the server takes them and does not answer.
void Drip(Client& client, std::string_view bytes) {
  for (const char c : bytes) {
    if (!client.StaysSilent(milliseconds(20)) || !client.Send(std::string(1, c))) return;
  }
}

TEST_CASE("Headers that trickle in are 408 after the deadline", "[server][deadlines]") {
  Fixture fixture([](Options& options) { options.header_deadline = milliseconds(200); });
  Client client = fixture.Connect();
  const auto begin = steady_clock::now();
  Drip(client, "GET /hello HTTP/1.1\r\nX: " + std::string(500, 'x'));
  const auto reply = client.Read();
  const auto took = steady_clock::now() - begin;
  REQUIRE(reply);
  CHECK(reply->status == 408);
  CHECK(reply->Header("Connection") == "close");
  CHECK(took >= milliseconds(200));
  CHECK(took < milliseconds(5000));
  client.FinishSending();
  CHECK(client.WaitForEnd());
  CHECK(fixture.counters.timeouts == 1);
  CHECK(fixture.counters.requests_by_class[4] == 1);
}

// row 48 of docs/remote-write.md.
TEST_CASE("A body that trickles in is 408 after the deadline", "[server][deadlines]") {
  Fixture fixture([](Options& options) { options.body_deadline = milliseconds(200); });
  for (const char* lines : {"Content-Length: 900\r\n", "Transfer-Encoding: chunked\r\n"}) {
    CAPTURE(lines);
    Client client = fixture.Connect();
    const auto begin = steady_clock::now();
    REQUIRE(client.Send(MakeRequest("POST", "/echo", {}, lines) + "384\r\n"));
    Drip(client, std::string(500, 'x'));
    const auto reply = client.Read();
    const auto took = steady_clock::now() - begin;
    REQUIRE(reply);
    CHECK(reply->status == 408);
    CHECK(took >= milliseconds(200));
    CHECK(took < milliseconds(5000));
    client.FinishSending();
    CHECK(client.WaitForEnd());
  }
  CHECK(fixture.counters.timeouts == 2);
  CHECK(fixture.handled == 0);
}

TEST_CASE("A client that never sends what it asked leave for is 408", "[server][deadlines]") {
  Fixture fixture([](Options& options) { options.body_deadline = milliseconds(100); });
  Client client = fixture.Connect();
  REQUIRE(client.Send(
      MakeRequest("POST", "/echo", {}, "Expect: 100-continue\r\nContent-Length: 5\r\n")));
  REQUIRE(client.Read());
  const auto reply = client.Read();
  REQUIRE(reply);
  CHECK(reply->status == 408);
}

TEST_CASE("An idle connection is closed without a word", "[server][deadlines]") {
  Fixture fixture([](Options& options) { options.idle_timeout = milliseconds(200); });
  Client client = fixture.Connect();
  REQUIRE(client.Ask(MakeRequest("GET", "/hello")));
  const auto begin = steady_clock::now();
  CHECK_FALSE(client.Read());
  CHECK(steady_clock::now() - begin >= milliseconds(150));
  CHECK(client.WaitForEnd());
  CHECK(fixture.counters.timeouts == 0);
}

TEST_CASE("A new connection that says nothing is closed after the header deadline",
          "[server][deadlines]") {
  Fixture fixture([](Options& options) { options.header_deadline = milliseconds(200); });
  Client client = fixture.Connect();
  CHECK(client.WaitForEnd(milliseconds(5000)));
}

TEST_CASE("The deadlines of one request are not those of the next", "[server][deadlines]") {
  Fixture fixture([](Options& options) {
    options.header_deadline = options.body_deadline = milliseconds(1000);
  });
  Client client = fixture.Connect();
  for (int i = 0; i < 6; ++i) {
    const std::string request = MakeRequest("POST", "/echo", "0123456789");
    REQUIRE(client.Send(request.substr(0, 10)));
    CHECK(client.StaysSilent(milliseconds(100)));
    REQUIRE(client.Send(request.substr(10, request.size() - 15)));
    CHECK(client.StaysSilent(milliseconds(100)));
    const auto reply = client.Ask(request.substr(request.size() - 5));
    REQUIRE(reply);
    CHECK(reply->status == 200);
  }
}

TEST_CASE("A client that does not read its answer is cut off", "[server][deadlines]") {
  Fixture fixture([](Options& options) { options.write_deadline = milliseconds(200); });
  Client client = fixture.Connect();
  REQUIRE(client.Send(MakeRequest("GET", "/big")));
  CHECK(Eventually([&] { return fixture.counters.timeouts == 1; }));
  CHECK(Eventually([&] { return fixture.counters.connections_now == 0; }));
}

TEST_CASE("Slow clients hold no worker", "[server][deadlines]") {
  Fixture fixture([](Options& options) { options.worker_threads = 1; });
  std::vector<Client> slow;
  for (int i = 0; i < 20; ++i) {
    slow.push_back(fixture.Connect());
    REQUIRE(slow.back().Send(
        i % 2 == 0 ? "GET /hel"
                   : MakeRequest("POST", "/echo", {}, "Content-Length: 10\r\n") + "x"));
  }
  slow.push_back(fixture.Connect());
  REQUIRE(slow.back().Send(MakeRequest("GET", "/big")));
  Client quick = fixture.Connect();
  for (int i = 0; i < 10; ++i) {
    const auto reply = quick.Ask(MakeRequest("GET", "/hello"));
    REQUIRE(reply);
    CHECK(reply->status == 200);
  }
}

TEST_CASE("A client that lingers after an early answer is closed in time", "[server][deadlines]") {
  Fixture fixture([](Options& options) { options.linger_timeout = milliseconds(200); });
  Client client = fixture.Connect();
  const auto reply = client.Ask(MakeRequest("POST", "/admitted", {}, "Content-Length: 10\r\n"));
  REQUIRE(reply);
  CHECK(reply->status == 415);
  // The client sees the end at once, and the server forgets it although the client never closes.
  CHECK(client.WaitForEnd());
  CHECK(Eventually([&] { return fixture.counters.connections_now == 0; }));
}

}  // namespace
}  // namespace tidemark::server
