#include "engine/scaling_page.h"

#include "engine/scale_points.h"

namespace tidemark::engine {

using workloads::WorkloadView;

std::shared_ptr<const WorkloadScaling> ShowScaling(
    ScalingState& scaling, const WorkloadView& view, const std::vector<ContainerAdvice>& advice,
    int64_t as_of_ms, const std::shared_ptr<const WorkloadScaling>& before) {
  const bool changed = view.demand && scaling.TakeChanged(*view.demand);
  auto now = ExplainScaling(scaling, view, advice, as_of_ms);
  if (!now) return nullptr;
  // Of one minute only age makes another answer, without one what is told of bounds, and in both
  // what requests make of an HPA's target.
  if (!changed && before != nullptr && before->minute_ms == now->minute_ms &&
      before->why == now->why && before->bounds == now->bounds &&
      before->utilization_targets == now->utilization_targets) {
    return before;
  }
  return std::make_shared<const WorkloadScaling>(*now);
}

std::optional<WorkloadScaling> ExplainScaling(const ScalingState& scaling, const WorkloadView& view,
                                              const std::vector<ContainerAdvice>& advice,
                                              int64_t as_of_ms) {
  const ToldOfScaling told{.is_autoscaled = view.is_autoscaled,
                           .min_replicas = view.min_replicas,
                           .max_replicas = view.max_replicas};
  auto now = view.demand ? scaling.Now(*view.demand, as_of_ms, told)
                         : scaling.WithoutDemand(*view.id, told);
  if (now) now->utilization_targets = ScalePoints(view, advice);
  return now;
}

}  // namespace tidemark::engine
