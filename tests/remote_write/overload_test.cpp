// Row 46 of docs/remote-write.md: what a receiver without room answers, and that it gives all back.

#include "remote_write/handler.h"
#include "tests/catch.h"
#include "tests/remote_write/handler_fixture.h"

namespace tidemark::remote_write::test {
namespace {

const std::string kGood = Series({{"__name__", "up"}, {"pod", std::string(500, 'a')}}, 1, kNowMs);

uint64_t Refusals(const HandlerFixture& fixture, RefusalCause cause) {
  return fixture.counters.overload_refusals[static_cast<size_t>(cause)];
}

TEST_CASE("row 46: without room to unpack the answer is 503 and nothing is taken in",
          "[remote_write][overload]") {
  constexpr uint64_t kOthers = 10'000;
  ByteBudget budget(kOthers + kGood.size() - 1);
  REQUIRE(budget.TryTake(kOthers));
  HandlerFixture fixture({}, {.inflight = &budget});
  const HttpResponse response = fixture.SendMessage(kGood);
  CHECK(response.status == 503);
  CHECK(HeaderOf(response, "Retry-After") == "5");
  CHECK_FALSE(response.close);
  CHECK(response.body.starts_with("overloaded"));
  CHECK(fixture.sink.commits == 0);
  CHECK(fixture.counters.unpacked_bytes == 0);
  CHECK(budget.taken() == kOthers);
  CHECK(Refusals(fixture, RefusalCause::kBytes) == 1);
}

TEST_CASE("row 46: room is booked by the claim, for as long as the request lasts, whatever its end",
          "[remote_write][overload]") {
  ByteBudget budget(kGood.size());
  HandlerFixture fixture({}, {.inflight = &budget});
  CHECK(fixture.SendMessage(kGood).status == 204);
  CHECK(budget.taken() == 0);
  CHECK(fixture.SendMessage(kGood.substr(0, kGood.size() - 1)).status == 400);
  CHECK(budget.taken() == 0);
  std::string damaged = Pack(kGood);
  damaged.resize(damaged.size() / 2);
  CHECK(fixture.Send(WriteRequest(damaged)).status == 400);
  CHECK(budget.taken() == 0);
  CHECK(fixture.SendMessage(Series({{"pod", "a"}}, 1, kNowMs)).status == 400);
  CHECK(budget.taken() == 0);
  fixture.sink.error = Error{ErrorCode::kIo, "journal: no space"};
  CHECK(fixture.SendMessage(kGood).status == 503);
  CHECK(budget.taken() == 0);
  CHECK(HandlerFixture::Sum(fixture.counters.overload_refusals) == 0);
  // A claim that no budget could hold is told for good.
  CHECK(fixture.Send(WriteRequest(std::string("\xff\xff\xff\xff\x0f", 5))).status == 400);
}

TEST_CASE("row 46: what 2.0 writes out is booked too, and a request that is alone always has room",
          "[remote_write][overload][v2]") {
  // Few bytes that name a long text again and again.
  const std::string text(1000, 'v');
  std::string message;
  for (const std::string& symbol : {std::string(), std::string("__name__"), text}) {
    message += BytesField(4, symbol);
  }
  for (int i = 0; i < 1000; ++i) {
    message += BytesField(
        5, BytesField(1, Varint(1) + Varint(2)) + BytesField(2, VarintField(2, kNowMs + i)));
  }
  HttpRequest request = WriteRequest(Pack(message));
  SetHeader(request, "Content-Type", "application/x-protobuf;proto=io.prometheus.write.v2.Request");
  constexpr uint64_t kOthers = 100'000;  // more than the body's own memory
  ByteBudget budget(kOthers + 2 * message.size());
  HandlerFixture fixture({}, {.inflight = &budget});
  CHECK(fixture.Send(request).status == 204);
  CHECK(budget.taken() == 0);
  REQUIRE(budget.TryTake(kOthers));
  const HttpResponse refused = fixture.Send(request);
  CHECK(refused.status == 503);
  CHECK(HeaderOf(refused, "X-Prometheus-Remote-Write-Samples-Written") == "0");
  CHECK(Refusals(fixture, RefusalCause::kBytes) == 1);
  CHECK(budget.taken() == kOthers);
  CHECK(fixture.sink.commits == 1);
}

TEST_CASE("row 46: the wait grows with each attempt, whatever there is too much of",
          "[remote_write][overload]") {
  HandlerFixture fixture;
  const HttpRoute route = fixture.handler.Route();
  CHECK(route.bulk);
  HttpRequest request = WriteRequest({});
  unsigned before = 0;
  for (const char* attempt : {"", "2", "3", "4"}) {
    SetHeader(request, "Retry-Attempt", attempt);
    for (const OverloadCause cause : {OverloadCause::kBytes, OverloadCause::kQueue}) {
      const HttpResponse response = route.overloaded(request, cause);
      CHECK(response.status == 503);
      CHECK_FALSE(response.close);
      CHECK(response.body.find("nothing was taken in") != std::string::npos);
      if (cause == OverloadCause::kBytes) {
        const auto wait = static_cast<unsigned>(std::stoul(HeaderOf(response, "Retry-After")));
        CHECK(wait > before);
        before = wait;
      }
    }
  }
  CHECK(Refusals(fixture, RefusalCause::kBytes) == 4);
  CHECK(Refusals(fixture, RefusalCause::kQueue) == 4);
  CHECK(fixture.counters.requests[0][RemoteWriteCounters::kCodes.size() - 1] == 8);
}

TEST_CASE("row 46: refusals are counted by cause", "[remote_write][overload]") {
  bool accepting = false;
  HandlerFixture fixture({}, {.accepting = [&] { return accepting; }});
  CHECK(fixture.SendMessage(kGood).status == 503);
  CHECK(Refusals(fixture, RefusalCause::kStopping) == 1);
  accepting = true;
  fixture.sink.error = Error{ErrorCode::kUnavailable, "queue of shard 1 is full"};
  CHECK(fixture.SendMessage(kGood).status == 503);
  CHECK(Refusals(fixture, RefusalCause::kQueue) == 1);
  CHECK(HandlerFixture::Sum(fixture.counters.overload_refusals) == 2);
}

}  // namespace
}  // namespace tidemark::remote_write::test
