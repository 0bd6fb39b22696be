#include "estimators/pareto_fit.h"

#include <algorithm>
#include <cmath>
#include <random>
#include <vector>

#include "tests/catch.h"
#include "tests/estimators/draw_tail.h"

namespace tidemark::estimators {
namespace {

constexpr FitMethod kAllMethods[] = {FitMethod::kMoments, FitMethod::kWeightedMoments,
                                     FitMethod::kMaximumLikelihood};

TEST_CASE("a tail's level is continuous where the shape goes through 0",
          "[estimators][high_water]") {
  for (const double ratio : {0.9, 0.05, 1e-3, 1e-6}) {
    const double at_zero = ParetoFit{0, 2}.Quantile(ratio);
    CHECK(at_zero == Approx(-2 * std::log(ratio)).epsilon(1e-14));
    for (const double gamma : {1e-12, 1e-9, 1.0001e-9, 1e-8, 1e-6}) {
      INFO("gamma " << gamma << ", ratio " << ratio);
      CHECK(ParetoFit{gamma, 2}.Quantile(ratio) == Approx(at_zero).epsilon(gamma * 10));
      CHECK(ParetoFit{-gamma, 2}.Quantile(ratio) == Approx(at_zero).epsilon(gamma * 10));
    }
  }
  const std::vector<double> excesses = {0.5, 1, 3};
  CHECK(ParetoFit{1e-8, 2}.LogLikelihood(excesses) ==
        Approx(ParetoFit{0, 2}.LogLikelihood(excesses)).epsilon(1e-7));
}

TEST_CASE("a tail's level rises as its ratio falls, up to the end of a bounded one",
          "[estimators][high_water]") {
  for (const double gamma : {-1.0, -0.5, -0.1, 0.0, 0.3, 1.2}) {
    INFO("gamma " << gamma);
    const ParetoFit fit{gamma, 3};
    double before = -1;
    for (double ratio = 1; ratio > 1e-9; ratio /= 3) {
      const double level = fit.Quantile(ratio);
      CHECK(level > before);
      if (fit.End()) CHECK(level <= *fit.End());
      before = level;
    }
    CHECK(fit.Quantile(1) == 0);
    CHECK(fit.End().has_value() == (gamma < 0));
  }
}

TEST_CASE("the unit of the excesses does not matter to any estimator", "[estimators][high_water]") {
  for (const double gamma : {-0.7, -0.2, 0.0, 0.2, 0.6}) {
    const std::vector<double> excesses = Draw({gamma, 1}, 80, 7);
    for (const double unit : {1e-9, 1e-3, 1024.0 * 1024 * 1024}) {
      std::vector<double> scaled = excesses;
      for (double& value : scaled) value *= unit;
      for (const FitMethod method : kAllMethods) {
        INFO("gamma " << gamma << ", unit " << unit << ", method " << static_cast<int>(method));
        const auto plain = FitBy(method, excesses);
        const auto other = FitBy(method, scaled);
        REQUIRE(plain);
        REQUIRE(other);
        CHECK(other->gamma == Approx(plain->gamma).margin(1e-7));
        CHECK(other->sigma == Approx(plain->sigma * unit).epsilon(1e-7));
      }
    }
  }
}

TEST_CASE("of many excesses each estimator finds the tail they were drawn from",
          "[estimators][high_water]") {
  for (const double gamma : {-0.5, -0.2, 0.0, 0.2, 0.4}) {
    const ParetoFit truth{gamma, 2};
    const std::vector<double> excesses = Draw(truth, 20000, 11);
    for (const FitMethod method : kAllMethods) {
      if (method == FitMethod::kMoments && gamma > 0.2) continue;  // the variance is hardly there
      INFO("gamma " << gamma << ", method " << static_cast<int>(method));
      const auto fit = FitBy(method, excesses);
      REQUIRE(fit);
      CHECK(fit->gamma == Approx(gamma).margin(0.05));
      CHECK(fit->Quantile(0.01) == Approx(truth.Quantile(0.01)).epsilon(0.08));
    }
  }
}

TEST_CASE("maximum likelihood is not below any other tail that holds all excesses",
          "[estimators][high_water]") {
  for (const double gamma : {-0.9, -0.3, 0.1, 0.8}) {
    for (uint64_t seed = 1; seed <= 20; ++seed) {
      const std::vector<double> excesses = Draw({gamma, 5}, 25, seed);
      const auto best = FitByLikelihood(excesses);
      REQUIRE(best);
      const double value = best->LogLikelihood(excesses);
      CHECK(best->gamma >= -1);
      for (double shape = -1; shape < 1.5; shape += 0.05) {
        for (double scale = 0.5; scale < 50; scale *= 1.1) {
          const double other = ParetoFit{shape, scale}.LogLikelihood(excesses);
          if (!(other <= value + 1e-9)) {
            FAIL("seed " << seed << ": gamma " << shape << ", sigma " << scale << " has " << other
                         << ", above " << value);
          }
        }
      }
    }
  }
}

TEST_CASE("nothing is fitted to too few excesses, or to equal ones", "[estimators][high_water]") {
  for (const FitMethod method : kAllMethods) {
    INFO("method " << static_cast<int>(method));
    CHECK_FALSE(FitBy(method, {}));
    CHECK_FALSE(FitBy(method, std::vector<double>{1}));
    CHECK_FALSE(FitBy(method, std::vector<double>(30, 2.5)));
    CHECK_FALSE(FitBy(method, std::vector<double>{1, 2, HUGE_VAL}));
    CHECK_FALSE(FitBy(method, std::vector<double>{1, 2, 1e308, 1.7e308}));
  }
}

TEST_CASE("an excess beyond a tail's end is impossible to it", "[estimators][high_water]") {
  const ParetoFit bounded{-0.5, 1};  // ends at 2
  CHECK(std::isfinite(bounded.LogLikelihood(std::vector<double>{1.99})));
  CHECK(bounded.LogLikelihood(std::vector<double>{2.01}) == -HUGE_VAL);
  const ParetoFit flat{-1, 4};
  CHECK(flat.LogLikelihood(std::vector<double>{1, 4}) == Approx(-2 * std::log(4.0)));
}

}  // namespace
}  // namespace tidemark::estimators
