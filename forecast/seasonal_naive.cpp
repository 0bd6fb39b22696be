#include "forecast/seasonal_naive.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "forecast/look_back.h"
#include "forecast/plain_forecaster.h"

namespace tidemark::forecast {
namespace {

constexpr size_t kLevelMinutes = 60;
/// Newer minutes say more about the level of now.
constexpr double kLevelDecayMinutes = 5;
constexpr double kLeastKnown = 0.5;  ///< of the weight of all minutes
constexpr int64_t kHalfWidth = 1;  ///< what is taken from the season is a mean over its neighbours

/// How far the last hour lies above that of a season ago; NaN where too little of both is known.
/// The difference, not the ratio: on our traces it errs by a fifth less.
double LevelOver(const DemandHistory& history, int64_t now, int64_t season) {
  static const std::array<double, kLevelMinutes> weights = [] {
    std::array<double, kLevelMinutes> made{};
    for (size_t i = 0; i < made.size(); ++i) {
      made[made.size() - 1 - i] = std::exp(-static_cast<double>(i) / kLevelDecayMinutes);
    }
    return made;
  }();
  std::array<float, kLevelMinutes> recent{};
  std::array<float, kLevelMinutes> then{};
  history.Window(now, recent);
  history.Window(now - season, then);
  double over = 0;
  double known = 0;
  double all = 0;
  for (size_t i = 0; i < kLevelMinutes; ++i) {
    all += weights[i];
    if (std::isnan(recent[i]) || std::isnan(then[i])) continue;
    over += weights[i] * (double{recent[i]} - double{then[i]});
    known += weights[i];
  }
  return known >= kLeastKnown * all ? over / known : std::nan("");
}

class SeasonalNaive final : public PlainForecaster {
 public:
  SeasonalNaive(ForecastModel model, const Horizons& horizons)
      : model_(model),
        season_(model == ForecastModel::kSeasonalWeek ? 7 * kMinutesADay : kMinutesADay),
        horizons_(horizons) {}

  ForecastModel model() const override { return model_; }
  int32_t look_back() const override {
    return static_cast<int32_t>(season_ + static_cast<int64_t>(kLevelMinutes));
  }
  bool Forecast(const DemandHistory& history, int64_t now, std::span<double> out) const override {
    const double over = LevelOver(history, now, season_);
    if (std::isnan(over)) return false;
    std::array<double, kMaxForecastHorizons> said{};
    for (size_t h = 0; h < horizons_.size(); ++h) {
      std::array<float, 2 * kHalfWidth + 1> around{};
      history.Window(now - season_ + horizons_[h] + kHalfWidth, around);
      double sum = 0;
      double count = 0;
      for (const float value : around) {
        if (std::isnan(value)) continue;
        sum += double{value};
        ++count;
      }
      if (count == 0) return false;
      said[h] = std::max(0.0, sum / count + over);
    }
    std::copy_n(said.begin(), horizons_.size(), out.begin());
    return true;
  }
  size_t MemoryBytes() const override { return sizeof(*this); }

 private:
  ForecastModel model_;
  int64_t season_;
  Horizons horizons_;
};

}  // namespace

std::unique_ptr<Forecaster> MakeSeasonalNaive(ForecastModel model, const Horizons& horizons) {
  return std::make_unique<SeasonalNaive>(model, horizons);
}

}  // namespace tidemark::forecast
