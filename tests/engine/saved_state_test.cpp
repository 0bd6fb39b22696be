// A namespace that was saved and restored is the same namespace: verdicts, views and bytes.
#include <random>

#include "tests/catch.h"
#include "tests/engine/namespace_world.h"
#include "tests/seed.h"

using namespace tidemark;
using namespace tidemark::testing;

namespace {

/// So that a failed comparison of kilobytes says little and soon.
bool Same(const std::string& a, const std::string& b) {
  if (a == b) return true;
  const auto at = std::mismatch(a.begin(), a.end(), b.begin(), b.end()).first - a.begin();
  UNSCOPED_INFO("sizes " << a.size() << " and " << b.size() << ", differ at " << at);
  return false;
}

std::string Said(const WriteVerdict& verdict) {
  std::string text = fmt::format("accepted {}", verdict.accepted);
  for (const uint64_t count : verdict.ignored) text += fmt::format(" i{}", count);
  for (const uint64_t count : verdict.rejected) text += fmt::format(" r{}", count);
  return text + " " + verdict.first_rejected;
}

/// Both worlds take the same batches; at random points the second one is replaced by what the first
/// one saves, or the first one by what the second one saves.
void RunTwins(uint32_t seed, int batches, const TrafficOptions& traffic_options,
              const engine::Options& options) {
  INFO("seed " << seed);
  std::mt19937 random(seed);
  RandomTraffic traffic(seed, traffic_options);
  NamespaceWorld a(options);
  NamespaceWorld b(options);
  a.Begin();
  b.Begin();
  const auto mapping = a.OwnMapping();
  int restored = 0;
  size_t most_series = 0;
  size_t most_workloads = 0;
  for (int i = 0; i < batches; ++i) {
    INFO("batch " << i);
    const TrafficBatch batch = traffic.Next();
    const std::string said = Said(a.Put(batch));
    REQUIRE(Said(b.Put(batch)) == said);
    REQUIRE(a.sink.demand_minutes == b.sink.demand_minutes);
    REQUIRE(a.sink.demand == b.sink.demand);
    if (random() % 4 == 0) REQUIRE(Same(a.Shown(), b.Shown()));
    if (random() % 7 != 0) continue;
    most_series = std::max(most_series, a.state->series_count());
    most_workloads = std::max(most_workloads, a.state->workload_count());
    const std::string saved = a.Saved();
    REQUIRE(Same(saved, b.Saved()));
    REQUIRE(Same(a.Counted(), b.Counted()));
    REQUIRE(a.counters.oom_kills == b.counters.oom_kills);
    if (random() % 2 == 0) continue;
    NamespaceWorld& replaced = random() % 3 == 0 ? a : b;
    const auto result = replaced.Restore(saved, mapping);
    INFO((result ? "" : result.error().message));
    REQUIRE(result);
    REQUIRE(Same(replaced.Saved(), saved));
    REQUIRE(Same(a.Counted(), b.Counted()));
    REQUIRE(Same(a.Shown(), b.Shown()));
    ++restored;
  }
  REQUIRE(Same(a.Saved(), b.Saved()));
  REQUIRE(Same(a.Shown(), b.Shown()));
  CHECK_FALSE(a.sink.out_of_order);
  if (seed == kUsualSeed) {
    CHECK(restored > batches / 40);
    CHECK(a.sink.demand_minutes > static_cast<uint64_t>(batches) / 10);
    CHECK(most_series >= 40);
    CHECK(most_workloads >= 3);
    CHECK(a.counters.usage_minutes > static_cast<uint64_t>(batches));
    CHECK(a.counters.series_collected > 100);
  }
  // That something happened; how much of it depends on the seed.
  CHECK(restored > batches / 100);
  CHECK(a.sink.demand_minutes > 0);
  CHECK(most_series >= 20);
  CHECK(most_workloads >= 2);
  CHECK(a.counters.usage_minutes > static_cast<uint64_t>(batches) / 10);
  CHECK(a.counters.series_collected > 10);
  CHECK(a.counters.oom_kills == b.counters.oom_kills);
  CHECK(a.counters.internal_errors + b.counters.internal_errors == 0);
  a.state.reset();
  b.state.reset();
  CHECK(a.Counted() == NamespaceWorld(options).Counted());
  CHECK(b.Counted() == a.Counted());
}

}  // namespace

TEST_CASE("a restored namespace goes on as the saved one would have", "[engine][state]") {
  const uint32_t seed = tidemark::testing::Seed();
  RunTwins(seed, 4000, {}, {});
}

TEST_CASE("a restored namespace goes on under a ceiling and with late samples refused",
          "[engine][state]") {
  const uint32_t seed = tidemark::testing::Seed();
  engine::Options options;
  options.max_series = 150;
  options.refuse_late = true;
  RunTwins(seed, 1500, {}, options);
}

TEST_CASE("a restored namespace goes on through days of minutes", "[engine][state]") {
  const uint32_t seed = tidemark::testing::Seed();
  RunTwins(seed, 4000, {.deployments = 2, .pods = 1, .step_ms = 120'000, .silences = false}, {});
}

TEST_CASE("a namespace in which every series has ended is restored", "[engine][state]") {
  // Nothing needs fewer bytes than a series without a role of its own that a marker has ended.
  NamespaceWorld world;
  world.Begin();
  constexpr int64_t kTimeMs = 1'790'000'000'000;
  for (const double value : {1.0, StaleMarker()}) {
    TrafficBatch batch;
    batch.arrival_ms = kTimeMs + (IsStaleMarker(value) ? 1000 : 0);
    for (int i = 0; i < 500; ++i) {
      const std::string node = fmt::format("node-{}", i);
      const LabelView labels[] = {
          {"__name__", "kube_node_status_allocatable"}, {"node", node}, {"resource", "cpu"}};
      Sample sample;
      sample.timestamp_ms = batch.arrival_ms;
      sample.value = value;
      batch.series.push_back({EncodeLabels(labels), {sample}});
    }
    CHECK(world.Put(batch).accepted == 500);
  }
  REQUIRE(world.state->series_count() == 500);
  const std::string saved = world.Saved();
  const auto restored = world.Restore(saved, world.OwnMapping());
  INFO((restored ? "" : restored.error().message));
  REQUIRE(restored);
  CHECK(Same(world.Saved(), saved));
}
