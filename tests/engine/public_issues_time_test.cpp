// Public issues about time: lag, restarts, history that was lost, short runs, feedback. The numbers
// of threads are those of github.com/kubernetes/autoscaler.
#include <cmath>

#include "cmd/config.h"
#include "model/advice_text.h"
#include "tests/engine/issue_world.h"

using namespace tidemark;
using namespace tidemark::testing;

namespace {

ProfileSetPtr HalfLife(int64_t ms) {
  return Vpa([ms](Profile& profile) {
    for (ResourceRule& rule : profile.resources) rule.half_life_ms = ms;
  });
}

}  // namespace

TEST_CASE("kubernetes/autoscaler#2389, #1459: how soon a target follows is a setting",
          "[public-issue][time]") {
  World slow(HalfLife(24 * kHour));
  World fast(HalfLife(2 * kHour));
  std::vector<Container> apps;
  for (World* world : {&slow, &fast}) {
    OwnedBy(*world, "db-0", "StatefulSet", "db");
    apps.emplace_back(*world, "db-0").Go(48 * 60, 0.2, 100 * kMi);
  }
  const auto go = [&](int minutes, double cores) {
    for (Container& app : apps) app.Go(minutes, cores, 100 * kMi);
  };
  go(60, 1.2);  // an hour of six times the load
  CHECK(*slow.Cores("db").model_request < 0.25);
  CHECK(*fast.Cores("db").model_request >= 1.2);
  go(11 * 60, 1.2);
  CHECK(*slow.Cores("db").model_request >= 1.2);
  go(10 * 60, 0.2);  // and down again
  CHECK(*slow.Cores("db").model_request >= 1.2);
  CHECK(*fast.Cores("db").model_request < 0.25);
}

TEST_CASE("kubernetes/autoscaler#6040: a half-life that keeps nothing is refused",
          "[public-issue][time]") {
  for (const std::string half_life : {"1s", "59s", "0s"}) {
    const auto config = cmd::ParseConfig(
        "estimation:\n  preset: vpa\n  memory: {half_life: " + half_life + "}\n", "tidemark.yml");
    REQUIRE_FALSE(config);
    INFO(config.error().message);
    CHECK(config.error().message.find("estimation.memory.half_life: " + half_life) !=
          std::string::npos);
    CHECK(config.error().message.find("allowed: 1m") != std::string::npos);
  }
  // So short against the window that no peak would reach the next.
  const auto config =
      cmd::ParseConfig("estimation: {memory: {half_life: 30m, window: 24h}}", "tidemark.yml");
  REQUIRE_FALSE(config);
  CHECK(config.error().message.find("half_life at least") != std::string::npos);
  // The shortest that is allowed follows the usage.
  World world(HalfLife(kMinute));
  OwnedBy(world, "db-0", "StatefulSet", "db");
  Container app(world, "db-0");
  app.Go(60, 3, 100 * kMi);
  app.Go(10, 0.3, 100 * kMi);
  CHECK(*world.Cores("db").model_request < 0.35);
}

TEST_CASE("kubernetes/autoscaler#7726: saving and loading never turns data into none",
          "[public-issue][time]") {
  World world(Vpa([](Profile& profile) {
    profile.rule(Resource::kMemory).pod_minimum = 0;
    profile.rule(Resource::kCpu).pod_minimum = 0;
  }));
  OwnedBy(world, "db-0", "StatefulSet", "db");
  Container app(world, "db-0");
  // A first peak in the first bucket, which decays to almost nothing beside those of later days.
  app.Hours(1, 5 * kMi);
  app.SkipTo(kT0 + kDay);
  app.Hours(7 * 24, 700 * kMi);
  app.Go(30, 0.3, 700 * kMi);
  const ResourceAdvice memory = world.Bytes("db");
  const ResourceAdvice cpu = world.Cores("db");
  CHECK(*memory.model_request >= 700 * kMi);
  for (int restart = 0; restart < 5; ++restart) {
    world.Restart(World::By::kCheckpoint, kMinute);
    CHECK(world.Bytes("db").recommended_request == memory.recommended_request);
    CHECK(world.Bytes("db").lower_bound == memory.lower_bound);
    CHECK(world.Cores("db").recommended_request == cpu.recommended_request);
    CHECK(world.Cores("db").samples == cpu.samples);
  }
}

TEST_CASE("kubernetes/autoscaler PR 10042, #8982: daily restarts do not lose the running peak",
          "[public-issue][time]") {
  const auto run = [](World& world) {
    OwnedBy(world, "db-0", "StatefulSet", "db");
    Container app(world, "db-0");
    for (int day = 0; day < 4; ++day) {
      app.Hours(20, 600 * kMi);
      world.Restart(World::By::kCheckpoint, kMinute);
      app.SkipTo(world.now_ms() + kMinute);
    }
    return *world.Bytes("db").model_request;
  };
  World world(Vpa());
  CHECK(run(world) >= 600 * kMi);
  const double whole = *world.Bytes("db").model_request;
  // The running peak is still one, not one more: a higher one takes its place.
  CHECK(whole < 1.06 * 600 * kMi);
  // VPA writes no running peak to its checkpoints: a restart within every day, and nothing is left.
  World strict(StrictVpa());
  CHECK(run(strict) == 0);
}

TEST_CASE(
    "kubernetes/autoscaler#9891, #9241: history outlives owners and profiles that come and go",
    "[public-issue][time]") {
  World world(Vpa());
  OwnedBy(world, "web-5c9-a", "ReplicaSet", "web-5c9");
  world.Put(ReplicaSetOwner("web-5c9", "Deployment", "web"), kT0, 1);
  Container app(world, "web-5c9-a");
  app.Go(20 * 60, 0.4, 900 * kMi);
  const double memory = *world.Bytes("web").recommended_request;
  const double cores = *world.Cores("web").recommended_request;
  // Its owners cannot be resolved for a while, and usage goes on.
  world.Put({{PodOwner("web-5c9-a", "ReplicaSet", "web-5c9"), {{app.now_ms(), StaleMarker()}}},
             {ReplicaSetOwner("web-5c9", "Deployment", "web"), {{app.now_ms(), StaleMarker()}}}});
  app.Go(180, 0.4, 30 * kMi);
  CHECK(world.Names() == std::vector<std::string>{"deployment/web"});
  CHECK(world.Bytes("web").recommended_request == memory);
  OwnedBy(world, "web-5c9-a", "ReplicaSet", "web-5c9", app.now_ms());
  world.Put(ReplicaSetOwner("web-5c9", "Deployment", "web"), app.now_ms(), 1);
  app.Go(5, 0.4, 30 * kMi);
  CHECK(world.Bytes("web").recommended_request == memory);
  CHECK(world.Cores("web").recommended_request == cores);
  // Another profile takes it, knows nothing of its own yet, and gives it back.
  world.engine().SetProfiles(OneProfile(Preset::kOversell, [](Profile&) {}));
  app.Go(5, 0.4, 30 * kMi);
  CHECK(world.Bytes("web").Has(AdviceMark::kEarlierRule));
  CHECK(*world.Bytes("web").model_request >= 900 * kMi);
  world.engine().SetProfiles(Vpa());
  CHECK(world.Bytes("web").recommended_request == memory);
}

TEST_CASE("kubernetes/autoscaler#3975: runs under a minute count by their peaks, or say too little",
          "[public-issue][time]") {
  World world(Vpa());
  const auto run = [&](int number, double bytes) {
    const int64_t at = kT0 + number * 10 * kMinute + 5000;
    const std::string job = "report-" + std::to_string(number);
    RunOfCronJob(world, job, "report", at);
    const std::string pod = job + "-pod";
    world.Put({{Cpu(pod), {{at, 0.1}}}, {Memory(pod), {{at, bytes}}}});  // sampled once
    world.Put({{Cpu(pod), {{at + 12'000, StaleMarker()}}},
               {Memory(pod), {{at + 12'000, StaleMarker()}}}});
  };
  for (int number = 0; number < 12; ++number) run(number, (number == 5 ? 600 : 400) * kMi);
  world.Pass(kT0 + 130 * kMinute);
  CHECK(world.Names() == std::vector<std::string>{"cronjob/report"});
  const ResourceAdvice memory = world.Bytes("report");
  CHECK(memory.samples == 12);
  CHECK(*memory.model_request >= 400 * kMi);
  CHECK(memory.confidence_days < 0.1);
  const auto why = world.engine().ExplainRequests("shop", "cronjob", "report");
  REQUIRE(why);
  const ContainerExplanation& app = why->front().containers.front();
  const std::string sentence = AdviceText(app.profile, memory);
  INFO(sentence);
  CHECK(sentence.find(" of 12 minutes of samples") != std::string::npos);
  // One sample of a counter is no usage, and nothing is made up for it.
  CHECK_FALSE(world.Find("report", Resource::kCpu));
}

TEST_CASE("kubernetes/autoscaler#7951: taking samples in does not wait for anything to go out",
          "[public-issue][time]") {
  World world(Vpa());
  const auto shown = world.Now();
  const uint64_t ticks = world.counters().ticks;
  constexpr int kWorkloads = 400;
  for (int i = 0; i < kWorkloads; ++i) {
    const std::string pod = "db" + std::to_string(i) + "-0";
    OwnedBy(world, pod, "StatefulSet", "db" + std::to_string(i));
    Container(world, pod).Go(2, 0.1, 50 * kMi);
  }
  CHECK(world.counters().queued_batches_now == 0);
  CHECK(world.counters().usage_minutes >= 3 * kWorkloads);
  CHECK(world.counters().ticks == ticks);
  CHECK(world.engine().Current()->generation == shown->generation);
  // All of it is there with the next tick, whoever still reads the page before; and how long that
  // took is known.
  CHECK(world.Names().size() == kWorkloads);
  CHECK(world.counters().ticks == ticks + 1);
  CHECK(world.counters().last_tick_duration_us_now > 0);
  CHECK(shown->blocks.empty());
}

TEST_CASE("kubernetes/autoscaler#1726, #6060: a recommendation does not feed on the request",
          "[public-issue][time]") {
  using SetRequest = std::function<double(int, double)>;
  const auto run = [](const SetRequest& request) {
    World world(Vpa());
    OwnedBy(world, "db-0", "StatefulSet", "db");
    Container app(world, "db-0");
    std::vector<double> recommended;
    double set = 1;
    for (int i = 0; i < 50; ++i) {
      world.Put(Request("db-0", "cpu"), app.now_ms(), set);
      // A tenth is not quite reached by the higher load: whatever weighed more would show.
      app.Go(4, i < 46 ? 0.3 : 0.8, 200 * kMi);
      recommended.push_back(*world.Cores("db").recommended_request);
      set = request(i, recommended.back());
    }
    CHECK(world.Cores("db").current_request);
    return recommended;
  };
  const auto alone = run([](int, double) { return 1; });
  CHECK(alone == run([](int, double recommended) { return recommended; }));
  CHECK(alone == run([](int, double recommended) { return recommended / 10; }));
  CHECK(alone == run([](int i, double) { return i < 45 ? 0.1 : 64; }));
  CHECK(alone.back() >= 1.15 * 0.3);
  CHECK(alone.back() < 1.15 * 0.35);
}

TEST_CASE("kubernetes/autoscaler#3091, #7510: limits are left alone and change nothing",
          "[public-issue][time]") {
  const auto run = [](std::optional<double> limit) {
    World world(Vpa());
    OwnedBy(world, "db-0", "StatefulSet", "db");
    Container app(world, "db-0");
    for (int i = 0; i < 10; ++i) {
      if (limit) {
        world.Put(Request("db-0", "memory", "app", "kube_pod_container_resource_limits"),
                  app.now_ms(), *limit);
      }
      app.Go(3, 0.5, 400 * kMi);
    }
    CHECK(world.Bytes("db").current_limit == limit);
    CHECK(world.Page().find("recommended_limit") == std::string::npos);
    return world.Bytes("db").recommended_request;
  };
  const auto without = run(std::nullopt);
  CHECK(*without > 400 * kMi);
  CHECK(run(100 * kMi) == without);
  CHECK(run(64'000 * kMi) == without);
}
