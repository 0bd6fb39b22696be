#include "estimators/request_estimator.h"

#include "estimators/amount.h"
#include "tests/catch.h"

using namespace tidemark::estimators;
using namespace std::chrono_literals;

namespace {

constexpr Time kStart{std::chrono::seconds(1'700'000'000)};
constexpr RequestPolicy kCpuPolicy{.percentile = 0.9, .margin_ratio = 0.15, .pod_minimum = 25};
constexpr RequestPolicy kMemoryPolicy{
    .percentile = 0.9, .margin_ratio = 0.15, .pod_minimum = 262'144'000};

}  // namespace

TEST_CASE("an empty histogram gets the minimum", "[estimators][request]") {
  const HistogramOptions options = HistogramOptions::Cpu();
  const DecayingHistogram histogram(&options, 24h);
  CHECK(EstimateRequest(histogram, kCpuPolicy, 1000, 1) == RequestEstimate{0, 25, true});
  CHECK(EstimateRequest(histogram, kCpuPolicy, 1000, 2) == RequestEstimate{0, 12, true});
  CHECK(EstimateRequest(histogram, kCpuPolicy, 1000, 0) == RequestEstimate{0, 25, true});
}

TEST_CASE("a request is the end of the percentile's bucket and the margin",
          "[estimators][request]") {
  const HistogramOptions options = HistogramOptions::Memory();
  DecayingHistogram histogram(&options, 24h);
  REQUIRE(histogram.Add(15e6, 1, kStart));  // bucket 1, which ends at 20499999.99999999
  CHECK(EstimateRequest(histogram, kMemoryPolicy, 1, 1) ==
        RequestEstimate{20'499'999, 262'144'000, true});
  RequestPolicy no_minimum = kMemoryPolicy;
  no_minimum.pod_minimum = 0;
  CHECK(EstimateRequest(histogram, no_minimum, 1, 1) ==
        RequestEstimate{20'499'999, 23'574'998, false});
  no_minimum.pod_minimum = -5;
  CHECK(EstimateRequest(histogram, no_minimum, 1, 1) ==
        RequestEstimate{20'499'999, 23'574'998, false});
}

TEST_CASE("a minimum equal to the request is not called applied", "[estimators][request]") {
  const HistogramOptions options = HistogramOptions::Cpu();
  DecayingHistogram histogram(&options, 24h);
  REQUIRE(histogram.Add(0.005, 0.1, kStart));
  RequestPolicy policy = kCpuPolicy;
  policy.pod_minimum = 11;
  CHECK(EstimateRequest(histogram, policy, 1000, 1) == RequestEstimate{10, 11, false});
  policy.pod_minimum = 12;
  CHECK(EstimateRequest(histogram, policy, 1000, 1) == RequestEstimate{10, 12, true});
}

TEST_CASE("a request never goes beyond what an amount can be by much", "[estimators][request]") {
  const HistogramOptions options = HistogramOptions::Cpu();
  DecayingHistogram histogram(&options, 24h);
  REQUIRE(histogram.Add(5, 0.1, kStart));
  CHECK(EstimateRequest(histogram, kCpuPolicy, 1e300, 1).model_amount == kMaxAmount);
  CHECK(EstimateRequest(histogram, kCpuPolicy, -1, 1) == RequestEstimate{0, 25, true});
}
