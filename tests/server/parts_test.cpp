// The small parts: targets, listen addresses, routing, answers.

#include "model/log.h"
#include "server/answer.h"
#include "server/listen_address.h"
#include "server/read_buffer.h"
#include "server/request_head.h"
#include "server/router.h"
#include "server/session.h"
#include "server/target.h"
#include "tests/catch.h"

namespace tidemark::server {
namespace {

using Query = std::vector<std::pair<std::string, std::string>>;

HttpRoute MakeRoute(std::string path, std::vector<std::string> methods) {
  return {std::move(path),
          std::move(methods),
          [](const HttpRequest&) { return HttpResponse(); },
          {},
          0};
}

TEST_CASE("A target is split and decoded", "[server][target]") {
  const auto target = ParseTarget("/a%20b+c/%C3%bc?x=1&y=a+b%26&&z&=v&x=2");
  REQUIRE(target);
  CHECK(target->path == "/a b+c/\xc3\xbc");
  CHECK(target->query == Query{{"x", "1"}, {"y", "a b&"}, {"z", ""}, {"", "v"}, {"x", "2"}});
  CHECK(ParseTarget("/")->path == "/");
  CHECK(ParseTarget("/?")->query.empty());
  CHECK(ParseTarget("/a?b=c=d?e")->query == Query{{"b", "c=d?e"}});
}

TEST_CASE("A path has its segments, and a slash within a name does not end it",
          "[server][target]") {
  using Segments = std::vector<std::string>;
  const auto segments = [](const char* text) {
    const auto head = ParseRequestHead("GET " + std::string(text) + " HTTP/1.1\r\nHost: a\r\n\r\n");
    REQUIRE(head);
    return head->request.PathSegments();
  };
  CHECK(segments("/api/v1/workloads/shop/deployment/web?cluster=a/b") ==
        Segments{"api", "v1", "workloads", "shop", "deployment", "web"});
  CHECK(segments("/a//b%2Fc%20d+e/") == Segments{"a", "", "b/c d+e", ""});
  CHECK(segments("http://host/a%252Fb") == Segments{"a%2Fb"});
  CHECK(segments("/") == Segments{""});
  HttpRequest never_encoded;
  never_encoded.path = "/a%2/b";
  CHECK(never_encoded.PathSegments() == Segments{"a%2", "b"});
}

TEST_CASE("A target in absolute form loses its authority", "[server][target]") {
  CHECK(ParseTarget("http://host:80/path?a=b")->path == "/path");
  CHECK(ParseTarget("HTTPS://host")->path == "/");
  const auto target = ParseTarget("http://host?a=b");
  REQUIRE(target);
  CHECK(target->path == "/");
  CHECK(target->query == Query{{"a", "b"}});
}

TEST_CASE("A malformed target is refused", "[server][target]") {
  for (const char* text : {"", "*", "path", "host:443", "/%", "/%1", "/%zz", "/%1g", "/a?b=%",
                           "/a?%x0=1", "/a#b", "http://", "http:///path", "ftp://host/"}) {
    CAPTURE(text);
    CHECK_FALSE(ParseTarget(text));
  }
}

TEST_CASE("A listen address has a host and a port", "[server][listen]") {
  const auto check = [](const char* text, const char* host, uint16_t port) {
    CAPTURE(text);
    const auto address = ParseListenAddress(text);
    REQUIRE(address);
    CHECK(address->host == host);
    CHECK(address->port == port);
  };
  check("0.0.0.0:9849", "0.0.0.0", 9849);
  check(":9849", "", 9849);
  check("localhost:0", "localhost", 0);
  check("[::1]:65535", "::1", 65535);
}

TEST_CASE("An odd listen address is refused with its text", "[server][listen]") {
  for (const char* text :
       {"", "9849", "host", "host:", "host:x", "host:65536", "host:-1", "host:1x", "::1:80",
        "[]:80", "[::1:80", "::1]:80", "a b:80", "http://host:80"}) {
    CAPTURE(text);
    const auto address = ParseListenAddress(text);
    REQUIRE_FALSE(address);
    CHECK(address.error().code == ErrorCode::kInvalidArgument);
    CHECK(address.error().message.find('"' + std::string(text) + '"') != std::string::npos);
  }
}

TEST_CASE("The most exact route wins", "[server][router]") {
  const auto router = Router::Make({MakeRoute("/*", {"GET"}), MakeRoute("/a/*", {"GET"}),
                                    MakeRoute("/a/b", {"GET"}), MakeRoute("/a/b/*", {"GET"})});
  REQUIRE(router);
  CHECK(router->Find("GET", "/a/b")->route->path == "/a/b");
  CHECK(router->Find("GET", "/a/c")->route->path == "/a/*");
  CHECK(router->Find("GET", "/a/b/c/d")->route->path == "/a/b/*");
  CHECK(router->Find("GET", "/a")->route->path == "/*");
  CHECK(router->Find("GET", "/")->route->path == "/*");
}

TEST_CASE("Routes that share a path differ by method", "[server][router]") {
  const auto router = Router::Make({MakeRoute("/a", {"GET"}), MakeRoute("/a", {"POST", "PUT"})});
  REQUIRE(router);
  CHECK(router->Find("PUT", "/a")->route->methods.size() == 2);
  const auto head = router->Find("HEAD", "/a");
  REQUIRE(head);
  CHECK(head->head_as_get);
  const auto refused = router->Find("DELETE", "/a");
  REQUIRE_FALSE(refused);
  CHECK(refused.error().status == 405);
  REQUIRE(refused.error().headers.size() == 2);
  CHECK(refused.error().headers[1].name == "Allow");
  CHECK(refused.error().headers[1].value == "GET, POST, PUT, HEAD");
}

TEST_CASE("A routing table that makes no sense is refused", "[server][router]") {
  HttpRoute without_handler = MakeRoute("/a", {"GET"});
  without_handler.handler = nullptr;
  CHECK_FALSE(Router::Make({without_handler}));
  CHECK_FALSE(Router::Make({MakeRoute("a", {"GET"})}));
  CHECK_FALSE(Router::Make({MakeRoute("/a", {})}));
  CHECK_FALSE(Router::Make({MakeRoute("/a", {"get"})}));
  const auto twice = Router::Make({MakeRoute("/a", {"GET"}), MakeRoute("/a", {"PUT", "GET"})});
  REQUIRE_FALSE(twice);
  CHECK(twice.error().message == "route \"/a\": method GET is given twice");
}

TEST_CASE("The date is written as RFC 9110 writes it", "[server][answer]") {
  CHECK(FormatHttpDate(FromUnixMs(784'111'777'999)) == "Sun, 06 Nov 1994 08:49:37 GMT");
  CHECK(FormatHttpDate(FromUnixMs(0)) == "Thu, 01 Jan 1970 00:00:00 GMT");
  CHECK(FormatHttpDate(FromUnixMs(1'709'164'800'000)) == "Thu, 29 Feb 2024 00:00:00 GMT");
}

TEST_CASE("A handler cannot add headers through a value nor replace the server's own",
          "[server][answer]") {
  HttpResponse response = HttpResponse::Text(200, "ok");
  response.headers.push_back({"X-Echo", "a\r\nSet-Cookie: b\tc\x7f"});
  response.headers.push_back({"Bad name", "x"});
  response.headers.push_back({"content-length", "7"});
  response.headers.push_back({"Transfer-Encoding", "chunked"});
  CHECK(FormatAnswerHead(response, true, FromUnixMs(0)) ==
        "HTTP/1.1 200 OK\r\nContent-Type: text/plain; charset=utf-8\r\nX-Echo: a  Set-Cookie: b c "
        "\r\n"
        "Date: Thu, 01 Jan 1970 00:00:00 GMT\r\nServer: tidemark\r\nContent-Length: "
        "3\r\nConnection: keep-alive\r\n\r\n");
}

TEST_CASE("An answer without content has no length", "[server][answer]") {
  HttpResponse response;
  response.status = 204;
  CHECK(FormatAnswerHead(response, false, FromUnixMs(0)) ==
        "HTTP/1.1 204 No Content\r\nDate: Thu, 01 Jan 1970 00:00:00 GMT\r\nServer: "
        "tidemark\r\nConnection: close\r\n\r\n");
}

TEST_CASE("A read buffer keeps order while it grows and lets its memory go", "[server][buffer]") {
  ReadBuffer buffer;
  std::string sent;
  std::string got;
  for (int i = 0; i < 2000; ++i) {
    const ReadBuffer::Space space = buffer.Prepare(10'000);
    const size_t bytes = std::min<size_t>(space.size, 37);
    for (size_t k = 0; k < bytes; ++k) {
      space.data[k] = static_cast<char>('a' + (sent.size() % 26));
      sent.push_back(space.data[k]);
    }
    buffer.Commit(bytes);
    const size_t used = i % 2 == 0 ? 0 : std::min<size_t>(buffer.size(), 31);
    got.append(buffer.View().substr(0, used));
    buffer.Consume(used);
  }
  CHECK(buffer.size() > 4096);
  CHECK(buffer.size() <= 10'000);
  got.append(buffer.View());
  CHECK(got == sent);
  buffer.Consume(buffer.size());
  buffer.Shrink();
  CHECK(buffer.Prepare(10'000).size == 4096);
}

TEST_CASE("A full read buffer gives no room", "[server][buffer]") {
  ReadBuffer buffer;
  while (buffer.size() < 5000) buffer.Commit(buffer.Prepare(5000).size);
  CHECK(buffer.size() == 5000);
  CHECK(buffer.Prepare(5000).size == 0);
  buffer.Consume(10);
  CHECK(buffer.Prepare(5000).size == 10);
}

}  // namespace
}  // namespace tidemark::server
