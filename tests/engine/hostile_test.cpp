// What nobody should send or configure, and what must come of it all the same: finite requests, a
// state that can be read again, no history lost.
#include <cmath>

#include "tests/engine/durable.h"
#include "tests/engine/profiles.h"
#include "tests/engine/usage_feed.h"

using namespace tidemark;
using namespace tidemark::testing;

namespace {

constexpr double kMi = 1024.0 * 1024;

engine::Options With(ProfileSetPtr profiles) {
  engine::Options options;
  options.profiles = std::move(profiles);
  return options;
}

template <class World>
void Put(World& world, std::vector<FeedSeries> request) {
  int64_t newest = ToUnixMs(world.clock.Now());
  for (const FeedSeries& series : request) {
    newest = std::max(newest, series.samples.front().timestamp_ms);
  }
  world.clock.Set(FromUnixMs(newest));
  Write(world.engine, request);
}

FeedSeries Kube(const std::string& metric, int64_t at, double value, LabelMap more = {}) {
  more.insert({{"namespace", "shop"}, {"pod", "db-0"}, {"uid", "u-db-0"}, {"container", "app"}});
  return {Named("kube_pod_" + metric, std::move(more)), {{at, value}}};
}

std::optional<ResourceAdvice> MemoryOf(engine::Engine& engine) {
  engine.Tick();
  const auto snapshot = engine.Current();
  if (snapshot->blocks.empty() || snapshot->blocks[0]->workloads.empty()) return std::nullopt;
  for (const auto& advice : snapshot->blocks[0]->workloads[0].containers.at(0).resources) {
    if (advice.resource == Resource::kMemory) return advice;
  }
  return std::nullopt;
}

}  // namespace

TEST_CASE("a kill with an absurd request leaves a state that can be read again",
          "[engine][hostile]") {
  for (const Preset preset : {Preset::kTidemark, Preset::kVpa, Preset::kOversell}) {
    for (const double request : {0.0, 1e30, 1e300, 1.7e308}) {
      INFO(ToString(preset) << " " << request);
      MemoryStore store;
      const auto options = With(OneProfile(preset, [](Profile&) {}));
      {
        const auto world = Open(store, options);
        int64_t at = kT0;
        for (int kills = 0; kills < 3; ++kills, at += 60'000) {
          Put(*world,
              {{PodOwner("db-0", "StatefulSet", "db"), {{at, 1}}},
               {Memory("db-0"), {{at, 1e8}}},
               Kube("container_resource_requests", at, request,
                    {{"resource", "memory"}, {"unit", "byte"}}),
               Kube("container_status_restarts_total", at, kills),
               Kube("container_status_last_terminated_timestamp", at,
                    static_cast<double>(at) / 1000),
               Kube("container_status_last_terminated_reason", at, 1, {{"reason", "OOMKilled"}})});
        }
        REQUIRE(world->counters.oom_kills.load() == 2);
        const auto advice = MemoryOf(world->engine);
        REQUIRE(advice);
        CHECK(std::isfinite(advice->recommended_request.value_or(0)));
        REQUIRE(world->engine.Checkpoint());
      }
      const auto again = Open(store, options);
      CHECK(again->storage.checkpoints_damaged.load() == 0);
      const auto advice = MemoryOf(again->engine);
      REQUIRE(advice);
      CHECK(advice->recommended_request.value_or(0) > 1e8);
    }
  }
}

TEST_CASE("a container that is gone takes no share of what the pod uses", "[engine][hostile]") {
  Bench bench(With(ByPercentile([](Profile& profile) {
    profile.level = Level::kPod;
    profile.rule(Resource::kCpu).margin_ratio = 0;
  })));
  bench.Put(PodOwner("db-0", "StatefulSet", "db"), kT0, 1);
  UsageFeed old(bench, "db-0", "old");
  old.Go(10, 0.4, 50 * kMi);
  // The pod comes again with its container under another name.
  bench.Put(PodOwner("db-1", "StatefulSet", "db"), old.now_ms(), 1);
  UsageFeed app(bench, "db-1", "new");
  app.Skip(10);
  app.Go(30, 0.4, 50 * kMi);
  const auto advice = bench.Find("db", "new", Resource::kCpu);
  REQUIRE(advice);
  CHECK(*advice->recommended_request > 0.39);
}

TEST_CASE("a pod's sum is by the profile of its containers, whatever that selects by",
          "[engine][hostile]") {
  Profile by_name = PresetProfile(Preset::kTidemark);
  by_name.name = "app";
  by_name.selector = *Selector::Parse(R"({container=~"app|side"})");
  by_name.level = Level::kPod;
  GoByPercentile(by_name);
  by_name.rule(Resource::kCpu).margin_ratio = 0;
  by_name.rule(Resource::kCpu).buckets = {.first = 0.001, .ratio = 1.01, .max = 10};
  Profile fallback = PresetProfile(Preset::kTidemark);
  GoByPercentile(fallback);
  fallback.rule(Resource::kCpu).buckets = {.first = 1, .ratio = 2, .max = 1000};
  Bench bench(With(std::make_shared<const ProfileSet>(std::vector<Profile>{by_name}, fallback)));
  bench.Put(PodOwner("db-0", "StatefulSet", "db"), kT0, 1);
  UsageFeed app(bench, "db-0", "app");
  UsageFeed side(bench, "db-0", "side");
  for (int minute = 0; minute < 30; ++minute) {
    app.Go(1, 0.2, 50 * kMi);
    side.Go(1, 0.2, 50 * kMi);
  }
  const auto advice = bench.Find("db", "app", Resource::kCpu);
  REQUIRE(advice);
  CHECK(advice->Has(AdviceMark::kSharedEqually));
  CHECK(*advice->recommended_request == Approx(0.2).epsilon(0.05));
}

TEST_CASE("label sets without end do not grow a strict history without end", "[engine][hostile]") {
  MemoryStore store;
  const auto options =
      With(OneProfile(Preset::kVpa, [](Profile& profile) { profile.strict = true; }));
  std::optional<double> said;
  {
    const auto world = Open(store, options);
    constexpr int kMinutes = 4000;
    for (int minute = 0; minute < kMinutes; ++minute) {
      const int64_t at = kT0 + minute * 60'000LL;
      Put(*world, {{PodOwner("db-0", "StatefulSet", "db"), {{at, 1}}},
                   Kube("labels", at, 1, {{"label_seen", std::to_string(minute)}}),
                   {Cpu("db-0"), {{at, minute * 30.0}}},
                   {Memory("db-0"), {{at, 1e9}}}});
    }
    REQUIRE(world->engine.Checkpoint());
    size_t bytes = 0;
    for (const std::string& block : store.checkpoints().back().blocks) bytes += block.size();
    CHECK(bytes < 300'000);
    said = MemoryOf(world->engine)->recommended_request;
  }
  const auto again = Open(store, options);
  CHECK(again->storage.checkpoints_damaged.load() == 0);
  REQUIRE(MemoryOf(again->engine));
  CHECK(MemoryOf(again->engine)->recommended_request == said);
}

TEST_CASE("layouts that change to and fro move no request for good", "[engine][hostile]") {
  Bench bench;
  bench.Put(PodOwner("db-0", "StatefulSet", "db"), kT0, 1);
  UsageFeed feed(bench, "db-0");
  feed.Go(
      600, [](int i) { return 0.1 + 0.001 * (i % 300); },
      [](int i) { return (100 + i % 300) * kMi; });
  const double cpu = *bench.Find("db", "app", Resource::kCpu)->model_request;
  const double memory = *bench.Find("db", "app", Resource::kMemory)->model_request;
  const auto other = ByPercentile([](Profile& profile) {
    profile.rule(Resource::kCpu).buckets = {.first = 0.02, .ratio = 1.07, .max = 1000};
    profile.rule(Resource::kMemory).buckets = {.first = 2e7, .ratio = 1.07, .max = 1e12};
  });
  for (int i = 0; i < 100; ++i) {
    bench.engine.SetProfiles(other);
    bench.engine.SetProfiles(ByPercentile([](Profile&) {}));
  }
  CHECK(*bench.Find("db", "app", Resource::kCpu)->model_request < 1.2 * cpu);
  CHECK(*bench.Find("db", "app", Resource::kMemory)->model_request < 1.2 * memory);
}

TEST_CASE("a container that comes after a change of the rule hides nobody's history",
          "[engine][hostile]") {
  const auto with = [](Preset preset) {
    return OneProfile(preset, [](Profile& profile) { profile.level = Level::kWorkload; });
  };
  Bench bench(With(with(Preset::kTidemark)));
  bench.Put(PodOwner("db-0", "StatefulSet", "db"), kT0, 1);
  UsageFeed main(bench, "db-0", "main");
  main.Go(600, 2.0, 500 * kMi);
  bench.engine.SetProfiles(with(Preset::kOversell));
  UsageFeed a(bench, "db-0", "a-new-one");
  a.Skip(600);
  for (int i = 0; i < 10; ++i) {
    main.Go(1, 2.0, 500 * kMi);
    a.Go(1, 0.01, 10 * kMi);
  }
  CHECK(*bench.Find("db", "main", Resource::kCpu)->model_request > 1.9);
}
