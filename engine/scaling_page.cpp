#include "engine/scaling_page.h"

namespace tidemark::engine {

using workloads::WorkloadView;

std::shared_ptr<const WorkloadScaling> ShowScaling(
    ScalingState& scaling, const WorkloadView& view, int64_t as_of_ms,
    const std::shared_ptr<const WorkloadScaling>& before) {
  const bool changed = view.demand && scaling.TakeChanged(*view.demand);
  auto now = ExplainScaling(scaling, view, as_of_ms);
  if (!now) return nullptr;
  // Of one minute only age makes another answer, and without one what is told of bounds.
  if (!changed && before != nullptr && before->minute_ms == now->minute_ms &&
      before->why == now->why && before->bounds == now->bounds) {
    return before;
  }
  return std::make_shared<const WorkloadScaling>(*now);
}

std::optional<WorkloadScaling> ExplainScaling(const ScalingState& scaling, const WorkloadView& view,
                                              int64_t as_of_ms) {
  const ToldOfScaling told{.is_autoscaled = view.is_autoscaled,
                           .min_replicas = view.min_replicas,
                           .max_replicas = view.max_replicas};
  return view.demand ? scaling.Now(*view.demand, as_of_ms, told)
                     : scaling.WithoutDemand(*view.id, told);
}

}  // namespace tidemark::engine
