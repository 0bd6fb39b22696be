// What is particular to 2.0 in the handler: the Written headers.

#include <atomic>

#include "remote_write/handler.h"
#include "tests/catch.h"
#include "tests/remote_write/handler_fixture.h"
#include "tests/remote_write/wire_builder_v2.h"

using namespace tidemark;
using namespace tidemark::remote_write;
using namespace tidemark::remote_write::test;
using Catch::Matchers::Contains;

namespace {

const LabelList kUp = {{"__name__", "up"}, {"job", "node"}};
const std::string kGood = EncodeV2({{kUp, {{kNowMs, 1}}}});

/// Four samples, two histograms and three exemplars that are good, and some of each that are not.
std::string Mixed() {
  const std::string bad_histogram = VarintField(1, 99);
  return EncodeV2({
      {kUp, {{kNowMs, 1}, {kNowMs + 1, 2}, {5, 3}}, {"", bad_histogram}, {{{}, 1, 1}, {{}, 2, 1}}},
      {{{"pod", "a"}}, {{kNowMs, 1}}, {""}, {{{}, 1, 1}}},
      {{{"__name__", "b"}}, {{kNowMs, 1}, {kNowMs + 1, 2}}, {""}, {{{}, 1, 1}}},
  });
}

}  // namespace

TEST_CASE("a good request of 2.0 is answered 204 with its counts", "[remote_write][handler][v2]") {
  HandlerFixture fixture;
  const HttpResponse response = fixture.SendMessageV2(kGood);
  REQUIRE(response.status == 204);
  REQUIRE(response.body.empty());
  REQUIRE(WrittenOf(response) == Written{1, 0, 0});
  REQUIRE(fixture.sink.series.at(0).labels == kUp);
}

TEST_CASE("what is taken in of a request with faults is counted exactly",
          "[remote_write][handler][v2]") {
  HandlerFixture fixture;
  const HttpResponse response = fixture.SendMessageV2(Mixed());
  REQUIRE(response.status == 400);
  REQUIRE(WrittenOf(response) == Written{4, 2, 3});
  REQUIRE(fixture.counters.samples_accepted == 4);
  REQUIRE(fixture.counters.histograms == 2);
  REQUIRE(fixture.counters.exemplars == 3);
}

TEST_CASE("samples that were good and of no use are written, those that were refused are not",
          "[remote_write][handler][v2]") {
  HandlerFixture fixture;
  WriteVerdict verdict;
  verdict.accepted = 3;
  verdict.Ignore(IgnoreReason::kDuplicate, 2);
  verdict.Ignore(IgnoreReason::kNoRole, 4);
  verdict.Ignore(IgnoreReason::kHaCopy, 1);
  fixture.sink.verdict = verdict;
  HttpResponse response = fixture.SendMessageV2(kGood);
  REQUIRE(response.status == 204);
  REQUIRE(WrittenOf(response) == Written{10, 0, 0});

  verdict.Reject(RejectReason::kSeriesLimit, 5);
  fixture.sink.verdict = verdict;
  response = fixture.SendMessageV2(kGood);
  REQUIRE(response.status == 400);
  REQUIRE(WrittenOf(response) == Written{10, 0, 0});
}

TEST_CASE("an answer of 5xx has counts of 0", "[remote_write][handler][v2]") {
  HandlerFixture fixture;
  for (const ErrorCode code : {ErrorCode::kUnavailable, ErrorCode::kIo, ErrorCode::kInternal}) {
    fixture.sink.error = Error{code, "no"};
    const HttpResponse response = fixture.SendMessageV2(Mixed());
    REQUIRE(response.status == (code == ErrorCode::kInternal ? 500 : 503));
    REQUIRE(WrittenOf(response) == Written{});
  }
}

TEST_CASE("a refusal before the body is read has counts of 0 over 2.0 and none over 1.0",
          "[remote_write][handler][v2]") {
  std::atomic<bool> accepting = false;
  HandlerOptions options;
  options.accepting = [&] { return accepting.load(); };
  HandlerFixture fixture({}, options);
  HttpRequest v2 = WriteRequestV2(Pack(kGood));
  auto refusal = fixture.handler.Admit(v2);
  REQUIRE(refusal.has_value());
  REQUIRE(refusal->status == 503);
  REQUIRE(WrittenOf(*refusal) == Written{});
  REQUIRE(WrittenOf(*fixture.handler.Admit(WriteRequest(""))) == std::nullopt);

  accepting = true;
  v2.content_length = uint64_t{1} << 30;
  refusal = fixture.handler.Admit(v2);
  REQUIRE(refusal.has_value());
  REQUIRE(refusal->status == 400);
  REQUIRE(WrittenOf(*refusal) == Written{});
}

TEST_CASE("what the server answers to a request of 2.0 by itself has counts of 0",
          "[remote_write][handler][v2]") {
  HandlerFixture fixture;
  const HttpRoute route = fixture.handler.Route();
  const auto complete = [&](const HttpRequest& request, HttpResponse response) {
    route.complete(request, response);
    return response;
  };
  REQUIRE(WrittenOf(complete(WriteRequestV2(""), HttpResponse::Text(400, "x"))) == Written{});
  REQUIRE(WrittenOf(complete(WriteRequest(""), HttpResponse::Text(400, "x"))) == std::nullopt);
  HttpRequest gzip = WriteRequestV2("");
  SetHeader(gzip, "Content-Encoding", "gzip");
  REQUIRE(WrittenOf(complete(gzip, HttpResponse::Text(415, "x"))) == std::nullopt);
  // What stands there already stays.
  const HttpRequest request = WriteRequestV2(Pack(kGood));
  REQUIRE(WrittenOf(complete(request, fixture.Send(request))) == Written{1, 0, 0});
}

TEST_CASE("nothing of an undecodable body of 2.0 goes into the sink",
          "[remote_write][handler][v2]") {
  HandlerFixture fixture;
  const HttpResponse response = fixture.SendMessageV2(kGood + SeriesV2("\x0a"));
  REQUIRE(response.status == 400);
  REQUIRE_THAT(response.body, Contains("io.prometheus.write.v2.Request") &&
                                  Contains("byte " + std::to_string(kGood.size())));
  REQUIRE(WrittenOf(response) == Written{});
  REQUIRE(fixture.sink.commits == 0);
  REQUIRE(fixture.counters.series_entries == 0);
}

TEST_CASE("a body of 1.0 under the content type of 2.0 is not lost in silence",
          "[remote_write][handler][v2]") {
  HandlerFixture fixture;
  const HttpResponse response = fixture.SendMessageV2(Series(kUp, 1, kNowMs));
  REQUIRE(response.status == 400);
  REQUIRE_THAT(response.body, Contains("looks like remote write 1.0"));
  REQUIRE(WrittenOf(response) == Written{});
}

TEST_CASE("labels that would fill memory when written out are refused as a whole",
          "[remote_write][handler][v2]") {
  HandlerFixture fixture;
  LabelList labels = {{"__name__", "up"}};
  for (int i = 0; i < 100; ++i) labels.emplace_back("n" + std::to_string(1000 + i), "");
  for (size_t i = 1; i < labels.size(); ++i) labels[i].second = std::string(4000, 'v');
  std::vector<Item> items;
  for (int i = 0; i < 100; ++i) items.push_back({labels, {{kNowMs, 1}}});
  const HttpResponse response = fixture.SendMessageV2(EncodeV2(items));
  REQUIRE(response.status == 400);
  REQUIRE_THAT(response.body, Contains("33554432 bytes"));
  REQUIRE(WrittenOf(response) == Written{});
  REQUIRE(fixture.sink.commits == 0);
  items.resize(10);
  REQUIRE(WrittenOf(fixture.SendMessageV2(EncodeV2(items))) == Written{10, 0, 0});
}

TEST_CASE("a series is the same over 1.0 and 2.0, to the byte", "[remote_write][handler][v2]") {
  const std::vector<Item> items = {
      {kUp, {{kNowMs, 1}}},
      {{{"pod", "a"}, {"__name__", "b"}, {"image", ""}}, {{kNowMs, 2}, {kNowMs + 1, 3}}},
      {{{"__name__", "\xc3\xbc"}, {"z", std::string(200, 'z')}}, {{kNowMs, StaleMarker()}}},
  };
  HandlerFixture v1;
  HandlerFixture v2;
  REQUIRE(v1.SendMessage(EncodeV1(items)).status == 204);
  REQUIRE(v2.SendMessageV2(EncodeV2(items)).status == 204);
  // The sink has checked that the bytes are the canonical ones of the labels.
  REQUIRE(v1.sink.series.size() == items.size());
  for (size_t i = 0; i < items.size(); ++i) {
    REQUIRE(v1.sink.series[i].labels == v2.sink.series[i].labels);
    REQUIRE(v1.sink.series[i].samples.size() == v2.sink.series[i].samples.size());
  }
}
