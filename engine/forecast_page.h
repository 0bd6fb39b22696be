#pragma once
// What a Snapshot shows of the forecasts of a namespace's workloads, and which fits they want.
//
// Free functions, for the shard's thread.

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "engine/demand_tracks.h"
#include "forecast/trainer.h"
#include "model/forecast.h"
#include "workloads/namespace_state.h"

namespace tidemark::engine {

/// The forecast of one workload; null: its demand is not kept, or none has come. `as_of_ms`: how
/// far the namespace's time has come. `before`: what was shown last, or null; it is shown again
/// where it stands.
std::shared_ptr<const WorkloadForecast> ShowForecast(
    DemandTracks& tracks, const workloads::WorkloadView& view, int64_t as_of_ms,
    const std::shared_ptr<const WorkloadForecast>& before);

/// All there is to say of one workload's forecast.
std::optional<ForecastExplanation> ExplainForecast(const DemandTracks& tracks,
                                                   const workloads::WorkloadView& view,
                                                   int64_t as_of_ms);

/// Appends the fits that the workload wants. `name_space`: SeriesItem::name_space.
void CollectDue(const DemandTracks& tracks, const workloads::WorkloadView& view,
                uint64_t name_space, int64_t as_of_ms, std::vector<forecast::TrainingWish>& due);

/// TrainingWish::workload, and back.
std::string NameOfWish(std::string_view workload_type, std::string_view workload);
std::pair<std::string_view, std::string_view> WorkloadOfWish(std::string_view name);

}  // namespace tidemark::engine
