#include "forecast/arima_fit.h"

#include <cmath>
#include <limits>
#include <numbers>
#include <random>

#include "forecast/cholesky.h"
#include "tests/catch.h"

namespace tidemark::forecast {
namespace {

constexpr double kGap = std::numeric_limits<double>::quiet_NaN();

std::vector<double> Simulate(const ArmaCoefficients& by, size_t count, uint64_t seed) {
  std::mt19937_64 random(seed);
  std::normal_distribution<> normal;
  std::vector<double> noise;
  std::vector<double> values;
  for (size_t t = 0; t < count + 200; ++t) {
    noise.push_back(normal(random));
    double value = noise.back();
    for (size_t i = 0; i < std::min(t, by.ar.size()); ++i) value += by.ar[i] * values[t - 1 - i];
    for (size_t i = 0; i < std::min(t, by.ma.size()); ++i) value += by.ma[i] * noise[t - 1 - i];
    values.push_back(value);
  }
  return {values.begin() + 200, values.end()};
}

/// The density of the known values under their joint normal distribution, from the covariances
/// that the process' moving-average form gives: no filter.
double DenseLogLikelihood(const ArmaCoefficients& by, const std::vector<double>& values) {
  constexpr size_t kTerms = 3000;
  std::vector<double> weights(kTerms, 0);
  for (size_t j = 0; j < kTerms; ++j) {
    weights[j] = j == 0 ? 1 : (j <= by.ma.size() ? by.ma[j - 1] : 0);
    for (size_t i = 1; i <= std::min(j, by.ar.size()); ++i) {
      weights[j] += by.ar[i - 1] * weights[j - i];
    }
  }
  std::vector<double> known;
  std::vector<size_t> at;
  for (size_t i = 0; i < values.size(); ++i) {
    if (std::isnan(values[i])) continue;
    known.push_back(values[i]);
    at.push_back(i);
  }
  const size_t n = known.size();
  std::vector<double> matrix(n * n);
  for (size_t i = 0; i < n; ++i) {
    for (size_t j = 0; j <= i; ++j) {
      const size_t lag = at[i] - at[j];
      matrix[i * n + j] = Dot(weights.data(), weights.data() + lag, kTerms - lag);
    }
  }
  REQUIRE(Factorise(matrix, n));
  double log_determinant = 0;
  for (size_t i = 0; i < n; ++i) log_determinant += 2 * std::log(matrix[i * n + i]);
  std::vector<double> solved = known;
  SolveFactorised(matrix, n, solved);
  const double square = Dot(known.data(), solved.data(), n);
  return -0.5 *
         (static_cast<double>(n) * std::log(2 * std::numbers::pi) + log_determinant + square);
}

double FilterLogLikelihood(const ArmaCoefficients& by, const std::vector<double>& values) {
  ArmaFilter filter(by);
  REQUIRE(filter.Good());
  for (const double value : values) filter.Add(value);
  return -0.5 * (static_cast<double>(filter.count()) * std::log(2 * std::numbers::pi) +
                 filter.LogDeterminant() + filter.SumOfSquares());
}

const std::vector<ArmaCoefficients> kProcesses = {
    {{0.7}, {}}, {{}, {0.6}}, {{}, {-0.95}}, {{0.5, -0.3}, {0.4}}, {{0.2}, {0.5, 0.3, -0.2}}};

}  // namespace

TEST_CASE("the filter's likelihood is that of the joint normal distribution", "[forecast][arima]") {
  for (const ArmaCoefficients& process : kProcesses) {
    auto values = Simulate(process, 120, 3);
    CHECK(FilterLogLikelihood(process, values) ==
          Approx(DenseLogLikelihood(process, values)).epsilon(1e-8));
    // And with gaps: one at once, one after it has come to rest.
    for (const size_t gap : {size_t{4}, size_t{70}, size_t{71}, size_t{100}}) values[gap] = kGap;
    CHECK(FilterLogLikelihood(process, values) ==
          Approx(DenseLogLikelihood(process, values)).epsilon(1e-8));
  }
}

TEST_CASE("any free numbers make a stationary process", "[forecast][arima]") {
  std::mt19937_64 random(5);
  for (int trial = 0; trial < 300; ++trial) {
    std::vector<double> free;
    for (int i = 0; i < 1 + trial % 5; ++i) {
      free.push_back(std::uniform_real_distribution<>(-2, 2)(random));
    }
    CHECK(ArmaFilter({StationaryCoefficients(free), {}}).Good());
  }
  CHECK_FALSE(ArmaFilter({{1.0}, {}}).Good());
  CHECK_FALSE(ArmaFilter({{1.2}, {}}).Good());
}

TEST_CASE("coefficients that made a series are found in it", "[forecast][arima]") {
  const auto values = Simulate({{0.6, -0.3}, {0.4}}, 4000, 11);
  const auto fit = FitArima(values, {2, 0, 1}, {.has_mean = true});
  REQUIRE(fit);
  CHECK(fit->coefficients.ar[0] == Approx(0.6).margin(0.1));
  CHECK(fit->coefficients.ar[1] == Approx(-0.3).margin(0.08));
  CHECK(fit->coefficients.ma[0] == Approx(0.4).margin(0.1));
  CHECK(fit->variance == Approx(1).margin(0.1));
}

TEST_CASE("a walk's forecast stays where it is and its errors add up", "[forecast][arima]") {
  std::mt19937_64 random(2);
  std::normal_distribution<> step(0, 2);
  std::vector<double> values{100};
  for (int i = 0; i < 500; ++i) values.push_back(values.back() + step(random));
  const auto fit = FitArima(values, {0, 1, 0}, {});
  REQUIRE(fit);
  const auto steps = ForecastArima(*fit, values, 9);
  for (size_t h = 0; h < steps.size(); ++h) {
    CHECK(steps[h].expected == Approx(values.back()));
    CHECK(steps[h].deviation ==
          Approx(std::sqrt(fit->variance * static_cast<double>(h + 1))).epsilon(1e-9));
  }
  // Twice differenced, a straight line goes on.
  std::vector<double> line;
  for (int i = 0; i < 60; ++i) line.push_back(3.0 * i + (i % 2 == 0 ? 0.01 : -0.01));
  const auto bent = FitArima(line, {0, 2, 1}, {});
  REQUIRE(bent);
  CHECK(ForecastArima(*bent, line, 5).back().expected == Approx(3.0 * 64).margin(0.2));
}

TEST_CASE("the unit of a series changes neither order nor relative forecasts",
          "[forecast][arima]") {
  const auto values = Simulate({{0.8}, {-0.3}}, 400, 17);
  std::vector<double> larger;
  for (const double value : values) larger.push_back(value * 1e9 + 5e9);
  const auto fit = FitArima(values, {1, 0, 1}, {.has_mean = true});
  const auto large = FitArima(larger, {1, 0, 1}, {.has_mean = true});
  REQUIRE(fit);
  REQUIRE(large);
  CHECK(large->log_likelihood ==
        Approx(fit->log_likelihood - static_cast<double>(fit->count) * std::log(1e9)));
  const double expected = ForecastArima(*fit, values, 3).back().expected;
  CHECK(ForecastArima(*large, larger, 3).back().expected ==
        Approx(expected * 1e9 + 5e9).epsilon(1e-4));
}

TEST_CASE("what cannot be fitted is refused with the reason", "[forecast][arima]") {
  const auto few = FitArima(std::vector<double>{1, 2, 3}, {1, 1, 1}, {});
  REQUIRE_FALSE(few);
  CHECK(few.error().code == ErrorCode::kInvalidArgument);
  CHECK(few.error().message == "history: 2 differences are known, needed: 12");
  const auto flat = FitArima(std::vector<double>(50, 2.5), {1, 0, 0}, {.has_mean = true});
  REQUIRE_FALSE(flat);
  CHECK(flat.error().message == "history: the demand does not move");
  CHECK_FALSE(FitArima(std::vector<double>(50, kGap), {1, 0, 0}, {}));
  std::stop_source stop;
  stop.request_stop();
  const auto stopped =
      FitArima(Simulate({{0.5}, {}}, 100, 1), {1, 0, 0}, {.stop = stop.get_token()});
  REQUIRE_FALSE(stopped);
  CHECK(stopped.error().code == ErrorCode::kUnavailable);
}

}  // namespace tidemark::forecast
