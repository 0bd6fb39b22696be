#include "estimators/decaying_histogram.h"

#include <cmath>
#include <limits>

#include "tests/catch.h"

using namespace tidemark::estimators;
using namespace std::chrono_literals;

namespace {

constexpr Time kStart{std::chrono::seconds(1'700'000'000)};
/// The midnight that follows: the reference time of a first sample at kStart with a half-life of a
/// day.
constexpr Time kMidnight{std::chrono::seconds(1'700'006'400)};
constexpr double kInfinity = std::numeric_limits<double>::infinity();

const HistogramOptions& CpuOptions() {
  static const HistogramOptions options = HistogramOptions::Cpu();
  return options;
}

/// Buckets that start at 0, 1, 3, 7, 15, …, 1023.
const HistogramOptions& CoarseOptions() {
  static const HistogramOptions options = *HistogramOptions::Exponential(1000, 1, 2, 0.0001);
  return options;
}

}  // namespace

TEST_CASE("an empty histogram answers 0", "[estimators][histogram]") {
  const DecayingHistogram histogram(&CpuOptions(), 24h);
  CHECK(histogram.IsEmpty());
  CHECK(histogram.TotalWeight() == 0);
  CHECK_FALSE(histogram.ReferenceTime().has_value());
  CHECK(histogram.MinBucket() == 175);
  CHECK(histogram.MaxBucket() == 0);
  for (const double p : {0.0, 0.5, 1.0, std::nan("")}) CHECK(histogram.Percentile(p) == 0);
}

TEST_CASE("one value is every percentile, rounded up to the end of its bucket",
          "[estimators][histogram]") {
  DecayingHistogram histogram(&CoarseOptions(), 24h);
  REQUIRE(histogram.Add(4, 0.1, kMidnight));
  CHECK_FALSE(histogram.IsEmpty());
  CHECK(histogram.ReferenceTime() == kMidnight);
  CHECK(histogram.TotalWeight() == 0.1);
  for (const double p : {-1.0, 0.0, 0.5, 1.0, 2.0, std::nan("")})
    CHECK(histogram.Percentile(p) == 7);
}

TEST_CASE("percentiles follow the weights", "[estimators][histogram]") {
  DecayingHistogram histogram(&CoarseOptions(), 24h);
  REQUIRE(histogram.Add(0.5, 1, kMidnight));
  REQUIRE(histogram.Add(2, 2, kMidnight));
  REQUIRE(histogram.Add(10, 1, kMidnight));
  CHECK(histogram.TotalWeight() == 4);
  CHECK(histogram.MinBucket() == 0);
  CHECK(histogram.MaxBucket() == 3);
  CHECK(histogram.Percentile(0) == 1);
  CHECK(histogram.Percentile(0.25) == 1);  // reached exactly
  CHECK(histogram.Percentile(0.26) == 3);
  CHECK(histogram.Percentile(0.75) == 3);
  CHECK(histogram.Percentile(0.76) == 15);
  CHECK(histogram.Percentile(1) == 15);
}

TEST_CASE("the last bucket answers its start", "[estimators][histogram]") {
  DecayingHistogram histogram(&CoarseOptions(), 24h);
  REQUIRE(histogram.Add(1e9, 1, kMidnight));
  CHECK(histogram.Percentile(0.9) == 1023);
}

TEST_CASE("a sample is worth twice one that is a half-life older", "[estimators][histogram]") {
  DecayingHistogram histogram(&CoarseOptions(), 24h);
  REQUIRE(histogram.Add(1, 1, kMidnight));
  REQUIRE(histogram.Add(4, 1, kMidnight + 24h));
  REQUIRE(histogram.Add(16, 1, kMidnight - 24h));
  CHECK(histogram.TotalWeight() == 3.5);
  CHECK(histogram.Percentile(1.0 / 3.5) == 3);
  CHECK(histogram.Percentile(3.0 / 3.5) == 7);
  CHECK(histogram.Percentile(3.01 / 3.5) == 31);
}

TEST_CASE("the reference moves only after more than 100 half-lives", "[estimators][histogram]") {
  DecayingHistogram histogram(&CoarseOptions(), 24h);
  REQUIRE(histogram.Add(1, 1, kStart));
  CHECK(histogram.ReferenceTime() == kMidnight);
  REQUIRE(histogram.Add(1, 1, kMidnight + 100 * 24h));
  CHECK(histogram.ReferenceTime() == kMidnight);
  REQUIRE(histogram.Add(1, 1, kMidnight + 100 * 24h + 1ns));
  CHECK(histogram.ReferenceTime() == kMidnight + 100 * 24h);
  CHECK(histogram.TotalWeight() == Approx(2));
}

TEST_CASE("the grid of references counts from the year 1 and rounds halves up",
          "[estimators][histogram]") {
  const auto reference = [](Time time, std::chrono::nanoseconds half_life) {
    DecayingHistogram histogram(&CoarseOptions(), half_life);
    REQUIRE(histogram.Add(1, 1, time));
    return *histogram.ReferenceTime();
  };
  CHECK(reference(kMidnight - 12h, 24h) == kMidnight);
  CHECK(reference(kMidnight - 12h - 1ns, 24h) == kMidnight - 24h);
  // Half-lives that do not divide the time from the year 1 to 1970: the Unix grid would be another
  // one.
  const int64_t to_year_one = 62'135'596'800;
  for (const int64_t half_life_seconds : {25'200, 77, 1'123'200}) {
    const Time found = reference(kStart, std::chrono::seconds(half_life_seconds));
    const int64_t seconds =
        std::chrono::floor<std::chrono::seconds>(found).time_since_epoch().count();
    CHECK((seconds + to_year_one) % half_life_seconds == 0);
    CHECK(std::abs(seconds - 1'700'000'000) * 2 <= half_life_seconds);
  }
}

TEST_CASE("times at both ends of the calendar and any half-life are survived",
          "[estimators][histogram]") {
  const std::chrono::nanoseconds year = 365 * 24h;
  for (const auto half_life : {std::chrono::nanoseconds(1), std::chrono::nanoseconds(24h), 3 * year,
                               6 * year, 100 * year, std::chrono::nanoseconds::max()}) {
    INFO("half-life " << half_life.count() << " ns");
    DecayingHistogram histogram(&CoarseOptions(), half_life);
    for (const Time time :
         {Time::min(), Time::max(), kStart, Time::min() + 1ns, Time::max() - 1ns, Time(0s)}) {
      CHECK(histogram.Add(4, 1, time));
      CHECK(std::isfinite(histogram.TotalWeight()));
      CHECK(histogram.Percentile(0.5) == (histogram.IsEmpty() ? 0 : 7));
      DecayingHistogram other(&CoarseOptions(), half_life);
      CHECK(other.Add(4, 1, kStart));
      CHECK(other.Merge(histogram));
      CHECK(std::isfinite(other.TotalWeight()));
    }
  }
}

TEST_CASE("weights keep their meaning with half-lives of years", "[estimators][histogram]") {
  const std::chrono::nanoseconds half_life =
      6 * 365 * 24h;  // 100 of them do not fit 64 bits of nanoseconds
  DecayingHistogram histogram(&CoarseOptions(), half_life);
  REQUIRE(histogram.Add(1, 1, kStart));
  REQUIRE(histogram.Add(1, 1, kStart + 3 * half_life));
  REQUIRE(histogram.Add(1, 1, kStart - 3 * half_life));
  const std::chrono::duration<double> since_reference = kStart - *histogram.ReferenceTime();
  const double unit = std::exp2(since_reference / std::chrono::duration<double>(half_life));
  CHECK(histogram.TotalWeight() == Approx(unit * (1 + 8 + 0.125)));
}

TEST_CASE("values and weights that are no numbers are refused", "[estimators][histogram]") {
  DecayingHistogram histogram(&CpuOptions(), 24h);
  const auto refuse_all = [&] {
    const HistogramCheckpoint before = histogram.SaveCheckpoint();
    for (const Time time : {kStart, kStart + 1000 * 24h}) {
      for (const double bad : {std::nan(""), kInfinity, -kInfinity}) {
        CHECK_FALSE(histogram.Add(bad, 1, time));
        CHECK_FALSE(histogram.Add(1, bad, time));
        CHECK_FALSE(histogram.Subtract(bad, 1, time));
        CHECK_FALSE(histogram.Subtract(1, bad, time));
      }
      for (const double bad : {-1.0, -5e-324, 1.1e100}) {
        CHECK_FALSE(histogram.Add(1, bad, time));
        CHECK_FALSE(histogram.Subtract(1, bad, time));
      }
    }
    CHECK(histogram.SaveCheckpoint() == before);
  };
  refuse_all();
  CHECK_FALSE(histogram.ReferenceTime().has_value());
  REQUIRE(histogram.Add(0.2, 0.1, kStart));
  refuse_all();
  CHECK(histogram.ReferenceTime() == kMidnight);
}

TEST_CASE("the heaviest weights stay finite", "[estimators][histogram]") {
  DecayingHistogram histogram(&CpuOptions(), 24h);
  REQUIRE(histogram.Add(1, 1, kMidnight));
  for (int i = 0; i < 100; ++i)
    REQUIRE(histogram.Add(1, DecayingHistogram::kMaxWeight, kMidnight + 100 * 24h));
  CHECK(std::isfinite(histogram.TotalWeight()));
  CHECK(histogram.Percentile(0.9) > 1);
}

TEST_CASE("a negative value falls into the first bucket", "[estimators][histogram]") {
  DecayingHistogram histogram(&CoarseOptions(), 24h);
  REQUIRE(histogram.Add(-5, 1, kStart));
  CHECK(histogram.Percentile(0.5) == 1);
}

TEST_CASE("subtracting stops at nothing", "[estimators][histogram]") {
  DecayingHistogram histogram(&CoarseOptions(), 24h);
  REQUIRE(histogram.Add(4, 1, kMidnight));
  REQUIRE(histogram.Subtract(4, 5, kMidnight));
  CHECK(histogram.IsEmpty());
  CHECK(histogram.TotalWeight() == 0);
  REQUIRE(histogram.Subtract(100, 1, kMidnight));  // never added
  CHECK(histogram.IsEmpty());
  REQUIRE(histogram.Add(4, 1, kMidnight));
  CHECK(histogram.TotalWeight() == 1);
}

TEST_CASE("weights below epsilon occupy a bucket only once they add up",
          "[estimators][histogram]") {
  DecayingHistogram histogram(&CoarseOptions(), 24h);
  REQUIRE(histogram.Add(4, 0.00006, kMidnight));
  CHECK(histogram.IsEmpty());
  CHECK(histogram.TotalWeight() == 0.00006);
  CHECK(histogram.Percentile(0.5) == 0);
  REQUIRE(histogram.Add(4, 0.00006, kMidnight));
  CHECK_FALSE(histogram.IsEmpty());
  CHECK(histogram.Percentile(0.5) == 7);
}

TEST_CASE("histograms that differ in kind are not merged", "[estimators][histogram]") {
  DecayingHistogram histogram(&CpuOptions(), 24h);
  REQUIRE(histogram.Add(1, 1, kStart));
  DecayingHistogram other_layout(&CoarseOptions(), 24h);
  REQUIRE(other_layout.Add(1, 1, kStart + 1000h));
  DecayingHistogram other_half_life(&CpuOptions(), 12h);
  REQUIRE(other_half_life.Add(1, 1, kStart + 1000h));
  const HistogramCheckpoint before = histogram.SaveCheckpoint();
  const auto layouts = histogram.Merge(other_layout);
  REQUIRE_FALSE(layouts);
  CHECK_THAT(layouts.error().message, Catch::Contains("layout"));
  const auto half_lives = histogram.Merge(other_half_life);
  REQUIRE_FALSE(half_lives);
  CHECK_THAT(half_lives.error().message, Catch::Contains("half-li"));
  CHECK(histogram.SaveCheckpoint() == before);

  const HistogramOptions equal_options = HistogramOptions::Cpu();
  DecayingHistogram equal_layout(&equal_options, 24h);
  REQUIRE(equal_layout.Add(1, 1, kStart));
  CHECK(histogram.Merge(equal_layout));
}

TEST_CASE("a merge moves the older reference on either side", "[estimators][histogram]") {
  DecayingHistogram older(&CoarseOptions(), 24h);
  REQUIRE(older.Add(4, 8, kMidnight));
  DecayingHistogram younger(&CoarseOptions(), 24h);
  REQUIRE(younger.Add(16, 1, kMidnight + 48h));

  DecayingHistogram left = younger;
  DecayingHistogram right = older;
  REQUIRE(left.Merge(right));
  CHECK(left.ReferenceTime() == kMidnight + 48h);
  CHECK(right.ReferenceTime() == kMidnight + 48h);
  CHECK(right.TotalWeight() == 2);
  CHECK(left.TotalWeight() == 3);
  CHECK(older.TotalWeight() == 8);  // copies are independent

  REQUIRE(older.Merge(younger));
  CHECK(older.SaveCheckpoint() == left.SaveCheckpoint());
  CHECK(younger.TotalWeight() == 1);
}

TEST_CASE("a histogram can be merged with itself and with an empty one",
          "[estimators][histogram]") {
  DecayingHistogram histogram(&CoarseOptions(), 24h);
  REQUIRE(histogram.Add(4, 1, kMidnight));
  REQUIRE(histogram.Merge(histogram));
  CHECK(histogram.TotalWeight() == 2);
  CHECK(histogram.Percentile(0.5) == 7);
  DecayingHistogram empty(&CoarseOptions(), 24h);
  REQUIRE(histogram.Merge(empty));
  CHECK(histogram.TotalWeight() == 2);
  CHECK(empty.ReferenceTime() == kMidnight);
  DecayingHistogram fresh(&CoarseOptions(), 24h);
  REQUIRE(fresh.Merge(histogram));
  CHECK(fresh.SaveCheckpoint() == histogram.SaveCheckpoint());
}

TEST_CASE("memory follows the touched range and stands still in the steady state",
          "[estimators][histogram]") {
  DecayingHistogram histogram(&CpuOptions(), 24h);
  CHECK(histogram.MemoryBytes() <= 56);
  REQUIRE(histogram.Add(0.5, 0.1, kStart));
  CHECK(histogram.MemoryBytes() == sizeof(DecayingHistogram) + 8);
  const auto at = [&](int bucket) {
    return (CpuOptions().BucketStart(bucket) + CpuOptions().BucketStart(bucket + 1)) / 2;
  };
  for (const int bucket : {20, 49, 35}) REQUIRE(histogram.Add(at(bucket), 0.1, kStart));
  const size_t thirty = sizeof(DecayingHistogram) + 30 * 8;
  CHECK(histogram.MemoryBytes() == thirty);
  for (int i = 0; i < 100'000; ++i) REQUIRE(histogram.Add(at(20 + i % 30), 0.1, kStart + i * 1h));
  CHECK(histogram.MemoryBytes() == thirty);
  REQUIRE(histogram.Add(at(60), 0, kStart));       // no weight needs no room
  REQUIRE(histogram.Subtract(at(70), 1, kStart));  // nor does what is not there
  CHECK(histogram.MemoryBytes() == thirty);
}
