// The life of a kill in the recommendation: raised at once, held, aged, kept over restarts and
// reloads, and whatever is told of it, nothing absurd comes out.
#include "estimators/amount.h"
#include "tests/engine/issue_world.h"

using namespace tidemark;
using namespace tidemark::testing;

namespace {

ProfileSetPtr EveryMinute() {
  return OneProfile(Preset::kOversell, [](Profile&) {});
}

/// A pod that was seen for ten minutes at `bytes`.
struct KilledPod {
  World& world;
  Container app;
  Restarts kube;

  KilledPod(World& in, double bytes, const std::string& pod = "db-0")
      : world(in), app(in, pod), kube(in, pod) {
    OwnedBy(in, pod, "StatefulSet", "db");
    kube.Scrape(kT0);
    app.Go(10, 0.1, bytes);
  }
  void Kill(std::optional<double> request) { kube.Kill(app.now_ms(), request); }
  double Model() const { return *world.Bytes("db").model_request; }
};

}  // namespace

TEST_CASE("repeated kills at one request ask for no more than the first", "[engine][kills]") {
  const bool every_minute = GENERATE(false, true);
  World world(every_minute ? EveryMinute() : Vpa());
  KilledPod pod(world, 300 * kMi);
  pod.Kill(600 * kMi);
  const double first = pod.Model();
  CHECK(first >= 720 * kMi);
  for (int kill = 0; kill < 30; ++kill) {
    pod.app.Go(5, 0.1, 300 * kMi);
    pod.Kill(600 * kMi);
  }
  CHECK(pod.Model() == first);
  CHECK(world.counters().oom_kills == 31);
  // The owner, or the webhook, has given it more, and that was not enough either.
  pod.app.Go(5, 0.1, 300 * kMi);
  pod.Kill(720 * kMi);
  CHECK(pod.Model() >= 1.2 * 720 * kMi);
}

TEST_CASE("after its hold the floor of a kill goes, and its peak decays", "[engine][kills]") {
  World world(Vpa());
  KilledPod pod(world, 300 * kMi);
  const int64_t killed_ms = pod.app.now_ms();
  pod.Kill(2000 * kMi);
  pod.app.Hours(71, 300 * kMi);
  REQUIRE(pod.app.now_ms() - killed_ms < 72 * kHour);
  CHECK(pod.Model() >= 2400 * kMi);
  const auto shown = [&] {
    const auto why = world.engine().ExplainRequests("shop", "statefulset", "db");
    REQUIRE(why);
    return why->front().containers.front().resources.back().kills.size();
  };
  CHECK(shown() == 1);
  world.Pass(killed_ms + 72 * kHour - kMinute);  // what is over is collected once an hour
  CHECK(shown() == 1);
  world.Pass(killed_ms + 72 * kHour);
  CHECK(world.Bytes("db").kills == 0);
  CHECK(shown() == 0);
  pod.app.SkipTo(world.now_ms());
  pod.app.Hours(2, 300 * kMi);
  const ResourceAdvice after = world.Bytes("db");
  CHECK(after.kills == 0);
  // One peak of four days is still more than a tenth, four days later it is not.
  pod.app.Hours(4 * 24, 300 * kMi);
  CHECK(pod.Model() < 1.06 * 300 * kMi);
}

TEST_CASE("minutes of usage know a kill too: by its hold alone", "[engine][kills]") {
  World world(EveryMinute());
  KilledPod pod(world, 300 * kMi);
  const double before = pod.Model();
  pod.Kill(600 * kMi);
  CHECK(pod.Model() >= 720 * kMi);
  CHECK(world.Bytes("db").Has(AdviceMark::kKills));
  pod.app.Hours(71, 300 * kMi);
  CHECK(pod.Model() >= 720 * kMi);
  pod.app.Hours(2, 300 * kMi);
  CHECK(pod.Model() == before);
}

TEST_CASE("a pod killed far above its request asks for more than it used", "[engine][kills]") {
  const bool every_minute = GENERATE(false, true);
  World world(every_minute ? EveryMinute() : Vpa());
  KilledPod pod(world, 100 * kMi);
  // It climbs to its limit within three minutes of a day: no percentile of minutes shows that.
  pod.app.Go(600, 0.1, 100 * kMi);
  pod.app.Go(3, 0.1, 1000 * kMi);
  pod.Kill(100 * kMi);
  CHECK(pod.Model() >= 1000 * kMi + 100 * kMi);
}

TEST_CASE("many small kills do not push out the one that needs the most", "[engine][kills]") {
  World world(EveryMinute());
  KilledPod pod(world, 300 * kMi);
  pod.Kill(4000 * kMi);
  const double needed = pod.Model();
  CHECK(needed >= 4800 * kMi);
  for (int kill = 0; kill < 40; ++kill) {
    pod.app.Go(5, 0.1, 300 * kMi);
    pod.Kill(400 * kMi + kill * kMi);
    REQUIRE(pod.Model() == needed);
  }
  CHECK(world.Bytes("db").kills >= 16);
}

TEST_CASE("kills outlive a restart and a reload of the profiles", "[engine][kills]") {
  const bool every_minute = GENERATE(false, true);
  const auto by = GENERATE(World::By::kJournal, World::By::kCheckpoint);
  World world(every_minute ? EveryMinute() : Vpa());
  KilledPod pod(world, 300 * kMi);
  pod.Kill(600 * kMi);
  const ResourceAdvice before = world.Bytes("db");
  for (int i = 0; i < 3; ++i) {
    world.Restart(by);
    CHECK(world.Bytes("db").recommended_request == before.recommended_request);
    CHECK(world.Bytes("db").kills == 1);
  }
  // The same again, then the other kind of samples, and back.
  const ProfileSetPtr own = every_minute ? EveryMinute() : Vpa();
  world.engine().SetProfiles(own);
  CHECK(world.Bytes("db").recommended_request == before.recommended_request);
  world.engine().SetProfiles(every_minute ? Vpa() : EveryMinute());
  CHECK(world.Bytes("db").kills == 1);
  CHECK(pod.Model() >= 720 * kMi);
  world.engine().SetProfiles(own);
  CHECK(world.Bytes("db").recommended_request == before.recommended_request);
}

TEST_CASE("a kill is known on every level after its hold", "[engine][kills]") {
  const Level level = GENERATE(Level::kContainer, Level::kWorkload, Level::kNamespace);
  World world(Vpa([level](Profile& profile) { profile.level = level; }));
  OwnedBy(world, "db-0", "StatefulSet", "db");
  Restarts kube(world, "db-0");
  kube.Scrape(kT0);
  kube.Kill(kT0 + kMinute, 600 * kMi);
  CHECK(*world.Bytes("db").model_request >= 720 * kMi);
  for (int hour = 1; hour < 80; ++hour) world.Pass(kT0 + hour * kHour);
  CHECK(world.Bytes("db").kills == 0);
  CHECK(world.Bytes("db").Has(AdviceMark::kOnlyKills));
  CHECK(*world.Bytes("db").model_request >= 720 * kMi);
}

TEST_CASE("a request that cannot be makes no request of a kill", "[engine][kills]") {
  const double request = GENERATE(1e300, 1.79e308, 1e15);
  const bool every_minute = GENERATE(false, true);
  World world(every_minute ? EveryMinute() : Vpa());
  KilledPod pod(world, 300 * kMi);
  pod.Kill(request);
  CHECK(world.counters().oom_kills == 1);
  const ResourceAdvice before = world.Bytes("db");
  CHECK(*before.recommended_request >= 400 * kMi);
  CHECK(*before.recommended_request < 1000 * kMi);
  world.Restart(World::By::kCheckpoint);
  CHECK(world.Bytes("db").recommended_request == before.recommended_request);
}

TEST_CASE("a pool that waits for its first day of samples does not wait with a kill",
          "[engine][kills]") {
  World world(ByPercentile([](Profile& profile) {
    profile.mode = PoolMode::kStaticAndDynamic;
    profile.rule(Resource::kMemory).static_ratio = 0.5;
  }));
  const auto original = [&](int64_t at) {
    world.Put(Named("kube_pod_annotations", {{"namespace", "shop"},
                                             {"pod", "db-0"},
                                             {"annotation_tidemark_io_original_resources",
                                              R"({"app":{"requests":{"memory":"1000Mi"}}})"}}),
              at, 1);
  };
  original(kT0);
  KilledPod pod(world, 300 * kMi);
  original(pod.app.now_ms());
  CHECK(world.Bytes("db").Has(AdviceMark::kStatic));
  CHECK(world.Bytes("db").recommended_request == 500 * kMi);
  pod.Kill(100 * kMi);  // 1.15 times 400 Mi: less than the ratio gives
  CHECK(world.Bytes("db").recommended_request == 500 * kMi);
  pod.app.Go(3, 0.1, 300 * kMi);
  original(pod.app.now_ms());
  pod.Kill(500 * kMi);
  CHECK(*world.Bytes("db").recommended_request >= 1.15 * 600 * kMi);
  CHECK(world.Bytes("db").Has(AdviceMark::kKills));
  CHECK_FALSE(world.Bytes("db").Has(AdviceMark::kStatic));
}
