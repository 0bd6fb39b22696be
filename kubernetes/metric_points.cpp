#include "kubernetes/metric_points.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <string_view>

#include "model/load_ratio.h"
#include "model/scaling_text.h"

namespace tidemark::kubernetes {
namespace {

constexpr int64_t kMinuteMs = 60'000;
constexpr std::string_view kAutoscaler = "hpa";

/// Whether every requirement of labels that pass `of` holds.
template <class Of>
bool Holds(const LabelSelector& selector, const std::vector<Label>& labels, Of of) {
  return std::ranges::all_of(selector.requirements(), [&](const SelectorRequirement& requirement) {
    if (!of(requirement.key)) return true;
    const auto found = std::ranges::find(labels, requirement.key, &Label::first);
    return requirement.Matches(found == labels.end() ? nullptr : &found->second);
  });
}

std::vector<Label> Views(const MetricPoint& point) {
  return {point.labels.begin(), point.labels.end()};
}

MetricPoint PointOf(const WorkloadAdvice& workload) {
  MetricPoint point;
  point.workload = &workload;
  point.labels = {{"workload", workload.id.workload}, {"workload_type", workload.id.workload_type}};
  if (!workload.id.cluster.empty()) point.labels.emplace_back("cluster", workload.id.cluster);
  return point;
}

Resource DemandResource(const WorkloadAdvice& workload) {
  return workload.forecast ? workload.forecast->resource : Resource::kCpu;
}

void AddTarget(const WorkloadAdvice& workload, std::vector<MetricPoint>& points) {
  if (!workload.scaling) return;
  const WorkloadScaling& scaling = *workload.scaling;
  MetricPoint& point = points.emplace_back(PointOf(workload));
  if (scaling.minute_ms > 0) point.time_ms = scaling.minute_ms + kMinuteMs;
  if (const auto served = ServedTarget(scaling)) {
    point.value = served->replicas;
    point.is_escaped = served->is_escaped;
    return;
  }
  point.missing = ScalingText(scaling, DemandResource(workload));
  point.may_come = scaling.why != "disabled" && scaling.why != "no_bounds";
}

class Named {
 public:
  explicit Named(const NamespaceBlock& block)
      : names_(block.profiles ? &block.profiles->resources() : &built_in_) {}

  void AddTo(MetricPoint& point, Resource resource) const {
    point.labels.emplace_back("resource", names_->NameOf(resource));
    point.labels.emplace_back("unit", names_->UnitOf(resource));
  }
  std::string_view UnitOf(Resource resource) const { return names_->UnitOf(resource); }

 private:
  const ResourceTable built_in_;
  const ResourceTable* names_;
};

void AddLoadRatios(ExternalMetric metric, const WorkloadAdvice& workload, const Named& named,
                   std::vector<MetricPoint>& points) {
  if (!workload.forecast) return;
  const WorkloadForecast& forecast = *workload.forecast;
  const LoadBase base = LoadBaseOf(forecast, workload.replicas, workload.scaling.get());
  const auto add = [&](const std::optional<double>& demand, std::string_view what) -> MetricPoint& {
    MetricPoint& point = points.emplace_back(PointOf(workload));
    named.AddTo(point, forecast.resource);
    if (forecast.minute_ms > 0) point.time_ms = forecast.minute_ms + kMinuteMs;
    point.value = LoadRatio(base, demand);
    if (!demand) {
      point.missing = fmt::format("its {} is not known: {}", what,
                                  forecast.why.empty() ? "too little came in yet" : forecast.why);
    } else if (!point.value) {
      point.missing = "what its pods request, or how many there are, is not known";
    }
    return point;
  };
  if (metric == ExternalMetric::kHighWaterLoadRatio) {
    add(forecast.high_water, "high-water load");
    return;
  }
  for (const HorizonForecast& horizon : forecast.horizons) {
    add(horizon.demand, "forecast")
        .labels.emplace_back("horizon_seconds", fmt::format("{}", horizon.horizon_seconds));
  }
  if (forecast.horizons.empty()) add(std::nullopt, "forecast");
}

MetricPoint RequestPoint(const WorkloadAdvice& workload, const NamespaceBlock& block,
                         const Named& named, Resource resource) {
  MetricPoint point = PointOf(workload);
  named.AddTo(point, resource);
  point.is_binary = named.UnitOf(resource) == "byte";
  point.follows_load = false;
  point.time_ms = block.event_time_ms;
  return point;
}

constexpr std::string_view kNoRequest =
    "there is no recommendation yet: a few minutes of usage are needed";

void AddRequestsOfContainers(const WorkloadAdvice& workload, const NamespaceBlock& block,
                             const Named& named, std::vector<MetricPoint>& points) {
  for (const ContainerAdvice& container : workload.containers) {
    for (const ResourceAdvice& advice : container.resources) {
      MetricPoint& point =
          points.emplace_back(RequestPoint(workload, block, named, advice.resource));
      if (!container.container.empty()) {
        point.labels.emplace_back("container", container.container);
      }
      point.value = advice.recommended_request;
      if (!point.value) point.missing = kNoRequest;
    }
  }
}

/// Of what all containers of a pod should request together. Not known unless each of them is
/// accounted for: one that nothing is known of yet would make the sum too small, one that the pods
/// no longer have (its history is kept for days) too large.
void AddRequestsOfPods(const WorkloadAdvice& workload, const NamespaceBlock& block,
                       const Named& named, std::vector<MetricPoint>& points) {
  struct Sum {
    MetricPoint point;
    size_t containers = 0;
  };
  std::map<Resource, Sum> sums;
  for (const ContainerAdvice& container : workload.containers) {
    for (const ResourceAdvice& advice : container.resources) {
      const auto [found, is_new] = sums.try_emplace(advice.resource);
      Sum& sum = found->second;
      if (is_new) {
        sum.point = RequestPoint(workload, block, named, advice.resource);
        sum.point.value = 0;
      }
      if (!advice.recommended_request) {
        sum.point.missing = fmt::format("of its container {} {}", container.container, kNoRequest);
        sum.point.value.reset();
        continue;
      }
      ++sum.containers;
      if (sum.point.value) sum.point.value = *sum.point.value + *advice.recommended_request;
    }
  }
  for (auto& [resource, sum] : sums) {
    if (sum.point.value && (sum.containers != workload.containers_in_pod ||
                            workload.containers.size() != workload.containers_in_pod)) {
      sum.point.value.reset();
      sum.point.missing = fmt::format(
          "its pods have {} containers, and recommendations for {} of now and before: select one "
          "by container",
          workload.containers_in_pod, sum.containers);
    }
    points.push_back(std::move(sum.point));
  }
}

}  // namespace

bool IsIdentityLabel(std::string_view key) {
  constexpr std::array<std::string_view, 4> kIdentity = {"workload", "workload_type", "cluster",
                                                         kAutoscaler};
  return std::ranges::find(kIdentity, key) != kIdentity.end();
}

bool MatchesWorkload(const LabelSelector& selector, const WorkloadAdvice& workload) {
  const WorkloadId& id = workload.id;
  // Most selectors name the workload: the others are ruled out before anything is made.
  if (const auto exact = selector.Exact("workload"); exact && *exact != id.workload) return false;
  std::vector<Label> labels = {{"workload", id.workload}, {"workload_type", id.workload_type}};
  if (!id.cluster.empty()) labels.emplace_back("cluster", id.cluster);
  const auto holds = [&] { return Holds(selector, labels, IsIdentityLabel); };
  if (!selector.Mentions(kAutoscaler) || !workload.scaling ||
      workload.scaling->utilization_targets.empty()) {
    return holds();
  }
  // Several may scale one workload: each of the names will do.
  return std::ranges::any_of(workload.scaling->utilization_targets,
                             [&](const AutoscalerUtilization& target) {
                               labels.emplace_back(kAutoscaler, target.autoscaler);
                               const bool matches = holds();
                               labels.pop_back();
                               return matches;
                             });
}

std::vector<MetricPoint> PointsOf(ExternalMetric metric, const WorkloadAdvice& workload,
                                  const NamespaceBlock& block, const LabelSelector& selector) {
  std::vector<MetricPoint> points;
  const Named named(block);
  switch (metric) {
    case ExternalMetric::kTargetReplicas: AddTarget(workload, points); break;
    case ExternalMetric::kForecastLoadRatio:
    case ExternalMetric::kHighWaterLoadRatio: AddLoadRatios(metric, workload, named, points); break;
    case ExternalMetric::kRecommendedRequest:
      if (selector.Mentions("container") ||
          (workload.containers.size() == 1 && workload.containers_in_pod == 1)) {
        AddRequestsOfContainers(workload, block, named, points);
      } else {
        AddRequestsOfPods(workload, block, named, points);
      }
      break;
  }
  std::erase_if(points, [&](const MetricPoint& point) {
    return !Holds(selector, Views(point),
                  [](std::string_view key) { return !IsIdentityLabel(key); });
  });
  return points;
}

}  // namespace tidemark::kubernetes
