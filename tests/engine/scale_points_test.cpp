#include "engine/scale_points.h"

#include "model/scale_point_text.h"
#include "tests/catch.h"

using namespace tidemark;
using engine::ScalePoints;
using workloads::ContainerView;
using workloads::WorkloadView;

namespace {

ContainerView Container(std::string_view name, std::optional<double> request,
                        std::optional<double> original = std::nullopt) {
  ContainerView container;
  container.name = name;
  container.in_pod = true;
  if (request) container.request.At(Resource::kCpu) = request;
  if (original) container.original_request.At(Resource::kCpu) = original;
  return container;
}

ContainerAdvice Advice(const std::string& name, double request) {
  ContainerAdvice advice;
  advice.container = name;
  advice.resources.resize(1);
  advice.resources[0].recommended_request = request;
  return advice;
}

WorkloadView Scaled(std::vector<ContainerView> containers, double ratio = 0.5) {
  WorkloadView view;
  view.containers = std::move(containers);
  view.utilization_targets = {{"web", Resource::kCpu, ratio}};
  return view;
}

}  // namespace

TEST_CASE("corrected requests move the point at which an HPA scales", "[engine][scaling]") {
  // 2 cores were corrected to 0.65; the proxy has what it always had.
  const auto points = ScalePoints(Scaled({Container("app", 0.65, 2), Container("proxy", 0.1)}),
                                  {Advice("app", 0.5)});
  REQUIRE(points.size() == 1);
  CHECK(points[0].autoscaler == "web");
  CHECK(points[0].target_utilization_ratio == 0.5);
  CHECK(points[0].scale_point_before == 1.05);
  CHECK(points[0].scale_point_now == 0.375);
  CHECK(points[0].scale_point_after == Approx(0.3));
  CHECK(*points[0].preserving_target_ratio == Approx(1.05 / 0.6));
  CHECK(ScalePointText(points[0]) ==
        "The HPA web aims at 50 % of the cpu that pods request: with the original requests it "
        "scales at 1.05 a pod, with those of now at 375m a pod, with the recommended ones at 300m "
        "a pod; to keep it at 1.05 set type: AverageValue, averageValue: 1050m, since 175 % leaves "
        "no room.");
}

TEST_CASE("without originals the present requests are what was meant", "[engine][scaling]") {
  const auto points = ScalePoints(Scaled({Container("app", 1)}), {Advice("app", 0.8)});
  CHECK_FALSE(points[0].scale_point_before);
  CHECK(points[0].scale_point_now == 0.5);
  CHECK(points[0].scale_point_after == 0.4);
  CHECK(points[0].preserving_target_ratio == 0.625);
  CHECK(ScalePointText(points[0]).ends_with("to keep it at 500m set averageUtilization: 62."));
  const auto same = ScalePoints(Scaled({Container("app", 1)}), {Advice("app", 1)});
  CHECK(ScalePointText(same[0]).ends_with("it stays where it was meant to be."));
}

TEST_CASE("a container without a request takes the point away", "[engine][scaling]") {
  const auto points = ScalePoints(
      Scaled({Container("app", 1, 2), Container("proxy", std::nullopt)}), {Advice("app", 0.8)});
  CHECK_FALSE(points[0].scale_point_before);
  CHECK_FALSE(points[0].scale_point_now);
  CHECK_FALSE(points[0].scale_point_after);
  CHECK_FALSE(points[0].preserving_target_ratio);
  CHECK(ScalePointText(points[0]).find("cannot scale by it") != std::string::npos);
  // One that is no more in the pod does not matter; without advice there is no point after.
  ContainerView gone = Container("gone", std::nullopt);
  gone.in_pod = false;
  const auto others = ScalePoints(Scaled({Container("app", 1), gone}), {});
  CHECK(others[0].scale_point_now == 0.5);
  CHECK_FALSE(others[0].scale_point_after);
  CHECK(ScalePoints(WorkloadView{}, {}).empty());
}
