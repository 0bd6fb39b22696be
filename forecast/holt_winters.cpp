#include "forecast/holt_winters.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <utility>
#include <vector>

#include "forecast/day_profile.h"
#include "forecast/look_back.h"
#include "forecast/saved_model.h"

namespace tidemark::forecast {
namespace {

constexpr size_t kLookBack = 60;
constexpr int64_t kLeastMinutes = 360;
constexpr uint8_t kFormat = 1;
constexpr size_t kParameters = 4;

struct Smoothing {
  double level = 1;      ///< share of the news that goes into the level, in (0, 1]
  double trend = 0;      ///< and of that into the trend, in [0, 1]
  double damping = 0.9;  ///< of the trend a minute, in [0, 1)
  double season = 0;     ///< share of the season that counts, in [0, 1]
};

/// Values that the search goes through.
constexpr std::array kLevels = {0.1, 0.15, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0};
constexpr std::array kTrends = {0.0, 0.02, 0.05, 0.1, 0.2, 0.4, 0.7, 1.0};
constexpr std::array kDampings = {0.5, 0.7, 0.8, 0.9, 0.95, 0.98};
constexpr std::array kSeasons = {0.0, 0.25, 0.5, 0.75, 1.0};
constexpr int kRounds = 3;

struct State {
  double level = 0;
  double trend = 0;

  void Add(const Smoothing& by, double value) {
    const double expected = level + by.damping * trend;
    const double news = value - expected;
    level = expected + by.level * news;
    trend = by.damping * trend + by.level * by.trend * news;
  }
};

/// What the trend adds up to over so many minutes.
double TrendOver(double damping, int32_t minutes) {
  double sum = 0;
  double part = 1;
  for (int32_t i = 0; i < minutes; ++i) sum += part *= damping;
  return sum;
}

/// One horizon's errors over the newest part of a history.
class Trial {
 public:
  Trial(const DemandSeries& history, size_t first, const DayProfile& profile)
      : values_(history.values), first_(first), season_(values_.size()) {
    for (size_t i = 0; i < season_.size(); ++i) {
      season_[i] = i + kLookBack < first ? 0 : profile.At(history.first + static_cast<int64_t>(i));
    }
  }

  double Error(const Smoothing& by, int32_t horizon) const {
    const double trend = TrendOver(by.damping, horizon);
    const auto ahead = static_cast<size_t>(horizon);
    State state;
    bool begun = false;
    int64_t missing = 0;
    double before = 0;
    double error = 0;
    for (size_t i = first_ > kLookBack ? first_ - kLookBack : 0; i + ahead < values_.size(); ++i) {
      const bool known = !std::isnan(values_[i]);
      missing = known ? 0 : missing + 1;
      if (missing > kBridgedMinutes) begun = false;
      if (known) before = double{values_[i]};
      if (!known && !begun) continue;
      const double value = before - by.season * season_[i];
      if (begun) {
        state.Add(by, value);
      } else {
        state = {value, 0};
        begun = true;
      }
      const float truth = values_[i + ahead];
      if (i < first_ || std::isnan(truth)) continue;
      const double said = state.level + trend * state.trend + by.season * season_[i + ahead];
      error += std::abs(said - double{truth});
    }
    return error;
  }

 private:
  const std::vector<float>& values_;
  size_t first_;
  std::vector<double> season_;
};

/// One parameter after the other, until a round changes nothing.
Smoothing Search(const Trial& trial, int32_t horizon, bool season) {
  Smoothing best;
  double least = trial.Error(best, horizon);
  const auto go_through = [&](double Smoothing::*parameter, const auto& values) {
    bool better = false;
    for (const double value : values) {
      Smoothing tried = best;
      tried.*parameter = value;
      const double error = trial.Error(tried, horizon);
      if (!(error < least)) continue;
      least = error;
      best = tried;
      better = true;
    }
    return better;
  };
  for (int round = 0; round < kRounds; ++round) {
    bool better = season && go_through(&Smoothing::season, kSeasons);
    better = go_through(&Smoothing::level, kLevels) || better;
    better = go_through(&Smoothing::trend, kTrends) || better;
    better = (best.trend > 0 && go_through(&Smoothing::damping, kDampings)) || better;
    if (!better) break;
  }
  return best;
}

class HoltWinters final : public Forecaster {
 public:
  explicit HoltWinters(const Horizons& horizons) : horizons_(horizons) {}

  ForecastModel model() const override { return ForecastModel::kHoltWinters; }
  int32_t look_back() const override { return static_cast<int32_t>(kLookBack); }
  bool NeedsFit() const override { return true; }
  bool IsFitted() const override { return fitted_; }
  Result<FitReport> Fit(const DemandSeries& history, const FitOptions& options) override;
  double FitSeconds(int64_t minutes) const override {
    return 1e-3 + 2e-3 * static_cast<double>(horizons_.size()) +
           3e-8 * static_cast<double>(std::max<int64_t>(minutes, 0));
  }
  bool Forecast(const DemandHistory& history, int64_t now, std::span<double> out) const override;
  void Save(ByteWriter& out) const override;
  Result<void> Restore(ByteReader& in) override;
  size_t MemoryBytes() const override {
    return sizeof(*this) + profile_.steps().capacity() * sizeof(float);
  }

 private:
  Horizons horizons_;
  bool fitted_ = false;
  std::array<Smoothing, kMaxForecastHorizons> smoothing_{};
  DayProfile profile_;
};

Result<FitReport> HoltWinters::Fit(const DemandSeries& history, const FitOptions& options) {
  int64_t known = 0;
  float least = std::numeric_limits<float>::infinity();
  float most = 0;
  for (const float value : history.values) {
    if (std::isnan(value)) continue;
    ++known;
    least = std::min(least, value);
    most = std::max(most, value);
  }
  if (known < kLeastMinutes) {
    return Fail(ErrorCode::kInvalidArgument,
                fmt::format("history: {} minutes are known, needed: {}", known, kLeastMinutes));
  }
  if (least == most) return Fail(ErrorCode::kInvalidArgument, "history: the demand does not move");
  const auto size = static_cast<int64_t>(history.values.size());
  const int64_t first = size > 2 * kMinutesADay ? size - kMinutesADay : size / 2;
  const DayProfile before(history, history.first + first);
  const Trial trial(history, static_cast<size_t>(first), before);
  std::array<Smoothing, kMaxForecastHorizons> smoothing{};
  for (size_t h = 0; h < horizons_.size(); ++h) {
    if (options.stop.stop_requested()) return Fail(ErrorCode::kUnavailable, "the fit was stopped");
    smoothing[h] = Search(trial, horizons_[h], before.HasShape());
  }
  smoothing_ = smoothing;
  profile_ = DayProfile(history, history.end());
  fitted_ = true;
  return FitReport{
      .iterations = 0,
      .loss = 0,
      .what = fmt::format("level {:.2f}, trend {:.2f}, season {:.2f}", smoothing_[0].level,
                          smoothing_[0].trend, smoothing_[0].season)};
}

bool HoltWinters::Forecast(const DemandHistory& history, int64_t now, std::span<double> out) const {
  if (!fitted_) return false;
  std::array<float, kLookBack> window{};
  if (!ReadLookBack(history, now, window)) return false;
  std::array<double, kLookBack> season{};
  const int64_t first = now + 1 - static_cast<int64_t>(kLookBack);
  for (size_t i = 0; i < kLookBack; ++i) season[i] = profile_.At(first + static_cast<int64_t>(i));
  for (size_t h = 0; h < horizons_.size(); ++h) {
    const Smoothing& by = smoothing_[h];
    State state{double{window[0]} - by.season * season[0], 0};
    for (size_t i = 1; i < kLookBack; ++i) state.Add(by, double{window[i]} - by.season * season[i]);
    const double said = state.level + TrendOver(by.damping, horizons_[h]) * state.trend +
                        by.season * profile_.At(now + horizons_[h]);
    out[h] = std::max(0.0, said);
  }
  return true;
}

void HoltWinters::Save(ByteWriter& out) const {
  SaveModelHead(model(), horizons_, kFormat, out);
  out.Bool(fitted_);
  if (!fitted_) return;
  for (size_t h = 0; h < horizons_.size(); ++h) {
    for (const double value :
         {smoothing_[h].level, smoothing_[h].trend, smoothing_[h].damping, smoothing_[h].season}) {
      out.Double(value);
    }
  }
  SaveWeights(profile_.steps(), out);
}

Result<void> HoltWinters::Restore(ByteReader& in) {
  if (auto good = ReadModelHead(model(), horizons_, kFormat, in); !good) return good;
  if (!in.Bool()) {
    if (in.failed()) return WrongModel(model(), "it is cut short");
    fitted_ = false;
    smoothing_ = {};
    profile_ = {};
    return {};
  }
  std::array<Smoothing, kMaxForecastHorizons> smoothing{};
  for (size_t h = 0; h < horizons_.size(); ++h) {
    std::array<double, kParameters> values{};
    for (double& value : values) {
      value = in.Double();
      if (!(value >= 0 && value <= 1)) return WrongModel(model(), "a parameter is not in 0 to 1");
    }
    smoothing[h] = {values[0], values[1], values[2], values[3]};
  }
  auto steps = ReadWeights(DayProfile::kSteps, in);
  if (in.failed()) return WrongModel(model(), "it is cut short, or its season is none");
  smoothing_ = smoothing;
  profile_ = DayProfile(std::move(steps));
  fitted_ = true;
  return {};
}

}  // namespace

std::unique_ptr<Forecaster> MakeHoltWinters(const Horizons& horizons) {
  return std::make_unique<HoltWinters>(horizons);
}

}  // namespace tidemark::forecast
