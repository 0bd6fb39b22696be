#pragma once
// What a Snapshot shows of the replicas of a namespace's workloads.
//
// Free functions, for the shard's thread.

#include <cstdint>
#include <memory>
#include <optional>

#include "engine/scale_point.h"
#include "engine/scaling_state.h"
#include "model/scaling.h"
#include "workloads/namespace_state.h"

namespace tidemark::engine {

/// The decision on one workload, or why there is none; null: neither an autoscaler nor a rule of
/// the configuration says anything of its replicas. `as_of_ms`: how far the namespace's time has
/// come. `recommended`: requests of its containers, for the points at which its autoscaler scales.
/// `before`: what was shown last, or null; it is shown again where it stands. All that was
/// shown by other rules must be shown anew.
std::shared_ptr<const WorkloadScaling> ShowScaling(
    ScalingState& scaling, const workloads::WorkloadView& view, int64_t as_of_ms,
    const RecommendedRequest& recommended, const std::shared_ptr<const WorkloadScaling>& before);

/// The same without taking anything away from what ShowScaling has to show.
std::optional<WorkloadScaling> ExplainScaling(const ScalingState& scaling,
                                              const workloads::WorkloadView& view, int64_t as_of_ms,
                                              const RecommendedRequest& recommended);

}  // namespace tidemark::engine
