#include "estimators/request_estimator.h"

#include <cmath>
#include <limits>
#include <random>

#include "estimators/amount.h"
#include "tests/catch.h"
#include "tests/seed.h"

using namespace tidemark::estimators;

namespace {

constexpr int64_t kMostAmount = std::numeric_limits<int64_t>::max();

RequestBases Same(double base) { return {.target = base, .lower = base, .upper = base}; }

}  // namespace

TEST_CASE("nothing known gets the minimum and no upper bound", "[estimators][request]") {
  const RequestPolicy policy{.minimum = 25};
  const RequestEstimate estimate = EstimateRequest({}, policy, 1000);
  CHECK(estimate ==
        RequestEstimate{.recommended_amount = 25, .lower_bound = 25, .minimum_applied = true});
}

TEST_CASE("nothing known gets as VPA the minimum as both bounds", "[estimators][request]") {
  const RequestPolicy policy{.minimum = 25, .as_vpa = true};
  const RequestEstimate estimate = EstimateRequest({}, policy, 1000);
  CHECK(estimate.recommended_amount == 25);
  CHECK(estimate.lower_bound == 25);
  CHECK(estimate.upper_bound == 25);
}

TEST_CASE("usage without confidence has as VPA the largest amount as its bound",
          "[estimators][request]") {
  RequestPolicy policy{.minimum = 25, .as_vpa = true};
  CHECK(EstimateRequest(Same(2), policy, 1000).upper_bound == kMaxAmount);
  CHECK(EstimateRequest(Same(2), policy, 1000).lower_bound == 25);
  policy.as_vpa = false;
  CHECK_FALSE(EstimateRequest(Same(2), policy, 1000).upper_bound);
  CHECK(EstimateRequest(Same(2), policy, 1000).lower_bound == 25);
  policy.confidence = -1;
  CHECK_FALSE(EstimateRequest(Same(2), policy, 1000).upper_bound);
  policy.confidence = std::nan("");
  CHECK_FALSE(EstimateRequest(Same(2), policy, 1000).upper_bound);
}

TEST_CASE("confidence draws the bounds towards the request", "[estimators][request]") {
  const auto bounds = [](double days) {
    const RequestPolicy policy{.margin_ratio = 0, .confidence = days};
    return EstimateRequest(Same(1e6), policy, 1);
  };
  CHECK(bounds(1).upper_bound == 2'000'000);
  CHECK(bounds(0.5).upper_bound == 3'000'000);
  CHECK(static_cast<double>(*bounds(7).upper_bound) / 1e6 == Approx(1.14).margin(0.005));
  CHECK(static_cast<double>(*bounds(5.0 / 1440).upper_bound) / 1e6 == Approx(289).epsilon(1e-6));
  CHECK(static_cast<double>(bounds(5.0 / 1440).lower_bound) / 1e6 == Approx(0.6).margin(0.005));
  CHECK(static_cast<double>(bounds(30.0 / 1440).lower_bound) / 1e6 == Approx(0.91).margin(0.005));
  CHECK(static_cast<double>(bounds(60.0 / 1440).lower_bound) / 1e6 == Approx(0.95).margin(0.005));
}

TEST_CASE("an upper bound that would be the largest amount is none", "[estimators][request]") {
  RequestPolicy policy{.margin_ratio = 0, .confidence = 0x1p-30};
  CHECK_FALSE(EstimateRequest(Same(1e6), policy, 1).upper_bound);
  CHECK(EstimateRequest(Same(1e4), policy, 1).upper_bound == 10'000 * ((int64_t{1} << 30) + 1));
  policy.ceiling = 5'000'000;  // does not make one of it
  CHECK_FALSE(EstimateRequest(Same(1e6), policy, 1).upper_bound);
  policy.as_vpa = true;
  policy.ceiling.reset();
  CHECK(EstimateRequest(Same(1e6), policy, 1).upper_bound == kMaxAmount);
}

TEST_CASE("a request is the percentile, its margin and its expansion", "[estimators][request]") {
  // Bucket 1 of VPA's memory layout ends here.
  const RequestEstimate estimate =
      EstimateRequest(Same(20499999.99999999), {.expansion_factor = 1.5, .minimum = -5}, 1);
  CHECK(estimate.model_amount == 20'499'999);
  CHECK(estimate.with_margin == 23'574'998);
  CHECK(estimate.expanded == 35'362'497);
  CHECK(estimate.recommended_amount == 35'362'497);
  CHECK_FALSE(estimate.minimum_applied);
  CHECK_FALSE(estimate.floor_applied);
  CHECK_FALSE(estimate.ceiling_applied);
  CHECK_FALSE(estimate.rounded);
  CHECK(EstimateRequest(Same(100), {.margin_ratio = -3}, 1).with_margin == 100);
  CHECK(EstimateRequest(Same(100), {.margin_ratio = 0, .expansion_factor = 0.5}, 1).expanded == 50);
}

TEST_CASE("what changes nothing is not called applied", "[estimators][request]") {
  const RequestPolicy policy{
      .margin_ratio = 0, .minimum = 100, .floor = 100, .ceiling = 100, .rounding = 50};
  CHECK(EstimateRequest(Same(100), policy, 1) == RequestEstimate{.model_amount = 100,
                                                                 .with_margin = 100,
                                                                 .expanded = 100,
                                                                 .recommended_amount = 100,
                                                                 .lower_bound = 100});
}

TEST_CASE("minimum, floor, rounding and ceiling apply in this order", "[estimators][request]") {
  RequestPolicy policy{.margin_ratio = 0,
                       .minimum = 110,
                       .floor = 130,
                       .ceiling = 145,
                       .rounding = 50,
                       .confidence = 1};
  const RequestEstimate estimate = EstimateRequest(Same(100), policy, 1);
  CHECK(estimate.recommended_amount == 145);  // 100, 110, 130, 150, 145
  CHECK(estimate.minimum_applied);
  CHECK(estimate.floor_applied);
  CHECK(estimate.rounded);
  CHECK(estimate.ceiling_applied);
  CHECK(estimate.lower_bound == 145);
  CHECK(estimate.upper_bound == 145);
  policy.ceiling.reset();
  CHECK(EstimateRequest(Same(100), policy, 1).recommended_amount == 150);
  CHECK(EstimateRequest(Same(100), policy, 1).upper_bound == 200);
  policy.as_vpa = true;  // minAllowed after rounding: 100, 110, 150, and 130 is less
  CHECK(EstimateRequest(Same(100), policy, 1).recommended_amount == 150);
  policy.floor = 160;
  CHECK(EstimateRequest(Same(100), policy, 1).recommended_amount == 160);
  policy.as_vpa = false;
  CHECK(EstimateRequest(Same(100), policy, 1).recommended_amount == 200);
}

TEST_CASE("a ceiling below the floor wins", "[estimators][request]") {
  const RequestPolicy policy{.floor = 200, .ceiling = 70, .rounding = 100};
  CHECK(EstimateRequest(Same(100), policy, 1).recommended_amount == 70);
  CHECK(EstimateRequest(Same(100), {.ceiling = -1}, 1).recommended_amount == 0);
}

TEST_CASE("bounds always enclose the request", "[estimators][request][property]") {
  const uint32_t seed = tidemark::testing::Seed();
  INFO("seed " << seed);
  std::mt19937 random(seed);
  const auto amount = [&] { return static_cast<int64_t>(random() % 10'000); };
  int bounded = 0;
  for (int i = 0; i < 20'000; ++i) {
    RequestPolicy policy{.margin_ratio = 0.01 * static_cast<double>(random() % 50),
                         .expansion_factor = 0.5 + 0.01 * static_cast<double>(random() % 100),
                         .minimum = amount(),
                         .floor = amount(),
                         .rounding = amount(),
                         .confidence = 0.01 * static_cast<double>(random() % 1000)};
    if (random() % 2 == 0) policy.ceiling = amount();
    // Percentiles that do not ascend too: nothing keeps a caller from them.
    const RequestBases bases{static_cast<double>(amount()), static_cast<double>(amount()),
                             static_cast<double>(amount())};
    const RequestEstimate estimate = EstimateRequest(bases, policy, 1);
    REQUIRE(estimate.lower_bound <= estimate.recommended_amount);
    REQUIRE(estimate.lower_bound >= 0);
    REQUIRE(estimate.upper_bound.has_value() == (policy.confidence > 0));
    if (estimate.upper_bound) {
      REQUIRE(estimate.recommended_amount <= *estimate.upper_bound);
      ++bounded;
    }
    if (policy.ceiling) {
      REQUIRE(estimate.recommended_amount <= *policy.ceiling);
      REQUIRE(estimate.upper_bound.value_or(0) <= *policy.ceiling);
    }
  }
  CHECK(bounded > 15'000);
}

TEST_CASE("a request never goes beyond what an amount can be by much", "[estimators][request]") {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  for (const bool as_vpa : {false, true}) {
    for (const double base : {1e300, kInfinity, -1.0, std::nan("")}) {
      for (const int64_t least : {int64_t{0}, kMostAmount}) {
        const RequestEstimate estimate = EstimateRequest(Same(base),
                                                         {.expansion_factor = kInfinity,
                                                          .minimum = least,
                                                          .floor = least,
                                                          .rounding = kMostAmount,
                                                          .confidence = kInfinity,
                                                          .as_vpa = as_vpa},
                                                         1);
        CHECK(estimate.model_amount == (base > 0 ? kMaxAmount : 0));
        CHECK(estimate.recommended_amount >= 0);
        CHECK(estimate.recommended_amount <= 3 * kMaxAmount);
        CHECK(estimate.upper_bound.value_or(0) <= 3 * kMaxAmount);
      }
    }
  }
}

TEST_CASE("a minimum is shared by a fraction that is cut", "[estimators][request]") {
  CHECK(ShareOfMinimum(25, 0) == 25);
  CHECK(ShareOfMinimum(25, 1) == 25);
  CHECK(ShareOfMinimum(25, 2) == 12);
  CHECK(ShareOfMinimum(262'144'000, 3) == 87'381'333);
  CHECK(ShareOfMinimum(-5, 2) == 0);
}
