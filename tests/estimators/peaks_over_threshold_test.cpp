#include "estimators/peaks_over_threshold.h"

#include <algorithm>
#include <cmath>
#include <random>
#include <vector>

#include "tests/catch.h"
#include "tests/estimators/draw_tail.h"

namespace tidemark::estimators {
namespace {

TEST_CASE("a light tail is fitted by moments, a heavy one by maximum likelihood",
          "[estimators][high_water]") {
  const TailFit light = FitTail(10, Draw({0.0, 1}, 200, 3), 10000, 20);
  REQUIRE(light.IsFitted());
  CHECK(light.method == FitMethod::kMoments);
  const TailFit heavy = FitTail(10, Draw({0.7, 1}, 200, 3), 10000, 200);
  REQUIRE(heavy.IsFitted());
  CHECK(heavy.method == FitMethod::kMaximumLikelihood);
  CHECK(heavy.fit.gamma > 0.4);
}

TEST_CASE("moments that end below what was seen give way to maximum likelihood",
          "[estimators][high_water]") {
  int given_way = 0;
  for (uint64_t seed = 1; seed <= 40; ++seed) {
    const std::vector<double> excesses = Draw({-0.8, 1}, 40, seed);
    const auto moments = FitByMoments(excesses);
    REQUIRE(moments);
    const bool short_of = moments->End() && *moments->End() < excesses.back();
    const TailFit tail = FitTail(5, excesses, 2000, 5 + excesses.back());
    REQUIRE(tail.IsFitted());
    CHECK((tail.method == FitMethod::kMaximumLikelihood) == short_of);
    if (tail.End()) CHECK(*tail.End() >= (5 + excesses.back()) * (1 - 1e-9));
    given_way += short_of ? 1 : 0;
    // Asked for by name, it is said to be impossible.
    const TailFit named = FitTail(5, excesses, 2000, 5 + excesses.back(), FitChoice::kMoments);
    CHECK(named.IsFitted() != short_of);
    if (short_of) CHECK(named.unfitted == Unfitted::kEndBelowLargest);
  }
  CHECK(given_way > 3);
}

TEST_CASE("what was asked for is what is fitted", "[estimators][high_water]") {
  const std::vector<double> excesses = Draw({0.1, 1}, 100, 5);
  const auto method = [&](FitChoice choice) {
    return FitTail(1, excesses, 5000, 20, choice).method;
  };
  CHECK(method(FitChoice::kMoments) == FitMethod::kMoments);
  CHECK(method(FitChoice::kWeightedMoments) == FitMethod::kWeightedMoments);
  CHECK(method(FitChoice::kMaximumLikelihood) == FitMethod::kMaximumLikelihood);
}

TEST_CASE("a tail that cannot be fitted says why", "[estimators][high_water]") {
  CHECK(FitTail(1, {}, 0, 0).unfitted == Unfitted::kNothing);
  CHECK(FitTail(1, Draw({0, 1}, 9, 1), 500, 7).unfitted == Unfitted::kFewExcesses);
  CHECK(FitTail(1, Draw({0, 1}, 10, 1), 500, 7).IsFitted());
  CHECK(FitTail(1, std::vector<double>(20, 3.0), 500, 4).unfitted == Unfitted::kNoSpread);
  CHECK_FALSE(FitTail(1, {}, 100, 1).End());
}

TEST_CASE("fewer separate peaks make a mark more cautious", "[estimators][high_water]") {
  for (const double gamma : {-0.6, -0.1, 0.0, 0.2}) {
    INFO("gamma " << gamma);
    TailFit tail{.threshold = 10,
                 .observations = 5000,
                 .excesses = 100,
                 .unfitted = Unfitted::kFitted,
                 .fit = {gamma, 2}};
    CHECK(tail.CautiousLevel(1e-3) == tail.Level(1e-3));  // nobody counted
    double before = HUGE_VAL;
    for (const uint32_t clusters : {1U, 2U, 5U, 20U, 100U, 10000U, 100000000U}) {
      tail.clusters = clusters;
      const double level = tail.CautiousLevel(1e-3);
      CHECK(level < before);
      CHECK(level > tail.Level(1e-3));
      CHECK(tail.IsTrusted() == (clusters >= 5));
      before = level;
    }
    CHECK(before == Approx(tail.Level(1e-3)).epsilon(1e-3));
    // A risk that needs no tail is not lifted, and the mark rises with falling risk.
    tail.clusters = 3;
    CHECK(tail.CautiousLevel(0.02) == Approx(10));
    CHECK(tail.CautiousLevel(0.01) > 10);
    CHECK(tail.CautiousLevel(1e-3) > tail.CautiousLevel(1e-2));
    CHECK(tail.CautiousLevel(1e-5) > tail.CautiousLevel(1e-3));
  }
}

TEST_CASE("a threshold is the quantile between order statistics", "[estimators][high_water]") {
  const std::vector<double> values = {1, 2, 3, 4, 5};
  CHECK(InterpolatedQuantile(values, 0) == 1);
  CHECK(InterpolatedQuantile(values, 1) == 5);
  CHECK(InterpolatedQuantile(values, 0.5) == 3);
  CHECK(InterpolatedQuantile(values, 0.9) == Approx(4.6));
  CHECK(InterpolatedQuantile(std::vector<double>{7}, 0.98) == 7);
}

}  // namespace
}  // namespace tidemark::estimators
