// The explanation of a request is the request, step by step.
#include "tests/engine/profiles.h"
#include "tests/engine/usage_feed.h"

using namespace tidemark;
using namespace tidemark::testing;

namespace {

constexpr double kMi = 1024.0 * 1024;

const ExplanationStep& Step(const ResourceExplanation& of, std::string_view name) {
  for (const ExplanationStep& step : of.steps) {
    if (step.name == name) return step;
  }
  FAIL("no step " << name);
  return of.steps.front();
}

}  // namespace

TEST_CASE("an explanation ends at the recommended request and shows what it is made of",
          "[engine][explain]") {
  engine::Options options;
  options.profiles = ByPercentile([](Profile& profile) {
    profile.rule(Resource::kCpu).expansion_factor = 2;
    profile.rule(Resource::kMemory).pod_minimum = 1024 * kMi;
  });
  Bench bench(options);
  bench.Put(PodOwner("db-0", "StatefulSet", "db"), kT0, 1);
  UsageFeed(bench, "db-0")
      .Go(
          30, [](int minute) { return 0.1 * (1 + minute % 5); }, [](int) { return 50 * kMi; });
  const auto shown = bench.Find("db", "app", Resource::kCpu);
  const auto all = bench.engine.ExplainRequests("shop", "statefulset", "db");
  REQUIRE(all);
  REQUIRE(all->size() == 1);
  const WorkloadExplanation& workload = all->front();
  CHECK(workload.id.workload == "db");
  CHECK(workload.event_time_ms == kT0 + 30 * 60'000);
  REQUIRE(workload.containers.size() == 1);
  CHECK(workload.containers[0].profile.name == "default");
  REQUIRE(workload.containers[0].resources.size() == 2);

  const ResourceExplanation& cpu = workload.containers[0].resources[0];
  CHECK(cpu.advice.recommended_request == shown->recommended_request);
  CHECK(cpu.advice.model_request == shown->model_request);
  CHECK(cpu.histogram.samples == 30);
  CHECK(cpu.histogram.p50 <= cpu.histogram.p90);
  CHECK(cpu.histogram.max >= 0.5);
  double weight = 0;
  for (const ExplainedBucket& bucket : cpu.histogram.buckets) weight += bucket.weight_ratio;
  CHECK(weight == Approx(1));
  CHECK(Step(cpu, "percentile").value == Approx(*shown->model_request).margin(0.001));
  CHECK(Step(cpu, "margin").changed);
  CHECK(Step(cpu, "expansion").value == Approx(2 * Step(cpu, "margin").value).margin(0.001));
  CHECK_FALSE(Step(cpu, "floor").changed);
  CHECK(cpu.steps.back().value == *shown->recommended_request);

  const ResourceExplanation& memory = workload.containers[0].resources[1];
  CHECK(Step(memory, "pod_minimum").changed);
  CHECK(Step(memory, "pod_minimum").value == 1024 * kMi);
  CHECK(memory.advice.Has(AdviceMark::kPodMinimum));

  const auto none = bench.engine.ExplainRequests("shop", "deployment", "db");
  REQUIRE_FALSE(none);
  CHECK(none.error().code == ErrorCode::kNotFound);
}

TEST_CASE("looking at a workload takes no change away from the next tick", "[engine][explain]") {
  Bench bench;
  bench.Put(PodOwner("db-0", "StatefulSet", "db"), kT0, 1);
  UsageFeed feed(bench, "db-0");
  feed.Go(5, 0.1, 50 * kMi);
  bench.engine.Tick();
  feed.Go(60, 3, 50 * kMi);
  REQUIRE(bench.engine.ExplainRequests("shop", "statefulset", "db"));
  CHECK(*bench.Find("db", "app", Resource::kCpu)->model_request > 2.9);
}
