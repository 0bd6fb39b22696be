#pragma once
// Where HorizontalPodAutoscalers scale that look at utilisation of requests, and what other
// requests make of that.

#include <vector>

#include "model/scaling.h"
#include "model/snapshot.h"
#include "workloads/namespace_state.h"

namespace tidemark::engine {

/// One for each of the view's utilization_targets. Loads are of a pod, summed over its containers
/// as the HPA sums them; a point is absent while a container of the pod has no request of the
/// resource, for then the HPA gives up, too. Of a container without a recommendation its present
/// request stays. `advice`: of the workload's containers.
std::vector<AutoscalerUtilization> ScalePoints(const workloads::WorkloadView& view,
                                               const std::vector<ContainerAdvice>& advice);

}  // namespace tidemark::engine
