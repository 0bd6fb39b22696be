// What the models without a network cost: a fit, a tick's forecasts, bytes.
#include "bench/forecast/part.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <limits>
#include <memory>
#include <numbers>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include "forecast/forecaster.h"

namespace tidemark::bench {
namespace {

using namespace tidemark::forecast;

constexpr int64_t kStart = 20'000 * 1440LL;
constexpr int64_t kMinutes = 8 * 1440;
constexpr int kRounds = 3;
/// What figures are for, whatever was measured.
constexpr double kFittedWorkloads = 1'000;
constexpr double kForecastWorkloads = 10'000;

DemandHistory MakeHistory(uint64_t seed) {
  std::mt19937_64 random(seed);
  std::normal_distribution<> normal;
  DemandHistory history;
  double memory = 0;
  for (int64_t i = 0; i < kMinutes; ++i) {
    memory = 0.95 * memory + normal(random);
    const double day = 2 * std::numbers::pi * static_cast<double>(i) / 1440;
    history.Put(kStart + i, std::max(0.0, 50 + 20 * std::sin(day) + 3 * memory));
  }
  return history;
}

struct Cost {
  double fit_seconds = 0;
  double forecast_seconds = 0;
  size_t bytes = 0;
};

/// Nothing where something went wrong.
std::optional<Cost> Measure(ForecastModel model, const std::vector<DemandHistory>& histories) {
  Cost best{std::numeric_limits<double>::infinity(), std::numeric_limits<double>::infinity(), 0};
  std::vector<std::unique_ptr<Forecaster>> made;
  for (int round = 0; round < kRounds; ++round) {
    made.clear();
    for (size_t i = 0; i < histories.size(); ++i) made.push_back(MakeForecaster(model, Horizons()));
    double begun = CpuSeconds();
    for (size_t i = 0; i < histories.size(); ++i) {
      if (made[i]->NeedsFit() && !made[i]->Fit(histories[i].Series(), {})) {
        std::fprintf(stderr, "%s cannot be fitted\n", std::string(ToString(model)).c_str());
        return std::nullopt;
      }
    }
    best.fit_seconds = std::min(best.fit_seconds, CpuSeconds() - begun);
    begun = CpuSeconds();
    std::array<double, 3> out{};
    size_t said = 0;
    for (size_t i = 0; i < histories.size(); ++i) {
      said += made[i]->Forecast(histories[i], histories[i].newest(), out) ? 1 : 0;
    }
    best.forecast_seconds = std::min(best.forecast_seconds, CpuSeconds() - begun);
    if (said != histories.size()) {
      std::fprintf(stderr, "%s: some forecasts were not made\n",
                   std::string(ToString(model)).c_str());
      return std::nullopt;
    }
  }
  for (const auto& one : made) best.bytes += one->MemoryBytes();
  return best;
}

}  // namespace

int RunLinear(const PartOptions& options) {
  const size_t workloads = options.quick ? 10 : 300;
  std::vector<DemandHistory> histories;
  for (size_t i = 0; i < workloads; ++i) histories.push_back(MakeHistory(i + 1));
  const auto count = static_cast<double>(workloads);
  double tick = 0;
  double bytes = 0;
  for (const ForecastModel model :
       {ForecastModel::kLastValue, ForecastModel::kDayRise, ForecastModel::kSeasonalDay,
        ForecastModel::kHoltWinters, ForecastModel::kRidge30, ForecastModel::kRidge60}) {
    const auto cost = Measure(model, histories);
    if (!cost) return 1;
    if (MakeForecaster(model, Horizons())->NeedsFit()) {
      const std::string name(ToString(model));
      Say("tidemark", (name + "_1000_fits_seconds").c_str(),
          cost->fit_seconds / count * kFittedWorkloads);
    }
    tick += cost->forecast_seconds / count * kForecastWorkloads;
    bytes += static_cast<double>(cost->bytes) / count;
  }
  Say("tidemark", "linear_10000_forecasts_seconds", tick);
  Say("tidemark", "linear_models_bytes", bytes);
  return 0;
}

}  // namespace tidemark::bench
