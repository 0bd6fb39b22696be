#include "engine/scale_point.h"

#include <cmath>
#include <string>

namespace tidemark::engine {
namespace {

using workloads::ContainerView;
using workloads::WorkloadView;

/// What the containers of a pod request together; absent when one of them requests nothing.
class PodRequest {
 public:
  void Add(const std::optional<double>& request) {
    ++containers_;
    if (request) sum_ += *request;
    all_known_ = all_known_ && request.has_value();
  }
  std::optional<double> Sum() const {
    const bool is_amount = std::isfinite(sum_) && sum_ > 0;
    return containers_ > 0 && all_known_ && is_amount ? std::optional(sum_) : std::nullopt;
  }

 private:
  double sum_ = 0;
  size_t containers_ = 0;
  bool all_known_ = true;
};

std::optional<double> Times(double ratio, const std::optional<double>& request) {
  return request ? std::optional(ratio * *request) : std::nullopt;
}

}  // namespace

std::vector<AutoscalerUtilization> ScalePointsOf(const WorkloadView& view,
                                                 const RecommendedRequest& recommended) {
  std::vector<AutoscalerUtilization> all;
  for (const workloads::ToldUtilization& told : view.utilization) {
    AutoscalerUtilization point;
    point.autoscaler = std::string(told.autoscaler);
    point.resource = told.resource;
    point.target_utilization_ratio = told.ratio;
    PodRequest before;
    PodRequest now;
    PodRequest after;
    bool any_original = false;
    for (const ContainerView& container : view.containers) {
      if (!container.in_pod || container.name.empty()) continue;
      const auto current = container.request.Get(told.resource);
      const auto original = container.original_request.Get(told.resource);
      const auto better = recommended(container.name, told.resource);
      any_original = any_original || original;
      before.Add(original ? original : current);
      now.Add(current);
      after.Add(better ? better : current);
    }
    if (any_original) point.scale_point_before = Times(told.ratio, before.Sum());
    point.scale_point_now = Times(told.ratio, now.Sum());
    point.scale_point_after = Times(told.ratio, after.Sum());
    const auto meant = point.scale_point_before ? point.scale_point_before : point.scale_point_now;
    if (meant && after.Sum()) {
      const double ratio = *meant / *after.Sum();
      if (std::isfinite(ratio)) point.preserving_target_ratio = ratio;
    }
    all.push_back(std::move(point));
  }
  return all;
}

}  // namespace tidemark::engine
