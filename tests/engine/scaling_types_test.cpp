// Which types of workloads are scaled.

#include <memory>
#include <string>
#include <utility>

#include "engine/scaling_state.h"
#include "tests/catch.h"

using namespace tidemark;

TEST_CASE("What has no number of replicas is not decided on, whatever rules say", "[scaling]") {
  ScalingSettings settings;
  ScalingRule& everybody = settings.rules.emplace_back();
  everybody.max_replicas = 9;
  engine::ScalingState state(std::make_shared<const ScalingSettings>(std::move(settings)));
  const auto is_scaled = [&state](const std::string& type) {
    const WorkloadId id{"", "shop", type, "web"};
    state.WorkloadIs(1, id);
    workloads::DemandFacts facts;
    facts.replicas = 4;
    facts.request = 1;
    state.Add(1, Resource::kCpu, {.start_ms = 60'000'000, .demand = 2, .pods = 4, .missing = 0},
              facts, nullptr);
    const auto now = state.Now(1, 60'060'000);
    const bool shown = now.has_value();
    CHECK(state.WithoutDemand(id).has_value() == shown);
    if (shown) CHECK(now->decision.has_value());
    state.Remove(1);
    return shown;
  };
  for (const std::string type :
       {"deployment", "statefulset", "replicaset", "cloneset", "rollout"}) {
    CAPTURE(type);
    CHECK(is_scaled(type));
  }
  for (const std::string type : {"daemonset", "staticpod", "process", "job", "cronjob", "pod"}) {
    CAPTURE(type);
    CHECK_FALSE(is_scaled(type));
  }
}
