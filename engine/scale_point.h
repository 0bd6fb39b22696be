#pragma once
// At which load a HorizontalPodAutoscaler that keeps to a utilisation of requests scales, and how
// changed requests move that point.

#include <functional>
#include <optional>
#include <string_view>
#include <vector>

#include "model/resource.h"
#include "model/scaling.h"
#include "workloads/namespace_state.h"

namespace tidemark::engine {

/// What a container should request; nullopt while that is not known.
using RecommendedRequest =
    std::function<std::optional<double>(std::string_view container, Resource resource)>;

/// One for each resource of WorkloadView::utilization. Loads are of one pod, over the containers
/// that the newest pod has. The HPA divides what a pod uses by what all its containers request and
/// gives up where one has no request (pkg/controller/podautoscaler/replica_calculator.go,
/// calculatePodRequests, Kubernetes 1.34): then there is no point. Of a container without an
/// original request or a recommendation its present request counts; where no container has an
/// original one, there is no point before.
std::vector<AutoscalerUtilization> ScalePointsOf(const workloads::WorkloadView& view,
                                                 const RecommendedRequest& recommended);

}  // namespace tidemark::engine
