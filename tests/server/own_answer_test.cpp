// Options::own_answer: the form of all that the server answers by itself; and large header blocks.

#include <string>

#include "tests/server/fixture.h"

namespace tidemark::server {
namespace {

void Mark(HttpResponse& response) {
  response.headers = {{"X-Own", "yes"}};
  response.body = "own " + std::to_string(response.status);
}

/// The answer is the server's own, and nothing of its usual form is left.
void CheckOwn(const std::optional<Reply>& reply, unsigned status) {
  CAPTURE(status);
  REQUIRE(reply);
  CHECK(reply->status == status);
  CHECK(reply->Header("X-Own") == "yes");
  CHECK(reply->body == "own " + std::to_string(status));
  CHECK_FALSE(reply->Header("Retry-After"));
}

struct Marked : Fixture {
  explicit Marked(const std::function<void(Options&)>& change = [](Options&) {})
      : Fixture([&](Options& options) {
          options.own_answer = Mark;
          change(options);
        }) {}
  std::optional<Reply> Ask(const std::string& request) const { return Connect().Ask(request); }
};

TEST_CASE("What the server answers by itself has the form that is asked for", "[server][own]") {
  Marked fixture([](Options& options) { options.max_header_bytes = 1000; });
  CheckOwn(fixture.Ask(MakeRequest("GET", "/nowhere")), 404);
  CheckOwn(fixture.Ask(MakeRequest("PUT", "/hello")), 405);
  CheckOwn(fixture.Ask("no request\r\n\r\n"), 400);
  CheckOwn(fixture.Ask(MakeRequest("GET", "/hello", {}, "Host: b\r\n")), 400);
  CheckOwn(fixture.Ask(MakeRequest("GET", "/hello", {}, "X: " + std::string(1000, 'x') + "\r\n")),
           431);
  CheckOwn(fixture.Ask(MakeRequest("GET", "/hello", {}, "Expect: tea\r\n")), 417);
  CheckOwn(fixture.Ask(MakeRequest("POST", "/echo", std::string(1001, 'x'))), 400);
  CheckOwn(fixture.Ask(MakeRequest("POST", "/echo", {}, "Transfer-Encoding: chunked\r\n") +
                       "no length\r\n"),
           400);
  CheckOwn(fixture.Ask(MakeRequest("GET", "/throws")), 500);
}

TEST_CASE("What handlers and admissions answer is theirs", "[server][own]") {
  const Marked fixture;
  for (const auto& [request, status] : {std::pair(MakeRequest("GET", "/hello"), 200U),
                                        std::pair(MakeRequest("GET", "/empty"), 204U),
                                        std::pair(MakeRequest("POST", "/admitted", "x"), 415U)}) {
    const auto reply = fixture.Ask(request);
    REQUIRE(reply);
    CHECK(reply->status == status);
    CHECK_FALSE(reply->Header("X-Own"));
  }
}

TEST_CASE("Late clients are told so in that form", "[server][own]") {
  Marked fixture([](Options& options) {
    options.header_deadline = std::chrono::milliseconds(100);
    options.body_deadline = std::chrono::milliseconds(100);
  });
  CheckOwn(fixture.Ask("GET /hello HTT"), 408);
  CheckOwn(fixture.Ask(MakeRequest("POST", "/echo", {}, "Content-Length: 5\r\n")), 408);
}

TEST_CASE("Clients for whom there is no room are told so in that form", "[server][own]") {
  SECTION("for the connection") {
    Marked fixture([](Options& options) { options.max_connections = 1; });
    Client busy = fixture.Connect();
    REQUIRE(busy.Send(MakeRequest("GET", "/gate")));
    REQUIRE(fixture.gate.AwaitArrivals(1));
    CheckOwn(fixture.Ask(MakeRequest("GET", "/hello")), 503);
  }
  SECTION("for the body") {
    Marked fixture([](Options& options) { options.max_body_bytes_in_flight = 100; });
    CheckOwn(fixture.Ask(MakeRequest("POST", "/large", std::string(1000, 'x'))), 503);
  }
  SECTION("for the answer") {
    Marked fixture([](Options& options) { options.max_answer_bytes_in_flight = 30 << 20; });
    Client idle = fixture.Connect();
    REQUIRE(idle.Send(MakeRequest("GET", "/page")));
    REQUIRE_FALSE(idle.StaysSilent(std::chrono::seconds(10)));
    CheckOwn(fixture.Ask(MakeRequest("GET", "/page")), 503);
  }
}

TEST_CASE("A form that throws leaves the answer as it was", "[server][own]") {
  Fixture fixture([](Options& options) {
    options.own_answer = [](HttpResponse& response) {
      response.body.clear();
      throw std::runtime_error("on purpose");
    };
  });
  const auto reply = fixture.Connect().Ask(MakeRequest("PUT", "/hello"));
  REQUIRE(reply);
  CHECK(reply->status == 405);
  CHECK(reply->body == "method not allowed here; allowed: GET, HEAD\n");
}

TEST_CASE("Header blocks of 64 KiB are taken where that is the limit", "[server][own]") {
  constexpr size_t kLimit = 64 << 10;
  Marked fixture([](Options& options) { options.max_header_bytes = kLimit; });
  const auto request = [](size_t size) {
    const std::string rest = MakeRequest("GET", "/hello", {}, "X-Long: \r\n");
    return MakeRequest("GET", "/hello", {},
                       "X-Long: " + std::string(size - rest.size(), 'x') + "\r\n");
  };
  Client client = fixture.Connect();
  CHECK(client.Ask(request(60'000))->body == "hello");
  CHECK(client.Ask(request(kLimit))->body == "hello");
  CheckOwn(client.Ask(request(kLimit + 1)), 431);
  // In many lines, as groups and extras come.
  std::string lines;
  for (int i = 0; i < 2000; ++i) lines += "X-Remote-Group: team-" + std::to_string(i) + "\r\n";
  CHECK(fixture.Ask(MakeRequest("GET", "/hello", {}, lines))->body == "hello");
  CheckOwn(fixture.Ask(MakeRequest("GET", "/hello", {}, lines + lines)), 431);
}

}  // namespace
}  // namespace tidemark::server
