// A ForecastTrack as it outlives the process, and what of it outlives a change of configuration.
#include <algorithm>
#include <bit>
#include <cmath>
#include <string>

#include "forecast/track_state.h"

namespace tidemark::forecast {
namespace {

constexpr uint64_t kFormat = 1;
constexpr int64_t kMostMinute = 1'000'000'000;
constexpr uint64_t kMostReport = 200;  // bytes of a model's name of itself

void SaveFloat(float value, ByteWriter& out) { out.Fixed32(std::bit_cast<uint32_t>(value)); }

/// Finite, and not below `least`.
float RestoreFloat(float least, ByteReader& in) {
  const auto value = std::bit_cast<float>(in.Fixed32());
  if (!std::isfinite(value) || value < least) in.Fail();
  return value;
}

/// A minute, or -1.
int64_t RestoreMinute(ByteReader& in) {
  const int64_t minute = in.Signed();
  if (minute < -1 || minute > kMostMinute) in.Fail();
  return in.failed() ? -1 : minute;
}

void SavePlan(const TrackPlan& plan, ByteWriter& out) {
  out.Byte(static_cast<uint8_t>(plan.resource));
  out.Byte(static_cast<uint8_t>(plan.steps));
  out.Varint(plan.models.size());
  for (const ForecastModel model : plan.models) out.Byte(static_cast<uint8_t>(model));
  out.Bool(plan.always.has_value());
  if (plan.always) out.Byte(static_cast<uint8_t>(*plan.always));
  out.Varint(plan.horizons.size());
  for (size_t i = 0; i < plan.horizons.size(); ++i) {
    out.Varint(static_cast<uint64_t>(plan.horizons[i]));
  }
  for (const double ratio : {plan.interval_ratio, plan.margin, plan.risk}) out.Double(ratio);
}

ForecastModel RestoreModel(ByteReader& in) {
  const uint8_t model = in.Byte();
  if (model >= kForecastModelCount) in.Fail();
  return in.failed() ? ForecastModel::kLastValue : static_cast<ForecastModel>(model);
}

TrackPlan RestorePlan(ByteReader& in) {
  TrackPlan plan;
  const uint8_t resource = in.Byte();
  const uint8_t steps = in.Byte();
  if (resource >= kResourceCount || steps > static_cast<uint8_t>(DemandSteps::kMinutes)) in.Fail();
  if (in.failed()) return plan;
  plan.resource = static_cast<Resource>(resource);
  plan.steps = static_cast<DemandSteps>(steps);
  const uint64_t models = in.Count();
  if (models < 1 || models > kForecastModelCount) in.Fail();
  for (uint64_t i = 0; i < models && !in.failed(); ++i) {
    const ForecastModel model = RestoreModel(in);
    const bool ascends =
        plan.models.empty() ? model == ForecastModel::kLastValue : model > plan.models.back();
    if (!ascends) in.Fail();
    plan.models.push_back(model);
  }
  if (in.Bool()) {
    plan.always = RestoreModel(in);
    if (!plan.PlaceOf(*plan.always)) in.Fail();
  }
  const uint64_t count = in.Count();
  if (count > kMaxForecastHorizons) in.Fail();
  std::vector<int32_t> horizons;
  for (uint64_t i = 0; i < count && !in.failed(); ++i) {
    const uint64_t minutes = in.Varint();
    const auto least = static_cast<uint64_t>(horizons.empty() ? 1 : horizons.back() + 1);
    if (minutes < least || minutes > static_cast<uint64_t>(kMaxForecastHorizonMinutes)) in.Fail();
    if (!in.failed()) horizons.push_back(static_cast<int32_t>(minutes));
  }
  plan.horizons = Horizons(horizons);
  plan.interval_ratio = in.Double();
  plan.margin = in.Double();
  plan.risk = in.Double();
  const bool sound = plan.interval_ratio > 0 && plan.interval_ratio < 1 && plan.margin >= 0 &&
                     plan.margin < 1 && plan.risk > 0 && plan.risk < 1;
  if (!sound) in.Fail();
  return plan;
}

}  // namespace

void ForecastTrack::State::SaveCandidates(ByteWriter& out) const {
  for (size_t i = 0; i < candidates_.size(); ++i) {
    const Candidate& candidate = candidates_[i];
    out.Signed(candidate.trained);
    out.Signed(candidate.worth_it);
    out.Signed(candidate.failed);
    SaveFloat(candidate.seconds, out);
    out.Bool(candidate.parked);
    out.Varint(candidate.report.iterations);
    out.Double(candidate.report.loss);
    out.Text(std::string_view(candidate.report.what).substr(0, kMostReport));
    out.Text(Weights(plan_.models[i]));
  }
}

void ForecastTrack::State::RestoreCandidates(ByteReader& in) {
  for (Candidate& candidate : candidates_) {
    candidate.trained = RestoreMinute(in);
    candidate.worth_it = RestoreMinute(in);
    candidate.failed = RestoreMinute(in);
    candidate.seconds = std::bit_cast<float>(in.Fixed32());
    candidate.parked = in.Bool();
    candidate.report.iterations = static_cast<uint32_t>(in.Varint());
    candidate.report.loss = in.Double();
    candidate.report.what = in.Text();
    const std::string_view weights = in.Text();
    if (in.failed() || weights.empty() || !candidate.forecaster->NeedsFit()) continue;
    ByteReader learnt(weights);
    const auto restored = candidate.forecaster->Restore(learnt);
    if (restored && learnt.AtEnd()) continue;
    // Of another version of the model: to be fitted again.
    candidate.trained = candidate.worth_it = -1;
  }
}

void ForecastTrack::State::SaveLane(const Lane& lane, ByteWriter& out) const {
  out.Byte(lane.in_use);
  out.Bool(lane.in_doubt);
  for (const LossRecord& losses : lane.losses) losses.Save(out);
  lane.used.Save(out);
  for (const ErrorSketch& sketch : lane.sketches) sketch.Save(out);
  for (const Pending& pending : lane.pending) {
    out.Bool(!std::isnan(pending.demand));
    if (std::isnan(pending.demand)) continue;
    SaveFloat(pending.demand, out);
    SaveFloat(pending.scale, out);
  }
  for (const Made& made : lane.made) {
    out.Byte(made.candidate);
    out.Byte(std::isnan(made.demand) ? 0 : std::isnan(made.lower) ? 1 : 2);
    if (std::isnan(made.demand)) continue;
    SaveFloat(made.demand, out);
    if (std::isnan(made.lower)) continue;
    SaveFloat(made.lower, out);
    SaveFloat(made.upper, out);
  }
  lane.intervals.Save(out);
  lane.past.Save(out);
}

void ForecastTrack::State::RestoreLane(Lane& lane, ByteReader& in) const {
  lane.in_use = in.Byte();
  lane.in_doubt = in.Bool();
  if (lane.in_use >= Candidates()) in.Fail();
  for (LossRecord& losses : lane.losses) losses.Restore(in);
  lane.used.Restore(in);
  for (ErrorSketch& sketch : lane.sketches) sketch.Restore(in);
  for (Pending& pending : lane.pending) {
    if (!in.Bool()) continue;
    pending.demand = RestoreFloat(0, in);
    pending.scale = RestoreFloat(-1, in);
  }
  for (size_t place = 0; place < lane.made.size(); ++place) {
    Made& made = lane.made[place];
    made.candidate = in.Byte();
    const uint8_t kind = in.Byte();
    if (made.candidate >= Candidates() || kind > 2) return in.Fail();
    // What was in use is one of those that wait, and the last value always does.
    const bool waits = !std::isnan(lane.pending[place * Candidates()].demand);
    if (waits != (kind != 0)) return in.Fail();
    if (kind == 0) continue;
    if (std::isnan(lane.pending[place * Candidates() + made.candidate].demand)) return in.Fail();
    made.demand = RestoreFloat(0, in);
    if (kind == 1) continue;
    made.lower = RestoreFloat(0, in);
    made.upper = RestoreFloat(0, in);
    if (!(made.lower <= made.demand && made.demand <= made.upper)) return in.Fail();
  }
  lane.intervals.Restore(in);
  lane.past.Restore(in);
}

void ForecastTrack::State::Save(ByteWriter& out) const {
  out.Varint(kFormat);
  SavePlan(plan_, out);
  if (plan_.steps == DemandSteps::kNone) return;
  out.Signed(newest_);
  history_.Save(out);
  if (plan_.steps == DemandSteps::kFiveMinutes) {
    out.Double(step_sum_);
    out.Varint(static_cast<uint64_t>(step_count_));
    return;
  }
  high_water_.Save(out);
  for (const uint8_t known : known_) out.Byte(known);
  SaveFloat(level_, out);
  SaveCandidates(out);
  for (const Lane& lane : lanes_) SaveLane(lane, out);
}

std::unique_ptr<ForecastTrack::State> ForecastTrack::State::Restore(ByteReader& in,
                                                                    MakeModel make) {
  if (in.Varint() != kFormat) in.Fail();
  TrackPlan plan = RestorePlan(in);
  if (in.failed()) return nullptr;
  auto state = std::make_unique<State>(std::move(plan), make);
  if (state->plan_.steps == DemandSteps::kNone) return state;
  state->newest_ = RestoreMinute(in);
  state->history_.Restore(in);
  const int64_t step = state->plan_.steps == DemandSteps::kFiveMinutes ? 5 : 1;
  const DemandHistory& history = state->history_;
  if (in.failed() || history.step_minutes() != step ||
      history.newest() != (state->newest_ < 0 ? -1 : state->newest_ / step)) {
    return nullptr;
  }
  if (step == 5) {
    state->step_sum_ = in.Double();
    const uint64_t count = in.Varint();
    state->step_count_ = static_cast<int32_t>(count);
    const bool sound = std::isfinite(state->step_sum_) && state->step_sum_ >= 0 && count <= 5 &&
                       (count == 0) == (state->newest_ < 0);
    return in.failed() || !sound ? nullptr : std::move(state);
  }
  auto high_water = estimators::HighWaterTrack::Restore(in);
  if (!high_water) return nullptr;
  state->high_water_ = *std::move(high_water);
  for (uint8_t& known : state->known_) {
    known = in.Byte();
    if (known > 60) in.Fail();
  }
  state->level_ = RestoreFloat(0, in);
  state->RestoreCandidates(in);
  for (Lane& lane : state->lanes_) {
    state->RestoreLane(lane, in);
    if (in.failed()) return nullptr;
  }
  return in.failed() ? nullptr : std::move(state);
}

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
