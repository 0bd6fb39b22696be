#include "forecast/holt_winters.h"

#include <cmath>
#include <limits>
#include <numbers>
#include <random>

#include "forecast/day_profile.h"
#include "tests/catch.h"

namespace tidemark::forecast {
namespace {

constexpr int64_t kStart = 20'000 * 1440LL + 600;  // not at midnight

DemandSeries SeriesOf(size_t count, double (*value)(double minute)) {
  DemandSeries series;
  series.first = kStart;
  for (size_t i = 0; i < count; ++i) {
    series.values.push_back(static_cast<float>(value(static_cast<double>(i))));
  }
  return series;
}

double Wave(double minute) { return 10 * std::sin(2 * std::numbers::pi * (minute + 600) / 1440); }

}  // namespace

TEST_CASE("the profile of a day is its distance from the level, whatever the level does",
          "[forecast][holt_winters]") {
  // A wave on a level that grows by a third of the wave a day.
  const auto series =
      SeriesOf(6 * 1440, [](double minute) { return 50 + minute / 1440 * 3 + Wave(minute); });
  const DayProfile profile(series, series.end());
  REQUIRE(profile.HasShape());
  for (int64_t minute = 0; minute < 1440; minute += 17) {
    // At both ends the level is that of the nearest whole day, so growth blurs the profile.
    CHECK(profile.At(kStart + minute) == Approx(Wave(static_cast<double>(minute))).margin(1.0));
    CHECK(profile.At(kStart + minute) == profile.At(kStart + minute + 7 * 1440));
  }
}

TEST_CASE("a profile needs a day, and each time of the day once", "[forecast][holt_winters]") {
  auto series = SeriesOf(3 * 1440, [](double minute) { return 50 + Wave(minute); });
  CHECK_FALSE(DayProfile().HasShape());
  CHECK(DayProfile().At(kStart) == 0);
  CHECK_FALSE(DayProfile(series, series.first + 1439).HasShape());
  CHECK(DayProfile(series, series.first + 1440).HasShape());
  CHECK_FALSE(DayProfile(DemandSeries{}, 0).HasShape());
  const auto gap = std::numeric_limits<float>::quiet_NaN();
  for (size_t day = 0; day < 3; ++day) {
    if (day == 1) continue;
    for (size_t i = 0; i < 60; ++i) series.values[day * 1440 + 300 + i] = gap;
  }
  CHECK(DayProfile(series, series.end()).HasShape());  // one day knows it
  for (size_t i = 0; i < 60; ++i) series.values[1440 + 300 + i] = gap;
  CHECK_FALSE(DayProfile(series, series.end()).HasShape());
}

TEST_CASE("noise is smoothed, a climb goes on, and both as far as that was right",
          "[forecast][holt_winters]") {
  std::mt19937_64 random(3);
  std::normal_distribution<> normal;
  DemandHistory noisy;
  DemandHistory climbing;
  for (int64_t i = 0; i < 1440; ++i) {
    noisy.Put(kStart + i, 100 + 10 * normal(random));
    // Half an hour up, half an hour down.
    const auto phase = static_cast<double>(i % 60);
    climbing.Put(kStart + i, 100 + (phase < 30 ? phase : 60 - phase) * 2 + 0.1 * normal(random));
  }
  std::vector<double> out(3);
  const auto smooth = MakeHoltWinters(Horizons());
  REQUIRE(smooth->Fit(noisy.Series(), {}));
  double error = 0;
  double unchanged = 0;
  for (int64_t now = noisy.newest() - 600; now < noisy.newest(); ++now) {
    REQUIRE(smooth->Forecast(noisy, now, out));
    error += std::abs(out[0] - double{noisy.At(now + 1)});
    unchanged += std::abs(double{noisy.At(now)} - double{noisy.At(now + 1)});
  }
  CHECK(error < 0.8 * unchanged);  // at best 1 / sqrt(2)
  const auto trend = MakeHoltWinters(Horizons());
  REQUIRE(trend->Fit(climbing.Series(), {}));
  error = unchanged = 0;
  for (int64_t now = climbing.newest() - 600; now < climbing.newest(); ++now) {
    REQUIRE(trend->Forecast(climbing, now, out));
    error += std::abs(out[0] - double{climbing.At(now + 1)});
    unchanged += std::abs(double{climbing.At(now)} - double{climbing.At(now + 1)});
  }
  CHECK(error < 0.4 * unchanged);
}

}  // namespace tidemark::forecast
