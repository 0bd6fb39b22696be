// Public issues about whose samples are whose: labels, selectors, sidecars, names that change,
// state that grows. The numbers of threads are those of github.com/kubernetes/autoscaler.
#include "tests/engine/issue_world.h"

using namespace tidemark;
using namespace tidemark::testing;

namespace {

LabelMap LabelsOf(const std::string& pod, const LabelMap& more) {
  LabelMap labels = {{"namespace", "shop"}, {"pod", pod}};
  for (const auto& [name, value] : more) labels["label_" + name] = value;
  return Named("kube_pod_labels", labels);
}

constexpr double kMinimum = 262144000;  // VPA's, of a pod

}  // namespace

TEST_CASE("kubernetes/autoscaler#1548: label sets of a thousand Jobs do not grow what is kept",
          "[public-issue][containers]") {
  struct Size {
    size_t early;
    size_t late;
  };
  const auto run = [](World& world, int runs) {
    Size size{};
    for (int number = 0; number < runs; ++number) {
      const int64_t at = kT0 + number * 10 * kMinute;
      const std::string job = "report-" + std::to_string(number);
      RunOfCronJob(world, job, "report", at);
      world.Put(LabelsOf(job + "-pod", {{"app", "report"},
                                        {"job_name", job},
                                        {"controller_uid", "u-" + std::to_string(number)}}),
                at, 1);
      Container app(world, job + "-pod", "app", at);
      app.Go(3, 0.2, (300 + number % 7) * kMi).End();
      if (number == runs / 4) size.early = world.StateBytes();
    }
    size.late = world.StateBytes();
    CHECK(world.counters().workloads_now == 1);
    CHECK(world.counters().containers_now == 1);
    CHECK(world.counters().pods_now < 20);
    CHECK(world.counters().series_now < 20 * 6);
    return size;
  };
  World world(Vpa());
  const Size size = run(world, 1000);
  INFO(size.early << " bytes, then " << size.late);
  CHECK(static_cast<double>(size.late) < 1.1 * static_cast<double>(size.early));
  CHECK(*world.Bytes("report").model_request >= 300 * kMi);
  const ResourceAdvice before = world.Bytes("report");
  CHECK(before.samples >= 2000);
  world.Restart(World::By::kCheckpoint);
  CHECK(world.Bytes("report").samples == before.samples);
  CHECK(world.Bytes("report").recommended_request == before.recommended_request);
  // VPA keeps a pair of histograms for each set of labels, without end; strict keeps 500.
  World strict(StrictVpa());
  const Size grown = run(strict, 1000);
  INFO(grown.early << " bytes, then " << grown.late);
  CHECK(static_cast<double>(grown.late) > 1.4 * static_cast<double>(grown.early));
}

TEST_CASE("kubernetes/autoscaler#6744: a container that is gone takes no share and is forgotten",
          "[public-issue][containers]") {
  World sane(Vpa());
  World strict(StrictVpa());
  for (World* world : {&sane, &strict}) {
    OwnedBy(*world, "db-0", "StatefulSet", "db");
    Container(*world, "db-0", "app").Go(10, 0.001, 5 * kMi);
    Container(*world, "db-0", "old-name").Go(10, 0.001, 5 * kMi);
    CHECK(world->Bytes("db").recommended_request == kMinimum / 2);
    const int64_t later = kT0 + 30 * kMinute;
    OwnedBy(*world, "db-1", "StatefulSet", "db", later);
    Container(*world, "db-1", "app", later).Go(10, 0.001, 5 * kMi);
    Container(*world, "db-1", "new-name", later).Go(10, 0.001, 5 * kMi);
  }
  for (const std::string container : {"app", "new-name"}) {
    CHECK(sane.Bytes("db", container).recommended_request == kMinimum / 2);
    CHECK(strict.Bytes("db", container).recommended_request == 87381333);
  }
  Container app(sane, "db-1", "app", kT0 + kHour);
  Container other(sane, "db-1", "new-name", kT0 + kHour);
  for (int day = 0; day < 9; ++day) {
    app.Hours(24, 5 * kMi);
    other.Hours(24, 5 * kMi);
  }
  CHECK_FALSE(sane.Find("db", Resource::kMemory, "old-name"));
  sane.Restart(World::By::kCheckpoint);
  CHECK_FALSE(sane.Find("db", Resource::kMemory, "old-name"));
  CHECK(sane.Find("db", Resource::kMemory, "new-name"));
}

TEST_CASE("kubernetes/autoscaler#3467, #7491, #7499, #4891: pods count for their owner alone",
          "[public-issue][containers]") {
  World world(Vpa());
  // Two StatefulSets with the same labels, one's name the beginning of the other's.
  for (const std::string workload : {"db", "db-replica"}) {
    const std::string pod = workload + "-0";
    const bool is_replica = workload == "db-replica";
    OwnedBy(world, pod, "StatefulSet", workload);
    world.Put(LabelsOf(pod, {{"app", "db"}}), kT0, 1);
    Container(world, pod).Go(20, is_replica ? 0.1 : 2, (is_replica ? 300 : 4000) * kMi);
  }
  Container(world, "db-replica-0", "proxy").Go(20, 0.1, 300 * kMi);
  CHECK(world.Names() == std::vector<std::string>{"statefulset/db", "statefulset/db-replica"});
  CHECK(*world.Bytes("db").model_request >= 4000 * kMi);
  CHECK(*world.Bytes("db-replica").model_request < 330 * kMi);
  CHECK(*world.Cores("db-replica").model_request < 0.12);
  CHECK(world.Find("db-replica", Resource::kCpu, "proxy"));
  CHECK_FALSE(world.Find("db", Resource::kCpu, "proxy"));
}

TEST_CASE("kubernetes/autoscaler#5617, #7641, #6691: a sidecar is a container of its own",
          "[public-issue][containers]") {
  World world(Vpa());
  OwnedBy(world, "db-0", "StatefulSet", "db");
  Container app(world, "db-0");
  app.Go(10, 0.5, 5 * kMi);
  CHECK(world.Bytes("db").recommended_request == kMinimum);
  // Injected at the next pod's creation: nobody's manifest knows it.
  OwnedBy(world, "db-1", "StatefulSet", "db", app.now_ms());
  Container next(world, "db-1", "app", app.now_ms());
  Container sidecar(world, "db-1", "istio-proxy", app.now_ms());
  next.Go(10, 0.5, 5 * kMi);
  sidecar.Go(10, 0.05, 400 * kMi);
  CHECK(*world.Bytes("db", "istio-proxy").model_request >= 400 * kMi);
  CHECK(*world.Cores("db", "istio-proxy").model_request < 0.06);
  CHECK(*world.Bytes("db").model_request < 20 * kMi);
  CHECK(*world.Cores("db").model_request >= 0.5);
  CHECK(world.Bytes("db").recommended_request == kMinimum / 2);
  // Taken out again, it has no share any more.
  OwnedBy(world, "db-2", "StatefulSet", "db", next.now_ms());
  Container last(world, "db-2", "app", next.now_ms());
  last.Go(10, 0.5, 5 * kMi);
  CHECK(world.Bytes("db").recommended_request == kMinimum);
}

TEST_CASE("kubernetes/autoscaler#9534: init containers hold up no sample and leave nothing behind",
          "[public-issue][containers]") {
  World world(Unforecast(Vpa()));
  world.Put(ReplicaSetOwner("web-5c9", "Deployment", "web"), kT0, 1);
  constexpr int kPods = 300;
  uint64_t before = 0;
  size_t early = 0;
  for (int i = 0; i < kPods; ++i) {
    const int64_t at = kT0 + i * 10 * kMinute;
    const std::string pod = "web-5c9-" + std::to_string(i);
    world.Put({{PodOwner(pod, "ReplicaSet", "web-5c9"), {{at, 1}}},
               {ReplicaSetOwner("web-5c9", "Deployment", "web"), {{at, 1}}}});
    Container(world, pod, "migrate", at).Go(1, 1, 5 * kMi).End();
    before = world.Find("web", Resource::kCpu) ? world.Cores("web").samples : 0;
    Container(world, pod, "app", at + kMinute).Go(8, 0.1, 5 * kMi);
    REQUIRE(world.Cores("web").samples >= before + 7);
    // Long since done, it has no share of the pod's minimum.
    REQUIRE(world.Bytes("web").recommended_request == kMinimum);
    if (i == kPods / 4) early = world.StateBytes();
  }
  CHECK(world.counters().containers_now == 2);
  CHECK(static_cast<double>(world.StateBytes()) < 1.1 * static_cast<double>(early));
}

TEST_CASE("kubernetes/autoscaler#6368, #5687: bytes of a container are bounded over rollouts",
          "[public-issue][containers]") {
  World world(Unforecast(Vpa()));
  size_t early = 0;
  for (int rollout = 0; rollout < 400; ++rollout) {
    const int64_t at = kT0 + rollout * 15 * kMinute;
    const std::string set = "web-" + std::to_string(rollout);
    world.Put(ReplicaSetOwner(set, "Deployment", "web"), at, 1);
    for (const std::string replica : {"-a", "-b"}) {
      OwnedBy(world, set + replica, "ReplicaSet", set, at);
      world.Put(
          LabelsOf(set + replica, {{"app", "web"}, {"pod_template_hash", std::to_string(rollout)}}),
          at, 1);
      Restarts kube(world, set + replica);
      kube.Scrape(at);
      Container app(world, set + replica, "app", at);
      app.Go(5, 0.1 + 0.01 * (rollout % 9), (100 + rollout % 50) * kMi);
      kube.Kill(app.now_ms(), 256 * kMi);  // every revision is killed once
    }
    if (rollout == 100) early = world.StateBytes();
  }
  const size_t late = world.StateBytes();
  INFO(early << " bytes, then " << late);
  CHECK(static_cast<double>(late) < 1.1 * static_cast<double>(early));
  CHECK(late < 64 * 1024);  // about twenty pods that are silent for less than two hours
  CHECK(world.counters().containers_now == 1);
  CHECK(world.counters().pods_now < 25);
  CHECK(world.Bytes("web").kills == 16);
}
