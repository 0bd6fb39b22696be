// What the server does not take, and how the client learns of it.

#include <memory>

#include "tests/server/fixture.h"

namespace tidemark::server {
namespace {

using Strings = std::vector<std::string>;

/// Sends, expects that answer and then the end of the connection; returns the answer's text.
std::string ExpectRefusal(const Fixture& fixture, const std::string& request, unsigned status) {
  Client client = fixture.Connect();
  client.Send(request);
  const auto reply = client.Read();
  REQUIRE(reply);
  CHECK(reply->status == status);
  CHECK(reply->Header("Connection") == "close");
  client.FinishSending();
  CHECK(client.WaitForEnd());
  return reply->body;
}

// row 50 of docs/remote-write.md.
TEST_CASE("A request with two ends is refused, and nothing behind it is read as a request",
          "[server][smuggling]") {
  Fixture fixture;
  const std::string hidden = MakeRequest("POST", "/echo", "hidden");
  for (const std::string& lines :
       Strings{"Content-Length: 5\r\nContent-Length: 5\r\n",
               "Content-Length: 5\r\nContent-Length: 6\r\n", "Content-Length: 5, 5\r\n",
               "Content-Length: 5\r\nTransfer-Encoding: chunked\r\n",
               "Transfer-Encoding: chunked\r\nContent-Length: 5\r\n", "Transfer-Encoding: gzip\r\n",
               "Transfer-Encoding: chunked, gzip\r\n",
               "Transfer-Encoding: chunked\r\nTransfer-Encoding: identity\r\n",
               "Content-Length: -1\r\n", "Content-Length: five\r\n",
               "Content-Length: 99999999999999999999\r\n", "Content-Length:\r\n 5\r\n",
               "X: y\r\n Transfer-Encoding: chunked\r\n", "Transfer-Encoding: chunked\n\r\n",
               "Transfer-Encoding\t: chunked\r\n"}) {
    CAPTURE(lines);
    std::string request = "POST /echo HTTP/1.1\r\nHost: test\r\n";
    request.append(lines).append("\r\n0\r\n\r\n").append(hidden);
    ExpectRefusal(fixture, request, 400);
  }
  CHECK(fixture.handled == 0);
  CHECK(fixture.counters.protocol_errors == 15);
  CHECK(fixture.counters.requests_by_class[4] == 15);
}

TEST_CASE("What is not HTTP is refused at once", "[server][refusals]") {
  Fixture fixture;
  for (const std::string& bytes :
       Strings{std::string("\x16\x03\x01\x02"), std::string("GET / HTTP/1.1\nHost: test\n\n"),
               std::string("hello\r\n\r\n"), std::string("GET /%zz HTTP/1.1\r\nHost: test\r\n\r\n"),
               std::string("GET / HTTP/1.1\r\n\r\n"), std::string("PRI * HTTP/2.0\r\n\r\n"),
               std::string("GET / HTTP/1.1\r\nHost: test\r\nbad header\r\n\r\n")}) {
    CAPTURE(bytes);
    ExpectRefusal(fixture, bytes, 400);
  }
}

// row 51 of docs/remote-write.md.
TEST_CASE("A header block over the limit is 431, one just within it is taken",
          "[server][refusals]") {
  Fixture fixture;
  const std::string start = "GET /hello HTTP/1.1\r\nHost: test\r\nX: ";
  const size_t room = Options().max_header_bytes - start.size() - 4;
  Client client = fixture.Connect();
  const auto reply = client.Ask(start + std::string(room, 'x') + "\r\n\r\n");
  REQUIRE(reply);
  CHECK(reply->status == 200);
  ExpectRefusal(fixture, start + std::string(room + 1, 'x') + "\r\n\r\n", 431);
  ExpectRefusal(fixture, start + std::string(room + 5, 'x'), 431);
  std::string many = "GET /hello HTTP/1.1\r\nHost: test\r\n";
  while (many.size() < 200'000) many += "A: b\r\n";
  ExpectRefusal(fixture, many, 431);
  ExpectRefusal(fixture, "GET /" + std::string(20'000, 'x'), 431);
}

// row 11 of docs/remote-write.md.
TEST_CASE("A body over the limit is refused by its announced length", "[server][refusals]") {
  Fixture fixture;
  // Nothing of the body is ever sent: the announcement is enough.
  const std::string text =
      ExpectRefusal(fixture, MakeRequest("POST", "/echo", {}, "Content-Length: 1001\r\n"), 400);
  CHECK(text == "the request body of 1001 bytes is over the limit of 1000 bytes\n");
  ExpectRefusal(fixture,
                MakeRequest("POST", "/echo", {}, "Content-Length: 18446744073709551615\r\n"), 400);
  CHECK(fixture.handled == 0);
  Client client = fixture.Connect();
  CHECK(client.Ask(MakeRequest("POST", "/echo", std::string(1000, 'x')))->status == 200);
}

TEST_CASE("A chunked body over the limit is refused as soon as it passes", "[server][refusals]") {
  Fixture fixture;
  const std::string head = MakeRequest("POST", "/echo", {}, "Transfer-Encoding: chunked\r\n");
  ExpectRefusal(fixture, head + "3e9\r\n", 400);
  ExpectRefusal(fixture, head + "3e8\r\n" + std::string(1000, 'x') + "\r\n1\r\n", 400);
  CHECK(fixture.handled == 0);
  Client client = fixture.Connect();
  CHECK(client.Ask(head + "3e8\r\n" + std::string(1000, 'x') + "\r\n0\r\n\r\n")->status == 200);
}

TEST_CASE("A route completes what the server answers for it, and no other answer",
          "[server][refusals]") {
  Fixture fixture;
  const auto completed = [&](const std::string& request, unsigned status) {
    Client client = fixture.Connect();
    const auto reply = client.Ask(request);
    REQUIRE(reply);
    CHECK(reply->status == status);
    return reply->Header("X-Complete").value_or("");
  };
  const std::string chunked =
      MakeRequest("POST", "/completed", {}, "Transfer-Encoding: chunked\r\n");
  CHECK(completed(MakeRequest("POST", "/completed", "x"), 200) == "/completed");
  CHECK(completed(chunked + "3e9\r\n", 400) == "/completed");
  CHECK(completed(chunked + "zz\r\n", 400) == "/completed");
  CHECK(completed(MakeRequest("POST", "/completed", {}, "Content-Length: 1001\r\n"), 400) ==
        "/completed");
  CHECK(completed(MakeRequest("GET", "/completed"), 405).empty());
  CHECK(completed(MakeRequest("POST", "/echo", {}, "Content-Length: 1001\r\n"), 400).empty());
}

TEST_CASE("A malformed chunk is 400 and the handler is not called", "[server][refusals]") {
  Fixture fixture;
  const std::string head = MakeRequest("POST", "/echo", {}, "Transfer-Encoding: chunked\r\n");
  ExpectRefusal(fixture, head + "5\r\nhello\r\nzz\r\n", 400);
  ExpectRefusal(fixture, head + "5\r\nhelloo", 400);
  ExpectRefusal(fixture, head + "1;" + std::string(20'000, 'x'), 400);
  ExpectRefusal(fixture, head + "0\r\n" + std::string(20'000, 'x'), 400);
  CHECK(fixture.handled == 0);
}

TEST_CASE("An early answer reaches a client that is still sending a large body",
          "[server][refusals]") {
  Fixture fixture;
  const std::string body(16 << 20, 'x');
  for (int i = 0; i < 5; ++i) {
    Client client = fixture.Connect();
    // Blocks until the server has taken all of it: a client that only reads when it has sent.
    REQUIRE(client.Send(MakeRequest("POST", "/admitted", body)));
    const auto reply = client.Read();
    REQUIRE(reply);
    CHECK(reply->status == 415);
    CHECK(reply->body == "not admitted\n");
    CHECK(reply->Header("Connection") == "close");
    client.FinishSending();
    CHECK(client.WaitForEnd());
  }
  CHECK(fixture.handled == 0);
}

TEST_CASE("An early answer without a body to come keeps the connection", "[server][refusals]") {
  Fixture fixture;
  Client client = fixture.Connect();
  const auto reply = client.Ask(MakeRequest("POST", "/admitted"));
  REQUIRE(reply);
  CHECK(reply->status == 415);
  CHECK(reply->Header("Connection") == "keep-alive");
  CHECK(client.Ask(MakeRequest("GET", "/hello"))->status == 200);
}

TEST_CASE("What a client sends after an early answer is bounded", "[server][refusals]") {
  Fixture fixture([](Options& options) { options.linger_bytes = 1 << 20; });
  Client client = fixture.Connect();
  REQUIRE(client.Send(MakeRequest("POST", "/admitted", {}, "Content-Length: 15000000\r\n")));
  CHECK_FALSE(client.Send(std::string(128 << 20, 'x')));
  CHECK(Eventually([&] { return fixture.counters.connections_now == 0; }));
}

// row 47 of docs/remote-write.md.
TEST_CASE("A client that disappears in the middle is forgotten", "[server][refusals]") {
  Fixture fixture;
  for (const bool reset : {false, true}) {
    for (const std::string& part :
         Strings{std::string("POST /echo HT"),
                 MakeRequest("POST", "/echo", {}, "Content-Length: 10\r\n") + "part",
                 MakeRequest("POST", "/echo", {}, "Transfer-Encoding: chunked\r\n") + "5\r\nhel"}) {
      CAPTURE(reset, part);
      const uint64_t errors = fixture.counters.protocol_errors;
      Client client = fixture.Connect();
      REQUIRE(client.Send(part));
      // A reset must not overtake the bytes, else they count as nothing at all.
      REQUIRE(Eventually([&] {
        return fixture.counters.requests_now == (part.starts_with("POST /echo HTTP") ? 1 : 0);
      }));
      if (!reset) {
        client.Disconnect();
        CHECK(Eventually([&] { return fixture.counters.protocol_errors == errors + 1; }));
      } else {
        client.Disconnect(true);
      }
      CHECK(Eventually([&] { return fixture.counters.connections_now == 0; }));
      CHECK(fixture.counters.requests_now == 0);
    }
  }
  CHECK(fixture.handled == 0);
  Client idle = fixture.Connect();
  CHECK(idle.Ask(MakeRequest("GET", "/hello"))->status == 200);
  const uint64_t errors = fixture.counters.protocol_errors;
  idle.Disconnect();
  CHECK(Eventually([&] { return fixture.counters.connections_now == 0; }));
  CHECK(fixture.counters.protocol_errors == errors);
}

TEST_CASE("All bodies together are bounded", "[server][refusals]") {
  Fixture fixture([](Options& options) { options.max_body_bytes_in_flight = 5 << 20; });
  const std::string body(3'000'000, 'x');
  Client holder = fixture.Connect();
  REQUIRE(holder.Send(MakeRequest("POST", "/hold", body)));
  REQUIRE(fixture.gate.AwaitArrivals(1));
  Client second = fixture.Connect();
  REQUIRE(second.Send(MakeRequest("POST", "/large", body)));
  const auto refused = second.Read();
  REQUIRE(refused);
  CHECK(refused->status == 503);
  CHECK(refused->Header("Retry-After") == "5");
  CHECK(refused->Header("Connection") == "close");
  CHECK(fixture.handled == 0);

  fixture.gate.Open();
  const auto held = holder.Read();
  REQUIRE(held);
  CHECK(held->status == 200);
  // What was held is given back.
  REQUIRE(Eventually([&] { return fixture.counters.requests_now == 0; }));
  const auto again = holder.Ask(MakeRequest("POST", "/large", body));
  REQUIRE(again);
  CHECK(again->status == 200);
}

TEST_CASE("All answers that nobody reads are bounded", "[server][refusals]") {
  Fixture fixture([](Options& options) { options.max_answer_bytes_in_flight = 30 << 20; });
  auto idle = std::make_unique<Client>(fixture.server->port());
  REQUIRE(idle->Send(MakeRequest("GET", "/page")));
  REQUIRE_FALSE(
      idle->StaysSilent(std::chrono::seconds(10)));  // it is being answered, and reads no further
  Client second = fixture.Connect();
  REQUIRE(second.Send(MakeRequest("GET", "/page")));
  const auto refused = second.Read();
  REQUIRE(refused);
  CHECK(refused->status == 503);
  CHECK(refused->Header("Retry-After") == "5");
  Client small = fixture.Connect();
  const auto shown = small.Ask(MakeRequest("GET", "/show"));
  REQUIRE(shown);
  CHECK(shown->status == 200);
  // Once the first has gone, there is room.
  idle.reset();
  REQUIRE(Eventually([&] { return fixture.counters.requests_now == 0; }));
  Client third = fixture.Connect();
  const auto page = third.Ask(MakeRequest("GET", "/page"));
  REQUIRE(page);
  CHECK(page->status == 200);
  CHECK(page->body.size() >= (20U << 20));
}

TEST_CASE("An answer larger than the bound passes when it is alone", "[server][refusals]") {
  Fixture fixture([](Options& options) { options.max_answer_bytes_in_flight = 1 << 20; });
  Client client = fixture.Connect();
  for (int i = 0; i < 2; ++i) {
    const auto page = client.Ask(MakeRequest("GET", "/page"));
    REQUIRE(page);
    CHECK(page->status == 200);
  }
}

TEST_CASE("An announced length reserves nothing", "[server][refusals]") {
  Fixture fixture([](Options& options) { options.max_body_bytes_in_flight = 17 << 20; });
  std::vector<Client> clients;
  for (int i = 0; i < 8; ++i) {
    clients.push_back(fixture.Connect());
    REQUIRE(clients.back().Send(MakeRequest("POST", "/large", {}, "Content-Length: 16000000\r\n") +
                                "x"));
  }
  CHECK(Eventually([&] { return fixture.counters.requests_now == 8; }));
  for (Client& client : clients) CHECK(client.StaysSilent(std::chrono::milliseconds(20)));
}

}  // namespace
}  // namespace tidemark::server
