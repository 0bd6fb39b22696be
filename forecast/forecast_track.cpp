#include "forecast/forecast_track.h"

#include <algorithm>
#include <cmath>

#include "forecast/track_state.h"

namespace tidemark::forecast {
TrackPlan::TrackPlan(const ForecastRule& rule, const ForecastSettings& settings)
    : resource(rule.resource),
      steps(rule.steps),
      models(rule.models),
      always(rule.always),
      horizons(settings.horizons_minutes),
      interval_ratio(settings.interval_ratio),
      margin(settings.network_margin_ratio),
      risk(settings.high_water_risk) {
  models.push_back(ForecastModel::kLastValue);
  if (always) models.push_back(*always);
  std::sort(models.begin(), models.end());
  models.erase(std::unique(models.begin(), models.end()), models.end());
  models.shrink_to_fit();
}

std::optional<size_t> TrackPlan::PlaceOf(ForecastModel model) const {
  const auto found = std::lower_bound(models.begin(), models.end(), model);
  if (found == models.end() || *found != model) return std::nullopt;
  return static_cast<size_t>(found - models.begin());
}

ForecastTrack::State::State(TrackPlan plan, MakeModel make)
    : plan_(std::move(plan)),
      make_(make),
      history_(plan_.steps == DemandSteps::kFiveMinutes ? 5 : 1) {
  if (plan_.steps != DemandSteps::kMinutes) return;
  for (const ForecastModel model : plan_.models) {
    candidates_.emplace_back().forecaster = make_(model, plan_.horizons);
  }
  for (size_t i = 0; i < plan_.horizons.size(); ++i) {
    Lane& lane = lanes_.emplace_back();
    lane.minutes = plan_.horizons[i];
    lane.losses.resize(Candidates());
    lane.sketches.resize(Candidates());
    lane.pending.resize(Candidates() * static_cast<size_t>(lane.minutes));
    lane.made.resize(static_cast<size_t>(lane.minutes));
  }
  candidates_.shrink_to_fit();
  lanes_.shrink_to_fit();
}

std::span<ForecastTrack::State::Pending> ForecastTrack::State::PendingAt(Lane& lane,
                                                                         int64_t minute) const {
  const auto place = static_cast<size_t>(minute % lane.minutes);
  return std::span(lane.pending).subspan(place * Candidates(), Candidates());
}

std::span<const ForecastTrack::State::Pending> ForecastTrack::State::PendingAt(
    const Lane& lane, int64_t minute) const {
  const auto place = static_cast<size_t>(minute % lane.minutes);
  return std::span(lane.pending).subspan(place * Candidates(), Candidates());
}

const ForecastTrack::State::Made& ForecastTrack::State::MadeAt(const Lane& lane,
                                                               int64_t minute) const {
  return lane.made[static_cast<size_t>(minute % lane.minutes)];
}

void ForecastTrack::State::DropPending(Lane& lane, int64_t minute, size_t candidates) {
  const auto place = static_cast<size_t>(minute % lane.minutes);
  std::fill_n(lane.pending.begin() + static_cast<std::ptrdiff_t>(place * candidates), candidates,
              Pending());
  lane.made[place] = Made();
}

void ForecastTrack::State::DropAllPending() {
  for (Lane& lane : lanes_) {
    std::fill(lane.pending.begin(), lane.pending.end(), Pending());
    std::fill(lane.made.begin(), lane.made.end(), Made());
  }
}

size_t ForecastTrack::State::MemoryBytes() const {
  size_t bytes = sizeof(*this) + history_.MemoryBytes() - sizeof(history_) +
                 high_water_.MemoryBytes() - sizeof(high_water_) +
                 candidates_.capacity() * sizeof(Candidate) + lanes_.capacity() * sizeof(Lane) +
                 plan_.models.capacity() * sizeof(ForecastModel);
  for (const Candidate& candidate : candidates_) {
    bytes += candidate.forecaster->MemoryBytes() + candidate.report.what.capacity();
  }
  for (const Lane& lane : lanes_) {
    bytes += lane.losses.capacity() * sizeof(LossRecord) +
             lane.sketches.capacity() * sizeof(ErrorSketch) +
             lane.pending.capacity() * sizeof(Pending) + lane.made.capacity() * sizeof(Made) +
             lane.past.MemoryBytes();
  }
  return bytes;
}

ForecastTrack::ForecastTrack(const ForecastRule& rule, const ForecastSettings& settings,
                             MakeModel make)
    : state_(std::make_unique<State>(TrackPlan(rule, settings), make)) {}

ForecastTrack::ForecastTrack(std::unique_ptr<State> state) : state_(std::move(state)) {}
ForecastTrack::~ForecastTrack() = default;
ForecastTrack::ForecastTrack(ForecastTrack&&) noexcept = default;
ForecastTrack& ForecastTrack::operator=(ForecastTrack&&) noexcept = default;

void ForecastTrack::Adapt(const ForecastRule& rule, const ForecastSettings& settings) {
  TrackPlan plan(rule, settings);
  if (plan == state_->plan()) return;
  auto adapted = std::make_unique<State>(std::move(plan), state_->model_maker());
  adapted->TakeOver(*state_);
  state_ = std::move(adapted);
}

void ForecastTrack::Add(int64_t minute, double demand, ScoreObserver* observer) {
  state_->Add(minute, demand, observer);
}

std::vector<DueFit> ForecastTrack::Due(int64_t minute) const { return state_->Due(minute); }
DemandSeries ForecastTrack::Series() const { return state_->history().Series(); }
std::string ForecastTrack::Weights(ForecastModel model) const { return state_->Weights(model); }
Result<void> ForecastTrack::Activate(const FittedModel& fitted) { return state_->Activate(fitted); }

void ForecastTrack::NoteFailedFit(ForecastModel model, int64_t minute) {
  state_->NoteFailedFit(model, minute);
}

const DemandHistory& ForecastTrack::history() const { return state_->history(); }
DemandSteps ForecastTrack::steps() const { return state_->plan().steps; }
Resource ForecastTrack::resource() const { return state_->plan().resource; }
Horizons ForecastTrack::horizons() const { return state_->plan().horizons; }
const std::vector<ForecastModel>& ForecastTrack::models() const { return state_->plan().models; }

WorkloadForecast ForecastTrack::Now(int64_t now_minute) const { return state_->Now(now_minute); }

std::optional<double> ForecastTrack::Quantile(int64_t now_minute, size_t horizon, double p) const {
  return state_->Quantile(now_minute, horizon, p);
}

ForecastExplanation ForecastTrack::Explain(int64_t now_minute) const {
  return state_->Explain(now_minute);
}

void ForecastTrack::Merge(const ForecastTrack& from) { state_->Merge(*from.state_); }
size_t ForecastTrack::MemoryBytes() const { return sizeof(*this) + state_->MemoryBytes(); }
void ForecastTrack::Save(ByteWriter& out) const { state_->Save(out); }

Result<ForecastTrack> ForecastTrack::Restore(ByteReader& in, const ForecastRule& rule,
                                             const ForecastSettings& settings, MakeModel make) {
  std::unique_ptr<State> state = State::Restore(in, make);
  if (!state) {
    return Fail(ErrorCode::kInvalidArgument, "the saved forecast of a workload cannot be read");
  }
  ForecastTrack track(std::move(state));
  track.Adapt(rule, settings);
  return track;
}

Result<ForecastTrack> ForecastTrack::Restore(ByteReader& in, const ForecastRule& rule,
                                             const ForecastSettings& settings,
                                             std::optional<Resource> saved_resource,
                                             MakeModel make) {
  std::unique_ptr<State> state = State::Restore(in, make);
  if (!state) {
    return Fail(ErrorCode::kInvalidArgument, "the saved forecast of a workload cannot be read");
  }
  if (!saved_resource) return ForecastTrack(rule, settings, make);
  state->CallResource(*saved_resource);
  ForecastTrack track(std::move(state));
  track.Adapt(rule, settings);
  return track;
}

}  // namespace tidemark::forecast
