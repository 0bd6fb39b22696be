// What is saved under one configuration and restored under another; what is damaged; what a past
// brings.
#include <fstream>
#include <iterator>
#include <random>

#include "tests/catch.h"
#include "tests/engine/namespace_world.h"
#include "tests/engine/profiles.h"
#include "tests/seed.h"
#include "workloads/past.h"

using namespace tidemark;
using namespace tidemark::testing;
using workloads::NamespaceState;
using workloads::Role;
using workloads::Source;

namespace {

void Run(NamespaceWorld& world, RandomTraffic& traffic, int batches) {
  for (int i = 0; i < batches; ++i) world.Put(traffic.Next());
}

Source Without(const std::string& metric) {
  Source source;
  source.metric = metric;
  source.role = Role::kNone;
  return source;
}

uint64_t SeriesOf(const NamespaceWorld& world, const std::string& metric) {
  uint64_t series = 0;
  for (size_t i = 0; i < world.sources.size(); ++i) {
    if (world.sources.at(static_cast<uint16_t>(i)).metric == metric) {
      series += world.context.source_counts[i].series;
    }
  }
  return series;
}

/// The sources that a version 1 was saved with: the default ones, of which there are more now.
std::vector<uint16_t> MappingOfVersion1(const NamespaceWorld& world) {
  return world.MappingFrom(workloads::SourceTable({Without("container_fs_usage_bytes")}));
}

/// The numbers that the pool would give out next, and whether anything is kept under them.
std::string Next(const workloads::IndexPool& pool, const NamespaceWorld& world) {
  workloads::IndexPool copy = pool;
  std::string text;
  for (int i = 0; i < 200; ++i) {
    const uint32_t index = copy.Take();
    std::string kept;
    ByteWriter out(kept);
    world.history.SaveContainer(index, out);
    world.history.SaveInstance(index, out);
    text += std::to_string(index) + (kept == std::string(2, '\0') ? " " : "! ");
  }
  return text;
}

}  // namespace

TEST_CASE("series of a source that is gone are collected, the rest goes on", "[engine][state]") {
  const uint32_t seed = tidemark::testing::Seed();
  INFO("seed " << seed);
  const std::string metric =
      GENERATE("container_memory_working_set_bytes", "container_cpu_usage_seconds_total",
               "kube_pod_owner", "kube_replicaset_owner", "kube_job_owner", "kube_pod_status_phase",
               "kube_deployment_spec_replicas", "kube_pod_container_resource_requests",
               "kube_pod_container_status_restarts_total",
               "kube_pod_container_status_last_terminated_reason", "kube_pod_labels",
               "kube_pod_annotations");
  INFO(metric);
  RandomTraffic traffic(seed);
  NamespaceWorld whole;
  whole.Begin();
  Run(whole, traffic, 300);
  REQUIRE(SeriesOf(whole, metric) > 0);

  NamespaceWorld b({}, {Without(metric)});
  NamespaceWorld c({}, {Without(metric)});
  const auto mapping = b.MappingFrom(whole.sources);
  REQUIRE(b.Restore(whole.Saved(), mapping));
  CHECK(SeriesOf(b, metric) == 0);
  CHECK(b.state->series_count() == whole.state->series_count() - SeriesOf(whole, metric));
  CHECK(b.budget.count() == static_cast<int64_t>(b.state->series_count()));
  REQUIRE(c.Restore(b.Saved(), c.OwnMapping()));
  for (int i = 0; i < 400; ++i) {
    INFO("batch " << i);
    const TrafficBatch batch = traffic.Next();
    const WriteVerdict said = b.Put(batch);
    const WriteVerdict same = c.Put(batch);
    REQUIRE(said.accepted == same.accepted);
    REQUIRE(said.ignored == same.ignored);
    REQUIRE(said.rejected == same.rejected);
  }
  CHECK(b.Saved() == c.Saved());
  CHECK(b.Shown() == c.Shown());
  CHECK(b.Counted() == c.Counted());
}

TEST_CASE("without any source left a restored namespace is one that forgot its series",
          "[engine][state]") {
  const uint32_t seed = tidemark::testing::Seed();
  INFO("seed " << seed);
  RandomTraffic traffic(seed);
  NamespaceWorld a;
  a.Begin();
  Run(a, traffic, 200);
  const std::string saved = a.Saved();
  NamespaceWorld b;
  REQUIRE(b.Restore(saved, std::vector<uint16_t>(a.sources.size(), NamespaceState::kNoSource)));
  a.state->ForgetSeries();
  REQUIRE(b.state->workload_count() > 0);
  CHECK(b.state->series_count() == 0);
  CHECK(b.Saved() == a.Saved());
  CHECK(b.Shown() == a.Shown());
  CHECK(b.Counted() == a.Counted());
}

TEST_CASE("a damaged namespace is refused and leaves everything as it was", "[engine][state]") {
  const uint32_t seed = tidemark::testing::Seed();
  INFO("seed " << seed);
  std::mt19937 random(seed);
  RandomTraffic traffic(seed);
  NamespaceWorld a;
  a.Begin();
  Run(a, traffic, 150);
  const std::string saved = a.Saved();
  const auto mapping = a.OwnMapping();
  NamespaceWorld b;
  REQUIRE(b.Restore(saved, mapping));  // so that the pools have been used
  b.state.reset();
  const std::string counted = b.Counted();
  const std::string containers = Next(b.context.containers, b);
  const std::string instances = Next(b.context.instances, b);
  int refused = 0;
  for (int i = 0; i < 3000; ++i) {
    std::string bytes = saved;
    if (i % 2 == 0) {
      bytes.resize(random() % bytes.size());
    } else {
      bytes[random() % bytes.size()] ^= static_cast<char>(1U << random() % 8);
    }
    ByteReader in(bytes);
    auto restored = NamespaceState::Restore(in, mapping, 3, b.context);
    if (restored) {
      REQUIRE(i % 2 == 1);  // a changed bit of a hash, a value or a name may restore
      (*restored)->ForgetSeries();
      restored->reset();
    } else {
      ++refused;
      REQUIRE(restored.error().code == ErrorCode::kInvalidArgument);
      REQUIRE(restored.error().message.starts_with("saved namespace"));
      REQUIRE(Next(b.context.containers, b).find('!') == std::string::npos);
      if (i % 50 == 0) {
        REQUIRE(Next(b.context.instances, b).find('!') == std::string::npos);
      }
    }
    REQUIRE(b.Counted() == counted);
  }
  CHECK(refused > 1600);
  // What was refused before anything else was restored changed nothing in what comes next.
  NamespaceWorld c;
  REQUIRE(c.Restore(saved, mapping));
  c.state.reset();
  REQUIRE(Next(c.context.containers, c) == containers);
  for (size_t cut = 0; cut < saved.size(); cut += 97) {
    REQUIRE_FALSE(c.Restore(std::string_view(saved).substr(0, cut), mapping));
  }
  CHECK(Next(c.context.containers, c) == containers);
  CHECK(Next(c.context.instances, c) == instances);
}

TEST_CASE("a restored namespace may be larger than the ceiling on series", "[engine][state]") {
  RandomTraffic traffic(7);
  NamespaceWorld a;
  a.Begin();
  Run(a, traffic, 50);
  engine::Options options;
  options.max_series = 10;
  NamespaceWorld b(options);
  REQUIRE(b.Restore(a.Saved(), a.OwnMapping()));
  CHECK(b.state->series_count() == a.state->series_count());
  CHECK(b.budget.count() == static_cast<int64_t>(a.state->series_count()));
  CHECK(b.known.size() == 0);
  CHECK_FALSE(b.budget.TryTake());
}

TEST_CASE("a namespace of version 1 restores, and its series are bound when their labels come",
          "[engine][state]") {
  std::ifstream file(TIDEMARK_TEST_DATA "/../engine/state_corpus/version_1_an_hour",
                     std::ios::binary);
  const std::string saved(std::istreambuf_iterator<char>(file), {});
  REQUIRE(saved.front() == 1);
  NamespaceWorld a;
  const auto restored = a.Restore(saved, MappingOfVersion1(a));
  INFO((restored ? "" : restored.error().message));
  REQUIRE(restored);
  REQUIRE(a.Saved().front() == 6);
  const size_t series = a.state->series_count();
  const size_t pods = a.state->pod_count();
  REQUIRE(SeriesOf(a, "kube_pod_labels") > 0);
  CHECK(a.Saved().find("label_app") == std::string::npos);
  NamespaceWorld b;
  REQUIRE(b.Restore(a.Saved(), b.OwnMapping()));
  const LabelView labels[] = {{"__name__", "kube_pod_labels"},
                              {"label_app", "w0"},
                              {"namespace", "shop"},
                              {"pod", "w0-7000-p0"}};
  for (NamespaceWorld* const world : {&a, &b}) {
    const std::string bytes = EncodeLabels(labels);
    const XXH128_hash_t hash = XXH3_128bits(bytes.data(), bytes.size());
    const int64_t at = world->state->event_time_ms() + 30'000;
    const Sample sample{at, 1, 0};
    workloads::SeriesItem item;
    item.series = {hash.low64, hash.high64};
    item.source = *world->sources.Find(labels);
    item.vetted = true;
    WriteVerdict verdict;
    // Until then nobody may know it by its hash alone: its labels would never come.
    REQUIRE(world->state->ApplyByHash(item, {&sample, 1}, at, verdict));
    CHECK_FALSE(world->known.Look().Find(item.series));
    item.label_bytes = bytes;
    world->state->Apply(item, {&sample, 1}, at, verdict);
    world->state->EndBatch();
    CHECK(world->known.Look().Find(item.series));
    CHECK(verdict.accepted == 1);
    CHECK(verdict.ignored[static_cast<size_t>(IgnoreReason::kDuplicate)] == 1);
    CHECK(world->state->series_count() == series);
    CHECK(world->state->pod_count() == pods);
    CHECK(world->Saved().find("label_app") != std::string::npos);
    CHECK(world->counters.internal_errors == 0);
  }
  CHECK(a.Saved() == b.Saved());
}

TEST_CASE("a namespace of version 3 restores, and its demand begins then", "[engine][state]") {
  std::ifstream file(TIDEMARK_TEST_DATA "/../engine/state_corpus/version_3_an_hour",
                     std::ios::binary);
  const std::string saved(std::istreambuf_iterator<char>(file), {});
  REQUIRE(saved.front() == 3);
  NamespaceWorld a;
  const auto restored = a.Restore(saved, a.OwnMapping());
  INFO((restored ? "" : restored.error().message));
  REQUIRE(restored);
  CHECK(a.Saved().front() == 6);
  for (const auto& view : a.state->View(a.state->event_time_ms())) CHECK(view.demand);
  const int64_t begin_ms = a.state->event_time_ms();
  NamespaceWorld b;
  REQUIRE(b.Restore(a.Saved(), b.OwnMapping()));
  RandomTraffic traffic(3, {.deployments = 2, .pods = 1, .silences = false, .begin_ms = begin_ms});
  for (int i = 0; i < 60; ++i) {
    const TrafficBatch batch = traffic.Next();
    a.Put(batch);
    b.Put(batch);
  }
  CHECK(a.sink.demand_minutes > 5);
  for (const auto& [container, newest_ms] : a.sink.newest_ms) CHECK(newest_ms >= begin_ms);
  CHECK(a.Saved() == b.Saved());
}

TEST_CASE("a namespace of version 4 restores, and what it did not know is bound when it is told",
          "[engine][state]") {
  std::ifstream file(TIDEMARK_TEST_DATA "/../engine/state_corpus/version_4_an_hour",
                     std::ios::binary);
  const std::string saved(std::istreambuf_iterator<char>(file), {});
  REQUIRE(saved.front() == 4);
  NamespaceWorld a;
  const auto restored = a.Restore(saved, a.OwnMapping());
  INFO((restored ? "" : restored.error().message));
  REQUIRE(restored);
  CHECK(a.Saved().front() == 6);
  NamespaceWorld b;
  REQUIRE(b.Restore(a.Saved(), b.OwnMapping()));
  RandomTraffic traffic(
      3, {.deployments = 2, .pods = 1, .silences = false, .begin_ms = a.state->event_time_ms()});
  for (int i = 0; i < 60; ++i) {
    const TrafficBatch batch = traffic.Next();
    a.Put(batch);
    b.Put(batch);
  }
  CHECK(a.Saved() == b.Saved());
  size_t bounds = 0;
  size_t ready = 0;
  for (const auto& view : a.state->View(a.state->event_time_ms())) {
    bounds += view.max_replicas ? 1 : 0;
    ready += view.ready_pods ? 1 : 0;
  }
  CHECK(bounds > 0);
  CHECK(ready > 0);
  CHECK(a.Saved() == b.Saved());
}

TEST_CASE(
    "a namespace of version 5 restores, and targets of utilisation are known when they are told",
    "[engine][state]") {
  std::ifstream file(TIDEMARK_TEST_DATA "/../engine/state_corpus/version_5_an_hour",
                     std::ios::binary);
  const std::string saved(std::istreambuf_iterator<char>(file), {});
  REQUIRE(saved.front() == 5);
  NamespaceWorld a;
  const auto restored = a.Restore(saved, a.OwnMapping());
  INFO((restored ? "" : restored.error().message));
  REQUIRE(restored);
  CHECK(a.Saved().front() == 6);
  const auto views = [&a] { return a.state->View(a.state->event_time_ms()); };
  // The bounds are kept.
  std::string autoscaled;
  for (const auto& view : views()) {
    if (view.max_replicas && view.id->workload_type == "deployment") autoscaled = view.id->workload;
    CHECK(view.utilization.empty());
  }
  REQUIRE_FALSE(autoscaled.empty());
  NamespaceWorld b;
  REQUIRE(b.Restore(a.Saved(), b.OwnMapping()));
  TrafficBatch batch;
  batch.arrival_ms = a.state->event_time_ms() + 1000;
  const LabelView info[] = {{"__name__", "kube_horizontalpodautoscaler_info"},
                            {"cluster", "east"},
                            {"horizontalpodautoscaler", "a-new-one"},
                            {"namespace", "shop"},
                            {"scaletargetref_kind", "Deployment"},
                            {"scaletargetref_name", autoscaled}};
  const LabelView target[] = {{"__name__", "kube_horizontalpodautoscaler_spec_target_metric"},
                              {"cluster", "east"},
                              {"horizontalpodautoscaler", "a-new-one"},
                              {"metric_name", "cpu"},
                              {"metric_target_type", "utilization"},
                              {"namespace", "shop"}};
  batch.series.push_back({EncodeLabels(info), {{batch.arrival_ms, 1, 0}}, false});
  batch.series.push_back({EncodeLabels(target), {{batch.arrival_ms, 75, 0}}, false});
  a.Put(batch);
  b.Put(batch);
  size_t told = 0;
  for (const auto& view : views()) {
    for (const auto& each : view.utilization) {
      CHECK(view.id->workload == autoscaled);
      CHECK(each.ratio == 0.75);
      ++told;
    }
  }
  CHECK(told == 1);
  CHECK(a.Saved() == b.Saved());
}

TEST_CASE("cluster and name of a saved namespace can be read alone", "[engine][state]") {
  NamespaceWorld a;
  a.Begin();
  const auto name = NamespaceState::SavedName(a.Saved());
  REQUIRE(name);
  CHECK(*name == NamespaceName{"east", "shop"});
  CHECK_FALSE(NamespaceState::SavedName(std::string("\x07\x00\x00", 3)));
  CHECK_FALSE(NamespaceState::SavedName(a.Saved().substr(0, 4)));
}

TEST_CASE("a changed half-life holds from the newest minute on", "[engine][state]") {
  const TrafficOptions steady{.deployments = 1, .pods = 1, .silences = false};
  RandomTraffic traffic(11, steady);
  engine::Options by_percentile;
  by_percentile.profiles = ByPercentile();
  NamespaceWorld a(by_percentile);
  a.Begin();
  Run(a, traffic, 600);
  const std::string before = a.Shown();
  engine::Options options;
  options.profiles = EveryRule([](ResourceRule& rule) { rule.half_life_ms = 6 * 3'600'000LL; });
  NamespaceWorld b(options);
  REQUIRE(b.Restore(a.Saved(), a.OwnMapping()));
  CHECK(b.Shown() == before);
  CHECK(b.Saved() != a.Saved());
  NamespaceWorld c(options);
  REQUIRE(c.Restore(b.Saved(), b.OwnMapping()));
  CHECK(c.Saved() == b.Saved());
  Run(c, traffic, 10);
  CHECK(c.counters.internal_errors == 0);

  engine::Options other;  // says nothing of what has been
  other.profiles = EveryRule([](ResourceRule& rule) {
    rule.percentile = 0.5;
    rule.margin_ratio = 0;
  });
  NamespaceWorld d(other);
  REQUIRE(d.Restore(a.Saved(), a.OwnMapping()));
  CHECK(d.Saved() == a.Saved());
  CHECK(d.Shown() != before);
}

TEST_CASE("a merged past survives, and live minutes that it reaches over do not count",
          "[engine][state]") {
  const TrafficOptions steady{.deployments = 1, .pods = 1, .silences = false};
  RandomTraffic traffic(13, steady);
  NamespaceWorld past;
  past.Begin();
  Run(past, traffic, 40);
  std::string history;
  std::string type;
  std::string workload;
  workloads::PastContainer merged;
  past.state->ForEachContainer([&](const workloads::Workload& of, std::string_view container,
                                   const workloads::WorkloadContainer& kept) {
    if (of.id.workload_type != "process") return;
    ByteWriter out(history);
    past.history.SaveContainer(kept.index, out);
    type = of.id.workload_type;
    workload = of.id.workload;
    CHECK(container.empty());
    merged.minutes.At(Resource::kCpu) = {kept.first.Get(Resource::kCpu).ms,
                                         kept.last_usage_ms + 10 * workloads::kMinuteMs, 10};
  });
  merged.workload_type = type;
  merged.workload = workload;
  merged.history = history;
  REQUIRE(history.size() > 2);

  NamespaceWorld live;
  live.Begin();
  REQUIRE(live.state->MergePast(merged));
  live.state->EndBatch();
  NamespaceWorld twin;
  REQUIRE(twin.Restore(live.Saved(), live.OwnMapping()));
  REQUIRE(twin.Saved() == live.Saved());
  for (int i = 0; i < 40; ++i) {
    const TrafficBatch batch = traffic.Next();
    live.Put(batch);
    twin.Put(batch);
  }
  CHECK(live.counters.usage_minutes_before_past > 0);
  CHECK(twin.counters.usage_minutes_before_past == live.counters.usage_minutes_before_past);
  CHECK(twin.counters.usage_minutes == live.counters.usage_minutes);
  CHECK(twin.Saved() == live.Saved());
  CHECK(twin.Shown() == live.Shown());
}

TEST_CASE("a saved history can be merged into another, all of it or nothing", "[engine][state]") {
  NamespaceWorld a;
  const auto add = [](NamespaceWorld& world, uint32_t container, int from, int to) {
    for (int i = from; i < to; ++i) {
      const int64_t at = 1'700'000'040'000 + i * workloads::kMinuteMs;
      world.history.AddUsage(container, 0, Resource::kCpu, {at, 0.01 * (i % 40)}, {});
      world.history.AddUsage(container, 0, Resource::kMemory, {at, 1e8 + 1e7 * i}, {});
    }
  };
  const auto saved = [](const NamespaceWorld& world, uint32_t container) {
    std::string bytes;
    ByteWriter out(bytes);
    world.history.SaveContainer(container, out);
    return bytes;
  };
  add(a, 5, 0, 100);
  add(a, 6, 100, 200);
  const std::string late = saved(a, 6);
  NamespaceWorld b;
  ByteReader first(late);
  REQUIRE(b.history.MergeSaved(2, first));
  CHECK(first.AtEnd());
  CHECK(saved(b, 2) == late);  // into nothing: as it was
  ByteReader second(late);
  const std::string before = saved(a, 5);
  for (size_t cut = 0; cut < late.size(); ++cut) {
    ByteReader part(std::string_view(late).substr(0, cut));
    REQUIRE_FALSE(a.history.MergeSaved(5, part));
    REQUIRE(saved(a, 5) == before);
  }
  REQUIRE(a.history.MergeSaved(5, second));
  const std::string added = saved(a, 5);
  // The same as two containers of the engine's merged.
  NamespaceWorld c;
  add(c, 5, 0, 100);
  add(c, 6, 100, 200);
  c.history.MergeContainer(6, 5);
  CHECK(saved(c, 5) == added);
}

TEST_CASE("a namespace of the shortest series there are restores", "[engine][state]") {
  NamespaceWorld a;
  a.Begin();
  TrafficBatch batch;
  batch.arrival_ms = 1'700'000'040'000;
  for (const double value : {1.0, StaleMarker()}) {
    for (int i = 0; i < 50; ++i) {
      const std::string name = std::to_string(i);
      const LabelView labels[] = {{"__name__", "kube_horizontalpodautoscaler_spec_target_metric"},
                                  {"horizontalpodautoscaler", name},
                                  {"namespace", "shop"}};
      const int64_t at = batch.arrival_ms - (IsStaleMarker(value) ? 0 : 1);
      batch.series.push_back({EncodeLabels(labels), {{at, value, 0}}, false});
    }
  }
  CHECK(a.Put(batch).accepted == 100);
  NamespaceWorld b;
  const std::string saved = a.Saved();
  REQUIRE(b.Restore(saved, a.OwnMapping()));
  CHECK(b.state->series_count() == 50);
  CHECK(b.Saved() == saved);
  CHECK(saved.size() < 50 * 19 + 40);
}
