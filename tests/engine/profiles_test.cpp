// What profiles do to recommendations, through the engine.
#include <cmath>

#include "tests/engine/profiles.h"
#include "tests/engine/usage_feed.h"

using namespace tidemark;
using namespace tidemark::testing;

namespace {

constexpr double kMi = 1024.0 * 1024;

Profile Named(const std::string& name, const std::string& selector, Preset preset) {
  Profile profile = PresetProfile(preset);
  profile.name = name;
  profile.selector = *Selector::Parse(selector);
  return profile;
}

engine::Options With(ProfileSetPtr profiles) {
  engine::Options options;
  options.profiles = std::move(profiles);
  return options;
}

bool Has(const std::optional<ResourceAdvice>& advice, AdviceMark mark) {
  REQUIRE(advice);
  return advice->Has(mark);
}

}  // namespace

TEST_CASE("the first profile that matches applies, the default to the rest", "[engine][profiles]") {
  Profile low = Named("low", R"({workload="db"})", Preset::kTidemark);
  GoByPercentile(low);
  low.rule(Resource::kCpu).percentile = 0.5;
  Profile never = Named("never", R"({namespace="shop"})", Preset::kTidemark);
  GoByPercentile(never);
  never.rule(Resource::kCpu).expansion_factor = 3;
  Bench bench(With(std::make_shared<const ProfileSet>(std::vector<Profile>{low, never},
                                                      PresetProfile(Preset::kTidemark))));
  bench.Put(PodOwner("db-0", "StatefulSet", "db"), kT0, 1);
  bench.Put(PodOwner("web-0", "StatefulSet", "web"), kT0, 1);
  bench.Put(PodOwner("x-0", "StatefulSet", "x", "other"), kT0, 1);
  const auto load = [](int minute) { return minute % 4 == 0 ? 1.0 : 0.1; };
  const auto bytes = [](int) { return 50 * kMi; };
  UsageFeed(bench, "db-0").Go(40, load, bytes);
  UsageFeed(bench, "web-0").Go(40, load, bytes);
  UsageFeed(bench, "x-0", "app", "other").Go(40, load, bytes);
  const auto workloads = bench.Workloads();
  REQUIRE(workloads.size() == 3);
  CHECK(workloads[0].containers[0].profile->name == "default");
  CHECK(workloads[1].containers[0].profile->name == "low");
  CHECK(workloads[2].containers[0].profile->name == "never");
  CHECK(*bench.Find("db", "app", Resource::kCpu)->model_request < 0.12);
  const auto web = bench.Find("web", "app", Resource::kCpu);
  CHECK(*web->model_request > 0.9);
  CHECK(*web->recommended_request == Approx(*web->model_request * 1.15 * 3).epsilon(0.01));
}

TEST_CASE("floor, rounding and ceiling bound a request in that order and say so",
          "[engine][profiles]") {
  Bench bench(With(ByPercentile([](Profile& profile) {
    ResourceRule& cpu = profile.rule(Resource::kCpu);
    cpu.rounding = 0.25;
    cpu.floor = 0.3;
    ResourceRule& memory = profile.rule(Resource::kMemory);
    memory.ceiling = 64 * kMi;
  })));
  bench.Put(PodOwner("db-0", "StatefulSet", "db"), kT0, 1);
  UsageFeed(bench, "db-0").Go(10, 0.02, 300 * kMi);
  const auto cpu = bench.Find("db", "app", Resource::kCpu);
  CHECK(cpu->recommended_request == 0.5);
  CHECK(Has(cpu, AdviceMark::kFloor));
  CHECK(Has(cpu, AdviceMark::kRounded));
  CHECK_FALSE(Has(cpu, AdviceMark::kCeiling));
  const auto memory = bench.Find("db", "app", Resource::kMemory);
  CHECK(memory->recommended_request == 64 * kMi);
  CHECK(Has(memory, AdviceMark::kCeiling));
  CHECK(*memory->model_request > 300 * kMi);
  CHECK(*memory->lower_bound <= 64 * kMi);
  REQUIRE(memory->upper_bound);
  CHECK(*memory->upper_bound == 64 * kMi);
}

TEST_CASE("a resource that is switched off is not recommended, a pool that is off neither",
          "[engine][profiles]") {
  Bench bench(With(OneProfile(Preset::kOversell, [](Profile& profile) {
    profile.rule(Resource::kMemory).enabled = false;
  })));
  bench.Put(PodOwner("db-0", "StatefulSet", "db"), kT0, 1);
  bench.Put(Request("db-0", "memory"), kT0, 1e9);
  UsageFeed feed(bench, "db-0");
  feed.Go(4, 0.5, 300 * kMi);
  CHECK(bench.Find("db", "app", Resource::kCpu)->recommended_request);
  const auto memory = bench.Find("db", "app", Resource::kMemory);
  CHECK_FALSE(memory->recommended_request);
  CHECK_FALSE(memory->model_request);
  CHECK(memory->current_request == 1e9);
  bench.engine.SetProfiles(
      OneProfile(Preset::kOversell, [](Profile& profile) { profile.mode = PoolMode::kOff; }));
  const auto off = bench.Find("db", "app", Resource::kCpu);
  CHECK_FALSE(off->recommended_request);
  CHECK(off->model_request);
}

TEST_CASE("containers of a workload, or of a namespace, can share their samples",
          "[engine][profiles]") {
  const auto level = [](Level to) {
    return ByPercentile([to](Profile& profile) { profile.level = to; });
  };
  Bench bench(With(level(Level::kContainer)));
  bench.Put(PodOwner("db-0", "StatefulSet", "db"), kT0, 1);
  bench.Put(PodOwner("web-0", "StatefulSet", "web"), kT0, 1);
  UsageFeed(bench, "db-0", "app").Go(30, 0.1, 50 * kMi);
  UsageFeed(bench, "db-0", "side").Go(30, 0.5, 50 * kMi);
  UsageFeed(bench, "web-0", "app").Go(300, 4.0, 50 * kMi);
  const auto model = [&](const std::string& workload, const std::string& container) {
    return *bench.Find(workload, container, Resource::kCpu)->model_request;
  };
  const double app = model("db", "app");
  const double side = model("db", "side");
  const double web = model("web", "app");
  CHECK(app < side);
  CHECK(side < web);
  bench.engine.SetProfiles(level(Level::kWorkload));
  CHECK(model("db", "app") == side);  // P90 of both: no container's own samples are lost
  CHECK(model("db", "side") == side);
  CHECK(model("web", "app") == web);
  bench.engine.SetProfiles(level(Level::kNamespace));
  CHECK(model("db", "app") == web);
  CHECK(model("db", "side") == web);
  bench.engine.SetProfiles(level(Level::kContainer));
  CHECK(model("db", "app") == app);
}

TEST_CASE("what a pod uses in sum is split by its containers' requests", "[engine][profiles]") {
  Bench bench(With(ByPercentile([](Profile& profile) {
    profile.level = Level::kPod;
    profile.rule(Resource::kCpu).margin_ratio = 0;
    profile.rule(Resource::kCpu).percentile = 1;
  })));
  bench.Put(PodOwner("db-0", "StatefulSet", "db"), kT0, 1);
  const auto request = [&](double app, double side, int64_t at) {
    bench.Put({{Request("db-0", "cpu", "app"), {{at, app}}},
               {Request("db-0", "cpu", "side"), {{at, side}}}});
  };
  // The one is busy when the other rests: the sum never is what the two peaks add up to.
  std::map<std::string, double> counters;
  for (int minute = 0; minute <= 60; ++minute) {
    const int64_t at = kT0 + minute * 60'000;
    request(3, 1, at);
    bench.Put({{Cpu("db-0", "app"), {{at, counters["app"]}}},
               {Cpu("db-0", "side"), {{at, counters["side"]}}}});
    counters["app"] += minute % 2 == 0 ? 60 * 1.0 : 6;
    counters["side"] += minute % 2 == 0 ? 6 : 60 * 1.0;
  }
  const auto app = bench.Find("db", "app", Resource::kCpu);
  const auto side = bench.Find("db", "side", Resource::kCpu);
  CHECK(Has(app, AdviceMark::kSharedByRequest));
  CHECK(*app->model_request + *side->model_request == Approx(1.1).epsilon(0.06));
  CHECK(*app->model_request == Approx(3 * *side->model_request).epsilon(0.01));
  REQUIRE(bench.Workloads().size() == 1);
  CHECK(bench.Workloads()[0].containers.size() == 2);
  request(1, 1, kT0 + 61 * 60'000);
  CHECK(*bench.Find("db", "app", Resource::kCpu)->model_request ==
        Approx(*bench.Find("db", "side", Resource::kCpu)->model_request).epsilon(0.01));
}

TEST_CASE("another half-life applies from now on, another layout takes weights over upwards",
          "[engine][profiles]") {
  Bench bench;
  bench.Put(PodOwner("db-0", "StatefulSet", "db"), kT0, 1);
  UsageFeed feed(bench, "db-0");
  feed.Go(
      600, [](int minute) { return 0.05 + 0.01 * (minute % 30); },
      [](int minute) { return (50 + minute % 40) * kMi; });
  const double before = *bench.Find("db", "app", Resource::kCpu)->model_request;
  bench.engine.SetProfiles(EveryRule([](ResourceRule& rule) { rule.half_life_ms = 3'600'000; }));
  CHECK(bench.Find("db", "app", Resource::kCpu)->model_request == before);
  CHECK_FALSE(Has(bench.Find("db", "app", Resource::kCpu), AdviceMark::kEarlierRule));
  bench.engine.SetProfiles(EveryRule([](ResourceRule& rule) {
    rule.half_life_ms = 3'600'000;
    rule.buckets = {.first = rule.buckets.first / 2, .ratio = 1.2, .max = rule.buckets.max};
  }));
  const double after = *bench.Find("db", "app", Resource::kCpu)->model_request;
  CHECK(after >= before);
  CHECK(after <= before * 1.3);
  feed.Go(300, 2.0, 90 * kMi);
  CHECK(*bench.Find("db", "app", Resource::kCpu)->model_request >= 2);
}

TEST_CASE("other samples start fresh, and the old answer stands until they span a day",
          "[engine][profiles]") {
  Bench bench;
  bench.Put(PodOwner("db-0", "StatefulSet", "db"), kT0, 1);
  UsageFeed feed(bench, "db-0");
  feed.Go(120, 0.5, 400 * kMi);
  const double before = *bench.Find("db", "app", Resource::kMemory)->model_request;
  const auto every_minute = ByPercentile(
      [](Profile& profile) { profile.rule(Resource::kMemory).samples = SampleKind::kEveryMinute; });
  bench.engine.SetProfiles(every_minute);
  feed.Go(60, 0.5, 100 * kMi);
  auto memory = bench.Find("db", "app", Resource::kMemory);
  CHECK(memory->model_request == before);
  CHECK(Has(memory, AdviceMark::kEarlierRule));
  CHECK_FALSE(Has(bench.Find("db", "app", Resource::kCpu), AdviceMark::kEarlierRule));

  SECTION("a reload of the same changes nothing") {
    bench.engine.SetProfiles(every_minute);
    CHECK(bench.Find("db", "app", Resource::kMemory)->model_request == before);
  }
  SECTION("the way back finds what was there") {
    bench.engine.SetProfiles(ByPercentile());
    memory = bench.Find("db", "app", Resource::kMemory);
    CHECK(memory->model_request == before);
    CHECK_FALSE(Has(memory, AdviceMark::kEarlierRule));
  }
  SECTION("after a day the new answers") {
    feed.Go(24 * 60 - 70, 0.5, 100 * kMi);
    CHECK(bench.Find("db", "app", Resource::kMemory)->model_request == before);
    feed.Go(20, 0.5, 100 * kMi);
    memory = bench.Find("db", "app", Resource::kMemory);
    CHECK(*memory->model_request < 110 * kMi);
    CHECK_FALSE(Has(memory, AdviceMark::kEarlierRule));
  }
}

TEST_CASE("a change to sums of pods lets the containers' own answer stand for a day",
          "[engine][profiles]") {
  Bench bench;
  bench.Put(PodOwner("db-0", "StatefulSet", "db"), kT0, 1);
  UsageFeed feed(bench, "db-0");
  feed.Go(120, 0.5, 100 * kMi);
  const double before = *bench.Find("db", "app", Resource::kCpu)->model_request;
  bench.engine.SetProfiles(ByPercentile([](Profile& profile) { profile.level = Level::kPod; }));
  feed.Go(60, 0.1, 100 * kMi);
  const auto cpu = bench.Find("db", "app", Resource::kCpu);
  CHECK(cpu->model_request == before);
  CHECK(Has(cpu, AdviceMark::kEarlierRule));
  feed.Go(24 * 60, 0.1, 100 * kMi);
  const auto later = bench.Find("db", "app", Resource::kCpu);
  CHECK_FALSE(Has(later, AdviceMark::kEarlierRule));
  CHECK(*later->model_request < 0.12);
}

TEST_CASE("a tick works out only what has got samples", "[engine][profiles]") {
  engine::Options options;
  options.shards = 1;
  Bench bench(options);
  std::vector<UsageFeed> feeds;
  for (int i = 0; i < 20; ++i) {
    const std::string name = "db" + std::to_string(i);
    bench.Put(PodOwner(name + "-0", "StatefulSet", name), kT0, 1);
    feeds.emplace_back(bench, name + "-0").Go(5, 0.1, 50 * kMi);
  }
  bench.engine.Tick();
  const uint64_t all = bench.counters.estimates;
  CHECK(all == 40);
  bench.engine.Tick();
  CHECK(bench.counters.estimates == all);
  feeds[3].Go(2, 0.2, 60 * kMi);
  bench.engine.Tick();
  CHECK(bench.counters.estimates == all + 2);
  CHECK(*bench.Find("db3", "app", Resource::kCpu)->model_request > 0.19);
  CHECK(*bench.Find("db4", "app", Resource::kCpu)->model_request < 0.12);
  // A request that changes is shown and is no reason to estimate.
  bench.Put(Request("db5-0", "cpu"), feeds[3].now_ms(), 2);
  CHECK(bench.Find("db5", "app", Resource::kCpu)->current_request == 2);
  CHECK(bench.counters.estimates == all + 2);
}

TEST_CASE("the weight of a sample follows the request where the profile says so",
          "[engine][profiles]") {
  const auto model = [](Preset preset) {
    Bench bench(With(OneProfile(preset, [](Profile& profile) {
      profile.rule(Resource::kCpu).percentile = 0.5;
      profile.rule(Resource::kCpu).lower_percentile = 0.5;
    })));
    bench.Put(PodOwner("db-0", "StatefulSet", "db"), kT0, 1);
    UsageFeed feed(bench, "db-0");
    for (int i = 0; i < 60; ++i) {
      bench.Put(Request("db-0", "cpu"), feed.now_ms(), i < 40 ? 0.2 : 2);
      feed.Go(1, i < 40 ? 0.1 : 1.5, 50 * kMi);
    }
    return *bench.Find("db", "app", Resource::kCpu)->model_request;
  };
  CHECK(model(Preset::kVpa) < 0.2);       // most minutes were low
  CHECK(model(Preset::kOversell) > 1.4);  // the few since the request was raised outweigh them
}
