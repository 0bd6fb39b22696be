// What is told with each closed minute of a workload's demand: replicas, bounds, requests, ready
// pods, start-up times, missing pods, and whether limits held them back.
#include <algorithm>
#include <random>

#include "tests/catch.h"
#include "tests/seed.h"
#include "tests/workloads/scaled_world.h"

using namespace tidemark;
using namespace tidemark::testing;
using workloads::kMinuteMs;

namespace {

constexpr int64_t kSecond = 1000;

}  // namespace

TEST_CASE("with a minute of demand all is told that replicas are decided by",
          "[workloads][scaling]") {
  ScaledWorld world;
  world.scalers["web"];
  world.Add("web-0");
  world.Add("web-1").request = 0.75;
  world.Until(70);
  world.Start("web-2", 25);
  world.Until(4 * 60 + 6);
  CHECK(world.NewestMinute() == 3);
  // The newest pod's request; its start from 70 s to 95 s was first seen at 110 s.
  CHECK(TextOf(world.Facts()) == "2 0.5 2 10 3 40000");
  CHECK(world.Newest().minute.missing == 0);
  CHECK_FALSE(world.Newest().minute.is_censored);
  const auto view = world.View();
  CHECK(view.min_replicas == 2);
  CHECK(view.max_replicas == 10);
  CHECK(view.ready_pods == 3U);
  CHECK(view.startup_ms == 40 * kSecond);
}

TEST_CASE("without kube-state-metrics nothing is told", "[workloads][scaling]") {
  ScaledWorld world;
  world.Add("web-0");
  world.Until(70);
  world.facts = false;
  world.Until(12 * 60 + 6);
  // The pod's owner stays; the rest was told last at 50 s.
  CHECK(TextOf(world.sink.demand.front().facts) == "2 0.5 - - 1 -");
  CHECK(world.NewestMinute() == 11);
  CHECK(TextOf(world.Facts()) == "- - - - - -");
}

TEST_CASE("replicas, bounds and requests end with their series", "[workloads][scaling]") {
  ScaledWorld world;
  world.scalers["web"];
  world.Add("web-0");
  world.Minutes(3);
  world.Until(world.now + 6);
  CHECK(TextOf(world.Facts()) == "2 0.5 2 10 1 -");
  world.facts = false;
  world.Until(3 * 60 + 25);
  world.End({world.InfoOf("web")});
  world.Until(4 * 60 + 6);
  CHECK(TextOf(world.Facts()) == "2 0.5 - - 1 -");
  CHECK_FALSE(world.View().max_replicas);
  world.facts = true;
  world.scalers.clear();
  world.scalers["new-name"];
  world.Until(5 * 60 + 6);
  CHECK(TextOf(world.Facts()) == "2 0.5 2 10 1 -");
  world.scalers["new-name"].kind = "Deployment";
  world.End({ScaledWorld::OfScaler("spec_min_replicas", "web")});
  world.Until(11 * 60 + 6);
  CHECK(TextOf(world.Facts()) == "2 0.5 - - 1 -");
}

TEST_CASE("an autoscaler is forgotten with its last series", "[workloads][scaling]") {
  ScaledWorld world;
  world.scalers["web"];
  world.Add("web-0");
  world.Minutes(3);
  const auto series = world.state->series_count();
  world.scalers.clear();
  world.Until(3 * 3600);
  CHECK(world.state->series_count() == series - 3);
  CHECK(world.Saved().find("spec_min") == std::string::npos);
  world.scalers["web"].max = 7;
  world.Until(3 * 3600 + 66);
  CHECK(world.Facts().max_replicas == 7);
}

TEST_CASE("an autoscaler without a minimum is told without, when it had a minute to come",
          "[workloads][scaling]") {
  ScaledWorld world;
  world.Add("web-0");
  world.Minutes(3);
  world.scalers["web"].min.reset();  // told at 200 s
  world.Until(4 * 60 + 6);
  CHECK(world.NewestMinute() == 3);
  CHECK(TextOf(world.Facts()) == "2 0.5 - - 1 -");
  world.Until(5 * 60 + 6);
  CHECK(TextOf(world.Facts()) == "2 0.5 - 10 1 -");
  world.scalers["web"].min = 4;
  world.Until(6 * 60 + 6);
  CHECK(TextOf(world.Facts()) == "2 0.5 4 10 1 -");
}

TEST_CASE("the request of a pod is the newest's that has one, once all of it was told",
          "[workloads][scaling]") {
  ScaledWorld world;
  world.Add("web-0");
  world.Add("web-1").request.reset();
  world.Minutes(3);
  world.Until(3 * 60 + 30);
  CHECK(world.Facts().request == 0.5);
  world.Start("web-2", 0).request = 2;  // told at 230 s
  world.Until(4 * 60 + 6);
  CHECK(world.Facts().request == 0.5);
  world.Until(5 * 60 + 6);
  CHECK(world.Facts().request == 2);
  // A sidecar without a request asks for nothing, one with it for more.
  LabelMap proxy = ScaledWorld::OfPod("kube_pod_container_resource_requests", "web-2",
                                      {{"container", "proxy"}, {"resource", "cpu"}});
  LabelMap limit = proxy;
  limit["__name__"] = "kube_pod_container_resource_limits";
  world.Put(limit, ScaledWorld::kT0 + world.now * kSecond, 1);
  world.Until(6 * 60 + 6);
  CHECK(world.Facts().request == 2);
  world.Put(proxy, ScaledWorld::kT0 + world.now * kSecond, 0.25);
  world.Until(7 * 60 + 6);
  CHECK(world.Facts().request == 2.25);
  world.Stop("web-2");
  world.End({proxy, limit});
  world.Until(8 * 60 + 6);
  CHECK(world.Facts().request == 0.5);
}

TEST_CASE("a pod that is alone counts with what was told of it so far", "[workloads][scaling]") {
  ScaledWorld world;
  world.facts = false;
  world.Add("web-0");
  world.Scrape({{OwnerOf("web-0", "StatefulSet", "web"), 1}});
  world.Until(60);
  world.facts = true;
  world.Until(126);
  CHECK(world.Facts().request == 0.5);
}

TEST_CASE("requests of zero and of pods that have completed are none", "[workloads][scaling]") {
  ScaledWorld world;
  world.Add("web-0").request = 0;
  world.Minutes(3);
  world.Until(world.now + 6);
  CHECK_FALSE(world.Facts().request);
  world.pods["web-0"].request = 1;
  world.Until(4 * 60 + 6);
  CHECK(world.Facts().request == 1);
  world.Put(ScaledWorld::OfPod("kube_pod_status_phase", "web-0", {{"phase", "Failed"}}),
            ScaledWorld::kT0 + world.now * kSecond, 1);
  world.Until(5 * 60 + 6);
  CHECK_FALSE(world.Facts().request);
}

TEST_CASE("a start is measured from when the pod started until it was ready",
          "[workloads][scaling][startup]") {
  ScaledWorld world;
  world.Add("web-0");
  world.Until(120);
  world.Start("web-1", 45).tells_ready_time = true;
  world.Start("web-2", 45);
  world.Until(4 * 60 + 6);
  // Told: 45 s. Sampled, first at 170 s: 50 s. Of two the longer counts.
  CHECK(world.Facts().startup_ms == 50 * kSecond);
  for (const char* name : {"web-1", "web-2"}) world.Stop(name);
  world.Until(10 * 60);
  world.Start("web-3", 20).tells_ready_time = true;
  for (int more = 4; more < 12; ++more) {
    world.Start("web-" + std::to_string(more), 20).tells_ready_time = true;
  }
  world.Until(13 * 60);
  CHECK(world.Facts().startup_ms == 20 * kSecond);
}

TEST_CASE("the time at which a pod became ready is enough", "[workloads][scaling][startup]") {
  ScaledWorld world;
  world.Add("web-0").tells_ready = false;
  world.Until(120);
  auto& pod = world.Start("web-1", 70);
  pod.tells_ready = false;
  pod.tells_ready_time = true;
  world.Until(6 * 60);
  CHECK(world.Facts().startup_ms == 70 * kSecond);
  CHECK_FALSE(world.Facts().ready_pods);
}

TEST_CASE("what nobody saw is no start", "[workloads][scaling][startup]") {
  ScaledWorld world;
  world.Add("web-0");
  auto& flaps = world.Add("web-1");
  flaps.ready_until = 200;
  world.Until(6 * 60 + 6);
  CHECK(world.Facts().ready_pods == 1U);
  flaps.ready_from = world.now + 10;
  flaps.ready_until.reset();
  world.Until(10 * 60 + 6);
  CHECK(world.Facts().ready_pods == 2U);
  CHECK_FALSE(world.Facts().startup_ms);  // neither the first sight nor being ready again is one

  // A container that restarts leaves the pod's start as it was.
  world.Start("web-2", 40);  // of 606 s, seen at 650 s
  world.Until(15 * 60);
  CHECK(world.Facts().startup_ms == 44 * kSecond);
  world.pods["web-2"].spent = 0;
  world.pods["web-2"].ready_until = world.now + 5;
  world.Until(17 * 60);
  world.pods["web-2"].ready_until.reset();
  world.pods["web-2"].ready_from = world.now + 5;
  world.Until(20 * 60);
  CHECK(world.Facts().startup_ms == 44 * kSecond);
  CHECK(world.Facts().ready_pods == 3U);
}

TEST_CASE("a pod that is ready for less than a minute has started too",
          "[workloads][scaling][startup]") {
  ScaledWorld world;
  world.Add("web-0");
  world.Until(120);
  auto& pod = world.Start("web-1", 60);  // seen at 200 s
  pod.ready_until = 205;
  world.Until(6 * 60);
  CHECK(world.Facts().startup_ms == 80 * kSecond);
  pod.ready_until.reset();
  pod.ready_from = world.now;
  world.Until(10 * 60);
  CHECK(world.Facts().startup_ms == 80 * kSecond);
}

TEST_CASE("pods that were ready before anybody looked are heard of", "[workloads][scaling]") {
  ScaledWorld world;
  auto& web = world.Add("web-0");  // started an hour ago, ready 100 s later
  web.tells_ready_time = true;
  auto& flapped = world.Add("web-1");
  flapped.ready_from = -3600 + 900;
  flapped.tells_ready_time = true;
  auto& days = world.Add("web-2");
  days.started = -90'000;
  days.tells_ready_time = true;
  world.Minutes(4);
  CHECK(world.Facts().startup_ms == 100 * kSecond);
  world.Start("web-3", 250).tells_ready_time = true;
  world.Minutes(12);
  CHECK(world.Facts().startup_ms == 250 * kSecond);
}

TEST_CASE("a successor of the same name has a start of its own", "[workloads][scaling][startup]") {
  ScaledWorld world;
  world.Add("web-0");
  world.Start("web-1", 100);
  world.Minutes(5);
  CHECK(world.Facts().startup_ms == 110 * kSecond);
  world.Stop("web-1");
  world.Until(world.now + 40);
  world.Start("web-1", 200).uid = "2";
  world.Minutes(12);
  CHECK(world.Facts().startup_ms == 220 * kSecond);  // from 340 s to 540 s, seen at 560 s
  CHECK(world.Facts().ready_pods == 2U);
}

TEST_CASE("starts that cannot be are none", "[workloads][scaling][startup]") {
  ScaledWorld world;
  world.Add("web-0");
  world.Until(120);
  auto& negative = world.Start("web-1", 30);
  negative.started = -2'000'000'000;
  auto& future = world.Start("web-2", 30);
  future.started = 1'000'000;
  world.Until(6 * 60);
  CHECK_FALSE(world.Facts().startup_ms);
  // A time before the start is none: that it is ready was seen 20 s after.
  world.Start("web-3", -300).tells_ready_time = true;
  world.Until(9 * 60);
  CHECK(world.Facts().startup_ms == 20 * kSecond);
  // One that took an hour counts as half of one.
  world.Start("web-4", 3600);
  world.Until(73 * 60);
  CHECK(world.Facts().startup_ms == 30 * 60 * kSecond);
}

TEST_CASE("ready pods are those at the end of the minute", "[workloads][scaling]") {
  ScaledWorld world;
  for (int pod = 0; pod < 4; ++pod) world.Add("web-" + std::to_string(pod));
  world.Until(3 * 60 + 6);
  CHECK(world.Facts().ready_pods == 4U);
  // A rollout: one more comes, is ready after a while, an old one goes.
  world.Start("new-0", 100);  // of 186 s: from 290 s on
  world.Until(4 * 60 + 6);
  CHECK(world.Facts().ready_pods == 4U);
  world.Until(5 * 60 + 4);
  world.Stop("web-0");  // after the end of the minute that is not closed yet
  world.Until(5 * 60 + 6);
  CHECK(world.NewestMinute() == 4);
  CHECK(world.Facts().ready_pods == 5U);
  world.Until(6 * 60 + 6);
  CHECK(world.Facts().ready_pods == 4U);
  world.pods["web-1"].ready_until = world.now;
  world.Until(7 * 60 + 6);
  CHECK(world.Facts().ready_pods == 3U);
  CHECK(world.View().ready_pods == 3U);
  for (auto& [name, pod] : world.pods) pod.ready_until = world.now;
  world.Until(8 * 60 + 6);
  CHECK(world.Facts().ready_pods == 0U);
  for (auto& [name, pod] : world.pods) pod.tells_ready = false;
  world.Until(15 * 60 + 6);
  CHECK_FALSE(world.Facts().ready_pods);
}

TEST_CASE("pods that move to another workload are ready there", "[workloads][scaling]") {
  ScaledWorld world;
  for (int pod = 0; pod < 3; ++pod) world.Add("web-" + std::to_string(pod));
  world.Add("pay-0").of = "pay";
  world.Minutes(4);
  CHECK(world.View("web").ready_pods == 3U);
  const LabelMap was = OwnerOf("web-2", "StatefulSet", "web");
  LabelMap ended = was;
  ended["uid"] = "1";
  world.pods["web-2"].of = "pay";
  world.End({ended});
  world.Until(7 * 60);
  CHECK(world.View("web").ready_pods == 2U);
  CHECK(world.View("pay").ready_pods == 2U);
  CHECK(world.Newest("pay").facts.ready_pods == 2U);
  for (const char* pod : {"web-0", "web-1", "web-2"}) world.Stop(pod);
  world.Until(11 * 3600);  // forgotten
  CHECK(world.state->pod_count() == 1);
  CHECK(world.View("pay").ready_pods == 1U);
}

TEST_CASE("pods without usage are missing, also in minutes that are told", "[workloads][scaling]") {
  ScaledWorld world;
  for (int pod = 0; pod < 20; ++pod) world.Add("web-" + std::to_string(10 + pod));
  world.Minutes(6);
  world.Until(world.now + 6);
  CHECK(world.Newest().minute.missing == 0);
  const auto fail = [&world](const std::string& name) {
    world.End({ScaledWorld::OfPod("container_cpu_usage_seconds_total", name,
                                  {{"container", "app"}, {"id", "/" + name + "1"}})});
    world.pods[name].is_scraped = false;
  };
  fail("web-10");
  fail("web-11");
  world.Until(9 * 60 + 6);
  CHECK(world.NewestMinute() == 8);
  CHECK(world.Newest().minute.missing == 2);
  CHECK(world.Newest().minute.pods == 18);
  CHECK(world.Facts().ready_pods == 20U);  // as their readiness goes
}

TEST_CASE("demand is censored where half of the pods sit at their limit",
          "[workloads][scaling][censored]") {
  ScaledWorld world;
  for (int pod = 0; pod < 4; ++pod) {
    auto& told = world.Add("web-" + std::to_string(pod), pod < 2 ? 0.96 : 0.5);
    told.limit = 1;
  }
  world.Minutes(4);
  CHECK(world.Newest().minute.is_censored);
  world.pods["web-1"].cores = 0.94;
  world.Minutes(6);
  CHECK_FALSE(world.Newest().minute.is_censored);
  // One that is not ready does not count, one without a limit neither.
  world.pods["web-2"].ready_until = world.now;
  world.pods["web-3"].limit.reset();
  world.Minutes(14);
  CHECK(world.Newest().minute.is_censored);
  // But where most have none, those take what the others cannot.
  world.pods["web-1"].limit.reset();
  world.Minutes(22);
  CHECK_FALSE(world.Newest().minute.is_censored);
}

TEST_CASE("demand is censored where half of the pods are throttled",
          "[workloads][scaling][censored]") {
  ScaledWorld world;
  for (int pod = 0; pod < 4; ++pod) {
    auto& told = world.Add("web-" + std::to_string(pod), 0.5);
    told.limit = 1;
    told.throttled_ratio = pod < 2 ? 0.3 : 0.01;
  }
  world.Minutes(5);
  CHECK(world.Newest().minute.is_censored);
  world.pods["web-0"].throttled_ratio = 0.2;
  world.Minutes(7);
  CHECK_FALSE(world.Newest().minute.is_censored);
  world.pods["web-0"].throttled_ratio = 0.3;
  world.Minutes(9);
  CHECK(world.Newest().minute.is_censored);
  // Without their limits too: who is throttled has one. Of the others nobody knows.
  for (auto& [name, pod] : world.pods) pod.limit.reset();
  world.pods["web-0"].throttled_ratio = 0.01;
  world.Minutes(18);
  CHECK_FALSE(world.Newest().minute.is_censored);
  for (auto& [name, pod] : world.pods) pod.throttled_ratio = 0.5;
  world.Minutes(21);
  CHECK(world.Newest().minute.is_censored);
}

TEST_CASE("a sidecar that is always throttled hides no demand", "[workloads][scaling][censored]") {
  ScaledWorld world;
  world.Add("web-0", 0.5).limit = 1;
  const auto proxy = [](const char* metric) {
    return ScaledWorld::OfPod(metric, "web-0", {{"container", "proxy"}, {"id", "/proxy"}});
  };
  LabelMap limit = ScaledWorld::OfPod("kube_pod_container_resource_limits", "web-0",
                                      {{"container", "proxy"}, {"resource", "cpu"}});
  const double most = GENERATE(0.05, 0.4);
  for (int at = 5; at < 6 * 60; at += 15) {
    world.Until(at);
    const int64_t time_ms = ScaledWorld::kT0 + at * kSecond;
    world.Put(proxy("container_cpu_usage_seconds_total"), time_ms, at * 0.04);
    world.Put(proxy("container_cpu_cfs_periods_total"), time_ms, at * 10);
    world.Put(proxy("container_cpu_cfs_throttled_periods_total"), time_ms, at * 9);
    world.Put(limit, time_ms, most);
    world.RecordedNamespace::End();
  }
  CHECK(world.NewestMinute() >= 4);
  CHECK(world.Newest().minute.is_censored == (most > 0.3));
}

TEST_CASE("young pods say nothing of limits", "[workloads][scaling][censored]") {
  ScaledWorld world({Resource::kCpu, 300 * kSecond});
  world.Add("web-0", 0.5).limit = 1;
  world.Until(120);
  for (const char* name : {"web-1", "web-2"}) world.Start(name, 20, 1.0).limit = 1;
  world.Minutes(6);
  CHECK(world.Newest().minute.pods == 3);
  CHECK_FALSE(world.Newest().minute.is_censored);
  world.Minutes(9);
  CHECK(world.Newest().minute.is_censored);
}

TEST_CASE("memory is held back by its limit, not by throttling", "[workloads][scaling][censored]") {
  ScaledWorld world({Resource::kMemory, 0});
  world.Add("web-0").throttled_ratio = 0.9;
  LabelMap memory = ScaledWorld::OfPod("container_memory_working_set_bytes", "web-0",
                                       {{"container", "app"}, {"id", "/web-01"}});
  LabelMap limit = ScaledWorld::OfPod("kube_pod_container_resource_limits", "web-0",
                                      {{"container", "app"}, {"resource", "memory"}});
  const double bytes = GENERATE(900.0, 960.0);
  for (int at = 5; at < 6 * 60; at += 15) {
    world.Until(at);
    world.Put(memory, ScaledWorld::kT0 + at * kSecond, bytes);
    world.Put(limit, ScaledWorld::kT0 + at * kSecond, 1000);
    world.RecordedNamespace::End();
  }
  CHECK(world.Newest().resource == Resource::kMemory);
  CHECK(world.Newest().minute.is_censored == (bytes > 950));
}

TEST_CASE("facts do not depend on the order of series, nor on how they are sent",
          "[workloads][scaling]") {
  const uint32_t seed = tidemark::testing::Seed();
  INFO("seed " << seed);
  for (uint32_t round = 0; round < 4; ++round) {
    ScaledWorld one;
    ScaledWorld backwards;
    ScaledWorld single;
    ScaledWorld restarted;
    backwards.backwards = true;
    single.in_batches_of_one = true;
    const std::vector<ScaledWorld*> all = {&one, &backwards, &single, &restarted};
    std::mt19937 random(seed + round);
    const auto pick = [&random](int below) {
      return static_cast<int>(random() % static_cast<uint32_t>(below));
    };
    for (ScaledWorld* world : all) {
      world->scalers["a"];
      for (int pod = 0; pod < 5; ++pod) world->Add("web-" + std::to_string(pod)).limit = 1.1;
    }
    int made = 5;
    for (int step = 1; step < 60; ++step) {
      const int what = pick(9);
      const int a = pick(3600);
      const int b = pick(100);
      const std::string newest = "web-" + std::to_string(made++);
      for (ScaledWorld* world : all) {
        auto at = world->pods.begin();
        std::advance(at, a % static_cast<int>(world->pods.size()));
        auto& pod = at->second;
        switch (what) {
          case 0: {
            auto& started = world->Start(newest, b, 0.2 + b / 100.0);
            started.tells_ready_time = a % 2 == 0;
            started.limit = 1;
            break;
          }
          case 1:
            if (world->pods.size() > 2) world->Stop(at->first);
            break;
          case 2: pod.ready_until = world->now + b; break;
          case 3:
            pod.ready_from = world->now + b;
            pod.ready_until.reset();
            break;
          case 4: pod.cores = 0.2 + a / 3600.0; break;
          case 5: world->replicas = b; break;
          case 6:
            world->scalers[b % 2 == 0 ? "a" : "b"].max = b;
            world->scalers["b"].min = a % 3 == 0 ? std::nullopt : std::optional(1.0);
            break;
          case 7: pod.request = 0.25 + b; break;
          default: break;
        }
        world->Until(step * 47);
        if (world == &restarted && step % 3 == 0) world->Restart();
      }
    }
    REQUIRE(one.sink.demand.size() > 30);
    for (const ScaledWorld* other : {&backwards, &single, &restarted}) {
      REQUIRE(other->sink.demand.size() == one.sink.demand.size());
      for (size_t i = 0; i < one.sink.demand.size(); ++i) {
        const auto& a = one.sink.demand[i];
        const auto& b = other->sink.demand[i];
        INFO("round " << round << " minute " << (a.minute.start_ms - one.kT0) / kMinuteMs
                      << (other == &single      ? " alone"
                          : other == &restarted ? " restarted"
                                                : ""));
        REQUIRE(a.minute.start_ms == b.minute.start_ms);
        REQUIRE(TextOf(a.facts) == TextOf(b.facts));
        REQUIRE(a.minute.missing == b.minute.missing);
        REQUIRE(a.minute.is_censored == b.minute.is_censored);
      }
    }
  }
}

TEST_CASE("each minute costs one look at the workload's own pods", "[workloads][scaling]") {
  ScaledWorld world;
  constexpr int kPods = 60;
  for (int pod = 0; pod < kPods; ++pod) {
    world.Add("web-" + std::to_string(pod)).of = "w" + std::to_string(pod % 20);
  }
  world.Minutes(3);
  world.Until(world.now + 6);
  const uint64_t before = world.state->FactVisitsForTest();
  const size_t minutes = world.sink.demand.size();
  world.Until(13 * 60 + 6);
  CHECK(world.sink.demand.size() == minutes + 10 * 20);
  CHECK(world.state->FactVisitsForTest() - before == 10 * kPods);
}

TEST_CASE("minutes that come all at once do not cost a look each", "[workloads][scaling]") {
  ScaledWorld world;
  for (int pod = 0; pod < 10; ++pod) world.Add("web-" + std::to_string(pod));
  world.Minutes(3);
  for (int pod = 1; pod < 10; ++pod) world.Stop("web-" + std::to_string(pod));
  world.Until(5 * 60);
  const uint64_t before = world.state->FactVisitsForTest();
  const size_t minutes = world.sink.demand.size();
  const LabelMap usage = world.Usage("web-0").front().first;
  const int begin = world.now;
  for (int minute = 1; minute <= 200; ++minute) {
    world.Put(usage, ScaledWorld::kT0 + (begin + minute * 60) * kSecond, 300 + minute * 60);
  }
  world.RecordedNamespace::End();
  CHECK(world.sink.demand.size() - minutes >= 200);
  CHECK(world.state->FactVisitsForTest() - before <= 6 * 10);
}

TEST_CASE("what a target of replicas lacks is said", "[workloads][scaling]") {
  ScaledWorld world;
  world.replicas.reset();
  world.Add("web-0").request.reset();
  world.Minutes(2);
  const auto said = [&world] {
    std::vector<WorkloadStatus> statuses;
    world.state->Explain("web", statuses);
    REQUIRE(statuses.size() == 1);
    std::string text;
    for (const auto& item : statuses[0].scaling_prerequisites) {
      text += item.what + (item.present ? "+ " : "- ");
      CHECK(item.present == item.hint.empty());
    }
    return text;
  };
  CHECK(said() == "replicas- bounds- request of a pod- start-up time- ");
  world.replicas = 3;
  world.scalers["web"].max.reset();
  world.pods["web-0"].request = 1;
  world.Start("web-1", 10);
  world.Minutes(5);
  CHECK(said() == "replicas+ bounds- request of a pod+ start-up time+ ");
  world.scalers["web"].max = 4;
  world.Minutes(6);
  CHECK(said() == "replicas+ bounds+ request of a pod+ start-up time+ ");
  world.sink.wish.reset();
  world.state->TellContainers();
  CHECK(said().empty());
}
