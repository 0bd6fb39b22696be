// What a well-behaved client may do.

#include "model/log.h"
#include "tests/server/fixture.h"

namespace tidemark::server {
namespace {

TEST_CASE("A request is answered with the server's headers", "[server][requests]") {
  Fixture fixture;
  Client client = fixture.Connect();
  const auto reply = client.Ask(MakeRequest("GET", "/hello"));
  REQUIRE(reply);
  CHECK(reply->status == 200);
  CHECK(reply->body == "hello");
  CHECK(reply->head.starts_with("HTTP/1.1 200 OK\r\n"));
  CHECK(reply->Header("Date") == "Sun, 06 Nov 1994 08:49:37 GMT");
  CHECK(reply->Header("Server") == "tidemark");
  CHECK(reply->Header("Content-Length") == "5");
  CHECK(reply->Header("Connection") == "keep-alive");
}

TEST_CASE("A handler sees the request decoded", "[server][requests]") {
  Fixture fixture;
  Client client = fixture.Connect();
  const std::string peer = client.LocalName();
  auto reply = client.Ask(MakeRequest("POST", "/sh%6Fw?a=1&b=x+%26", "abc"));
  REQUIRE(reply);
  CHECK(reply->body == "POST\n/show\na=1\nb=x &\n" + peer + "\n3");
  reply = client.Ask(MakeRequest("GET", "http://elsewhere/show"));
  REQUIRE(reply);
  CHECK(reply->body == "GET\n/show\n" + peer + "\nnone");
  reply = client.Ask(MakeRequest("GET", "/below/a%2Fb/c"));
  REQUIRE(reply);
  CHECK(reply->body == "/below/a/b/c");
}

TEST_CASE("A connection is kept alive and closed when the client wishes", "[server][requests]") {
  Fixture fixture;
  Client client = fixture.Connect();
  for (int i = 0; i < 3; ++i) {
    const auto reply = client.Ask(MakeRequest("POST", "/echo", "round " + std::to_string(i)));
    REQUIRE(reply);
    CHECK(reply->body == "round " + std::to_string(i));
  }
  const auto last = client.Ask(MakeRequest("GET", "/hello", {}, "Connection: close\r\n"));
  REQUIRE(last);
  CHECK(last->Header("Connection") == "close");
  CHECK(client.WaitForEnd());
  CHECK(fixture.counters.connections_total == 1);
}

// row 49 of docs/remote-write.md.
TEST_CASE("HTTP/1.0 closes unless it asks for keep-alive", "[server][requests]") {
  Fixture fixture;
  Client client = fixture.Connect();
  const auto kept = client.Ask("GET /hello HTTP/1.0\r\nConnection: keep-alive\r\n\r\n");
  REQUIRE(kept);
  CHECK(kept->body == "hello");
  CHECK(kept->Header("Connection") == "keep-alive");
  const auto closed = client.Ask("GET /hello HTTP/1.0\r\n\r\n");
  REQUIRE(closed);
  CHECK(closed->body == "hello");
  CHECK(closed->Header("Connection") == "close");
  CHECK(client.WaitForEnd());
}

// row 49 of docs/remote-write.md.
TEST_CASE("Pipelined requests are answered in order", "[server][requests]") {
  Fixture fixture;
  Client client = fixture.Connect();
  std::string requests;
  for (int i = 0; i < 100; ++i) {
    const std::string body = "number " + std::to_string(i);
    if (i % 3 == 0) {
      requests += MakeRequest("POST", "/echo", body);
    } else if (i % 3 == 1) {
      requests += MakeRequest("POST", "/echo", {}, "Transfer-Encoding: chunked\r\n") +
                  "6\r\nnumber\r\n" + (i < 10 ? "2" : "3") + "\r\n " + std::to_string(i) +
                  "\r\n0\r\n\r\n";
    } else {
      requests += MakeRequest("GET", "/below/" + std::to_string(i));
    }
  }
  REQUIRE(client.Send(requests));
  for (int i = 0; i < 100; ++i) {
    CAPTURE(i);
    const auto reply = client.Read();
    REQUIRE(reply);
    CHECK(reply->body == (i % 3 == 2 ? "/below/" : "number ") + std::to_string(i));
  }
  CHECK(fixture.counters.requests_by_class[2] == 100);
}

TEST_CASE("A request may come byte by byte", "[server][requests]") {
  Fixture fixture;
  Client client = fixture.Connect();
  const std::string request = "\r\n" +
                              MakeRequest("POST", "/echo", {}, "Transfer-Encoding: chunked\r\n") +
                              "3\r\nabc\r\n0\r\n\r\n" + MakeRequest("POST", "/echo", "de");
  for (const char c : request) REQUIRE(client.Send(std::string(1, c)));
  const auto first = client.Read();
  REQUIRE(first);
  CHECK(first->body == "abc");
  const auto second = client.Read();
  REQUIRE(second);
  CHECK(second->body == "de");
}

// row 49 of docs/remote-write.md.
TEST_CASE("Chunks are joined, extensions and trailers dropped", "[server][requests]") {
  Fixture fixture;
  Client client = fixture.Connect();
  REQUIRE(
      client.Send(MakeRequest("POST", "/show", {}, "Transfer-Encoding: chunked\r\n") +
                  "3;a=b\r\nabc\r\n2\r\nde\r\n0\r\nContent-Length: 7\r\nX-Trailer: yes\r\n\r\n"));
  auto reply = client.Read();
  REQUIRE(reply);
  CHECK(reply->body.ends_with("\nnone"));
  REQUIRE(client.Send(
      MakeRequest("POST", "/admitted", {}, "X-Admit: yes\r\nTransfer-Encoding: chunked\r\n") +
      "3;a=b\r\nabc\r\n2\r\nde\r\n0\r\nX-Admit: no\r\n\r\n"));
  reply = client.Read();
  REQUIRE(reply);
  CHECK(reply->body == "abcde");
}

TEST_CASE("A large body arrives whole, by length and in chunks", "[server][requests]") {
  Fixture fixture;
  Client client = fixture.Connect();
  const std::string body(3 << 20, 'x');
  auto reply = client.Ask(MakeRequest("POST", "/large", body));
  REQUIRE(reply);
  CHECK(reply->body == std::to_string(3 << 20));
  std::string chunked = MakeRequest("POST", "/large", {}, "Transfer-Encoding: chunked\r\n");
  for (int i = 0; i < 48; ++i) chunked.append("10000\r\n").append(body, 0, 0x10000).append("\r\n");
  reply = client.Ask(chunked + "0\r\n\r\n");
  REQUIRE(reply);
  CHECK(reply->body == std::to_string(3 << 20));
}

TEST_CASE("A large answer arrives whole", "[server][requests]") {
  Fixture fixture;
  Client client = fixture.Connect();
  const auto reply = client.Ask(MakeRequest("GET", "/big"));
  REQUIRE(reply);
  CHECK(reply->body.size() == 64 << 20);
  CHECK(client.Ask(MakeRequest("GET", "/hello"))->status == 200);
}

// row 49 of docs/remote-write.md.
TEST_CASE("100 Continue is sent once the request is admitted", "[server][requests][expect]") {
  Fixture fixture;
  Client client = fixture.Connect();
  REQUIRE(client.Send(MakeRequest(
      "POST", "/admitted", {}, "X-Admit: yes\r\nExpect: 100-continue\r\nContent-Length: 5\r\n")));
  const auto interim = client.Read();
  REQUIRE(interim);
  CHECK(interim->head == "HTTP/1.1 100 Continue\r\n");
  CHECK(fixture.counters.requests_by_class[1] == 1);
  const auto reply = client.Ask("hello");
  REQUIRE(reply);
  CHECK(reply->status == 200);
  CHECK(reply->body == "hello");
  CHECK(reply->Header("Connection") == "keep-alive");
}

TEST_CASE("100 Continue is not sent for what will not be read", "[server][requests][expect]") {
  Fixture fixture;
  const auto status = [&fixture](const std::string& request) {
    Client client = fixture.Connect();
    const auto reply = client.Ask(request);
    REQUIRE(reply);
    CHECK(reply->Header("Connection") == "close");
    CHECK(client.WaitForEnd());
    return reply->status;
  };
  const std::string expect = "Expect: 100-continue\r\n";
  CHECK(status(MakeRequest("POST", "/admitted", {}, expect + "Content-Length: 5\r\n")) == 415);
  CHECK(status(MakeRequest("POST", "/echo", {}, expect + "Content-Length: 1001\r\n")) == 400);
  CHECK(status(MakeRequest("POST", "/nowhere", {}, expect + "Content-Length: 5\r\n")) == 404);
  CHECK(status(MakeRequest("POST", "/hello", {}, expect + "Content-Length: 5\r\n")) == 405);
  CHECK(status(MakeRequest("POST", "/echo", {}, "Expect: more\r\nContent-Length: 5\r\n")) == 417);
  CHECK(fixture.counters.requests_by_class[1] == 0);
  CHECK(fixture.handled == 0);
}

TEST_CASE("100 Continue is left out without a body and when the body is there",
          "[server][requests][expect]") {
  Fixture fixture;
  Client client = fixture.Connect();
  auto reply = client.Ask(MakeRequest("POST", "/echo", {}, "Expect: 100-continue\r\n"));
  REQUIRE(reply);
  CHECK(reply->status == 200);
  reply = client.Ask(MakeRequest("POST", "/echo", "hello", "Expect: 100-continue\r\n"));
  REQUIRE(reply);
  CHECK(reply->status == 200);
  CHECK(reply->body == "hello");
}

TEST_CASE("HEAD has the headers of GET and no body", "[server][requests]") {
  Fixture fixture;
  Client client = fixture.Connect();
  REQUIRE(client.Send(MakeRequest("HEAD", "/hello") + MakeRequest("HEAD", "/show") +
                      MakeRequest("GET", "/hello")));
  const auto head = client.Read(true);
  REQUIRE(head);
  CHECK(head->status == 200);
  CHECK(head->Header("Content-Length") == "5");
  const auto show = client.Read(true);
  REQUIRE(show);
  const std::string seen = "GET\n/show\n" + client.LocalName() + "\nnone";
  CHECK(show->Header("Content-Length") == std::to_string(seen.size()));
  const auto get = client.Read();
  REQUIRE(get);
  CHECK(get->body == "hello");
  CHECK(get->head == head->head);
}

TEST_CASE("204 has neither body nor length", "[server][requests]") {
  Fixture fixture;
  Client client = fixture.Connect();
  const auto reply = client.Ask(MakeRequest("GET", "/empty"));
  REQUIRE(reply);
  CHECK(reply->status == 204);
  CHECK_FALSE(reply->Header("Content-Length"));
  CHECK(client.Ask(MakeRequest("GET", "/hello"))->body == "hello");
}

TEST_CASE("An unknown path is 404 and says what exists", "[server][requests]") {
  Fixture fixture;
  Client client = fixture.Connect();
  auto reply = client.Ask(MakeRequest("GET", "/nowhere"));
  REQUIRE(reply);
  CHECK(reply->status == 404);
  CHECK(reply->body.find("/below/*") != std::string::npos);
  CHECK(reply->body.find("/admitted") != std::string::npos);
  CHECK(reply->Header("Connection") == "keep-alive");
  reply = client.Ask(MakeRequest("GET", "/below"));
  REQUIRE(reply);
  CHECK(reply->status == 404);
}

// row 3 of docs/remote-write.md.
TEST_CASE("A wrong method is 405 with Allow and the connection stays", "[server][requests]") {
  Fixture fixture;
  Client client = fixture.Connect();
  auto reply = client.Ask(MakeRequest("DELETE", "/show"));
  REQUIRE(reply);
  CHECK(reply->status == 405);
  CHECK(reply->Header("Allow") == "GET, POST, HEAD");
  CHECK(reply->Header("Connection") == "keep-alive");
  reply = client.Ask(MakeRequest("GET", "/echo"));
  REQUIRE(reply);
  CHECK(reply->status == 405);
  CHECK(reply->Header("Allow") == "POST");
  reply = client.Ask(MakeRequest("get", "/hello"));
  REQUIRE(reply);
  CHECK(reply->status == 405);
  CHECK(fixture.counters.requests_by_class[4] == 3);
}

TEST_CASE("A handler that throws is 500, counted and logged once", "[server][requests]") {
  std::mutex mutex;
  std::vector<std::string> lines;
  SetLogSink([&](std::string_view line) {
    const std::lock_guard lock(mutex);
    lines.emplace_back(line);
  });
  {
    Fixture fixture;
    Client client = fixture.Connect();
    for (int i = 0; i < 3; ++i) {
      const auto reply = client.Ask(MakeRequest("GET", "/throws"));
      REQUIRE(reply);
      CHECK(reply->status == 500);
      CHECK(reply->body.find("on purpose") == std::string::npos);
    }
    CHECK(client.Ask(MakeRequest("GET", "/hello"))->status == 200);
    CHECK(fixture.counters.requests_by_class[5] == 3);
  }
  SetLogSink({});
  REQUIRE(lines.size() == 1);
  CHECK(lines[0].find("on purpose") != std::string::npos);
  CHECK(lines[0].find("/throws") != std::string::npos);
}

TEST_CASE("A client that has finished sending still gets its answer", "[server][requests]") {
  Fixture fixture;
  Client client = fixture.Connect();
  REQUIRE(client.Send(MakeRequest("POST", "/echo", "bye")));
  client.FinishSending();
  const auto reply = client.Read();
  REQUIRE(reply);
  CHECK(reply->body == "bye");
  CHECK(client.WaitForEnd());
  CHECK(fixture.counters.protocol_errors == 0);
}

}  // namespace
}  // namespace tidemark::server
