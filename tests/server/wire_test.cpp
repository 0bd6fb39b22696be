// What comes over the wire, byte by byte: header blocks and chunked bodies.

#include <string>
#include <vector>

#include "server/chunked_body.h"
#include "server/head_scanner.h"
#include "server/request_head.h"
#include "tests/catch.h"

namespace tidemark::server {
namespace {

using Strings = std::vector<std::string>;

std::string Block(const std::string& lines, const std::string& start = "POST /p HTTP/1.1") {
  return start + "\r\nHost: h\r\n" + lines + "\r\n";
}

std::string Refusal(const std::string& block) {
  const auto head = ParseRequestHead(block);
  return head ? "taken" : std::to_string(head.error().status) + " " + head.error().text;
}

struct Chunked {
  ChunkedBody::State state;
  std::string body;
  std::string rest;
};

/// Feeds the input in two pieces.
Chunked Decode(const std::string& input, size_t cut, uint64_t limit = 1000, size_t extra = 100) {
  ChunkedBody chunks(limit, extra);
  std::string body;
  size_t used = 0;
  ChunkedBody::Step step;
  for (const size_t have : {cut, input.size()}) {
    step = chunks.Feed(std::string_view(input).substr(used, have - used), body);
    used += step.consumed;
    if (step.state != ChunkedBody::State::kIncomplete) break;
  }
  if (step.state == ChunkedBody::State::kMalformed) CHECK(chunks.problem() != nullptr);
  return {step.state, body, input.substr(used)};
}

TEST_CASE("The end of a header block is found wherever it is cut", "[server][head]") {
  const std::string block = Block("A: b\r\n");
  const std::string input = "\r\n" + block + "body";
  for (size_t cut = 0; cut < 2 + block.size(); ++cut) {
    CAPTURE(cut);
    HeadScanner scanner;
    CHECK(scanner.Scan(std::string_view(input).substr(0, cut)) == HeadScanner::State::kIncomplete);
    CHECK(scanner.Scan(input) == HeadScanner::State::kComplete);
    CHECK(scanner.begin() == 2);
    CHECK(scanner.size() == 2 + block.size());
  }
}

TEST_CASE("Bytes that have no place in a header block are found at once", "[server][head]") {
  for (const std::string& input : Strings{
           std::string("\x16\x03\x01"), std::string("GET / HTTP/1.1\n"),
           std::string("GET / HTTP/1.1\rX"), std::string("GET / HTTP/1.1\r\nA: b\r\n folded: c"),
           std::string("GET / HTTP/1.1\r\n A: b"), std::string("GET / HTTP/1.1\r\n\tA: b"),
           std::string("GET / HTTP/1.1\r\nA: \0", 20), std::string("GET / HTTP/1.1\r\nA: \x7f"),
           std::string(" GET"), std::string("\r\n\r\n"), std::string("\n")}) {
    CAPTURE(input);
    HeadScanner whole;
    CHECK(whole.Scan(input) == HeadScanner::State::kMalformed);
    HeadScanner bytewise;
    HeadScanner::State state = HeadScanner::State::kIncomplete;
    for (size_t size = 1; size <= input.size() && state == HeadScanner::State::kIncomplete;
         ++size) {
      state = bytewise.Scan(std::string_view(input).substr(0, size));
    }
    CHECK(state == HeadScanner::State::kMalformed);
    CHECK(std::string(bytewise.problem()) == whole.problem());
  }
}

TEST_CASE("A header block becomes a request", "[server][head]") {
  const auto head = ParseRequestHead(Block(
      "Content-Length: 12\r\nX-A:  one\t\r\nx-a: two\r\nEmpty:\r\n", "PUT /p%20q?a=b HTTP/1.1"));
  REQUIRE(head);
  CHECK(head->request.method == "PUT");
  CHECK(head->request.path == "/p q");
  CHECK(head->request.Query("a") == "b");
  CHECK(head->request.Header("X-a") == "one");
  CHECK(head->request.headers.size() == 5);
  CHECK(head->request.content_length == 12);
  CHECK(head->keep_alive);
  CHECK_FALSE(head->chunked);
  CHECK_FALSE(head->expect_continue);
  CHECK(head->HasBody());
}

TEST_CASE("Keep-alive follows version and Connection", "[server][head]") {
  const auto keep = [](const char* version, const std::string& lines) {
    return ParseRequestHead(Block(lines, std::string("GET / ") + version))->keep_alive;
  };
  CHECK(keep("HTTP/1.1", ""));
  CHECK_FALSE(keep("HTTP/1.1", "Connection: close\r\n"));
  CHECK_FALSE(keep("HTTP/1.1", "Connection: x, Close\r\n"));
  CHECK_FALSE(keep("HTTP/1.0", ""));
  CHECK(keep("HTTP/1.0", "Connection: Keep-Alive\r\n"));
}

TEST_CASE("A request whose length could be read in two ways is refused",
          "[server][head][smuggling]") {
  for (const std::string& lines :
       Strings{"Content-Length: 2\r\nContent-Length: 2\r\n",
               "Content-Length: 2\r\nContent-Length: 3\r\n",
               "Content-Length: 2, 2\r\n",
               "Content-Length: 2,\r\n",
               "Content-Length: -2\r\n",
               "Content-Length: +2\r\n",
               "Content-Length: 0x2\r\n",
               "Content-Length: 2 2\r\n",
               "Content-Length: two\r\n",
               "Content-Length:\r\n",
               "Content-Length: 18446744073709551616\r\n",
               "Content-Length: 2\r\nTransfer-Encoding: chunked\r\n",
               "Transfer-Encoding: chunked\r\nContent-Length: 2\r\n",
               "Content-Length: 2\r\nTransfer-Encoding: gzip\r\n",
               "Transfer-Encoding: gzip\r\nContent-Length: 2\r\n",
               "Transfer-Encoding: gzip\r\n",
               "Transfer-Encoding: identity\r\n",
               "Transfer-Encoding: chunked, gzip\r\n",
               "Transfer-Encoding: gzip, chunked\r\n",
               "Transfer-Encoding: chunked, chunked\r\n",
               "Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n",
               "Transfer-Encoding: gzip\r\nTransfer-Encoding: chunked\r\n",
               "Transfer-Encoding: xchunked\r\n",
               "Transfer-Encoding: chunked;q=1\r\n",
               "Transfer-Encoding: \"chunked\"\r\n",
               "Transfer-Encoding:\r\n",
               "Transfer-Encoding : chunked\r\n",
               "Content-Length : 2\r\n"}) {
    CAPTURE(lines);
    CHECK(Refusal(Block(lines)).starts_with("400 "));
  }
  CHECK(Refusal("POST / HTTP/1.0\r\nTransfer-Encoding: chunked\r\n\r\n").starts_with("400 "));
  CHECK(ParseRequestHead(Block("Transfer-Encoding: Chunked\r\n"))->chunked);
  CHECK(
      ParseRequestHead(Block("Content-Length: 18446744073709551615\r\n"))->request.content_length ==
      UINT64_MAX);
}

TEST_CASE("A malformed header block is refused", "[server][head]") {
  for (const std::string& block : Strings{
           "GET\r\n\r\n", "GET /\r\n\r\n", "GET / HTTP/2.0\r\nHost: h\r\n\r\n",
           "GET / HTTP/0.9\r\nHost: h\r\n\r\n", "GET / http/1.1\r\nHost: h\r\n\r\n",
           "GET  / HTTP/1.1\r\nHost: h\r\n\r\n", "GET / HTTP/1.1 \r\nHost: h\r\n\r\n",
           "G@T / HTTP/1.1\r\nHost: h\r\n\r\n", " GET / HTTP/1.1\r\nHost: h\r\n\r\n",
           "GET / x HTTP/1.1\r\nHost: h\r\n\r\n", "GET / HTTP/1.1\r\nHost: h\r\nno colon\r\n\r\n",
           "GET / HTTP/1.1\r\nHost: h\r\n: no name\r\n\r\n",
           "GET / HTTP/1.1\r\nHost: h\r\nA b: c\r\n\r\n", "GET * HTTP/1.1\r\nHost: h\r\n\r\n",
           "GET /%zz HTTP/1.1\r\nHost: h\r\n\r\n", "CONNECT h:443 HTTP/1.1\r\nHost: h\r\n\r\n",
           "GET / HTTP/1.1\r\n\r\n", "GET / HTTP/1.1\r\nHost: h\r\nHost: h\r\n\r\n", ""}) {
    CAPTURE(block);
    CHECK(Refusal(block).starts_with("400 "));
  }
  CHECK(Refusal("GET / HTTP/1.0\r\n\r\n") == "taken");
}

TEST_CASE("Only 100-continue can be expected", "[server][head]") {
  CHECK(ParseRequestHead(Block("Expect: 100-Continue\r\n"))->expect_continue);
  CHECK(Refusal(Block("Expect: tea\r\n")).starts_with("417 "));
  CHECK_FALSE(
      ParseRequestHead(Block("Expect: 100-continue\r\n", "POST / HTTP/1.0"))->expect_continue);
}

TEST_CASE("A chunked body is the same wherever it is cut", "[server][chunked]") {
  const std::string input =
      "5\r\nhello\r\n1;name=\"a; b\";x\r\n \r\n00A ;y\r\n\r\n0123\r\n89\r\n0;last\r\nTrailer: "
      "x\r\nOther:y\r\n\r\nGET /";
  for (size_t cut = 0; cut <= input.size(); ++cut) {
    CAPTURE(cut);
    const Chunked result = Decode(input, cut);
    CHECK(result.state == ChunkedBody::State::kComplete);
    CHECK(result.body == "hello \r\n0123\r\n89");
    CHECK(result.rest.starts_with("GET /"));
  }
}

TEST_CASE("An empty chunked body may come byte by byte", "[server][chunked]") {
  // Beast 1.81's own parser fails an assertion on this one.
  const std::string input = "0\r\n\r\n";
  ChunkedBody chunks(0, 0);
  std::string body;
  for (size_t i = 0; i < input.size(); ++i) {
    const ChunkedBody::Step step = chunks.Feed(std::string_view(input).substr(i, 1), body);
    CHECK(step.consumed == 1);
    CHECK(step.state == (i + 1 == input.size() ? ChunkedBody::State::kComplete
                                               : ChunkedBody::State::kIncomplete));
  }
  CHECK(body.empty());
}

TEST_CASE("A malformed chunked body is refused wherever it is cut",
          "[server][chunked][smuggling]") {
  for (const std::string& input : Strings{"\r\n",
                                          "x\r\n",
                                          "-1\r\n",
                                          "0x1\r\nx\r\n",
                                          "1 \r\nx\r\n",
                                          " 1\r\nx\r\n",
                                          "1\nx\r\n",
                                          "1\r\r\n",
                                          "1\r\nxy\r\n",
                                          "1\r\nx\n0\r\n",
                                          "1\r\nx0\r\n\r\n",
                                          "1;a\nb\r\nx\r\n",
                                          "1;a=\"\n\"\r\nx\r\n",
                                          "1;a\x01\r\n",
                                          "1\tx\r\n",
                                          "0\r\n\n",
                                          "0\r\n\rx",
                                          "0\r\n: x\r\n\r\n",
                                          "0\r\n folded\r\n\r\n",
                                          "0\r\nno colon\r\n\r\n",
                                          "0\r\nnocolon\r\n\r\n",
                                          "0\r\na: b\n\r\n",
                                          "0\r\na: b\rc",
                                          "00000000000000001\r\nx\r\n",
                                          "1;\r\r\n"}) {
    for (size_t cut = 0; cut <= input.size(); ++cut) {
      CAPTURE(input, cut);
      CHECK(Decode(input, cut).state == ChunkedBody::State::kMalformed);
    }
  }
}

TEST_CASE("A chunked body is bounded when it is announced", "[server][chunked]") {
  CHECK(Decode("6\r\n123456\r\n0\r\n\r\n", 0, 6).state == ChunkedBody::State::kComplete);
  const Chunked one = Decode("7\r\n1234567", 0, 6);
  CHECK(one.state == ChunkedBody::State::kTooLarge);
  CHECK(one.body.empty());
  const Chunked sum = Decode("4\r\n1234\r\n3\r\n567", 0, 6);
  CHECK(sum.state == ChunkedBody::State::kTooLarge);
  CHECK(sum.body == "1234");
  CHECK(Decode("FFFFFFFFFFFFFFFF\r\nx", 0).state == ChunkedBody::State::kTooLarge);
  CHECK(Decode("1\r\nx\r\nFFFFFFFFFFFFFFFF\r\nx", 0, UINT64_MAX).state ==
        ChunkedBody::State::kTooLarge);
}

TEST_CASE("Extensions and trailers are bounded together", "[server][chunked]") {
  CHECK(Decode("1;1234\r\nx\r\n0\r\na: 456\r\n\r\n", 0, 10, 10).state ==
        ChunkedBody::State::kComplete);
  CHECK(Decode("1;1234\r\nx\r\n0\r\na: 4567\r\n\r\n", 0, 10, 9).state ==
        ChunkedBody::State::kMalformed);
  CHECK(Decode("1;" + std::string(200, 'x'), 0).state == ChunkedBody::State::kMalformed);
  CHECK(Decode("1" + std::string(200, ' '), 0).state == ChunkedBody::State::kMalformed);
  CHECK(Decode("0\r\n" + std::string(200, 'x'), 0).state == ChunkedBody::State::kMalformed);
}

}  // namespace
}  // namespace tidemark::server
