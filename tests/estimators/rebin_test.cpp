// Histograms go over to another bucket layout without ever saying less.
#include <cmath>
#include <random>

#include "estimators/decaying_histogram.h"
#include "tests/catch.h"
#include "tests/seed.h"

using namespace tidemark::estimators;
using namespace std::chrono_literals;

namespace {

constexpr Time kStart{std::chrono::seconds(1'700'000'000)};

/// Of all that is occupied.
double Sum(const DecayingHistogram& histogram) {
  double sum = 0;
  for (int i = histogram.MinBucket(); i <= histogram.MaxBucket(); ++i) sum += histogram.Weight(i);
  return sum;
}

}  // namespace

TEST_CASE("an empty histogram takes another layout", "[estimators][rebin]") {
  const HistogramOptions cpu = HistogramOptions::Cpu();
  const HistogramOptions linear = *HistogramOptions::Linear(10, 0.5, 0.0001);
  DecayingHistogram histogram(&cpu, 24h);
  histogram.Rebin(&linear);
  CHECK(&histogram.options() == &linear);
  CHECK(histogram.IsEmpty());
  CHECK(histogram.MinBucket() == 20);
  CHECK(histogram.MaxBucket() == 0);
  REQUIRE(histogram.Add(0.7, 0.1, kStart));
  CHECK(histogram.Percentile(1) == 1);
}

TEST_CASE("a weight goes to the bucket that reaches as far as its own", "[estimators][rebin]") {
  const HistogramOptions fine = *HistogramOptions::Linear(10, 0.5, 0.0001);
  const HistogramOptions coarse = *HistogramOptions::Linear(12, 2, 0.0001);
  DecayingHistogram histogram(&fine, 24h);
  REQUIRE(histogram.Add(0.2, 1, kStart));  // to 0.5, within 0 to 2
  REQUIRE(histogram.Add(1.7, 2, kStart));  // to 2.0: the end of the same
  REQUIRE(histogram.Add(2.1, 4, kStart));  // to 2.5
  REQUIRE(histogram.Add(500, 8, kStart));  // the last, from 10 on
  const double total = histogram.TotalWeight();
  const auto reference = histogram.ReferenceTime();
  histogram.Rebin(&coarse);
  CHECK(histogram.Weight(0) / histogram.Weight(1) == Approx(3.0 / 4));
  CHECK(histogram.Weight(5) / histogram.Weight(1) == Approx(2));  // 10 to 12
  CHECK(histogram.TotalWeight() == total);
  CHECK(histogram.ReferenceTime() == reference);
  CHECK(histogram.half_life() == 24h);
  CHECK(histogram.MinBucket() == 0);
  CHECK(histogram.MaxBucket() == 5);
  CHECK(histogram.Percentile(0.1) == 2);
  CHECK(histogram.Percentile(0.4) == 4);
  CHECK(histogram.Percentile(1) == 12);
}

TEST_CASE("an equal layout changes nothing", "[estimators][rebin]") {
  const HistogramOptions one = HistogramOptions::Memory();
  const HistogramOptions other = HistogramOptions::Memory();
  DecayingHistogram histogram(&one, 24h);
  for (const double bytes : {0.0, 1e7, 20.5e6, 4e8, 9e12}) histogram.Add(bytes, 1, kStart);
  const HistogramCheckpoint before = histogram.SaveCheckpoint();
  histogram.Rebin(&other);
  CHECK(&histogram.options() == &other);
  CHECK(histogram.SaveCheckpoint() == before);
}

TEST_CASE("re-binning never lowers a percentile and raises it by less than a new bucket",
          "[estimators][rebin][property]") {
  const uint32_t seed = tidemark::testing::Seed();
  INFO("seed " << seed);
  std::mt19937 random(seed);
  const HistogramOptions layouts[] = {HistogramOptions::Cpu(),
                                      *HistogramOptions::Exponential(2000, 0.001, 1.02, 0.0001),
                                      *HistogramOptions::Exponential(4000, 0.05, 1.3, 0.0001),
                                      *HistogramOptions::Exponential(4000, 0.01, 1.05, 0.0001),
                                      *HistogramOptions::Linear(3000, 0.7, 0.0001)};
  for (const Precision precision : {Precision::kExact, Precision::kCompact}) {
    for (int round = 0; round < 100; ++round) {
      const HistogramOptions& from = layouts[random() % std::size(layouts)];
      const HistogramOptions& to = layouts[random() % std::size(layouts)];
      DecayingHistogram histogram(&from, 24h, precision);
      const auto count = static_cast<int>(random() % 500);
      for (int i = 0; i < count; ++i) {
        histogram.Add(std::lognormal_distribution<double>(0, 2)(random), 0.1,
                      kStart + std::chrono::minutes(random() % 50'000));
      }
      DecayingHistogram moved = histogram;
      moved.Rebin(&to);
      REQUIRE(moved.TotalWeight() == histogram.TotalWeight());
      REQUIRE(Sum(moved) == Approx(Sum(histogram)).epsilon(1e-5));
      for (const double p : {0.0, 0.1, 0.5, 0.9, 0.95, 0.99, 1.0}) {
        INFO("percentile " << p);
        // Weights are summed in another order, compact ones rounded once more: a threshold may tip.
        const double slack = precision == Precision::kCompact ? 1e-5 : 1e-9;
        const double is = moved.Percentile(p);
        REQUIRE(is >=
                std::min(histogram.Percentile(p - slack), to.BucketStart(to.NumBuckets() - 1)));
        const int top = std::min(histogram.MaxBucket() + 1, from.NumBuckets() - 1);
        const double most = p < 1                 ? histogram.Percentile(p + slack)
                            : histogram.IsEmpty() ? 0
                                                  : from.BucketStart(top);
        // What is in the last bucket is not below that answer but above.
        const bool is_last = most == from.BucketStart(from.NumBuckets() - 1);
        const int bucket = to.FindBucket(most * (is_last ? 1 + 1e-9 : 1 - 1e-9));
        REQUIRE(is <= to.BucketStart(std::min(bucket + 1, to.NumBuckets() - 1)) * (1 + 1e-9));
      }
    }
  }
}

TEST_CASE("what lies beyond the new layout is answered with its last start",
          "[estimators][rebin]") {
  const HistogramOptions cpu = HistogramOptions::Cpu();
  const HistogramOptions small = *HistogramOptions::Linear(4, 1, 0.0001);
  DecayingHistogram histogram(&cpu, 24h);
  REQUIRE(histogram.Add(100, 1, kStart));
  histogram.Rebin(&small);
  CHECK(histogram.Percentile(0.5) == 4);
}

TEST_CASE("weights that go to a coarser layout and back, again and again, do not climb",
          "[estimators][rebin]") {
  const HistogramOptions cpu = HistogramOptions::Cpu();
  const HistogramOptions coarse = *HistogramOptions::Exponential(1000, 0.02, 1.07, 0.0001);
  DecayingHistogram histogram(&cpu, 24h);
  for (const double cores : {0.004, 0.1, 0.4, 2.0, 30.0}) REQUIRE(histogram.Add(cores, 1, kStart));
  const DecayingHistogram before = histogram;
  histogram.Rebin(&coarse);
  histogram.Rebin(&cpu, DecayingHistogram::Rebinning::kBack);
  const DecayingHistogram once = histogram;
  for (int i = 0; i < 100; ++i) {
    histogram.Rebin(&coarse);
    histogram.Rebin(&cpu, DecayingHistogram::Rebinning::kBack);
  }
  for (const double p : {0.1, 0.3, 0.5, 0.7, 1.0}) {
    INFO("percentile " << p);
    CHECK(once.Percentile(p) >= before.Percentile(p));
    CHECK(histogram.Percentile(p) == once.Percentile(p));
  }
  CHECK(histogram.TotalWeight() == before.TotalWeight());
}
