// Public issues about the sizes of tiny, bursty, JVM, CronJob and DaemonSet workloads, each with
// what the default preset does instead. Numbers without a name are those of
// github.com/kubernetes/autoscaler.
#include <algorithm>
#include <cmath>
#include <string>

#include "model/advice_text.h"
#include "tests/engine/issue_world.h"

using namespace tidemark;
using namespace tidemark::testing;

namespace {

constexpr double kGi = 1024 * kMi;

ProfileSetPtr Tidemark(const std::function<void(Profile&)>& change = [](Profile&) {}) {
  return OneProfile(Preset::kTidemark, change);
}

LabelMap OfPod(const std::string& metric, const std::string& pod, const LabelMap& more = {}) {
  LabelMap labels = {{"namespace", "shop"}, {"pod", pod}, {"uid", "u-" + pod}};
  labels.insert(more.begin(), more.end());
  return Named(metric, std::move(labels));
}
LabelMap OfContainer(const std::string& metric, const std::string& pod, LabelMap more = {}) {
  more["container"] = "app";
  return OfPod(metric, pod, more);
}

/// The steps by which a resource's request came about, "name" or "name!" where it changed
/// something.
std::vector<std::string> StepsOf(World& world, const std::string& type, const std::string& name,
                                 Resource resource) {
  std::vector<std::string> steps;
  const auto why = world.engine().ExplainRequests("shop", type, name);
  REQUIRE(why);
  REQUIRE(why->size() == 1);
  for (const ResourceExplanation& one : why->front().containers.front().resources) {
    if (one.advice.resource != resource) continue;
    for (const ExplanationStep& step : one.steps) {
      steps.push_back(std::string(step.name) + (step.changed ? "!" : ""));
    }
  }
  return steps;
}

bool Has(const std::vector<std::string>& steps, const std::string& step) {
  return std::ranges::find(steps, step) != steps.end();
}

std::string SentenceOf(const ResourceAdvice& advice) {
  return AdviceText(Tidemark()->fallback(), advice);
}

/// Many minutes of a container without all the samples: usage of whole minutes, every ten.
class Sparse {
 public:
  Sparse(World& world, std::string pod, int64_t from_ms = kT0)
      : world_(world), pod_(std::move(pod)), now_ms_(from_ms) {}

  /// `load(time)`: cores and bytes.
  void Go(int64_t until_ms, const std::function<std::pair<double, double>(int64_t)>& load) {
    while (now_ms_ < until_ms) {
      const auto [cores, bytes] = load(now_ms_);
      // Two samples a minute apart make a minute; the next is four minutes later.
      for (int i = 0; i < 2; ++i) {
        world_.Put({{Cpu(pod_), {{now_ms_, counter_}}}, {Memory(pod_), {{now_ms_, bytes}}}});
        counter_ += i == 0 ? cores * 60 : cores * 240;
        now_ms_ += i == 0 ? kMinute : 4 * kMinute;
      }
    }
  }
  int64_t now_ms() const { return now_ms_; }

 private:
  World& world_;
  const std::string pod_;
  int64_t now_ms_;
  double counter_ = 0;
};

}  // namespace

TEST_CASE("#6415, #2004, goldilocks#210: a tiny container is not inflated to 10m and 250Mi",
          "[public-issue][sizes]") {
  World world(Tidemark());
  OwnedBy(world, "agent-0", "StatefulSet", "agent");
  Container(world, "agent-0").Go(180, 0.003, 22 * kMi);
  const ResourceAdvice cpu = world.Cores("agent");
  const ResourceAdvice memory = world.Bytes("agent");
  INFO(SentenceOf(cpu) << "\n" << SentenceOf(memory));
  CHECK(*cpu.recommended_request >= 0.003);
  CHECK(*cpu.recommended_request <= 0.004);
  CHECK(*memory.recommended_request >= 22 * kMi);
  CHECK(*memory.recommended_request <= 30 * kMi);  // in the first day 15 % more than is seen
}

TEST_CASE("#7280: 1 MiB is no request, whatever the usage: a hard technical minimum",
          "[public-issue][sizes]") {
  World world(Tidemark());
  OwnedBy(world, "bouncer-0", "StatefulSet", "bouncer");
  Container(world, "bouncer-0").Go(180, 0.0001, 1.2 * kMi);
  const ResourceAdvice cpu = world.Cores("bouncer");
  const ResourceAdvice memory = world.Bytes("bouncer");
  CHECK(*memory.recommended_request == 16 * kMi);
  CHECK(memory.Has(AdviceMark::kFloor));
  CHECK(*cpu.recommended_request == 0.002);
  CHECK(cpu.Has(AdviceMark::kFloor));
  CHECK(SentenceOf(memory).find("raised to the floor of 16Mi") != std::string::npos);
}

TEST_CASE("#6420: memory of a DaemonSet answers to the one pod that needs most",
          "[public-issue][sizes]") {
  World world(Tidemark());
  std::vector<Container> pods;
  for (int i = 0; i < 40; ++i) {
    const std::string pod = "log-" + std::to_string(i);
    OwnedBy(world, pod, "DaemonSet", "log");
    Container(world, pod).Go(5, 0.02, (i == 17 ? 900 : 60) * kMi);
  }
  const ResourceAdvice memory = world.Bytes("log");
  CHECK(*memory.recommended_request >= 900 * kMi);
  CHECK(*memory.recommended_request <= 1100 * kMi);
  CHECK(*memory.lower_bound >= 400 * kMi);  // minutes are no confidence; a percentile says 60 Mi
}

TEST_CASE("#5029, #4086: a heap that fills its limit and stays there is not chased",
          "[public-issue][sizes]") {
  World world(Tidemark());
  OwnedBy(world, "java-0", "StatefulSet", "java");
  Sparse app(world, "java-0");
  const LabelMap limit = OfContainer("kube_pod_container_resource_limits", "java-0",
                                     {{"resource", "memory"}, {"unit", "byte"}});
  app.Go(kT0 + 3 * kDay, [](int64_t) { return std::pair(0.3, 0.995 * kGi); });
  world.Put(limit, app.now_ms(), kGi);
  app.Go(app.now_ms() + 10 * kMinute, [](int64_t) { return std::pair(0.3, 0.995 * kGi); });
  world.Put(limit, app.now_ms(), kGi);
  const ResourceAdvice memory = world.Bytes("java");
  INFO(SentenceOf(memory));
  CHECK(*memory.recommended_request == kGi);
  CHECK(memory.Has(AdviceMark::kPlateau));
  CHECK(SentenceOf(memory).find("held at the limit") != std::string::npos);
  const auto steps = StepsOf(world, "statefulset", "java", Resource::kMemory);
  CHECK(Has(steps, "plateau!"));
  CHECK(Has(steps, "shape"));
  // A kill says that it does need more.
  Restarts kube(world, "java-0");
  kube.Scrape(app.now_ms() - kMinute);
  kube.Kill(app.now_ms() + kMinute, kGi);
  world.Put(limit, app.now_ms() + kMinute, kGi);
  CHECK(*world.Bytes("java").recommended_request > kGi);
}

TEST_CASE("kubernetes#71255: what a Java service burns to start is no request",
          "[public-issue][sizes]") {
  World world(Tidemark());
  World blind(Tidemark([](Profile& profile) { profile.rule(Resource::kCpu).startup_ms = 0; }));
  const auto run = [](World& in) {
    for (int pod = 0; pod < 20; ++pod) {  // a rollout an hour
      const std::string name = "web-" + std::to_string(pod);
      const int64_t at = kT0 + pod * kHour;
      OwnedBy(in, name, "StatefulSet", "web", at);
      in.Put(OfPod("kube_pod_start_time", name), at, static_cast<double>(at) / 1000);
      Container app(in, name, "app", at);
      app.Go(
          55, [](int minute) { return minute < 4 ? 3.0 : 0.1; }, [](int) { return 200 * kMi; });
      app.End();
    }
    return in.Cores("web");
  };
  const ResourceAdvice cpu = run(world);
  INFO(SentenceOf(cpu));
  CHECK(*cpu.recommended_request <= 0.13);
  CHECK(*cpu.recommended_request >= 0.1);
  CHECK(cpu.Has(AdviceMark::kStartUpApart));
  CHECK(SentenceOf(cpu).find("the first 5 minutes of each pod are left out") != std::string::npos);
  CHECK(Has(StepsOf(world, "statefulset", "web", Resource::kCpu), "start_up!"));
  CHECK(*run(blind).recommended_request > 0.5);
  // The peak is what it is made of where memory is concerned: that cannot wait.
  CHECK(*world.Bytes("web").recommended_request >= 200 * kMi);
}

TEST_CASE("a pod that never grows old shows what it uses all the same", "[public-issue][sizes]") {
  World world(Tidemark());
  for (int pod = 0; pod < 10; ++pod) {
    const std::string name = "runner-" + std::to_string(pod);
    const int64_t at = kT0 + pod * 10 * kMinute;
    OwnedBy(world, name, "StatefulSet", "runner", at);
    world.Put(OfPod("kube_pod_start_time", name), at, static_cast<double>(at) / 1000);
    Container app(world, name, "app", at);
    app.Go(4, 0.8, 100 * kMi);
    app.End();
  }
  world.Pass(kT0 + 3 * kHour);
  CHECK(*world.Cores("runner").recommended_request >= 0.8);
}

TEST_CASE("#3975, goldilocks#100: a CronJob gets what its runs need at their peaks",
          "[public-issue][sizes]") {
  World world(Tidemark());
  for (int run = 0; run < 12; ++run) {
    const std::string job = "report-" + std::to_string(run);
    const int64_t at = kT0 + run * kHour;
    RunOfCronJob(world, job, "report", at);
    Container app(world, job + "-pod", "app", at);
    // One minute in twenty is the one that counts.
    app.Go(
        20, [](int minute) { return minute == 11 ? 1.5 : 0.05; },
        [](int minute) { return (minute == 11 ? 700 : 80) * kMi; });
    app.End();
  }
  const ResourceAdvice cpu = world.Cores("report");
  INFO(SentenceOf(cpu));
  CHECK(*cpu.recommended_request >= 1.5);
  CHECK(*cpu.recommended_request <= 1.5 * 1.05 * 1.16);
  CHECK(cpu.Has(AdviceMark::kPerRun));
  CHECK(SentenceOf(cpu).find("runs, of each the peak") != std::string::npos);
  CHECK(*world.Bytes("report").recommended_request >= 700 * kMi);
}

TEST_CASE("#4515, #7147: no request that no node can hold, and it is said",
          "[public-issue][sizes]") {
  World world(Tidemark());
  OwnedBy(world, "huge-0", "StatefulSet", "huge");
  const auto node = [&](const std::string& name, const std::string& resource, double value,
                        int64_t at) {
    world.Put(Named("kube_node_status_allocatable",
                    {{"namespace", "monitoring"}, {"node", name}, {"resource", resource}}),
              at, value);
  };
  Container app(world, "huge-0");
  app.Go(120, 12, 40 * kGi);
  for (const auto& [name, cores, bytes] :
       {std::tuple("n1", 3.9, 15.0 * kGi), std::tuple("n2", 7.9, 30.0 * kGi)}) {
    node(name, "cpu", cores, app.now_ms());
    node(name, "memory", bytes, app.now_ms());
  }
  const ResourceAdvice cpu = world.Cores("huge");
  const ResourceAdvice memory = world.Bytes("huge");
  CHECK(*cpu.recommended_request == 7.9);
  CHECK(*memory.recommended_request == 30 * kGi);
  CHECK(*memory.upper_bound <= 30 * kGi);
  CHECK(cpu.Has(AdviceMark::kNodeCap));
  CHECK(SentenceOf(memory).find("would not be scheduled") != std::string::npos);
  CHECK(Has(StepsOf(world, "statefulset", "huge", Resource::kMemory), "node_cap!"));
  CHECK(*memory.model_request >= 40 * kGi);  // what is needed is told as it is
  // A larger node comes: at once.
  node("n3", "memory", 60 * kGi, app.now_ms() + 1000);
  CHECK(*world.Bytes("huge").recommended_request >= 40 * kGi);
}

TEST_CASE("#4150: files in the page cache are no need where the profile leaves them out",
          "[public-issue][sizes]") {
  const auto run = [](ProfileSetPtr profiles) {
    World world(std::move(profiles));
    OwnedBy(world, "files-0", "StatefulSet", "files");
    Container app(world, "files-0");
    for (int i = 0; i < 120; ++i) {
      world.Put(OfContainer("container_memory_cache", "files-0"), app.now_ms(), 1.5 * kGi);
      app.Go(1, 0.1, 2 * kGi);
    }
    return world.Bytes("files");
  };
  CHECK(*run(Tidemark()).recommended_request >= 2 * kGi);
  const ResourceAdvice without = run(Tidemark(
      [](Profile& profile) { profile.rule(Resource::kMemory).leave_out_page_cache = true; }));
  CHECK(*without.recommended_request >= 0.5 * kGi);
  CHECK(*without.recommended_request <= 0.6 * kGi);
  CHECK(without.Has(AdviceMark::kPageCacheOut));
}

TEST_CASE("kubernetes#67577: usage at a throttled limit is not all the demand",
          "[public-issue][sizes]") {
  const auto run = [](ProfileSetPtr profiles) {
    World world(std::move(profiles));
    OwnedBy(world, "api-0", "StatefulSet", "api");
    Container app(world, "api-0");
    const LabelMap limit = OfContainer("kube_pod_container_resource_limits", "api-0",
                                       {{"resource", "cpu"}, {"unit", "core"}});
    for (int i = 0; i < 180; ++i) {
      const int64_t at = app.now_ms() + kMinute;
      world.Put(limit, at, 0.5);
      world.Put(OfContainer("container_cpu_cfs_throttled_periods_total", "api-0"), at, i * 540.0);
      world.Put(OfContainer("container_cpu_cfs_periods_total", "api-0"), at, i * 600.0);
      app.Go(1, 0.5, 100 * kMi);
    }
    return world.Cores("api");
  };
  const ResourceAdvice cpu = run(Tidemark());
  INFO(SentenceOf(cpu));
  CHECK(*cpu.recommended_request >= 0.9);
  CHECK(*cpu.recommended_request <= 1.2);
  CHECK(cpu.Has(AdviceMark::kThrottled));
  CHECK(SentenceOf(cpu).find("the limit held it back") != std::string::npos);
  const ResourceAdvice blind = run(
      Tidemark([](Profile& profile) { profile.rule(Resource::kCpu).throttled_from_ratio = 1; }));
  CHECK(*blind.recommended_request <= 0.6);
  CHECK_FALSE(blind.Has(AdviceMark::kThrottled));
}

TEST_CASE("krr#294: a rare spike of memory is in the request for a week", "[public-issue][sizes]") {
  World world(Tidemark());
  OwnedBy(world, "batch-0", "StatefulSet", "batch");
  Sparse app(world, "batch-0");
  const int64_t spike = kT0 + kDay;
  const auto load = [&](int64_t at) {
    return std::pair(0.1, (at >= spike && at < spike + 5 * kMinute ? 1000 : 200) * kMi);
  };
  app.Go(spike + 6 * kDay, load);
  CHECK(*world.Bytes("batch").recommended_request >= 1000 * kMi);
  CHECK(*world.Bytes("batch").recommended_request <= 1100 * kMi);
  app.Go(spike + 9 * kDay, load);
  CHECK(*world.Bytes("batch").recommended_request <= 300 * kMi);
}

TEST_CASE("#3698: the working week is not forgotten over a weekend", "[public-issue][sizes]") {
  constexpr int64_t kMonday = 1'699'833'600'000;  // 2023-11-13 00:00 UTC
  const auto load = [](int64_t at) {
    const int64_t since = at - kMonday;
    const bool weekend = since / kDay % 7 >= 5;
    const int64_t hour = since / kHour % 24;
    const bool busy = !weekend && hour >= 8 && hour < 18;
    return std::pair(busy ? 1.0 : 0.1, 300 * kMi);
  };
  const auto monday_nine = [&](ProfileSetPtr profiles) {
    World world(std::move(profiles));
    OwnedBy(world, "shop-0", "StatefulSet", "shop", kMonday);
    Sparse app(world, "shop-0", kMonday);
    app.Go(kMonday + 7 * kDay + 8 * kHour, load);  // up to the hour in which it begins
    return *world.Cores("shop").recommended_request;
  };
  const double ours = monday_nine(Tidemark());
  const double vpa = monday_nine(Vpa());
  CHECK(ours >= 0.5);
  CHECK(vpa <= 1.2);  // a percentile of decayed days, whatever the hour
  // In the night of Saturday it is small: the weekend is a weekend.
  World world(Tidemark());
  OwnedBy(world, "shop-0", "StatefulSet", "shop", kMonday);
  Sparse app(world, "shop-0", kMonday);
  app.Go(kMonday + 6 * kDay + 20 * kHour, load);
  CHECK(*world.Cores("shop").recommended_request < ours);
}

TEST_CASE("#2389, #1459: a sixfold step is followed within two hours", "[public-issue][sizes]") {
  World world(Tidemark());
  OwnedBy(world, "step-0", "StatefulSet", "step");
  Sparse app(world, "step-0");
  app.Go(kT0 + 3 * kDay, [](int64_t) { return std::pair(0.1, 100 * kMi); });
  CHECK(*world.Cores("step").recommended_request <= 0.2);
  app.Go(app.now_ms() + 5 * kHour, [](int64_t) { return std::pair(0.6, 600 * kMi); });
  CHECK(*world.Cores("step").recommended_request >= 0.4);
  CHECK(*world.Bytes("step").recommended_request >= 600 * kMi);  // memory at once
}

TEST_CASE("#9521: what was made up for a kill ages out when real usage says less",
          "[public-issue][sizes]") {
  World world(Tidemark());
  OwnedBy(world, "db-0", "StatefulSet", "db");
  Restarts kube(world, "db-0");
  kube.Scrape(kT0);
  Sparse app(world, "db-0");
  const auto load = [](int64_t) { return std::pair(0.1, 300 * kMi); };
  app.Go(kT0 + kDay, load);
  kube.Kill(app.now_ms(), 400 * kMi);
  CHECK(*world.Bytes("db").recommended_request >= 500 * kMi);
  app.Go(app.now_ms() + 71 * kHour, load);
  CHECK(*world.Bytes("db").recommended_request >= 500 * kMi);
  app.Go(app.now_ms() + 2 * kHour, load);
  CHECK(*world.Bytes("db").recommended_request <= 350 * kMi);
}

TEST_CASE("a day's rules survive a restart to the last bit", "[public-issue][sizes]") {
  const auto by = GENERATE(World::By::kJournal, World::By::kCheckpoint);
  World world(Tidemark());
  OwnedBy(world, "web-0", "StatefulSet", "web");
  world.Put(OfPod("kube_pod_start_time", "web-0"), kT0, static_cast<double>(kT0) / 1000);
  Container app(world, "web-0");
  app.Go(
      200, [](int minute) { return minute < 4 ? 2.0 : 0.1 + 0.01 * (minute % 7); },
      [](int minute) { return (100 + minute % 11) * kMi; });
  const ResourceAdvice cpu = world.Cores("web");
  const ResourceAdvice memory = world.Bytes("web");
  world.Restart(by);
  CHECK(world.Cores("web").recommended_request == cpu.recommended_request);
  CHECK(world.Cores("web").marks == cpu.marks);
  CHECK(world.Bytes("web").recommended_request == memory.recommended_request);
}

TEST_CASE("a counter that jumps where no container can be does not stand in the request for a week",
          "[public-issue][sizes]") {
  World world(Tidemark());
  OwnedBy(world, "odd-0", "StatefulSet", "odd");
  Container app(world, "odd-0");
  app.Go(
      200, [](int minute) { return minute == 100 ? 1e9 : 0.1; }, [](int) { return 100 * kMi; });
  CHECK(*world.Cores("odd").recommended_request <= 0.2);
  CHECK(world.Cores("odd").high_water.front().value <= 0.2);
}
