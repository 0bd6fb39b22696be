// Bucket look-up and percentiles are fast in ways of their own, and say what the plain ways say.
#include <cmath>
#include <limits>
#include <random>

#include "estimators/decaying_histogram.h"
#include "tests/catch.h"
#include "tests/seed.h"

using namespace tidemark::estimators;
using namespace std::chrono_literals;

namespace {

constexpr Time kStart{std::chrono::seconds(1'700'000'000)};

struct Layout {
  double max;
  double first;
  double ratio;
};

/// The original's formula.
int Formula(const Layout& layout, int buckets, double value) {
  if (!(value >= layout.first)) return 0;
  const double index =
      std::log(value * (layout.ratio - 1) / layout.first + 1) / std::log(layout.ratio);
  return index < buckets - 1 ? static_cast<int>(index) : buckets - 1;
}

/// One weight after the other, as the original adds them up.
double PlainPercentile(const DecayingHistogram& histogram, double p) {
  if (histogram.IsEmpty()) return 0;
  double below = 0;
  int bucket = histogram.MinBucket();
  if (p >= 1 && histogram.precision() == Precision::kCompact) bucket = histogram.MaxBucket();
  for (; bucket < histogram.MaxBucket(); ++bucket) {
    below += histogram.Weight(bucket);
    if (below >= p * histogram.TotalWeight()) break;
  }
  const int last = histogram.options().NumBuckets() - 1;
  return histogram.options().BucketStart(std::min(bucket + 1, last));
}

}  // namespace

TEST_CASE("the table finds the bucket that the logarithm finds",
          "[estimators][options][property]") {
  const uint32_t seed = tidemark::testing::Seed();
  INFO("seed " << seed);
  std::mt19937 random(seed);
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  const Layout layouts[] = {{1000, 0.01, 1. + 0.05},
                            {1e12, 1e7, 1.05},
                            {1000, 0.01, 1.01},
                            {1000, 1, 2},
                            {5, 3, 1.5},
                            {1e9, 1e-9, 7.3},
                            {1000, 0.01, 1.0005},
                            {1e100, 1e-100, 3},
                            {1, 1, 1.2},
                            {200, 0.5, 1.0011}};
  for (const Layout& layout : layouts) {
    INFO("layout " << layout.max << " " << layout.first << " " << layout.ratio);
    const auto options =
        HistogramOptions::Exponential(layout.max, layout.first, layout.ratio, 0.0001);
    REQUIRE(options);
    const auto check = [&](double value) {
      INFO("value " << value);
      REQUIRE(options->FindBucket(value) == Formula(layout, options->NumBuckets(), value));
    };
    for (int i = 0; i < options->NumBuckets(); ++i) {
      const double start = options->BucketStart(i);
      double up = start;
      double down = start;
      for (int step = 0; step < 4; ++step) {
        check(up);
        check(down);
        up = std::nextafter(up, kInfinity);
        down = std::nextafter(down, -kInfinity);
      }
      for (const double share : {1 - 1e-8, 1 - 1e-9, 1 - 1e-10, 1 + 1e-10, 1 + 1e-9, 1 + 1e-8}) {
        check(start * share);
      }
    }
    for (int i = 0; i < 20'000; ++i) {
      const double octaves = std::log2(layout.max) - std::log2(layout.first) + 4;
      const double at = std::uniform_real_distribution<double>(0, octaves)(random);
      check(layout.first / 4 * std::exp2(at));
    }
    for (const double value : {0.0, -1.0, 1e308, std::numeric_limits<double>::denorm_min(),
                               std::nan(""), -kInfinity, kInfinity}) {
      check(value);
    }
  }
}

TEST_CASE("percentiles in one pass are those one by one, to the last bit",
          "[estimators][histogram][property]") {
  const uint32_t seed = tidemark::testing::Seed();
  INFO("seed " << seed);
  std::mt19937 random(seed);
  const HistogramOptions options = HistogramOptions::Cpu();
  constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
  for (const Precision precision : {Precision::kExact, Precision::kCompact}) {
    for (int round = 0; round < 300; ++round) {
      DecayingHistogram histogram(&options, 24h, precision);
      const auto count = static_cast<int>(random() % 400);
      // Equal weights make sums that meet a threshold exactly, but for the last bit.
      const bool equal = round % 2 == 0;
      for (int i = 0; i < count; ++i) {
        const Time time = equal ? kStart : kStart + std::chrono::minutes(random() % 20'000);
        const double value = std::lognormal_distribution<double>(-1, 1)(random);
        if (random() % 10 == 0) {
          histogram.Subtract(value, 0.1, time);
        } else {
          histogram.Add(value, 0.1, time);
        }
      }
      std::vector<double> points = {-kNan, -1, 0, 0, 1e-300, 0.01};
      for (int i = 1; i <= 100; ++i) points.push_back(i / 100.0);
      points.insert(points.end(), {1.5, 1e300, std::numeric_limits<double>::infinity(), kNan});
      for (int i = 0; i < 5; ++i) points.push_back(0.1 * static_cast<double>(random() % 11));
      std::vector<double> answers(points.size());
      histogram.Percentiles(points, answers);
      for (size_t i = 0; i < points.size(); ++i) {
        INFO("percentile " << points[i]);
        REQUIRE(answers[i] == PlainPercentile(histogram, points[i]));
        REQUIRE(answers[i] == histogram.Percentile(points[i]));
      }
    }
  }
}
