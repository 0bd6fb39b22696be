// A ForecastTrack as it outlives the process.
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

}  // namespace tidemark::forecast
