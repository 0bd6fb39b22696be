// What of a ForecastTrack outlives a change of configuration, and what becomes of two of them.
#include <algorithm>
#include <cmath>
#include <string>

#include "forecast/track_state.h"

namespace tidemark::forecast {

void ForecastTrack::State::TakeOver(State& old) {
  if (old.plan_.resource != plan_.resource || plan_.steps == DemandSteps::kNone ||
      old.plan_.steps < plan_.steps) {
    return;
  }
  newest_ = old.newest_;
  if (plan_.steps == DemandSteps::kFiveMinutes) {
    if (old.plan_.steps == DemandSteps::kFiveMinutes) {
      history_ = std::move(old.history_);
      step_sum_ = old.step_sum_;
      step_count_ = old.step_count_;
      return;
    }
    history_ = old.history_.InStepsOf(5);
    for (int64_t minute = newest_ / 5 * 5; newest_ >= 0 && minute <= newest_; ++minute) {
      const float demand = old.history_.At(minute);
      if (std::isnan(demand)) continue;
      step_sum_ += double{demand};
      ++step_count_;
    }
    return;
  }
  history_ = std::move(old.history_);
  high_water_ = std::move(old.high_water_);
  known_ = old.known_;
  level_ = old.level_;
  if (old.plan_.horizons == plan_.horizons) {
    for (size_t i = 0; i < Candidates(); ++i) {
      if (const auto from = old.plan_.PlaceOf(plan_.models[i])) {
        candidates_[i] = std::move(old.candidates_[*from]);
      }
    }
  }
  for (Lane& lane : lanes_) {
    const auto from = std::find_if(old.lanes_.begin(), old.lanes_.end(), [&](const Lane& other) {
      return other.minutes == lane.minutes;
    });
    if (from == old.lanes_.end()) continue;
    TakeOver(lane, *from, old.plan_);
  }
}

void ForecastTrack::State::TakeOver(Lane& lane, Lane& old, const TrackPlan& plan) const {
  lane.past = std::move(old.past);
  lane.intervals = old.intervals;
  if (plan.interval_ratio != plan_.interval_ratio) lane.intervals = {};
  const ForecastModel in_use = plan.models[old.in_use];
  lane.in_use = static_cast<uint8_t>(plan_.PlaceOf(in_use).value_or(0));
  lane.in_doubt = old.in_doubt;
  lane.used = old.used;
  const auto places = static_cast<size_t>(lane.minutes);
  for (size_t i = 0; i < Candidates(); ++i) {
    const auto from = plan.PlaceOf(plan_.models[i]);
    if (!from) {
      lane.losses[i] = old.losses[0].AsUnscored();
      continue;
    }
    lane.losses[i] = old.losses[*from];
    lane.sketches[i] = old.sketches[*from];
    for (size_t place = 0; place < places; ++place) {
      lane.pending[place * Candidates() + i] = old.pending[place * plan.models.size() + *from];
    }
  }
  for (size_t place = 0; place < places; ++place) {
    Made made = old.made[place];
    const auto candidate = plan_.PlaceOf(plan.models[made.candidate]);
    if (candidate) {
      made.candidate = static_cast<uint8_t>(*candidate);
    } else if (!std::isnan(made.demand)) {
      // What was in use is no candidate any more: what waits is from the last value.
      made = {.demand = lane.pending[place * Candidates()].demand};
    }
    if (!candidate) made.candidate = 0;
    lane.made[place] = made;
  }
}

void ForecastTrack::State::Merge(const State& from) {
  if (from.newest_ < 0 || from.plan_.resource != plan_.resource ||
      from.plan_.steps != plan_.steps || plan_.steps == DemandSteps::kNone) {
    return;
  }
  // What is taken of it is taken from a copy that has the same plan.
  std::string bytes;
  ByteWriter out(bytes);
  from.Save(out);
  ByteReader in(bytes);
  const std::unique_ptr<State> copy = Restore(in, make_);
  if (!copy) return;
  State earlier(plan_, make_);
  earlier.TakeOver(*copy);
  if (newest_ < 0) {
    *this = std::move(earlier);
    return;
  }
  history_.FillFrom(earlier.history_);
  high_water_.Merge(earlier.high_water_);
  if (plan_.steps == DemandSteps::kFiveMinutes) {
    if (earlier.newest_ > newest_) {
      step_sum_ = earlier.step_sum_;
      step_count_ = earlier.step_count_;
    }
    newest_ = std::max(newest_, earlier.newest_);
    return;
  }
  MergeLearnt(earlier);
}

void ForecastTrack::State::MergeLearnt(State& earlier) {
  for (size_t i = 0; i < Candidates(); ++i) {
    if (candidates_[i].trained < 0 && earlier.candidates_[i].trained >= 0) {
      candidates_[i] = std::move(earlier.candidates_[i]);
    }
  }
  const int64_t newest = std::max(newest_, earlier.newest_);
  for (size_t i = 0; i < lanes_.size(); ++i) {
    Lane& lane = lanes_[i];
    Lane& other = earlier.lanes_[i];
    const LossRecord& last_value = lane.losses[0];
    int64_t known = newest_;
    if (last_value.Week(known, last_value).scored == 0) {
      lane.losses = std::move(other.losses);
      lane.used = other.used;
      lane.in_doubt = other.in_doubt;
      lane.sketches = std::move(other.sketches);
      lane.intervals = other.intervals;
      lane.past = std::move(other.past);
      lane.in_use = other.in_use;
      known = earlier.newest_;
    }
    lane.intervals.Advance(HourOf(newest), HourOf(known));
    for (LossRecord& losses : lane.losses) losses.Advance(newest, known);
    lane.used.Advance(newest, known);
  }
  if (newest != newest_) DropAllPending();
  newest_ = newest;
  Recount();
}

void ForecastTrack::State::Recount() {
  known_ = {};
  double sum = 0;
  int64_t count = 0;
  const auto hours = static_cast<int64_t>(known_.size());
  const int64_t first = std::max<int64_t>(0, (HourOf(newest_) - hours + 1) * 60);
  for (int64_t minute = first; minute <= newest_; ++minute) {
    const float demand = history_.At(minute);
    if (std::isnan(demand)) continue;
    ++known_[static_cast<size_t>(HourOf(minute) % hours)];
    sum += double{demand};
    ++count;
  }
  level_ = count == 0 ? 0 : static_cast<float>(sum / static_cast<double>(count));
}

}  // namespace tidemark::forecast
