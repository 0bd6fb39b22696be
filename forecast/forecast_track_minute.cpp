// What a ForecastTrack does with a minute of demand: it scores, chooses and forecasts.
#include <algorithm>
#include <cmath>

#include "forecast/track_state.h"

namespace tidemark::forecast {
namespace {

// A forecast of more than this many times what was ever seen is an error of the model's.
constexpr double kMostOverLargest = 2;

double PinballLoss(double truth, double quantile) {
  constexpr double kP = ForecastTrack::kScoredQuantile;
  return truth >= quantile ? kP * (truth - quantile) : (1 - kP) * (quantile - truth);
}

}  // namespace

void ForecastTrack::State::Add(int64_t minute, double demand, ScoreObserver* observer) {
  constexpr int64_t kMostMinute = 1'000'000'000;  // the year 3871
  if (minute <= newest_ || minute > kMostMinute || !std::isfinite(demand) || demand < 0) return;
  if (plan_.steps == DemandSteps::kNone) return;
  if (plan_.steps == DemandSteps::kFiveMinutes) return AddToFiveMinutes(minute, demand);
  if (newest_ >= 0) PassTime(minute);
  history_.Put(minute, demand);
  // As it is kept: what models see of a demand that does not move does not move either.
  const double kept = double{history_.At(minute)};
  high_water_.Add(minute, kept, nullptr, estimators::FitChoice::kAuto);
  const auto hour = static_cast<size_t>(HourOf(minute)) % known_.size();
  known_[hour] = std::min<uint8_t>(60, static_cast<uint8_t>(known_[hour] + 1));
  if (newest_ < 0) level_ = static_cast<float>(kept);
  level_ += (static_cast<float>(kept) - level_) / 1440;
  for (size_t i = 0; i < lanes_.size(); ++i) Score(i, minute, kept, observer);
  const bool new_hour = HourOf(minute) != HourOf(newest_);
  newest_ = minute;
  ChooseModels();
  if (new_hour) ParkNetworks();
  Forecast(minute);
}

void ForecastTrack::State::AddToFiveMinutes(int64_t minute, double demand) {
  if (newest_ < 0 || minute / 5 != newest_ / 5) {
    step_sum_ = 0;
    step_count_ = 0;
  }
  step_sum_ = std::min(step_sum_ + demand, double{std::numeric_limits<float>::max()});
  ++step_count_;
  newest_ = minute;
  history_.Put(minute / 5, step_sum_ / step_count_);
}

void ForecastTrack::State::PassTime(int64_t minute) {
  const int64_t gap = minute - newest_;
  if (gap > kHeldMinutes) {
    DropAllPending();
  } else {
    for (Lane& lane : lanes_) {
      for (int64_t missed = newest_ + 1; missed < minute; ++missed) {
        DropPending(lane, missed, Candidates());
      }
    }
  }
  const int64_t hour = HourOf(minute);
  const int64_t before = HourOf(newest_);
  if (hour == before) return;
  const auto hours = static_cast<int64_t>(known_.size());
  for (int64_t skipped = std::max(before, hour - hours) + 1; skipped <= hour; ++skipped) {
    known_[static_cast<size_t>(skipped % hours)] = 0;
  }
  const int64_t halvings = std::min<int64_t>(
      16, minute / ErrorSketch::kHalvingMinutes - newest_ / ErrorSketch::kHalvingMinutes);
  for (Lane& lane : lanes_) {
    lane.intervals.Advance(hour, before);
    for (LossRecord& losses : lane.losses) losses.Advance(minute, newest_);
    lane.used.Advance(minute, newest_);
    for (ErrorSketch& sketch : lane.sketches) {
      for (int64_t i = 0; i < halvings; ++i) sketch.Halve();
    }
  }
}

void ForecastTrack::State::Score(size_t place, int64_t minute, double demand,
                                 ScoreObserver* observer) {
  Lane& lane = lanes_[place];
  const std::span<const Pending> pending = PendingAt(lane, minute);
  if (std::isnan(pending[0].demand)) return;  // there was no minute to forecast from
  const Made made = MadeAt(lane, minute);
  const int64_t hour = HourOf(minute);
  double of_last_value[2] = {0, 0};
  double used[2] = {0, 0};
  for (size_t i = 0; i < Candidates(); ++i) {
    const auto [forecast, scale] = pending[i];
    const bool own = !std::isnan(forecast);
    double error = of_last_value[0];
    double pinball = of_last_value[1];
    if (own) {
      ErrorSketch& sketch = lane.sketches[i];
      const double spread =
          scale >= 0 && sketch.IsEnough() ? double{scale} * sketch.Quantile(kScoredQuantile) : 0;
      const double signed_error = demand - double{forecast};
      error = std::abs(signed_error);
      pinball = PinballLoss(demand, double{forecast} + spread);
      sketch.Note(static_cast<float>(signed_error), scale);
      if (observer != nullptr) observer->OnScore(place, plan_.models[i], error, pinball);
    }
    if (i == 0) {
      of_last_value[0] = error;
      of_last_value[1] = pinball;
    }
    if (i == made.candidate) {
      used[0] = error;
      used[1] = pinball;
    }
    lane.losses[i].Note(minute, static_cast<float>(error), static_cast<float>(pinball), own);
  }
  lane.used.Note(minute, static_cast<float>(used[0]), static_cast<float>(used[1]), true);
  const bool has_interval = !std::isnan(made.lower);
  if (has_interval) {
    lane.intervals.Note(hour, demand, double{made.lower}, double{made.upper}, plan_.miss());
  }
  const float lower = has_interval ? made.lower : made.demand;
  const float upper = has_interval ? made.upper : made.demand;
  lane.past.Put(minute, made.demand, lower, upper);
  if (observer == nullptr) return;
  const ForecastPoint point{
      .time_ms = minute * 60'000, .demand = made.demand, .lower = lower, .upper = upper};
  observer->OnUsed(place, plan_.models[made.candidate], point, has_interval, demand, used[1]);
}

bool ForecastTrack::State::CanForecast(size_t candidate) const {
  const Forecaster& forecaster = *candidates_[candidate].forecaster;
  return !forecaster.NeedsFit() || forecaster.IsFitted();
}

std::span<const Contender> ForecastTrack::State::Contenders(const Lane& lane,
                                                            ContenderSpace& space) const {
  for (size_t i = 0; i < Candidates(); ++i) {
    const LossSums day = lane.losses[i].Day(newest_, lane.losses[0]);
    space[i] = ContenderOf(plan_.models[i], CanForecast(i), day);
  }
  return std::span<const Contender>(space).first(Candidates());
}

void ForecastTrack::State::ChooseModels() {
  const auto always = plan_.always ? plan_.PlaceOf(*plan_.always) : std::nullopt;
  if (always && CanForecast(*always)) {
    for (Lane& lane : lanes_) lane.in_use = static_cast<uint8_t>(*always);
    return;
  }
  ContenderSpace space;
  for (Lane& lane : lanes_) {
    lane.in_doubt = IsInDoubt(lane.used.Day(newest_, lane.losses[0]), lane.in_doubt);
    lane.in_use = static_cast<uint8_t>(
        Choose(Contenders(lane, space), lane.in_use, plan_.margin, lane.in_doubt));
  }
}

void ForecastTrack::State::ParkNetworks() {
  constexpr int64_t kTrialOfNetworks = 1440;
  for (size_t i = 0; i < Candidates(); ++i) {
    Candidate& candidate = candidates_[i];
    if (!IsNetwork(plan_.models[i]) || !candidate.forecaster->IsFitted()) continue;
    if (IsInUse(i)) candidate.worth_it = newest_;
    if (newest_ - candidate.worth_it < kTrialOfNetworks) continue;
    candidate.forecaster = make_(plan_.models[i], plan_.horizons);
    candidate.parked = true;
  }
}

void ForecastTrack::State::Forecast(int64_t minute) {
  const double most = kMostOverLargest * high_water_.window().Largest();
  std::array<double, kMaxForecastHorizons> ahead{};
  const std::span<double> out(ahead.data(), lanes_.size());
  for (Lane& lane : lanes_) DropPending(lane, minute, Candidates());
  for (size_t i = 0; i < Candidates(); ++i) {
    if (!CanForecast(i) || !candidates_[i].forecaster->Forecast(history_, minute, out)) continue;
    for (size_t place = 0; place < lanes_.size(); ++place) {
      if (!std::isfinite(out[place])) continue;
      Lane& lane = lanes_[place];
      const ErrorSketch& sketch = lane.sketches[i];
      PendingAt(lane, minute)[i] = {
          .demand = static_cast<float>(std::clamp(out[place], 0.0, most)),
          .scale = sketch.HasScale() ? static_cast<float>(sketch.Scale()) : -1};
    }
  }
  for (Lane& lane : lanes_) {
    lane.made[static_cast<size_t>(minute % lane.minutes)] = Make(lane, PendingAt(lane, minute));
  }
}

ForecastTrack::State::Made ForecastTrack::State::Make(const Lane& lane,
                                                      std::span<const Pending> pending) const {
  Made made;
  made.candidate = std::isnan(pending[lane.in_use].demand) ? 0 : lane.in_use;
  const Pending& used = pending[made.candidate];
  made.demand = used.demand;
  const ErrorSketch& sketch = lane.sketches[made.candidate];
  if (std::isnan(made.demand) || used.scale < 0 || !sketch.IsEnough()) return made;
  const double miss = plan_.miss();
  const double demand = double{used.demand};
  const double lower =
      demand + double{used.scale} * sketch.Quantile(lane.intervals.LowerProbability(miss));
  const double upper =
      demand + double{used.scale} * sketch.Quantile(lane.intervals.UpperProbability(miss));
  made.lower = static_cast<float>(std::clamp(lower, 0.0, demand));
  constexpr double kMost = std::numeric_limits<float>::max();
  made.upper = static_cast<float>(std::clamp(upper, demand, kMost));
  return made;
}

}  // namespace tidemark::forecast
