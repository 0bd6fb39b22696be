// Where an HPA on utilisation scales before and after a change of requests.
#include "engine/scale_point.h"

#include <cmath>
#include <map>

#include "engine/scaling_page.h"
#include "tests/catch.h"

using namespace tidemark;
using engine::ScalePointsOf;
using workloads::ContainerView;
using workloads::WorkloadView;

namespace {

ContainerView Container(std::string_view name, std::optional<double> current,
                        std::optional<double> original = std::nullopt) {
  ContainerView view;
  view.name = name;
  view.in_pod = true;
  view.request.At(Resource::kCpu) = current;
  if (original) view.original_request.At(Resource::kCpu) = original;
  return view;
}

/// An HPA that keeps pods of these containers to a utilisation of cpu.
WorkloadView Scaled(std::vector<ContainerView> containers, double ratio = 0.8) {
  static const WorkloadId kId = {
      .cluster = "", .name_space = "shop", .workload_type = "deployment", .workload = "web"};
  WorkloadView view;
  view.id = &kId;
  view.containers = std::move(containers);
  view.utilization = {{.autoscaler = "web", .resource = Resource::kCpu, .ratio = ratio}};
  view.is_autoscaled = true;
  return view;
}

engine::RecommendedRequest Recommended(std::map<std::string, double, std::less<>> requests) {
  return [requests = std::move(requests)](std::string_view container,
                                          Resource resource) -> std::optional<double> {
    const auto found = requests.find(container);
    if (found == requests.end() || resource != Resource::kCpu) return std::nullopt;
    return found->second;
  };
}

AutoscalerUtilization Point(const WorkloadView& view,
                            std::map<std::string, double, std::less<>> recommended = {}) {
  const auto all = ScalePointsOf(view, Recommended(std::move(recommended)));
  REQUIRE(all.size() == 1);
  CHECK(all[0].autoscaler == "web");
  CHECK(all[0].resource == Resource::kCpu);
  return all[0];
}

bool IsNear(const std::optional<double>& value, double expected) {
  return value && std::abs(*value - expected) < 1e-12;
}

}  // namespace

TEST_CASE("a scale point goes by the requests of all containers together", "[engine][scaling]") {
  // 0.8 × (2 + 0.5) before, 0.8 × (1 + 0.5) now, 0.8 × (0.75 + 0.25) after; 2.0 / 1.0.
  const auto point = Point(Scaled({Container("app", 1, 2), Container("proxy", 0.5, 0.5)}),
                           {{"app", 0.75}, {"proxy", 0.25}});
  CHECK(point.target_utilization_ratio == 0.8);
  CHECK(IsNear(point.scale_point_before, 2.0));
  CHECK(IsNear(point.scale_point_now, 1.2));
  CHECK(IsNear(point.scale_point_after, 0.8));
  CHECK(IsNear(point.preserving_target_ratio, 2.0));
}

TEST_CASE("without original requests the point of now is kept", "[engine][scaling]") {
  const auto point = Point(Scaled({Container("app", 1)}, 0.5), {{"app", 0.8}});
  CHECK_FALSE(point.scale_point_before);
  CHECK(IsNear(point.scale_point_now, 0.5));
  CHECK(IsNear(point.scale_point_after, 0.4));
  CHECK(IsNear(point.preserving_target_ratio, 0.625));
}

TEST_CASE("where something of a container is not known its present request counts",
          "[engine][scaling]") {
  const auto point =
      Point(Scaled({Container("app", 1, 2), Container("proxy", 0.5)}), {{"app", 1.5}});
  CHECK(IsNear(point.scale_point_before, 0.8 * 2.5));
  CHECK(IsNear(point.scale_point_after, 0.8 * 2.0));
  CHECK(IsNear(point.preserving_target_ratio, 1.0));
}

TEST_CASE("a container without a request leaves the HPA without a scale point",
          "[engine][scaling]") {
  const auto point = Point(Scaled({Container("app", 1), Container("proxy", std::nullopt)}));
  CHECK(point.target_utilization_ratio == 0.8);
  CHECK_FALSE(point.scale_point_now);
  CHECK_FALSE(point.scale_point_after);
  CHECK_FALSE(point.preserving_target_ratio);
  // A request of nothing is one; a container that the pod has no more is nobody's.
  ContainerView gone = Container("old", std::nullopt);
  gone.in_pod = false;
  const auto other = Point(Scaled({Container("app", 1), gone, Container("proxy", 0)}));
  CHECK(IsNear(other.scale_point_now, 0.8));
  CHECK_FALSE(Point(Scaled({Container("app", 0)})).scale_point_now);
  CHECK_FALSE(Point(Scaled({})).scale_point_now);
}

TEST_CASE("scale points are shown of whom nobody decides as well, and when they change",
          "[engine][scaling]") {
  ScalingSettings settings;
  ScalingRule off;
  off.selector = Selector::Parse(R"({namespace="shop"})").value();
  off.enabled = false;
  settings.rules = {off};
  engine::ScalingState scaling(std::make_shared<const ScalingSettings>(settings));
  const WorkloadView view = Scaled({Container("app", 1, 2)});
  const auto first = engine::ShowScaling(scaling, view, 0, Recommended({{"app", 0.5}}), nullptr);
  REQUIRE(first);
  CHECK(first->why == "disabled");
  REQUIRE(first->utilization_targets.size() == 1);
  CHECK(IsNear(first->utilization_targets[0].preserving_target_ratio, 3.2));
  CHECK(engine::ShowScaling(scaling, view, 0, Recommended({{"app", 0.5}}), first) == first);
  const auto second = engine::ShowScaling(scaling, view, 0, Recommended({{"app", 0.4}}), first);
  CHECK(second != first);
  CHECK(IsNear(second->utilization_targets[0].preserving_target_ratio, 4.0));
}
