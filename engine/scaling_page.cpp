#include "engine/scaling_page.h"

#include <utility>

namespace tidemark::engine {

using workloads::WorkloadView;

std::shared_ptr<const WorkloadScaling> ShowScaling(
    ScalingState& scaling, const WorkloadView& view, int64_t as_of_ms,
    const RecommendedRequest& recommended, const std::shared_ptr<const WorkloadScaling>& before) {
  const bool changed = view.demand && scaling.TakeChanged(*view.demand);
  auto now = ExplainScaling(scaling, view, as_of_ms, recommended);
  if (!now) return nullptr;
  // Of one minute only age makes another answer, and without one what is told of bounds; requests
  // change at any time.
  if (!changed && before != nullptr && before->minute_ms == now->minute_ms &&
      before->why == now->why && before->bounds == now->bounds &&
      before->utilization_targets == now->utilization_targets) {
    return before;
  }
  return std::make_shared<const WorkloadScaling>(*std::move(now));
}

std::optional<WorkloadScaling> ExplainScaling(const ScalingState& scaling, const WorkloadView& view,
                                              int64_t as_of_ms,
                                              const RecommendedRequest& recommended) {
  const ToldOfScaling told{.is_autoscaled = view.is_autoscaled,
                           .min_replicas = view.min_replicas,
                           .max_replicas = view.max_replicas};
  auto now = view.demand ? scaling.Now(*view.demand, as_of_ms, told)
                         : scaling.WithoutDemand(*view.id, told);
  if (now) now->utilization_targets = ScalePointsOf(view, recommended);
  return now;
}

}  // namespace tidemark::engine
