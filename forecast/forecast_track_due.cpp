// Which fits a ForecastTrack wants, and what becomes of them.
#include <algorithm>
#include <cmath>
#include <string>

#include "forecast/track_state.h"

namespace tidemark::forecast {
namespace {

constexpr int64_t kHour = 60;
constexpr int64_t kDay = 24 * kHour;

/// When a model is fitted.
struct Schedule {
  int64_t first = 0;      ///< minutes that have to be known
  int64_t period = 0;     ///< in minutes
  int64_t parked = 0;     ///< the same for a network that was not worth it
  bool in_youth = false;  ///< again whenever half as much again is known, until the period
};

Schedule ScheduleOf(ForecastModel model) {
  switch (model) {
    case ForecastModel::kRidge30:
    case ForecastModel::kRidge60:
      return {.first = 6 * kHour, .period = 6 * kHour, .in_youth = true};
    case ForecastModel::kHoltWinters: return {.first = 2 * kDay, .period = 12 * kHour};
    case ForecastModel::kArima: return {.first = 6 * kHour, .period = kDay};
    case ForecastModel::kLstm:
    case ForecastModel::kBiLstm:
      // As much as the DEBI-HPA paper learns from, 760 minutes, is known after a day at the latest.
      return {.first = 760, .period = kDay, .parked = 7 * kDay};
    default: return {.first = kHour, .period = 6 * kHour};
  }
}

}  // namespace

uint32_t ForecastTrack::State::KnownOfDay() const {
  uint32_t known = 0;
  for (const uint8_t of_hour : known_) known += of_hour;
  return known;
}

bool ForecastTrack::State::IsFlat() const {
  // So little is lost in keeping the demand in 16 bits.
  constexpr double kNoMove = 1e-4;
  if (lanes_.empty() || newest_ < 0) return false;
  const LossRecord& last_value = lanes_.front().losses[0];
  const LossSums day = last_value.Day(newest_, last_value);
  return day.scored >= kYoungMinutes && day.error <= kNoMove * double{level_} * day.scored;
}

bool ForecastTrack::State::IsInUse(size_t candidate) const {
  return std::any_of(lanes_.begin(), lanes_.end(),
                     [candidate](const Lane& lane) { return lane.in_use == candidate; });
}

std::vector<DueFit> ForecastTrack::State::Due(int64_t minute) const {
  std::vector<DueFit> due;
  if (newest_ < 0 || candidates_.empty() || minute < newest_ || minute - newest_ > kHour ||
      IsFlat()) {
    return due;
  }
  const int64_t span = history_.Span();
  // Of a day with more holes than minutes nothing is learnt.
  if (int64_t{KnownOfDay()} * 2 < std::min(span, kDay)) return due;
  for (size_t i = 0; i < Candidates(); ++i) {
    const Candidate& candidate = candidates_[i];
    if (!candidate.forecaster->NeedsFit()) continue;
    const Schedule schedule = ScheduleOf(plan_.models[i]);
    if (span < schedule.first) continue;
    // A network on trial is judged before it is trained again.
    if (IsNetwork(plan_.models[i]) && candidate.forecaster->IsFitted() && !IsInUse(i)) continue;
    int64_t period = schedule.period;
    if (candidate.parked && plan_.always != plan_.models[i]) period = schedule.parked;
    if (schedule.in_youth) period = std::min(period, std::max(kHour, span / 3));
    DueFit fit{.model = plan_.models[i]};
    const int64_t last = std::max(candidate.trained, candidate.failed);
    if (last >= 0) {
      fit.staleness = static_cast<double>(minute - last) / static_cast<double>(period);
      if (fit.staleness < 1) continue;
    } else {
      const int64_t since = std::max<int64_t>(0, minute - (history_.oldest() + schedule.first));
      fit.staleness = 1 + static_cast<double>(since) / static_cast<double>(period);
    }
    fit.cost_seconds = candidate.forecaster->FitSeconds(span);
    due.push_back(fit);
  }
  return due;
}

std::string ForecastTrack::State::Weights(ForecastModel model) const {
  std::string weights;
  const auto place = plan_.PlaceOf(model);
  if (!place || *place >= candidates_.size()) return weights;
  const Forecaster& forecaster = *candidates_[*place].forecaster;
  if (!forecaster.NeedsFit() || !forecaster.IsFitted()) return weights;
  ByteWriter out(weights);
  forecaster.Save(out);
  return weights;
}

Result<void> ForecastTrack::State::Activate(const FittedModel& fitted) {
  const std::string name(ToString(fitted.model));
  const auto place = plan_.PlaceOf(fitted.model);
  if (!place || *place >= candidates_.size() || !candidates_[*place].forecaster->NeedsFit()) {
    return Fail(ErrorCode::kInvalidArgument,
                "a fitted " + name + " is of no use here: it is no candidate that has to learn");
  }
  if (fitted.trained_minute < 0 || !std::isfinite(fitted.seconds)) {
    return Fail(ErrorCode::kInvalidArgument, "a fitted " + name + " does not say of which minutes");
  }
  auto forecaster = make_(fitted.model, plan_.horizons);
  ByteReader in(fitted.weights);
  if (const auto restored = forecaster->Restore(in); !restored) {
    return tl::unexpected<Error>(restored.error());
  }
  if (!in.AtEnd() || !forecaster->IsFitted()) {
    return Fail(ErrorCode::kInvalidArgument,
                "the weights of a fitted " + name + " are of another kind");
  }
  Candidate& candidate = candidates_[*place];
  const bool begins = !candidate.forecaster->IsFitted();
  candidate.forecaster = std::move(forecaster);
  candidate.trained = fitted.trained_minute;
  if (begins) candidate.worth_it = std::max<int64_t>(0, newest_);
  candidate.failed = -1;
  candidate.seconds = static_cast<float>(fitted.seconds);
  candidate.parked = false;
  candidate.report = fitted.report;
  return {};
}

void ForecastTrack::State::NoteFailedFit(ForecastModel model, int64_t minute) {
  const auto place = plan_.PlaceOf(model);
  if (!place || *place >= candidates_.size()) return;
  candidates_[*place].failed = std::max(candidates_[*place].failed, minute);
}

}  // namespace tidemark::forecast
