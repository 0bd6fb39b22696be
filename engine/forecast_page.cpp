#include "engine/forecast_page.h"

#include <fmt/format.h>

namespace tidemark::engine {
namespace {

using workloads::kMinuteMs;
using workloads::WorkloadView;

/// What one pod requests; absent when no container does. Containers without a request (injected
/// sidecars often have none) ask for nothing.
std::optional<double> RequestOfPod(const WorkloadView& view, Resource resource) {
  std::optional<double> sum;
  for (const workloads::ContainerView& container : view.containers) {
    if (!container.in_pod) continue;
    const auto request = container.request.Get(resource);
    if (request) sum = sum.value_or(0) + *request;
  }
  return sum && *sum > 0 ? sum : std::nullopt;
}

void SaySqueezed(const DemandTracks& tracks, uint32_t container, WorkloadForecast& forecast) {
  if (!tracks.IsSqueezed(container)) return;
  forecast.why =
      fmt::format("{}: more workloads than the {} of forecast.max_workloads have a demand",
                  forecast.steps == DemandSteps::kNone ? "nothing is kept" : "only drawn",
                  tracks.settings().max_workloads);
}

/// Of a workload of which nothing is kept; null where that is as it was asked for.
std::shared_ptr<const WorkloadForecast> NothingKept(const DemandTracks& tracks,
                                                    uint32_t container) {
  if (!tracks.IsSqueezed(container)) return nullptr;
  auto nothing = std::make_shared<WorkloadForecast>();
  SaySqueezed(tracks, container, *nothing);
  return nothing;
}

}  // namespace

std::shared_ptr<const WorkloadForecast> ShowForecast(
    DemandTracks& tracks, const WorkloadView& view, int64_t as_of_ms,
    const std::shared_ptr<const WorkloadForecast>& before) {
  if (!view.demand) return nullptr;
  const forecast::ForecastTrack* const track = tracks.TrackOf(*view.demand);
  if (track == nullptr) return NothingKept(tracks, *view.demand);
  const auto request = RequestOfPod(view, track->resource());
  const bool changed = tracks.TakeChanged(*view.demand);
  if (!changed && before != nullptr && before->request == request) {
    const bool withdrawn = !before->demand;
    const bool silent = as_of_ms - before->minute_ms > workloads::kMaxGapMs;
    if (withdrawn || !silent) return before;
  }
  auto shown = std::make_shared<WorkloadForecast>(track->Now(as_of_ms / kMinuteMs));
  shown->request = request;
  shown->high_water_risk = tracks.settings().high_water_risk;
  SaySqueezed(tracks, *view.demand, *shown);
  return shown;
}

std::optional<ForecastExplanation> ExplainForecast(const DemandTracks& tracks,
                                                   const WorkloadView& view, int64_t as_of_ms) {
  if (!view.demand) return std::nullopt;
  const forecast::ForecastTrack* const track = tracks.TrackOf(*view.demand);
  if (track == nullptr) {
    const auto nothing = NothingKept(tracks, *view.demand);
    if (!nothing) return std::nullopt;
    ForecastExplanation explanation;
    explanation.now = *nothing;
    return explanation;
  }
  ForecastExplanation explanation = track->Explain(as_of_ms / kMinuteMs);
  explanation.now.request = RequestOfPod(view, track->resource());
  explanation.now.high_water_risk = tracks.settings().high_water_risk;
  SaySqueezed(tracks, *view.demand, explanation.now);
  return explanation;
}

void CollectDue(const DemandTracks& tracks, const WorkloadView& view, uint64_t name_space,
                int64_t as_of_ms, std::vector<forecast::TrainingWish>& due) {
  if (!view.demand) return;
  const forecast::ForecastTrack* const track = tracks.TrackOf(*view.demand);
  if (track == nullptr) return;
  for (const forecast::DueFit& fit : track->Due(as_of_ms / kMinuteMs)) {
    due.push_back({name_space, NameOfWish(view.id->workload_type, view.id->workload), fit.model,
                   fit.staleness, fit.cost_seconds});
  }
}

std::string NameOfWish(std::string_view workload_type, std::string_view workload) {
  return fmt::format("{}/{}", workload_type, workload);
}

std::pair<std::string_view, std::string_view> WorkloadOfWish(std::string_view name) {
  const size_t slash = name.find('/');  // no type has one
  if (slash == std::string_view::npos) return {name, {}};
  return {name.substr(0, slash), name.substr(slash + 1)};
}

}  // namespace tidemark::engine
