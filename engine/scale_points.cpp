#include "engine/scale_points.h"

#include <algorithm>
#include <optional>

namespace tidemark::engine {
namespace {

/// Of one resource, of a pod.
struct Requests {
  std::optional<double> original;
  std::optional<double> current;
  std::optional<double> recommended;
};

std::optional<double> Recommended(const std::vector<ContainerAdvice>& advice,
                                  std::string_view container, Resource resource) {
  const auto of = std::ranges::find(advice, container, [](const ContainerAdvice& one) {
    return std::string_view(one.container);
  });
  if (of == advice.end()) return std::nullopt;
  const auto found = std::ranges::find(of->resources, resource, &ResourceAdvice::resource);
  return found == of->resources.end() ? std::nullopt : found->recommended_request;
}

Requests Sum(const workloads::WorkloadView& view, const std::vector<ContainerAdvice>& advice,
             Resource resource) {
  double original = 0;
  double current = 0;
  double recommended = 0;
  bool knows_original = false;
  bool knows_recommended = false;
  for (const workloads::ContainerView& container : view.containers) {
    if (!container.in_pod) continue;
    const auto now = container.request.Get(resource);
    if (!now) return {};
    const auto written = container.original_request.Get(resource);
    const auto wanted = Recommended(advice, container.name, resource);
    knows_original = knows_original || written;
    knows_recommended = knows_recommended || wanted;
    current += *now;
    original += written.value_or(*now);
    recommended += wanted.value_or(*now);
  }
  Requests sums;
  if (current > 0) sums.current = current;
  if (knows_original && original > 0) sums.original = original;
  if (knows_recommended && recommended > 0) sums.recommended = recommended;
  return sums;
}

}  // namespace

std::vector<AutoscalerUtilization> ScalePoints(const workloads::WorkloadView& view,
                                               const std::vector<ContainerAdvice>& advice) {
  std::vector<AutoscalerUtilization> points;
  for (const auto& target : view.utilization_targets) {
    AutoscalerUtilization& point = points.emplace_back();
    point.autoscaler = target.autoscaler;
    point.resource = target.resource;
    point.target_utilization_ratio = target.ratio;
    const Requests requests = Sum(view, advice, target.resource);
    const auto at = [&](const std::optional<double>& request) {
      return request ? std::optional(*request * target.ratio) : std::nullopt;
    };
    point.scale_point_before = at(requests.original);
    point.scale_point_now = at(requests.current);
    point.scale_point_after = at(requests.recommended);
    const auto meant = point.scale_point_before ? point.scale_point_before : point.scale_point_now;
    if (meant && requests.recommended) {
      point.preserving_target_ratio = *meant / *requests.recommended;
    }
  }
  return points;
}

}  // namespace tidemark::engine
