#include "rightsizing/pod_plan.h"

#include <random>
#include <string>

#include "model/quantity.h"
#include "tests/catch.h"
#include "tests/rightsizing/pod_cases.h"
#include "tests/seed.h"
#include "workloads/original_resources.h"

namespace tidemark::rightsizing {
namespace {

using testing::Apply;
using testing::Container;
using testing::kGi;
using testing::kMi;
using testing::Pod;
using testing::Qos;
using testing::QosOf;
using testing::World;

const RequestChange* ChangeOf(const PodPlan& plan, size_t container, std::string_view resource) {
  for (const RequestChange& change : plan.changes) {
    if (change.container == container && change.resource == resource) return &change;
  }
  return nullptr;
}

std::string After(const PodPlan& plan, std::string_view resource, size_t container = 0) {
  const RequestChange* const change = ChangeOf(plan, container, resource);
  return change == nullptr ? "" : change->after;
}

std::string WhyKept(const PodPlan& plan, std::string_view resource, size_t container = 0) {
  for (const RequestKept& kept : plan.kept) {
    if (kept.container == container && kept.resource == resource) return kept.what;
  }
  return "";
}

bool IsEmpty(const PodPlan& plan) {
  return plan.changes.empty() && !plan.original_annotation && !plan.applied_annotation;
}

TEST_CASE("A lower recommendation is set, and recorded beside what the owner wrote",
          "[rightsizing][plan]") {
  World world;
  world.Advise("app", Resource::kCpu, 0.65);
  world.Advise("app", Resource::kMemory, 1.5 * kGi);
  const PodView pod =
      Pod({Container("app", {{"cpu", "2"}, {"memory", "4Gi"}}, {{"cpu", "4"}, {"memory", "6Gi"}})});
  const PodPlan plan = world.Plan(pod);
  REQUIRE(plan.changes.size() == 2);
  CHECK(plan.changes[0].before == "2");
  CHECK(After(plan, "cpu") == "650m");
  CHECK(After(plan, "memory") == "1536Mi");
  CHECK(plan.changes[0].rule == CorrectionRule::kCandidate);
  CHECK(plan.original_annotation ==
        R"({"app":{"requests":{"cpu":"2","memory":"4Gi"},"limits":{"cpu":"4","memory":"6Gi"}}})");
  CHECK(plan.applied_annotation ==
        R"({"app":{"cpu":{"request":"650m","rule":"candidate","original":"2"},)"
        R"("memory":{"request":"1536Mi","rule":"candidate","original":"4Gi"}}})");
  CHECK(IsEmpty(world.Plan(Apply(pod, plan))));

  const auto read = workloads::ParseOriginalRequests(*plan.original_annotation);
  REQUIRE(read);
  REQUIRE(read->size() == 1);
  CHECK(read->front().container == "app");
  CHECK(read->front().request.Get(Resource::kCpu) == 2);
  CHECK(read->front().request.Get(Resource::kMemory) == 4 * kGi);
}

TEST_CASE("A higher recommendation leaves the original, unless the profile raises",
          "[rightsizing][plan]") {
  World world;
  world.Advise("app", Resource::kCpu, 3);
  const PodView pod = Pod({Container("app", {{"cpu", "2"}})});
  const PodPlan kept = world.Plan(pod);
  CHECK(IsEmpty(kept));
  CHECK_THAT(WhyKept(kept, "cpu"), Catch::Contains("is not less"));

  world.profile.rule(Resource::kCpu).correction = Correction::kReplace;
  CHECK(After(world.Plan(pod), "cpu") == "3");
  // But never above the limit.
  CHECK(After(world.Plan(Pod({Container("app", {{"cpu", "2"}}, {{"cpu", "2500m"}})})), "cpu") ==
        "2500m");
}

TEST_CASE("Memory is corrected only where the profile says so", "[rightsizing][plan]") {
  World world;
  world.profile.rule(Resource::kMemory).correction = Correction::kOff;
  world.Advise("app", Resource::kMemory, kGi);
  const PodView pod = Pod({Container("app", {{"memory", "4Gi"}})});
  CHECK(IsEmpty(world.Plan(pod)));
  world.profile.rule(Resource::kMemory).correction = Correction::kKeepOriginal;
  CHECK(After(world.Plan(pod), "memory") == "1Gi");
}

TEST_CASE("Corrections do not build on corrections", "[rightsizing][plan]") {
  World world;
  world.Advise("app", Resource::kCpu, 0.65);
  PodView pod = Pod({Container("app", {{"cpu", "2"}})});
  pod = Apply(pod, world.Plan(pod));

  SECTION("a recommendation that grew again is measured against the owner's request") {
    world.block.workloads.front().containers.clear();
    world.Advise("app", Resource::kCpu, 1.5);
    const PodPlan plan = world.Plan(pod);
    CHECK(After(plan, "cpu") == "1500m");
    CHECK_FALSE(plan.original_annotation);
  }
  SECTION("one above it brings the owner's back, in the owner's words") {
    world.block.workloads.front().containers.clear();
    world.Advise("app", Resource::kCpu, 2.05);
    const PodPlan plan = world.Plan(pod);
    CHECK(After(plan, "cpu") == "2");
    CHECK(plan.applied_annotation == "{}");
    CHECK(IsEmpty(world.Plan(Apply(pod, plan))));
  }
  SECTION("so does a profile that corrects no more") {
    world.profile.rule(Resource::kCpu).correction = Correction::kOff;
    CHECK(After(world.Plan(pod), "cpu") == "2");
  }
}

TEST_CASE("Before there is a recommendation a static ratio may hold", "[rightsizing][plan]") {
  World world;
  world.block.workloads.clear();  // never seen
  world.profile.mode = PoolMode::kStaticAndDynamic;
  world.profile.rule(Resource::kCpu).static_ratio = 0.65;
  const PodPlan plan = world.Plan(Pod({Container("app", {{"cpu", "2"}})}));
  CHECK(After(plan, "cpu") == "1300m");
  CHECK(plan.changes.front().rule == CorrectionRule::kStaticRatio);
}

TEST_CASE("The profile of a workload that was never seen is found by the pod's labels",
          "[rightsizing][plan]") {
  Profile batch = PresetProfile(Preset::kTidemark);
  batch.name = "batch";
  batch.selector = *Selector::Parse(R"({namespace="shop", label_example_com_tier="batch"})");
  batch.mode = PoolMode::kStatic;
  batch.rule(Resource::kCpu).correction = Correction::kKeepOriginal;
  batch.rule(Resource::kCpu).static_ratio = 0.5;
  const ProfileSet profiles({batch}, PresetProfile(Preset::kTidemark));
  const RightsizingSettings settings;
  PodView pod = Pod({Container("app", {{"cpu", "2"}})});
  CHECK(IsEmpty(PlanPod(pod, {nullptr, nullptr, profiles, settings})));
  pod.labels = {{"example.com/tier", "batch"}};
  CHECK(After(PlanPod(pod, {nullptr, nullptr, profiles, settings}), "cpu") == "1");
}

TEST_CASE("A limit without a request is the request", "[rightsizing][plan]") {
  World world;
  world.Advise("app", Resource::kCpu, 0.5);
  const PodView pod = Pod({Container("app", {}, {{"cpu", "2"}})});
  const PodPlan plan = world.Plan(pod);
  CHECK(After(plan, "cpu") == "500m");
  CHECK(plan.changes.front().before.empty());
  CHECK(plan.original_annotation == R"({"app":{"requests":{"cpu":"2"},"limits":{"cpu":"2"}}})");
  CHECK(IsEmpty(world.Plan(Apply(pod, plan))));
}

TEST_CASE("A Guaranteed pod stays so", "[rightsizing][plan][qos]") {
  World world;
  world.Advise("app", Resource::kCpu, 0.5);
  const PodView pod = Pod({Container("app", {}, {{"cpu", "2"}, {"memory", "1Gi"}})});
  const PodPlan kept = world.Plan(pod);
  CHECK(IsEmpty(kept));
  CHECK_THAT(WhyKept(kept, "cpu"), Catch::Contains("Burstable instead of Guaranteed"));

  world.profile.may_change_qos = true;
  const PodPlan changed = world.Plan(pod);
  CHECK(After(changed, "cpu") == "500m");
  CHECK(IsEmpty(world.Plan(Apply(pod, changed))));

  // Taken back: what was corrected while it was allowed goes back as well.
  world.profile.may_change_qos = false;
  CHECK(After(world.Plan(Apply(pod, changed)), "cpu") == "2");
}

TEST_CASE("Init containers count for the QoS class and are left alone, sidecars are corrected",
          "[rightsizing][plan][qos]") {
  World world;
  world.Advise("app", Resource::kCpu, 0.5);
  world.Advise("prepare", Resource::kCpu, 0.5);
  world.Advise("mesh", Resource::kCpu, 0.5);
  PodContainer prepare = Container("prepare", {{"cpu", "1"}});
  prepare.is_init = true;
  PodContainer mesh = Container("mesh", {{"cpu", "1"}});
  mesh.is_init = mesh.is_sidecar = true;
  const PodPlan plan =
      world.Plan(Pod({Container("app", {}, {{"cpu", "2"}, {"memory", "1Gi"}}), prepare, mesh}));
  CHECK(After(plan, "cpu", 0) == "500m");  // with `prepare` the pod is not Guaranteed
  CHECK(After(plan, "cpu", 1).empty());
  CHECK(After(plan, "cpu", 2) == "500m");
  CHECK(plan.original_annotation->find("prepare") == std::string::npos);
}

TEST_CASE("A pod without requests may become Burstable", "[rightsizing][plan][qos]") {
  World world;
  world.Advise("app", Resource::kCpu, 0.5);
  CHECK(IsEmpty(world.Plan(Pod({Container("app", {})}))));  // there is no original to go below
  world.profile.rule(Resource::kCpu).correction = Correction::kReplace;
  const PodView pod = Pod({Container("app", {})});
  const PodPlan plan = world.Plan(pod);
  CHECK(After(plan, "cpu") == "500m");
  CHECK(plan.original_annotation == R"({"app":{}})");
  CHECK(plan.applied_annotation == R"({"app":{"cpu":{"request":"500m","rule":"candidate"}}})");
  CHECK(IsEmpty(world.Plan(Apply(pod, plan))));
}

TEST_CASE("What the namespace's LimitRange asks for is respected", "[rightsizing][plan]") {
  World world;
  world.Advise("app", Resource::kCpu, 0.1);
  const auto with_limit = Pod({Container("app", {{"cpu", "2"}}, {{"cpu", "4"}})});
  SECTION("least request") {
    world.LimitRange(Resource::kCpu).min = 0.25;
    CHECK(After(world.Plan(with_limit), "cpu") == "250m");
  }
  SECTION("most limit per request") {
    world.LimitRange(Resource::kCpu).max_limit_request_ratio = 3;
    CHECK(After(world.Plan(with_limit), "cpu") == "1334m");
    CHECK(After(world.Plan(Pod({Container("app", {{"cpu", "2"}})})), "cpu") == "100m");
  }
  SECTION("never above the original for it") {
    world.LimitRange(Resource::kCpu).min = 3;
    CHECK(IsEmpty(world.Plan(with_limit)));
  }
  SECTION("most request") {
    world.profile.rule(Resource::kCpu).correction = Correction::kReplace;
    world.block.workloads.front().containers.clear();
    world.Advise("app", Resource::kCpu, 9);
    world.LimitRange(Resource::kCpu).max = 3;
    CHECK(After(world.Plan(with_limit), "cpu") == "3");
  }
}

TEST_CASE("Small changes are left out, but memory may always grow", "[rightsizing][plan]") {
  World world;
  world.settings.least_change_ratio = 0.1;
  world.Advise("app", Resource::kCpu, 0.91);
  world.Advise("app", Resource::kMemory, 1050 * kMi);
  world.profile.rule(Resource::kMemory).correction = Correction::kReplace;
  const PodView pod = Pod({Container("app", {{"cpu", "1"}, {"memory", "1000Mi"}})});
  const PodPlan plan = world.Plan(pod);
  CHECK(After(plan, "cpu").empty());
  CHECK_THAT(WhyKept(plan, "cpu"), Catch::Contains("less than 10 %"));
  CHECK(After(plan, "memory") == "1050Mi");

  // A tenth is no small change.
  world.block.workloads.front().containers.clear();
  world.Advise("app", Resource::kCpu, 0.9);
  CHECK(After(world.Plan(pod), "cpu") == "900m");
}

TEST_CASE("A container that is injected later joins the record", "[rightsizing][plan]") {
  World world;
  world.Advise("app", Resource::kCpu, 0.5);
  PodView pod = Pod({Container("app", {{"cpu", "1000m"}})});
  pod = Apply(pod, world.Plan(pod));
  pod.containers.push_back(Container("istio-proxy", {{"cpu", "100m"}}));
  const PodPlan plan = world.Plan(pod);
  CHECK(plan.changes.empty());
  CHECK(plan.original_annotation ==
        R"({"app":{"requests":{"cpu":"1000m"}},"istio-proxy":{"requests":{"cpu":"100m"}}})");
  CHECK_FALSE(plan.applied_annotation);
  CHECK(IsEmpty(world.Plan(Apply(pod, plan))));
}

TEST_CASE("Excluded containers are left alone", "[rightsizing][plan]") {
  World world;
  world.Advise("app", Resource::kCpu, 0.5);
  world.Advise("istio-proxy", Resource::kCpu, 0.05);
  world.settings.excluded_containers = {"istio-proxy"};
  const PodPlan plan =
      world.Plan(Pod({Container("app", {{"cpu", "1"}}), Container("istio-proxy", {{"cpu", "1"}})}));
  CHECK(After(plan, "cpu", 0) == "500m");
  CHECK(After(plan, "cpu", 1).empty());
  CHECK(WhyKept(plan, "", 1) == "the container is excluded");
}

TEST_CASE("A pod that cannot be understood is left alone", "[rightsizing][plan]") {
  World world;
  world.Advise("app", Resource::kCpu, 0.5);
  PodView pod = Pod({Container("app", {{"cpu", "1"}})});
  const auto why = [&] {
    const PodPlan plan = world.Plan(pod);
    CHECK(IsEmpty(plan));
    return plan.why_not;
  };
  SECTION("quantity") {
    pod.containers.push_back(Container("other", {{"memory", "lots"}}));
    CHECK(why() == "the memory of container other cannot be read");
  }
  SECTION("annotation") {
    pod.original_annotation = "{";
    CHECK(why() == "its annotation tidemark.io/original-resources cannot be read");
  }
  SECTION("names") {
    pod.containers.push_back(pod.containers.front());
    CHECK(why() == "two containers are named app");
  }
  SECTION("request above the limit") {
    pod.containers.front().limits["cpu"] = "500m";
    CHECK(why() == "container app requests more cpu than its limit");
  }
  SECTION("workload") {
    pod.workload.workload.clear();
    CHECK(why() == "whose pod it is is not known");
  }
  SECTION("resources of the pod as a whole") {
    pod.has_pod_resources = true;
    CHECK(why() == "it has resources for the pod as a whole");
  }
  SECTION("size of the record") {
    pod.containers.front().requests["example.com/" + std::string(20'000, 'x')] = "1";
    CHECK(why() == "what would have to be recorded of it is too large");
  }
  SECTION("containers") {
    for (int i = 0; i < 128; ++i) {
      pod.containers.push_back(Container("more-" + std::to_string(i), {}));
    }
    CHECK(why() == "it has more than 128 containers");
  }
}

TEST_CASE("Whatever the pod and the advice, a plan keeps its promises",
          "[rightsizing][plan][random]") {
  const uint32_t seed = ::tidemark::testing::Seed();
  std::mt19937 random(seed);
  size_t changed = 0;
  constexpr int kCases = 20'000;
  for (int i = 0; i < kCases; ++i) {
    testing::RandomCase made = testing::MakeRandomCase(random);
    INFO("seed " << seed << ", case " << i);
    const PodPlan plan = made.world.Plan(made.pod);
    const PodView after = Apply(made.pod, plan);
    const PodPlan again = made.world.Plan(after);
    INFO(plan.applied_annotation.value_or("-")
         << " then " << again.applied_annotation.value_or("-"));
    REQUIRE(IsEmpty(again));
    if (!plan.why_not.empty()) REQUIRE(IsEmpty(plan));
    for (const RequestChange& change : plan.changes) {
      ++changed;
      const PodContainer& container = made.pod.containers[change.container];
      const auto value = ParseQuantity(change.after);
      REQUIRE(value);
      const auto limit = container.limits.find(change.resource);
      if (limit != container.limits.end()) {
        REQUIRE(value <= std::max(*ParseQuantity(limit->second), 0.001));
      }
      REQUIRE(after.original_annotation);
      REQUIRE(workloads::FindOriginalRequest(
          *workloads::ParseOriginalRequests(*after.original_annotation), container.name));
    }
    if (!made.pod.original_annotation) {
      const Qos before = QosOf(made.pod);
      const Qos now = QosOf(after);
      const bool may = before == Qos::kBestEffort
                           ? now == Qos::kBurstable
                           : before == Qos::kGuaranteed && made.world.profile.may_change_qos;
      REQUIRE((before == now || may));
    }
  }
  CHECK(changed > kCases / 4);  // or it would all be about nothing
}

}  // namespace
}  // namespace tidemark::rightsizing
