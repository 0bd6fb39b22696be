// A back-test is what the daemon would have done: its figures follow from the forecasts.
#include "forecast/backtest.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "tests/catch.h"
#include "tests/forecast/fake_forecaster.h"

namespace tidemark::forecast {
namespace {

using Catch::Matchers::Contains;

constexpr int64_t kStart = 29'000'160;

/// A level that comes back to its mean, and a day's swing: what a regression can learn.
DemandSeries Wandering(int64_t minutes) {
  DemandSeries series;
  series.first = kStart;
  double level = 0;
  for (int64_t i = 0; i < minutes; ++i) {
    level = 0.6 * level + 3 * Noise(static_cast<uint64_t>(i));
    const double day = 10 * std::sin(static_cast<double>(i) * 2 * M_PI / 1440);
    series.values.push_back(static_cast<float>(100 + day + level));
  }
  return series;
}

BacktestOptions Options() {
  BacktestOptions options;
  options.rule.models = {ForecastModel::kDayRise, ForecastModel::kRidge30};
  return options;
}

}  // namespace

TEST_CASE("A back-test tells how much better than last value its models were",
          "[forecast][backtest]") {
  const DemandSeries demand = Wandering(4 * 1440);
  BacktestOptions options = Options();
  options.keep_forecasts = true;
  const auto report = Backtest(demand, options);
  REQUIRE(report);
  CHECK(report->minutes == 4 * 1440);
  REQUIRE(report->horizons.size() == 3);
  for (const BacktestHorizon& horizon : report->horizons) {
    INFO("minutes " << horizon.minutes);
    REQUIRE(horizon.models.size() == 3);
    CHECK(horizon.scored == 3 * 1440);
    CHECK(*horizon.models[0].error_ratio == 1);
    CHECK(*horizon.models[2].error_ratio < 0.96);
    CHECK(*horizon.error_ratio <= *horizon.models[2].error_ratio + 0.01);
    CHECK(*horizon.pinball_ratio < 1);
    CHECK(*horizon.coverage_ratio == Approx(0.9).margin(0.02));
    CHECK(horizon.intervals == horizon.scored);
    CHECK(horizon.models[2].in_use_ratio > 0.95);
    CHECK(horizon.changes <= 1);
    // The mean errors again, from the forecasts themselves.
    REQUIRE(horizon.forecasts.size() == 4 * 1440 - static_cast<size_t>(horizon.minutes));
    double error = 0;
    double last_value = 0;
    for (const ForecastPoint& point : horizon.forecasts) {
      const int64_t minute = point.time_ms / 60'000;
      if (minute < kStart + 1440) continue;
      error += std::abs(double{point.demand} - double{demand.At(minute)});
      last_value +=
          std::abs(double{demand.At(minute - horizon.minutes)} - double{demand.At(minute)});
    }
    CHECK(error / last_value == Approx(*horizon.error_ratio).epsilon(0.002));
    CHECK(last_value / static_cast<double>(horizon.scored) ==
          Approx(horizon.last_value_error).epsilon(0.002));
  }
  REQUIRE(report->fits.size() == 1);
  CHECK(report->fits[0].model == ForecastModel::kRidge30);
  CHECK(report->fits[0].fits > 12);
  CHECK(report->fits[0].seconds > 0);
  CHECK(report->now.horizons.size() == 3);
  CHECK(report->memory_bytes > 10'000);
}

TEST_CASE("The same back-test comes to the same", "[forecast][backtest]") {
  const DemandSeries demand = Wandering(2 * 1440);
  const auto one = Backtest(demand, Options());
  const auto other = Backtest(demand, Options());
  REQUIRE((one && other));
  for (size_t i = 0; i < one->horizons.size(); ++i) {
    CHECK(one->horizons[i].error_ratio == other->horizons[i].error_ratio);
    CHECK(one->horizons[i].interval_width == other->horizons[i].interval_width);
  }
}

TEST_CASE("What was asked for always is what is judged", "[forecast][backtest]") {
  BacktestOptions options = Options();
  options.rule.always = ForecastModel::kRidge60;
  const auto report = Backtest(Wandering(3 * 1440), options);
  REQUIRE(report);
  for (const BacktestHorizon& horizon : report->horizons) {
    CHECK(horizon.error_ratio == horizon.models.back().error_ratio);
    CHECK(horizon.models.back().in_use_ratio == 1);
  }
}

TEST_CASE("Gaps are neither scored nor made up", "[forecast][backtest]") {
  DemandSeries demand = Wandering(3 * 1440);
  for (int64_t i = 2000; i < 2200; ++i) {
    demand.values[static_cast<size_t>(i)] = std::numeric_limits<float>::quiet_NaN();
  }
  const auto report = Backtest(demand, Options());
  REQUIRE(report);
  CHECK(report->minutes == 3 * 1440 - 200);
  for (const BacktestHorizon& horizon : report->horizons) {
    CHECK(horizon.scored == static_cast<uint64_t>(2 * 1440 - 200 - horizon.minutes));
  }
}

TEST_CASE("A demand that does not move has no ratios", "[forecast][backtest]") {
  DemandSeries demand;
  demand.first = kStart;
  demand.values.assign(3000, 7);
  const auto report = Backtest(demand, Options());
  REQUIRE(report);
  CHECK_FALSE(report->horizons[0].error_ratio);
  CHECK_FALSE(report->horizons[0].models[0].error_ratio);
  CHECK(report->horizons[0].last_value_error == 0);
  CHECK(report->fits.empty());
}

TEST_CASE("A series that cannot be judged is refused", "[forecast][backtest]") {
  const auto message = [](const DemandSeries& demand) {
    const auto report = Backtest(demand, Options());
    REQUIRE_FALSE(report);
    CHECK(report.error().code == ErrorCode::kInvalidArgument);
    return report.error().message;
  };
  CHECK_THAT(message({}), Contains("too short"));
  CHECK_THAT(message(Wandering(1440)), Contains("1440 minutes"));
  DemandSeries demand = Wandering(3000);
  demand.values[17] = -1;
  CHECK_THAT(message(demand), Contains("minute 17"));
  demand.values[17] = INFINITY;
  CHECK_THAT(message(demand), Contains("infinite"));
  demand.values.assign(3000, std::numeric_limits<float>::quiet_NaN());
  CHECK_THAT(message(demand), Contains("no minute"));
  demand = Wandering(3000);
  demand.first = -5;
  CHECK_THAT(message(demand), Contains("1970"));
}

}  // namespace tidemark::forecast
