#include "estimators/confidence.h"

#include "tests/catch.h"

using namespace tidemark::estimators;
using namespace std::chrono_literals;

namespace {

constexpr Time kStart{std::chrono::seconds(1'700'000'000)};

SampleSpan Samples(int count, std::chrono::nanoseconds apart) {
  SampleSpan span;
  for (int i = 0; i < count; ++i) span.Record(kStart + i * apart);
  return span;
}

}  // namespace

TEST_CASE("no sample and one sample give no confidence", "[estimators][confidence]") {
  CHECK(Confidence(SampleSpan()) == 0);
  CHECK(Confidence(Samples(1, 1min)) == 0);
  CHECK_FALSE(SampleSpan().First().has_value());
  CHECK_FALSE(SampleSpan().Last().has_value());
}

TEST_CASE("a day of minutes is about one day", "[estimators][confidence]") {
  CHECK(Confidence(Samples(1441, 1min)) == Approx(1.0).epsilon(1e-12));
  CHECK(Confidence(Samples(1440, 1min)) == Approx(1439.0 / 1440).epsilon(1e-12));
  CHECK(Confidence(Samples(61, 1min), 1h) == Approx(1.0).epsilon(1e-12));
}

TEST_CASE("the scarcer of time and samples counts", "[estimators][confidence]") {
  CHECK(Confidence(Samples(289, 5min)) ==
        Approx(289.0 / 1440).epsilon(1e-12));  // one in five minutes
  CHECK(Confidence(Samples(5760, 15s)) == Approx(5759.0 / 5760).epsilon(1e-12));
}

TEST_CASE("merged spans reach from the first to the last sample of all",
          "[estimators][confidence]") {
  SampleSpan span = Samples(10, 1min);
  SampleSpan earlier;
  earlier.Record(kStart - 1h);
  earlier.Record(kStart - 2h);
  span.Merge(earlier);
  CHECK(span.First() == kStart - 2h);
  CHECK(span.Last() == kStart + 9min);
  CHECK(span.Count() == 12);

  span.Merge(SampleSpan());
  CHECK(span.Count() == 12);
  CHECK(span.First() == kStart - 2h);
  SampleSpan empty;
  empty.Merge(span);
  CHECK(empty.First() == span.First());
  CHECK(empty.Last() == span.Last());
  CHECK(empty.Count() == 12);
}

TEST_CASE("the longest span there is does not overflow", "[estimators][confidence]") {
  SampleSpan span;
  span.Record(Time::min());
  span.Record(Time::max());
  CHECK(Confidence(span) == Approx(2.0 / 1440));
}
