// What is asked of a track for any time ahead and any probability.

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <vector>

#include "forecast/track_state.h"

namespace tidemark::forecast {
namespace {

/// The quantile `p` of all minutes that are known, linear between order statistics; absent without
/// any.
std::optional<double> MinutesQuantile(const DemandHistory& history, double p) {
  std::vector<float> values;
  if (history.IsEmpty()) return std::nullopt;
  values.reserve(static_cast<size_t>(history.Span()));
  for (const float value : history.Series().values) {
    if (!std::isnan(value)) values.push_back(value);
  }
  if (values.empty()) return std::nullopt;
  const double place = p * static_cast<double>(values.size() - 1);
  const auto below = static_cast<size_t>(place);
  const auto at = values.begin() + static_cast<std::ptrdiff_t>(below);
  std::nth_element(values.begin(), at, values.end());
  const double low{*at};
  if (at + 1 == values.end()) return low;
  const double high{*std::min_element(at + 1, values.end())};
  return low + (place - static_cast<double>(below)) * (high - low);
}

}  // namespace

struct ForecastTrack::State::Between {
  const Lane* lower = nullptr;  ///< null: now
  const Lane* upper = nullptr;  ///< null: there are no horizons
  double weight = 1;            ///< of the upper
};

ForecastTrack::State::Between ForecastTrack::State::LanesAround(int32_t minutes) const {
  Between between;
  int32_t lower_minutes = 0;
  for (const Lane& lane : lanes_) {
    between.upper = &lane;
    if (minutes <= lane.minutes) {
      between.weight = static_cast<double>(minutes - lower_minutes) /
                       static_cast<double>(lane.minutes - lower_minutes);
      return between;
    }
    between.lower = &lane;
    lower_minutes = lane.minutes;
  }
  return between;  // beyond the longest
}

double ForecastTrack::State::QuantileOf(const Lane& lane, const Made& made, double p) const {
  const double scale = double{PendingAt(lane, newest_)[made.candidate].scale};
  const ErrorSketch& sketch = lane.sketches[made.candidate];
  // The interval's miss is aimed at more or less than asked for; so are all others.
  const double miss = plan_.miss();
  double wanted = p;
  if (p >= 0.5) {
    const double aimed = (1 - lane.intervals.UpperProbability(miss)) / miss;
    wanted = 1 - std::min((1 - p) * aimed, 0.5);
  } else {
    const double aimed = lane.intervals.LowerProbability(miss) / miss;
    wanted = std::min(p * aimed, 0.5);
  }
  const double quotient =
      wanted >= ErrorSketch::kTailFrom ? sketch.TailQuantile(wanted) : sketch.Quantile(wanted);
  return std::max(0.0, double{made.demand} + scale * quotient);
}

std::optional<double> ForecastTrack::State::Quantile(int64_t now_minute, size_t horizon,
                                                     double p) const {
  if (!IsHeld(now_minute) || horizon >= lanes_.size() || !(p >= 0.5 && p < 1)) return std::nullopt;
  const Lane& lane = lanes_[horizon];
  const Made& made = MadeAt(lane, newest_);
  if (std::isnan(made.lower)) return std::nullopt;
  return QuantileOf(lane, made, p);
}

std::optional<double> ForecastTrack::State::Expected(int64_t now_minute,
                                                     std::optional<ForecastModel> model,
                                                     int32_t minutes) const {
  if (!IsHeld(now_minute) || minutes < 1) return std::nullopt;
  const std::optional<size_t> named = model ? plan_.PlaceOf(*model) : std::nullopt;
  if (model && !named) return std::nullopt;
  const size_t place = named.value_or(0);
  const Between between = LanesAround(minutes);
  if (between.upper == nullptr) return std::nullopt;
  const auto at = [&](const Lane* lane) {
    if (lane == nullptr) return double{history_.At(newest_)};
    return double{model ? PendingAt(*lane, newest_)[place].demand : MadeAt(*lane, newest_).demand};
  };
  const double upper = at(between.upper);
  const double lower = between.weight < 1 ? at(between.lower) : upper;
  if (std::isnan(upper) || std::isnan(lower)) return std::nullopt;
  return lower + (upper - lower) * between.weight;
}

bool ForecastTrack::State::Quantiles(int64_t now_minute, int32_t minutes, std::span<const double> p,
                                     std::span<double> out) const {
  if (!IsHeld(now_minute) || minutes < 1) return false;
  const Between between = LanesAround(minutes);
  if (between.upper == nullptr) return false;
  const Made& upper = MadeAt(*between.upper, newest_);
  if (std::isnan(upper.lower)) return false;
  const Lane* const lane = between.weight < 1 ? between.lower : between.upper;
  const Made* const lower = lane == nullptr ? nullptr : &MadeAt(*lane, newest_);
  if (lower != nullptr && std::isnan(lower->lower)) return false;
  const double now = double{history_.At(newest_)};
  for (size_t i = 0; i < p.size(); ++i) {
    const double above = QuantileOf(*between.upper, upper, p[i]);
    const double below = lower == nullptr ? now : QuantileOf(*lane, *lower, p[i]);
    out[i] = below + (above - below) * between.weight;
  }
  return true;
}

std::optional<double> ForecastTrack::State::HighWater(double risk) const {
  // The marks keep the highest minutes alone. A risk for which those do not reach needs no tail,
  // but all minutes: at 0.1 the mark is the quantile 0.9, not the lowest that was kept.
  const auto& tail = high_water_.tail();
  if (tail && tail->observations > 0 && risk >= tail->ExcessRatio() &&
      !high_water_.window().Empirical(risk)) {
    return MinutesQuantile(history_, 1 - risk);
  }
  const auto level = high_water_.LevelOf(risk, nullptr, {});
  return level ? std::optional(level->value) : std::nullopt;
}

std::optional<double> ForecastTrack::Expected(int64_t now_minute,
                                              std::optional<ForecastModel> model,
                                              int32_t minutes) const {
  return state_->Expected(now_minute, model, minutes);
}

bool ForecastTrack::Quantiles(int64_t now_minute, int32_t minutes, std::span<const double> p,
                              std::span<double> out) const {
  return state_->Quantiles(now_minute, minutes, p, out);
}

std::optional<double> ForecastTrack::HighWater(double risk) const {
  return state_->HighWater(risk);
}

}  // namespace tidemark::forecast
