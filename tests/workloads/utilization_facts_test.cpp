// At which utilisation autoscalers scale, what a pod counts for, and what LimitRanges ask.
#include <string>

#include "tests/workloads/scaled_world.h"

namespace tidemark::testing {
namespace {

constexpr int64_t kBegin = RecordedNamespace::kBeginMs;
constexpr int64_t kMinute = workloads::kMinuteMs;

LabelMap InfoOf(const std::string& name) {
  return {{"__name__", "kube_horizontalpodautoscaler_info"},
          {"namespace", "shop"},
          {"horizontalpodautoscaler", name},
          {"scaletargetref_kind", "StatefulSet"},
          {"scaletargetref_name", "web"}};
}

LabelMap TargetOf(const std::string& name, const std::string& metric, const std::string& type) {
  return {{"__name__", "kube_horizontalpodautoscaler_spec_target_metric"},
          {"namespace", "shop"},
          {"horizontalpodautoscaler", name},
          {"metric_name", metric},
          {"metric_target_type", type}};
}

LabelMap RangeOf(const std::string& name, const std::string& resource,
                 const std::string& constraint) {
  return {{"__name__", "kube_limitrange"}, {"namespace", "shop"},      {"limitrange", name},
          {"resource", resource},          {"constraint", constraint}, {"type", "Container"}};
}

/// "name resource ratio; …" of what the view of web has.
std::string Utilization(ScaledWorld& world) {
  std::string text;
  for (const auto& told : world.View().utilization) {
    if (!text.empty()) text += "; ";
    char ratio[32];
    std::snprintf(ratio, sizeof ratio, "%.10g", told.ratio);
    text +=
        std::string(told.autoscaler) + " " + std::string(ResourceName(told.resource)) + " " + ratio;
  }
  return text;
}

/// One pod of a StatefulSet, known for some minutes.
struct TargetWorld : ScaledWorld {
  TargetWorld() {
    Add("web-0");
    Minutes(3);
  }
  int64_t At(int second = 0) const { return kT0 + (now + second) * 1000LL; }
};

}  // namespace

TEST_CASE("the utilisation that an autoscaler keeps to is known while it is told",
          "[workloads][autoscalers]") {
  TargetWorld world;
  CHECK(Utilization(world).empty());
  world.Send(TargetOf("web", "cpu", "utilization"), world.At(), 80);
  CHECK(Utilization(world).empty());  // of whom is not known yet
  world.Send(InfoOf("web"), world.At(), 1);
  CHECK(Utilization(world) == "web cpu 0.8");
  world.Send(TargetOf("web", "memory", "utilization"), world.At(), 65);
  // Of other targets nothing is kept.
  world.Send(TargetOf("web", "memory", "average"), world.At(), 1e9);
  world.Send(TargetOf("web", "cpu", "value"), world.At(), 3);
  world.Send(TargetOf("web", "requests", "utilization"), world.At(), 10);
  CHECK(Utilization(world) == "web cpu 0.8; web memory 0.65");
  world.Restart();
  CHECK(Utilization(world) == "web cpu 0.8; web memory 0.65");
  world.Send(TargetOf("web", "cpu", "utilization"), world.At(30), 70);
  CHECK(Utilization(world) == "web cpu 0.7; web memory 0.65");
  world.Send(TargetOf("web", "cpu", "utilization"), world.At(60), StaleMarker());
  CHECK(Utilization(world) == "web memory 0.65");
  world.Restart();
  CHECK(Utilization(world) == "web memory 0.65");
  world.Minutes(20);
  CHECK(Utilization(world).empty());  // it has fallen silent
}

TEST_CASE("of several autoscalers the first by name that has a target of the resource counts",
          "[workloads][autoscalers]") {
  TargetWorld world;
  for (const char* const name : {"a", "b", "c"}) world.Send(InfoOf(name), world.At(), 1);
  world.Send(TargetOf("c", "cpu", "utilization"), world.At(), 90);
  world.Send(TargetOf("b", "cpu", "utilization"), world.At(), 60);
  world.Send(TargetOf("a", "memory", "utilization"), world.At(), 50);
  world.Send(TargetOf("a", "cpu", "utilization"), world.At(), 0);  // is none
  CHECK(Utilization(world) == "b cpu 0.6; a memory 0.5");
}

TEST_CASE("of LimitRanges the strictest of each kind holds", "[workloads][limit_range]") {
  RecordedNamespace world;
  const auto of = [&world](Resource resource, int64_t at) {
    return world.state->ContainerLimitsAt(at).Get(resource);
  };
  CHECK(of(Resource::kCpu, kBegin) == ContainerLimits());
  world.Put(RangeOf("small", "cpu", "min"), kBegin, 0.1);
  world.Put(RangeOf("small", "cpu", "max"), kBegin, 2);
  world.Put(RangeOf("large", "cpu", "min"), kBegin, 0.05);
  world.Put(RangeOf("large", "cpu", "max"), kBegin, 8);
  world.Put(RangeOf("large", "cpu", "maxLimitRequestRatio"), kBegin, 4);
  world.Put(RangeOf("large", "memory", "maxLimitRequestRatio"), kBegin, 0.5);  // none can keep it
  world.Put(RangeOf("large", "memory", "max"), kBegin, 1e9);
  world.Put(RangeOf("large", "cpu", "defaultRequest"), kBegin, 0.2);
  world.End();
  const ContainerLimits cpu = {.min = 0.1, .max = 2, .max_limit_request_ratio = 4};
  const ContainerLimits memory = {
      .min = std::nullopt, .max = 1e9, .max_limit_request_ratio = std::nullopt};
  CHECK(of(Resource::kCpu, kBegin) == cpu);
  CHECK(of(Resource::kMemory, kBegin) == memory);
  world.Restart();
  CHECK(of(Resource::kCpu, kBegin) == cpu);
  CHECK(of(Resource::kMemory, kBegin) == memory);
  world.Send(RangeOf("small", "cpu", "max"), kBegin + kMinute, StaleMarker());
  CHECK(of(Resource::kCpu, kBegin + kMinute).max == 8.0);
  CHECK(of(Resource::kCpu, kBegin + kMinute).min == 0.1);
  CHECK(of(Resource::kCpu, kBegin + 10 * kMinute) == ContainerLimits());
}

TEST_CASE("a LimitRange of pods is not one of containers", "[workloads][limit_range]") {
  const workloads::SourceTable sources;
  LabelMap labels = RangeOf("pods", "cpu", "max");
  labels["type"] = "Pod";
  std::vector<LabelView> views;
  for (const auto& [name, value] : labels) views.push_back({name, value});
  CHECK_FALSE(sources.Find(views));
}

TEST_CASE("what is told of a LimitRange goes with its series", "[workloads][limit_range]") {
  RecordedNamespace world;
  world.Send(RangeOf("small", "cpu", "max"), kBegin, 2);
  world.Send(TargetOf("web", "cpu", "utilization"), kBegin, 80);
  world.Send(TargetOf("web", "cpu", "value"), kBegin, 80);
  CHECK(world.state->series_count() == 3);
  world.state->ForgetSeries();
  CHECK(world.state->series_count() == 0);
  CHECK(world.state->ContainerLimitsAt(kBegin).Get(Resource::kCpu) == ContainerLimits());
  world.Restart();
}

TEST_CASE("the limit of a pod counts where all that it requests is limited",
          "[workloads][scaling]") {
  ScaledWorld world;
  world.Add("web-0").request = 0.5;
  world.Minutes(3);
  CHECK(world.Facts().request == 0.5);
  CHECK_FALSE(world.Facts().limit);
  CHECK(world.Facts().original_request == 0.5);  // nobody has corrected it
  world.pods["web-0"].limit = 1.5;
  world.Minutes(6);
  CHECK(world.Facts().limit == 1.5);
  // A container beside it that has a request and no limit may use all there is.
  const LabelMap proxy = {
      {"uid", "1"}, {"container", "proxy"}, {"resource", "cpu"}, {"unit", "core"}};
  for (int minute = 0; minute < 4; ++minute) {
    world.Send(ScaledWorld::OfPod("kube_pod_container_resource_requests", "web-0", proxy),
               ScaledWorld::kT0 + world.now * 1000LL, 0.25);
    world.Until(world.now + 60);
  }
  CHECK(world.Facts().request == 0.75);
  CHECK_FALSE(world.Facts().limit);
}

TEST_CASE("the original request of a pod counts, and the request where it is not known",
          "[workloads][scaling]") {
  ScaledWorld world;
  world.Add("web-0").request = 0.5;
  const LabelMap annotation = ScaledWorld::OfPod(
      "kube_pod_annotations", "web-0",
      {{"uid", "1"},
       {"annotation_tidemark_io_original_resources", R"({"app":{"requests":{"cpu":"2"}}})"}});
  const LabelMap proxy = {
      {"uid", "1"}, {"container", "proxy"}, {"resource", "cpu"}, {"unit", "core"}};
  for (int minute = 0; minute < 4; ++minute) {
    world.Until(world.now + 60);
    world.Put(annotation, ScaledWorld::kT0 + world.now * 1000LL, 1);
    world.Put(ScaledWorld::OfPod("kube_pod_container_resource_requests", "web-0", proxy),
              ScaledWorld::kT0 + world.now * 1000LL, 0.25);
    world.RecordedNamespace::End();
  }
  world.Until(world.now + 30);
  CHECK(world.Facts().request == 0.75);
  CHECK(world.Facts().original_request == 2.25);
}

}  // namespace tidemark::testing
