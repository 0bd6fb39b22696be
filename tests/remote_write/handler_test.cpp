#include "remote_write/handler.h"

#include <atomic>
#include <thread>

#include "model/log.h"
#include "remote_write/utf8.h"
#include "tests/catch.h"
#include "tests/remote_write/handler_fixture.h"

using namespace tidemark;
using namespace tidemark::remote_write;
using namespace tidemark::remote_write::test;
using Catch::Matchers::Contains;
using Catch::Matchers::StartsWith;

namespace {

const LabelList kUp = {{"__name__", "up"}, {"job", "node"}};
const std::string kGood = Series(kUp, 1, kNowMs);

uint64_t Requests(const HandlerFixture& fixture, size_t version, unsigned status) {
  for (size_t i = 0; i < RemoteWriteCounters::kCodes.size(); ++i) {
    if (RemoteWriteCounters::kCodes[i] == status) return fixture.counters.requests[version][i];
  }
  return 0;
}

/// Keeps log lines while it lives.
class LogLines {
 public:
  LogLines() {
    SetLogSink([this](std::string_view line) { lines.emplace_back(line); });
  }
  ~LogLines() { SetLogSink({}); }
  LogLines(const LogLines&) = delete;
  LogLines& operator=(const LogLines&) = delete;
  std::vector<std::string> lines;
};

}  // namespace

TEST_CASE("the route takes POST at the path of Prometheus", "[remote_write][handler]") {
  HandlerFixture fixture;
  const HttpRoute route = fixture.handler.Route();
  REQUIRE(route.path == "/api/v1/write");
  REQUIRE(route.methods == std::vector<std::string>{"POST"});
  REQUIRE(route.max_body_bytes == Limits{}.max_body_bytes);
}

TEST_CASE("a good request is answered 204 without a body", "[remote_write][handler]") {
  HandlerFixture fixture;
  const HttpResponse response = fixture.SendMessage(kGood);
  REQUIRE(response.status == 204);
  REQUIRE(response.body.empty());
  REQUIRE(response.headers.empty());
  REQUIRE(fixture.sink.series.at(0).labels == kUp);
  REQUIRE(Requests(fixture, 0, 204) == 1);
}

// row 5, row 6, row 7 of docs/remote-write.md.
TEST_CASE("what cannot be read is refused by its headers, whatever the body",
          "[remote_write][handler]") {
  struct {
    const char* name;
    const char* value;
    const char* says;
  } const cases[] = {
      {"Content-Type", "application/json", "application/x-protobuf"},
      {"Content-Type", "image/png", "application/x-protobuf"},
      {"Content-Type", "application/vnd.google.protobuf", "application/x-protobuf"},
      {"Content-Type", "application/x-protobuf;proto=prometheus.WriteRequestV9", "WriteRequestV9"},
      {"Content-Type", "application/x-protobuf;proto=io.prometheus.write.v3.Request", "v2.Request"},
      {"Content-Encoding", "gzip", "snappy"},
      {"Content-Encoding", "deflate", "snappy"},
      {"Content-Encoding", "zstd", "snappy"},
  };
  for (const auto& test : cases) {
    CAPTURE(test.value);
    HandlerFixture fixture;
    HttpRequest request = WriteRequest("corrupt");
    SetHeader(request, test.name, test.value);
    const auto admitted = fixture.handler.Admit(request);
    REQUIRE(admitted.has_value());
    REQUIRE(admitted->status == 415);
    REQUIRE_THAT(admitted->body, Contains(test.says));
    // A server without admission gets the same answer.
    REQUIRE(fixture.handler.Handle(request).status == 415);
    REQUIRE(fixture.counters.received_bytes == 0);
  }
}

TEST_CASE("requests are counted by version and status", "[remote_write][handler]") {
  HandlerFixture fixture;
  HttpRequest v2 = WriteRequestV2("");
  REQUIRE(fixture.Send(v2).status == 400);
  REQUIRE(Requests(fixture, 1, 400) == 1);
  REQUIRE(Requests(fixture, 0, 400) == 0);
  SetHeader(v2, "Content-Encoding", "gzip");
  REQUIRE(fixture.Send(v2).status == 415);
  REQUIRE(Requests(fixture, 1, 415) == 1);
  REQUIRE(fixture.Send(WriteRequest("\xff")).status == 400);
  REQUIRE(Requests(fixture, 0, 400) == 1);
}

// row 4, row 8 of docs/remote-write.md.
TEST_CASE("headers that may be missing or odd refuse nothing", "[remote_write][handler]") {
  HandlerFixture fixture;
  HttpRequest request = WriteRequest(Pack(kGood));
  request.headers.clear();
  REQUIRE(fixture.Send(request).status == 204);
  SetHeader(request, "X-Prometheus-Remote-Write-Version", "9.9.9");
  SetHeader(request, "content-encoding", "SNAPPY");
  request.content_length.reset();
  REQUIRE(fixture.Send(request).status == 204);
}

// row 11 of docs/remote-write.md.
TEST_CASE("a body over the limit is refused by its announced length, else when it has come",
          "[remote_write][handler]") {
  Limits limits;
  limits.max_body_bytes = 1000;
  HandlerFixture fixture(limits);
  HttpRequest request = WriteRequest("");
  request.content_length = 1001;
  const auto refusal = fixture.handler.Admit(request);
  REQUIRE(refusal.has_value());
  REQUIRE(refusal->status == 400);
  REQUIRE(refusal->close);
  REQUIRE_THAT(refusal->body, Contains("1001") && Contains("1000"));
  request.content_length = 1000;
  REQUIRE_FALSE(fixture.handler.Admit(request).has_value());

  request.content_length.reset();
  request.body = std::string(1001, 'x');
  REQUIRE(fixture.Send(request).status == 400);
}

TEST_CASE("a receiver that is not accepting says 503 before it reads the body",
          "[remote_write][handler]") {
  std::atomic<bool> accepting = false;
  HandlerOptions options;
  options.accepting = [&] { return accepting.load(); };
  HandlerFixture fixture({}, options);
  HttpRequest request = WriteRequest(Pack(kGood));
  const auto refusal = fixture.handler.Admit(request);
  REQUIRE(refusal.has_value());
  REQUIRE(refusal->status == 503);
  REQUIRE(HeaderOf(*refusal, "Retry-After") == "5");
  SetHeader(request, "Retry-Attempt", "3");
  REQUIRE(HeaderOf(fixture.Send(request), "Retry-After") == "20");
  SECTION("what will never be accepted is told so even then") {
    SetHeader(request, "Content-Encoding", "gzip");
    REQUIRE(fixture.Send(request).status == 415);
  }
  accepting = true;
  REQUIRE_FALSE(fixture.handler.Admit(WriteRequest(Pack(kGood))).has_value());
}

TEST_CASE("overload in the engine is 503 and counts nothing", "[remote_write][handler]") {
  HandlerFixture fixture;
  const std::string message = kGood + Series(Label("pod", "a") + SampleField(1, kNowMs));
  fixture.sink.error = Error{ErrorCode::kUnavailable, "queue of shard 1 is full"};
  const HttpResponse response = fixture.SendMessage(message);
  REQUIRE(response.status == 503);
  REQUIRE(HeaderOf(response, "Retry-After") == "5");
  REQUIRE_THAT(response.body, Contains("queue of shard 1 is full"));
  REQUIRE(fixture.counters.samples_accepted == 0);
  REQUIRE(fixture.TotalRejected() == 0);
  REQUIRE(fixture.counters.series_entries == 0);
  REQUIRE(fixture.counters.highest_timestamp_ms == 0);
  REQUIRE(fixture.counters.last_received_ms == 0);

  fixture.sink.error = Error{ErrorCode::kIo, "journal: no space"};
  REQUIRE(fixture.SendMessage(message).status == 503);
  fixture.sink.error = Error{ErrorCode::kInternal, "bug"};
  REQUIRE(fixture.SendMessage(message).status == 500);

  fixture.sink.error.reset();
  REQUIRE(fixture.SendMessage(message).status == 400);
  REQUIRE(fixture.counters.samples_accepted == 1);
  REQUIRE(fixture.TotalRejected() == 1);
}

// row 13 of docs/remote-write.md.
TEST_CASE("nothing of an undecodable body goes into the sink", "[remote_write][handler]") {
  HandlerFixture fixture;
  const HttpResponse response = fixture.SendMessage(kGood + kGood + Series("\x0a"));
  REQUIRE(response.status == 400);
  REQUIRE_THAT(response.body, StartsWith("body is not a prometheus.WriteRequest") &&
                                  Contains("byte " + std::to_string(2 * kGood.size())));
  REQUIRE(fixture.sink.commits == 0);
  REQUIRE(fixture.counters.series_entries == 0);
  REQUIRE(fixture.counters.samples_accepted == 0);
  REQUIRE(fixture.TotalRejected() == 0);
}

// row 16 of docs/remote-write.md.
TEST_CASE("a body of 2.0 under the content type of 1.0 is not lost in silence",
          "[remote_write][handler]") {
  HandlerFixture fixture;
  const HttpResponse response =
      fixture.SendMessage(BytesField(4, "") + BytesField(4, "__name__") + BytesField(5, "\x0a"));
  REQUIRE(response.status == 400);
  REQUIRE_THAT(response.body, Contains("looks like remote write 2.0"));
}

TEST_CASE("every sample of a decodable request is counted exactly once",
          "[remote_write][handler]") {
  HandlerFixture fixture;
  const std::string exemplar = BytesField(3, Label("trace_id", "1"));
  std::string message = kGood;
  message += Series(Labels(kUp) + SampleField(1, 5) + SampleField(StaleMarker(), kNowMs + 7) +
                    SampleField(2, kNowMs + 10'000'000) + exemplar + BytesField(4, ""));
  message += Series(Label("pod", "a") + SampleField(1, 1) + SampleField(1, 2) + exemplar);
  message += BytesField(3, BytesField(2, "up"));
  WriteVerdict verdict;
  verdict.accepted = 1;
  verdict.Ignore(IgnoreReason::kNoRole, 1);
  fixture.sink.verdict = verdict;

  REQUIRE(fixture.SendMessage(message).status == 400);
  REQUIRE(fixture.counters.series_entries == 3);
  REQUIRE(fixture.counters.samples_accepted == 1);
  REQUIRE(fixture.TotalIgnored() == 1);
  REQUIRE(fixture.Rejected(RejectReason::kTooOld) == 1);
  REQUIRE(fixture.Rejected(RejectReason::kTooFarInFuture) == 1);
  REQUIRE(fixture.Rejected(RejectReason::kMissingName) == 2);
  REQUIRE(fixture.SeriesRejected(RejectReason::kMissingName) == 1);
  REQUIRE(fixture.TotalRejected() == 4);
  REQUIRE(fixture.counters.stale_markers == 1);
  REQUIRE(fixture.counters.exemplars == 1);
  REQUIRE(fixture.counters.histograms == 1);
  REQUIRE(fixture.counters.metadata == 1);
  REQUIRE(fixture.counters.received_bytes == Pack(message).size());
  REQUIRE(fixture.counters.unpacked_bytes == message.size());
  REQUIRE(fixture.counters.highest_timestamp_ms == kNowMs + 7);
  REQUIRE(fixture.counters.last_received_ms == kNowMs);
}

TEST_CASE("what the engine refuses is 400 with its reason and example", "[remote_write][handler]") {
  HandlerFixture fixture;
  WriteVerdict verdict;
  verdict.accepted = 3;
  verdict.Reject(RejectReason::kSeriesLimit, 2);
  verdict.first_rejected = "up{pod=\"new\"}";
  fixture.sink.verdict = verdict;
  const HttpResponse response = fixture.SendMessage(kGood);
  REQUIRE(response.status == 400);
  REQUIRE_THAT(response.body, StartsWith("series_limit: ") && Contains("series_limit samples=2") &&
                                  Contains("taken in: samples=3") &&
                                  Contains("first: up{pod=\"new\"}"));
  REQUIRE(fixture.Rejected(RejectReason::kSeriesLimit) == 2);
}

TEST_CASE("what the engine ignores is no error", "[remote_write][handler]") {
  HandlerFixture fixture;
  WriteVerdict verdict;
  verdict.Ignore(IgnoreReason::kLate);
  fixture.sink.verdict = verdict;
  REQUIRE(fixture.SendMessage(kGood).status == 204);
  REQUIRE(fixture.TotalIgnored() == 1);
  REQUIRE(fixture.counters.samples_accepted == 0);
}

TEST_CASE("the text of a refusal has the reason first, then counts, then one example, and is short",
          "[remote_write][handler]") {
  HandlerFixture fixture;
  std::string message = kGood;
  for (int i = 0; i < 1000; ++i) {
    message += Series({{"pod", "cart-" + std::to_string(i)}, {"note", std::string(3000, '\n')}}, 1,
                      kNowMs);
    message += Series(kUp, 1, i);
  }
  const HttpResponse response = fixture.SendMessage(message);
  REQUIRE(response.status == 400);
  REQUIRE(response.body.size() <= 1024);
  REQUIRE(IsUtf8(response.body));
  REQUIRE_THAT(response.body, StartsWith("missing_name: "));
  const size_t counts = response.body.find("missing_name samples=1000 series=1000");
  const size_t example = response.body.find("cart-0");
  REQUIRE(counts != std::string::npos);
  REQUIRE(response.body.find("too_old samples=1000") != std::string::npos);
  REQUIRE(example != std::string::npos);
  REQUIRE(counts < example);
}

TEST_CASE("labels that are not UTF-8 do not spoil the text", "[remote_write][handler]") {
  HandlerFixture fixture;
  const HttpResponse response =
      fixture.SendMessage(Series({{"__name__", "up"}, {"a", "\xff\x01"}}, 1, kNowMs));
  REQUIRE(IsUtf8(response.body));
  REQUIRE_THAT(response.body, Contains("a=\"\\xff\\x01\""));
}

TEST_CASE("refused requests are logged once a minute and kind, with sender and reason",
          "[remote_write][handler]") {
  const LogLines log;
  HandlerFixture fixture;
  for (int i = 0; i < 5; ++i) {
    fixture.SendMessage(Series(Label("pod", "a")));
    fixture.Send(WriteRequest("\xff"));
  }
  fixture.SendMessage(kGood);
  REQUIRE(log.lines.size() == 2);
  REQUIRE_THAT(log.lines[0], Contains("missing_name") && Contains("user_agent=test/1") &&
                                 Contains("peer=192.0.2.1:4711") && Contains("status=400"));
}

TEST_CASE("a request without samples needs no commit", "[remote_write][handler]") {
  HandlerFixture fixture;
  REQUIRE(fixture.SendMessage("").status == 204);
  REQUIRE(fixture.SendMessage(BytesField(3, "")).status == 204);
  REQUIRE(fixture.sink.commits == 0);
  REQUIRE(fixture.counters.last_received_ms == kNowMs);
}

TEST_CASE("requests may come concurrently", "[remote_write][handler]") {
  class CountingSink final : public SampleSink {
   public:
    class Batch final : public WriteBatch {
     public:
      void Add(const IncomingSeries& series) override {
        verdict_.accepted += series.samples.size();
      }
      Result<WriteVerdict> Commit() override { return verdict_; }

     private:
      WriteVerdict verdict_;
    };
    std::unique_ptr<WriteBatch> Begin() override { return std::make_unique<Batch>(); }
  };
  CountingSink sink;
  const ManualClock clock(FromUnixMs(kNowMs));
  RemoteWriteCounters counters;
  Handler handler(sink, clock, Limits{}, counters);
  constexpr int kThreads = 4;
  constexpr int kRequests = 200;
  std::string message;
  for (int i = 0; i < 50; ++i)
    message += Series({{"pod", std::to_string(i)}, {"__name__", "up"}}, 1, kNowMs);
  const HttpRequest request = WriteRequest(Pack(message));
  std::atomic<int> good = 0;
  std::vector<std::thread> threads;
  for (int t = 0; t < kThreads; ++t) {
    threads.emplace_back([&] {
      for (int i = 0; i < kRequests; ++i) {
        if (handler.Handle(request).status == 204) ++good;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  REQUIRE(good == kThreads * kRequests);
  REQUIRE(counters.samples_accepted == uint64_t{50} * kThreads * kRequests);
}
