#include <cmath>
#include <limits>

#include "estimators/decaying_histogram.h"
#include "tests/catch.h"

using namespace tidemark::estimators;
using namespace std::chrono_literals;

namespace {

constexpr Time kMidnight{std::chrono::seconds(1'700'006'400)};

const HistogramOptions& CoarseOptions() {
  static const HistogramOptions options = *HistogramOptions::Exponential(1000, 1, 2, 0.0001);
  return options;
}

}  // namespace

TEST_CASE("an empty histogram saves and loads as nothing", "[estimators][checkpoint]") {
  const DecayingHistogram histogram(&CoarseOptions(), 24h);
  const HistogramCheckpoint checkpoint = histogram.SaveCheckpoint();
  CHECK(checkpoint == HistogramCheckpoint{});
  DecayingHistogram loaded(&CoarseOptions(), 24h);
  REQUIRE(loaded.LoadCheckpoint(checkpoint));
  CHECK(loaded.IsEmpty());
  CHECK_FALSE(loaded.ReferenceTime().has_value());
}

TEST_CASE("the heaviest bucket is saved as 10000 and the others in proportion",
          "[estimators][checkpoint]") {
  DecayingHistogram histogram(&CoarseOptions(), 24h);
  REQUIRE(histogram.Add(2, 4, kMidnight));
  REQUIRE(histogram.Add(4, 1, kMidnight));
  REQUIRE(histogram.Add(20, 0.0003, kMidnight));  // 0.75 of the unit
  REQUIRE(histogram.Add(40, 0.0001, kMidnight));  // 0.25 of it: lost
  const HistogramCheckpoint checkpoint = histogram.SaveCheckpoint();
  CHECK(checkpoint.reference_time == std::chrono::sys_seconds(1'700'006'400s));
  CHECK(checkpoint.total_weight == histogram.TotalWeight());
  using Bucket = HistogramCheckpoint::Bucket;
  CHECK(checkpoint.buckets == std::vector<Bucket>{{1, 10'000}, {2, 2500}, {4, 1}});

  DecayingHistogram loaded(&CoarseOptions(), 24h);
  REQUIRE(loaded.LoadCheckpoint(checkpoint));
  CHECK(loaded.TotalWeight() == histogram.TotalWeight());
  CHECK(loaded.ReferenceTime() == kMidnight);
  CHECK(loaded.Percentile(0.5) == 3);
  CHECK(loaded.Percentile(0.9) == 7);
  CHECK(loaded.MaxBucket() == 4);
}

TEST_CASE("a saved reference time is cut to whole seconds", "[estimators][checkpoint]") {
  DecayingHistogram histogram(&CoarseOptions(), 1500ms);
  REQUIRE(histogram.Add(2, 1, kMidnight + 1500ms));
  REQUIRE(histogram.ReferenceTime() == kMidnight + 1500ms);
  CHECK(histogram.SaveCheckpoint().reference_time == std::chrono::sys_seconds(1'700'006'401s));
}

TEST_CASE("a broken checkpoint is refused and changes nothing", "[estimators][checkpoint]") {
  DecayingHistogram histogram(&CoarseOptions(), 24h);
  REQUIRE(histogram.Add(2, 4, kMidnight));
  REQUIRE(histogram.Add(20, 1, kMidnight));
  const HistogramCheckpoint before = histogram.SaveCheckpoint();
  const HistogramCheckpoint good{.reference_time = std::chrono::sys_seconds(1'800'000'000s),
                                 .total_weight = 2,
                                 .buckets = {{3, 10'000}, {5, 20}}};
  const auto refused = [&](auto&& damage, const char* what) {
    HistogramCheckpoint broken = good;
    damage(broken);
    const auto loaded = histogram.LoadCheckpoint(broken);
    REQUIRE_FALSE(loaded);
    CHECK(loaded.error().code == tidemark::ErrorCode::kInvalidArgument);
    CHECK_THAT(loaded.error().message, Catch::Contains(what));
    CHECK(histogram.SaveCheckpoint() == before);
    CHECK(histogram.MinBucket() == 1);
    CHECK(histogram.MaxBucket() == 4);
  };
  refused([](auto& c) { c.total_weight = -1; }, "total weight");
  refused([](auto& c) { c.total_weight = std::nan(""); }, "total weight");
  refused([](auto& c) { c.total_weight = std::numeric_limits<double>::infinity(); },
          "total weight");
  refused([](auto& c) { c.total_weight = 1.1e200; }, "total weight");
  refused([](auto& c) { c.buckets[0].bucket = -1; }, "bucket -1");
  refused([](auto& c) { c.buckets[1].bucket = 11; }, "bucket 11");
  refused([](auto& c) { c.buckets[1].bucket = std::numeric_limits<int32_t>::max(); }, "bucket");
  refused([](auto& c) { c.buckets[1].bucket = 3; }, "order");
  refused([](auto& c) { c.buckets[1].bucket = 2; }, "order");
  refused([](auto& c) { c.reference_time = std::chrono::sys_seconds(9'223'372'037s); },
          "reference time");
  refused([](auto& c) { c.reference_time = std::chrono::sys_seconds::min(); }, "reference time");
  CHECK(histogram.LoadCheckpoint(good));
}

TEST_CASE("a checkpoint without buckets replaces the reference only", "[estimators][checkpoint]") {
  DecayingHistogram histogram(&CoarseOptions(), 24h);
  REQUIRE(histogram.Add(2, 4, kMidnight));
  const HistogramCheckpoint bare{.reference_time = std::chrono::sys_seconds(1'800'000'000s),
                                 .total_weight = 2,
                                 .buckets = {{3, 0}}};
  REQUIRE(histogram.LoadCheckpoint(bare));
  CHECK(histogram.ReferenceTime() == Time(1'800'000'000s));
  CHECK(histogram.TotalWeight() == 4);
}

TEST_CASE("weights loaded without a reference fade with the first sample",
          "[estimators][checkpoint]") {
  DecayingHistogram histogram(&CoarseOptions(), 24h);
  REQUIRE(histogram.LoadCheckpoint(
      {.reference_time = std::nullopt, .total_weight = 2, .buckets = {{3, 10}}}));
  CHECK(histogram.Percentile(0.5) == 15);
  REQUIRE(histogram.Add(2, 1, kMidnight));
  CHECK(histogram.TotalWeight() == 1);
  CHECK(histogram.MaxBucket() == 1);
}
