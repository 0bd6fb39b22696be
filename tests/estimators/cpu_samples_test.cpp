#include "estimators/cpu_samples.h"

#include <cmath>
#include <limits>

#include "tests/catch.h"

using namespace tidemark::estimators;
using namespace std::chrono_literals;

namespace {

constexpr Time kStart{std::chrono::seconds(1'700'000'000)};

}  // namespace

TEST_CASE("a CPU sample must be later than the one before", "[estimators][cpu_samples]") {
  const HistogramOptions options = HistogramOptions::Cpu();
  DecayingHistogram histogram(&options, 24h);
  CpuSamples samples;
  CHECK(samples.AddSample(histogram, kStart, 0.5));
  CHECK_FALSE(samples.AddSample(histogram, kStart, 0.7));
  CHECK_FALSE(samples.AddSample(histogram, kStart - 1ns, 0.7));
  CHECK(samples.AddSample(histogram, kStart + 1ns, 0.7));
  CHECK(samples.span().First() == kStart);
  CHECK(samples.span().Last() == kStart + 1ns);
  CHECK(samples.span().Count() == 2);
}

TEST_CASE("usage that is negative or no number leaves everything as it was",
          "[estimators][cpu_samples]") {
  const HistogramOptions options = HistogramOptions::Cpu();
  DecayingHistogram histogram(&options, 24h);
  CpuSamples samples;
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  for (const double cores : {-0.001, std::nan(""), kInfinity, -kInfinity}) {
    CHECK_FALSE(samples.AddSample(histogram, kStart, cores));
  }
  CHECK_FALSE(samples.AddSample(histogram, kStart, 1, -1));
  CHECK(samples.span().Count() == 0);
  CHECK_FALSE(histogram.ReferenceTime().has_value());
  CHECK(samples.AddSample(histogram, kStart, 0));
  CHECK(samples.span().Count() == 1);
}

TEST_CASE("replicas share a histogram in which every sample weighs the same",
          "[estimators][cpu_samples]") {
  const HistogramOptions options = HistogramOptions::Cpu();
  DecayingHistogram histogram(&options, 24h);
  CpuSamples one;
  CpuSamples other;
  CHECK(one.AddSample(histogram, kStart, 1));
  CHECK(other.AddSample(histogram, kStart, 8));
  DecayingHistogram expected(&options, 24h);
  CHECK(expected.Add(1, 0.1, kStart));
  CHECK(expected.Add(8, 0.1, kStart));
  CHECK(histogram.TotalWeight() == expected.TotalWeight());
  CHECK(histogram.Percentile(0.5) == expected.Percentile(0.5));
  CHECK(one.AddSample(histogram, kStart + 1min, 1, 2.5));
  CHECK(expected.Add(1, 2.5, kStart + 1min));
  CHECK(histogram.TotalWeight() == expected.TotalWeight());
}
