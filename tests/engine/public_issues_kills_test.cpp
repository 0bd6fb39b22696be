// Public issues about kills for memory, each with what is right. The numbers of threads are those
// of github.com/kubernetes/autoscaler. The preset is vpa where VPA failed, without its faults.
#include <algorithm>

#include "model/advice_text.h"
#include "tests/engine/issue_world.h"

using namespace tidemark;
using namespace tidemark::testing;

namespace {

/// The bump of VPA's flags: 100 MiB or a fifth.
constexpr double kBump = 100 * kMi;
constexpr int64_t kHold = 72 * kHour;

}  // namespace

TEST_CASE("kubernetes/autoscaler#1574: a kill raises memory at once and it stays raised",
          "[public-issue][kills]") {
  World world(Vpa());
  OwnedBy(world, "db-0", "StatefulSet", "db");
  Restarts kube(world, "db-0");
  kube.Scrape(kT0);
  Container app(world, "db-0");
  app.Go(60, 0.1, 320 * kMi);
  const double before = *world.Bytes("db").recommended_request;
  CHECK(before < 400 * kMi);
  kube.Kill(app.now_ms(), 350 * kMi);
  const ResourceAdvice killed = world.Bytes("db");
  CHECK(killed.Has(AdviceMark::kKills));
  CHECK(killed.kills == 1);
  CHECK(*killed.model_request >= 350 * kMi + kBump);
  const std::string sentence = AdviceText(Vpa()->fallback(), killed);
  INFO(sentence);
  CHECK(sentence.find("killed for memory once, asks for at least") != std::string::npos);
  // The restarted process begins small: that proves nothing.
  for (int day = 0; day < 2; ++day) {
    app.Hours(24, 60 * kMi);
    CHECK(world.Bytes("db").recommended_request >= killed.recommended_request);
  }
}

TEST_CASE("kubernetes/autoscaler#4981: a kill before any usage makes a memory recommendation",
          "[public-issue][kills]") {
  World world(Vpa());
  OwnedBy(world, "db-0", "StatefulSet", "db");
  Restarts kube(world, "db-0");
  kube.Scrape(kT0);
  CHECK(world.Names().empty());
  kube.Kill(kT0 + 30'000, 512 * kMi);
  const ResourceAdvice memory = world.Bytes("db");
  CHECK(*memory.model_request >= 512 * kMi + kBump);
  CHECK(*memory.recommended_request > *memory.model_request);
  CHECK(memory.Has(AdviceMark::kOnlyKills));
  CHECK_FALSE(memory.upper_bound);  // and no confidence is claimed
  CHECK(memory.confidence_days == 0);
  // As soon as there is usage it is no longer all that is known.
  Container(world, "db-0").Go(3, 0.1, 50 * kMi);
  CHECK_FALSE(world.Bytes("db").Has(AdviceMark::kOnlyKills));
}

TEST_CASE("kubernetes/autoscaler#6236: the runs of a CronJob that are killed at their start count",
          "[public-issue][kills]") {
  World world(Vpa());
  std::vector<double> asked;
  for (int run = 0; run < 4; ++run) {
    const int64_t at = kT0 + run * 20 * kMinute;
    const std::string job = "report-" + std::to_string(run);
    RunOfCronJob(world, job, "report", at);
    Restarts kube(world, job + "-pod");
    kube.Scrape(at);
    kube.Kill(at + kMinute, 256 * kMi);
    asked.push_back(*world.Bytes("report").model_request);
    CHECK(world.Bytes("report").kills == static_cast<uint32_t>(run + 1));
  }
  CHECK(world.Names() == std::vector<std::string>{"cronjob/report"});
  CHECK(asked[0] >= 256 * kMi + kBump);
  CHECK(std::ranges::count(asked, asked[0]) == 4);
}

TEST_CASE("kubernetes/autoscaler#10211: what only a kill has said is not collected as empty",
          "[public-issue][kills]") {
  const auto by = GENERATE(World::By::kJournal, World::By::kCheckpoint);
  World world(Vpa());
  RunOfCronJob(world, "report-1", "report", kT0);
  Restarts kube(world, "report-1-pod");
  kube.Scrape(kT0);
  kube.Kill(kT0 + kMinute, 400 * kMi);
  // The pod is gone, and no run comes for a week.
  for (int hour = 1; hour < 7 * 24; ++hour) world.Pass(kT0 + hour * kHour);
  world.Restart(by);
  const ResourceAdvice memory = world.Bytes("report");
  CHECK(memory.kills == 0);  // its hold is over; the peak that it was goes on
  CHECK(*memory.recommended_request >= 400 * kMi + kBump);
}

TEST_CASE("kubernetes/autoscaler#8548, #4152, #3078: a kill told after newer usage is not too old",
          "[public-issue][kills]") {
  World world(Vpa());
  OwnedBy(world, "db-0", "StatefulSet", "db");
  Restarts kube(world, "db-0");
  kube.Scrape(kT0);
  Container app(world, "db-0");
  SECTION("by some minutes") {
    app.Go(30, 0.1, 120 * kMi);
    kube.KillAt(app.now_ms(), static_cast<double>(kT0 + 10 * kMinute) / 1000);
  }
  SECTION("from just before the daily window turned over") {
    app.Hours(24, 120 * kMi);
    app.Hours(1, 120 * kMi);
    kube.KillAt(app.now_ms(), static_cast<double>(kT0 + kDay - 5000) / 1000);
  }
  SECTION("by most of a day") {
    app.Hours(30, 120 * kMi);
    kube.KillAt(app.now_ms(), static_cast<double>(kT0 + 8 * kHour) / 1000);
  }
  CHECK(world.counters().oom_kills == 1);
  CHECK(*world.Bytes("db").model_request >= 120 * kMi + kBump);
}

TEST_CASE("kubernetes/autoscaler#6705: a kill counts though its pod has gone before it was told",
          "[public-issue][kills]") {
  World world(Vpa());
  OwnedBy(world, "db-0", "StatefulSet", "db");
  Restarts kube(world, "db-0");
  kube.Scrape(kT0);
  Container app(world, "db-0");
  app.Go(20, 0.1, 120 * kMi);
  app.End();
  world.Put(PodOwner("db-0", "StatefulSet", "db"), app.now_ms() + 1, StaleMarker());
  // The next pod of the workload is there already.
  OwnedBy(world, "db-1", "StatefulSet", "db", app.now_ms() + kMinute);
  Container(world, "db-1", "app", app.now_ms() + kMinute).Go(3, 0.1, 50 * kMi);
  kube.Kill(app.now_ms() + 1, 500 * kMi);
  const ResourceAdvice memory = world.Bytes("db");
  CHECK(memory.kills == 1);
  CHECK(*memory.model_request >= 500 * kMi + kBump);
}

TEST_CASE("kubernetes/autoscaler#6420: a kill of one pod of a hundred answers to that pod",
          "[public-issue][kills]") {
  const auto fleet = [](World& world) {
    for (int i = 0; i < 100; ++i) {
      const std::string pod = "agent-" + std::to_string(i);
      OwnedBy(world, pod, "DaemonSet", "agent");
      Container(world, pod).Go(3, 0.01, i == 7 ? 950 * kMi : 50 * kMi);
    }
    Restarts kube(world, "agent-7");
    kube.Scrape(kT0 + 4 * kMinute);
    const double before = *world.Bytes("agent").recommended_request;
    kube.Kill(kT0 + 5 * kMinute, 1000 * kMi);
    return std::pair(before, *world.Bytes("agent").recommended_request);
  };
  World sane(Vpa());
  const auto [before, after] = fleet(sane);
  CHECK(before == 250 * kMi);
  CHECK(after >= 1.15 * 1200 * kMi);
  // VPA's own number: the 90th percentile of all pods has not moved.
  World strict(StrictVpa());
  CHECK(fleet(strict) == std::pair(before, before));
}

TEST_CASE("kubernetes/autoscaler#9521: kills at a capped request do not build on one another",
          "[public-issue][kills]") {
  World world(Vpa([](Profile& profile) { profile.rule(Resource::kMemory).ceiling = 512 * kMi; }));
  OwnedBy(world, "db-0", "StatefulSet", "db");
  Restarts kube(world, "db-0");
  kube.Scrape(kT0);
  Container app(world, "db-0");
  app.Go(10, 0.1, 500 * kMi);
  kube.Kill(app.now_ms(), 512 * kMi);
  const ResourceAdvice first = world.Bytes("db");
  CHECK(first.recommended_request == 512 * kMi);
  CHECK(first.Has(AdviceMark::kCeiling));
  CHECK(first.Has(AdviceMark::kKills));
  CHECK(*first.model_request < 1.06 * 1.2 * 512 * kMi);  // the bucket's end
  for (int kill = 0; kill < 40; ++kill) {
    app.Hours(1, 500 * kMi);
    kube.Kill(app.now_ms(), 512 * kMi);
    REQUIRE(world.Bytes("db").model_request == first.model_request);
  }
  // What was made up gives way to what is used.
  app.Hours(8 * 24, 500 * kMi);
  const ResourceAdvice later = world.Bytes("db");
  CHECK(later.kills == 0);
  CHECK(*later.model_request < 1.06 * 500 * kMi);
  CHECK(*later.model_request >= 500 * kMi);
}

TEST_CASE("kubernetes/autoscaler#10137: a kill ages out", "[public-issue][kills]") {
  World world(Vpa());
  OwnedBy(world, "db-0", "StatefulSet", "db");
  Restarts kube(world, "db-0");
  kube.Scrape(kT0);
  Container app(world, "db-0");
  app.Go(5, 0.1, 300 * kMi);
  const int64_t at = app.now_ms();
  kube.Kill(at, 500 * kMi);
  const auto told_on = [&](int64_t until_ms) {
    // One pod for its whole life: every scrape says OOMKilled as its last reason.
    while (app.now_ms() < until_ms) {
      app.Hours(1, 300 * kMi);
      kube.Scrape(app.now_ms());
    }
  };
  told_on(at + kHold - 2 * kHour);
  CHECK(world.Bytes("db").kills == 1);
  CHECK(world.Bytes("db").Has(AdviceMark::kKills));
  told_on(at + kHold + 2 * kHour);
  CHECK(world.counters().oom_kills == 1);
  CHECK(world.Bytes("db").kills == 0);
  CHECK_FALSE(world.Bytes("db").Has(AdviceMark::kKills));
  told_on(at + 6 * kDay);
  CHECK(*world.Bytes("db").model_request < 1.06 * 300 * kMi);
}

TEST_CASE("kubernetes/autoscaler PR 9725: a kill in the future holds up no usage",
          "[public-issue][kills]") {
  const auto run = [](World& world) {
    OwnedBy(world, "db-0", "StatefulSet", "db");
    Restarts kube(world, "db-0");
    kube.Scrape(kT0);
    Container app(world, "db-0");
    app.Go(5, 0.1, 100 * kMi);
    const double in_ten_years = static_cast<double>(app.now_ms() + 3650 * kDay) / 1000;
    kube.KillAt(app.now_ms(), in_ten_years);
    CHECK(world.Bytes("db").kills == 1);
    const uint64_t samples = world.Bytes("db").samples;
    app.Go(30, 0.1, 900 * kMi);
    CHECK(world.Bytes("db").samples >= samples + 29);
    CHECK(*world.Bytes("db").model_request >= 900 * kMi);
    app.Hours(74, 100 * kMi);
    CHECK(world.Bytes("db").kills == 0);
  };
  World world(Vpa());
  run(world);
  World minutes(OneProfile(Preset::kOversell, [](Profile& profile) {
    profile.rule(Resource::kMemory).percentile = 1;
    profile.rule(Resource::kMemory).upper_percentile = 1;
  }));
  run(minutes);
}
