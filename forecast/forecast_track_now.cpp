// What a ForecastTrack shows of itself.
#include <algorithm>
#include <cmath>
#include <string>

#include "forecast/track_state.h"

namespace tidemark::forecast {
namespace {

/// "90 minutes", "7 hours", "3 days": the largest unit of which there are two.
std::string SpanText(int64_t minutes) {
  if (minutes >= 2 * 1440) return std::to_string(minutes / 1440) + " days";
  if (minutes >= 2 * 60) return std::to_string(minutes / 60) + " hours";
  return std::to_string(minutes) + (minutes == 1 ? " minute" : " minutes");
}

}  // namespace

std::string ForecastTrack::State::WhyNot(ForecastModel model) const {
  const auto place = plan_.PlaceOf(model);
  if (!place || CanForecast(*place)) return {};
  const Candidate& candidate = candidates_[*place];
  std::string why(ToString(model));
  why += candidate.failed >= 0 && candidate.trained < 0 ? " could not be fitted"
                                                        : " is not fitted yet";
  return why;
}

bool ForecastTrack::State::IsAnyFitted() const {
  for (size_t i = 1; i < Candidates(); ++i) {
    if (CanForecast(i)) return true;
  }
  return false;
}

/// Of the horizons that go by the last value since nothing else has been seen for long enough;
/// empty when there are none.
std::string ForecastTrack::State::WhyOnTrial() const {
  const int64_t hour = HourOf(newest_);
  std::string horizons;
  for (const Lane& lane : lanes_) {
    if (MadeAt(lane, newest_).candidate != 0 || lane.in_use != 0) continue;
    bool seen = false;
    for (size_t i = 1; i < Candidates(); ++i) {
      const uint32_t scored = lane.losses[i].Day(hour, lane.losses[0]).scored;
      seen = seen || scored >= TrialMinutes(plan_.models[i]);
    }
    if (seen) continue;
    if (!horizons.empty()) horizons += ", ";
    horizons += SpanText(lane.minutes);
  }
  if (horizons.empty()) return {};
  return "too few forecasts of other models have been scored yet (" + horizons +
         " ahead): last value";
}

std::string ForecastTrack::State::Why(int64_t now_minute) const {
  if (plan_.steps == DemandSteps::kNone) return "the demand of this workload is not kept";
  if (newest_ < 0) return "no demand is known yet";
  if (plan_.steps == DemandSteps::kFiveMinutes) {
    return "the demand of this workload is only kept, not forecast";
  }
  if (now_minute - newest_ > kHeldMinutes) {
    return "no demand is known of the last " + SpanText(now_minute - newest_);
  }
  std::string why;
  const auto add = [&why](const std::string& reason) {
    if (reason.empty()) return;
    if (!why.empty()) why += "; ";
    why += reason;
  };
  if (plan_.always) add(WhyNot(*plan_.always));
  const bool only_last_value = std::all_of(lanes_.begin(), lanes_.end(), [this](const Lane& lane) {
    return MadeAt(lane, newest_).candidate == 0;
  });
  if (plan_.models.size() == 1) return why;
  if (std::all_of(lanes_.begin(), lanes_.end(),
                  [this](const Lane& lane) { return std::isnan(MadeAt(lane, newest_).demand); })) {
    add("no forecast has been made since the settings changed");
    return why;
  }
  if (!only_last_value) {
    add(WhyOnTrial());
    return why;
  }
  const int64_t span = history_.Span();
  if (IsFlat()) {
    add("the demand does not move: last value");
  } else if (span < kYoungMinutes) {
    add("the demand is known for " + SpanText(span) + " only: last value");
  } else if (int64_t{KnownOfDay()} * 2 < std::min<int64_t>(span, 1440)) {
    add("of the last day only " + SpanText(int64_t{KnownOfDay()}) + " are known: last value");
  } else if (std::any_of(lanes_.begin(), lanes_.end(),
                         [](const Lane& lane) { return lane.in_use != 0; })) {
    add("too much of the last minutes is missing for the model in use: last value");
  } else if (!IsAnyFitted()) {
    add("no other model is fitted yet: last value");
  } else if (const std::string on_trial = WhyOnTrial(); !on_trial.empty()) {
    add(on_trial);
  } else {
    add("no model has been better than last value");
  }
  return why;
}

WorkloadForecast ForecastTrack::State::Now(int64_t now_minute) const {
  WorkloadForecast now;
  now.resource = plan_.resource;
  now.steps = plan_.steps;
  now.why = Why(now_minute);
  if (newest_ < 0) return now;
  const bool five = plan_.steps == DemandSteps::kFiveMinutes;
  now.minute_ms = newest_ * 60'000;
  const float demand = history_.At(five ? newest_ / 5 : newest_);
  const bool is_held = now_minute - newest_ <= kHeldMinutes;
  if (is_held && !std::isnan(demand)) now.demand = double{demand};
  if (five) return now;
  if (const auto level = high_water_.LevelOf(plan_.risk, nullptr, {})) {
    now.high_water = level->value;
  }
  if (!is_held) return now;
  now.horizons.reserve(lanes_.size());
  for (const Lane& lane : lanes_) {
    const Made& made = MadeAt(lane, newest_);
    if (std::isnan(made.demand)) continue;
    HorizonForecast& forecast = now.horizons.emplace_back();
    forecast.horizon_seconds = lane.minutes * 60;
    forecast.model = plan_.models[made.candidate];
    forecast.demand = double{made.demand};
    if (!std::isnan(made.lower)) {
      forecast.lower = double{made.lower};
      forecast.upper = double{made.upper};
    }
    forecast.coverage_ratio = lane.intervals.Coverage();
    forecast.scores.reserve(Candidates());
    for (size_t i = 0; i < Candidates(); ++i) {
      const LossSums day = lane.losses[i].Day(newest_, lane.losses[0]);
      const LossSums week = lane.losses[i].Week(newest_, lane.losses[0]);
      forecast.scores.push_back({.model = plan_.models[i],
                                 .day_error_ratio = day.ErrorRatio(),
                                 .week_error_ratio = week.ErrorRatio(),
                                 .day_pinball_ratio = day.PinballRatio(),
                                 .week_pinball_ratio = week.PinballRatio(),
                                 .scored = day.scored});
    }
  }
  return now;
}

ForecastExplanation ForecastTrack::State::Explain(int64_t now_minute) const {
  ForecastExplanation explanation;
  explanation.now = Now(now_minute);
  const DemandSeries series = history_.Series();
  explanation.history.reserve(series.values.size());
  for (size_t i = 0; i < series.values.size(); ++i) {
    explanation.history.push_back(
        {history_.TimeOf(series.first + static_cast<int64_t>(i)), series.values[i]});
  }
  for (const HorizonForecast& horizon : explanation.now.horizons) {
    const auto lane = std::find_if(lanes_.begin(), lanes_.end(), [&](const Lane& candidate) {
      return candidate.minutes * 60 == horizon.horizon_seconds;
    });
    explanation.past.push_back(lane->past.Points());
    // What waits for its truth is drawn as well.
    for (int64_t minute = newest_ - lane->minutes + 1; minute <= newest_; ++minute) {
      if (minute < 0) continue;
      const Made& made = MadeAt(*lane, minute);
      if (std::isnan(made.demand)) continue;
      const bool has_interval = !std::isnan(made.lower);
      explanation.past.back().push_back({.time_ms = (minute + lane->minutes) * 60'000,
                                         .demand = made.demand,
                                         .lower = has_interval ? made.lower : made.demand,
                                         .upper = has_interval ? made.upper : made.demand});
    }
  }
  for (size_t i = 0; i < candidates_.size(); ++i) {
    const Candidate& candidate = candidates_[i];
    if (candidate.trained < 0) continue;
    explanation.fitted.push_back({.model = plan_.models[i],
                                  .trained_ms = candidate.trained * 60'000,
                                  .seconds = double{candidate.seconds},
                                  .iterations = candidate.report.iterations,
                                  .loss = candidate.report.loss,
                                  .what = candidate.report.what});
  }
  if (const auto& tail = high_water_.tail(); tail && tail->IsFitted()) {
    explanation.high_water = ForecastExplanation::Tail{.threshold = tail->threshold,
                                                       .shape = tail->fit.gamma,
                                                       .scale = tail->fit.sigma,
                                                       .excesses = tail->excesses,
                                                       .observations = tail->observations};
  }
  return explanation;
}

}  // namespace tidemark::forecast
