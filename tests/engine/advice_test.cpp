// From samples to advice: what a workload should request, next to what it requests now.
#include "tests/engine/feed.h"
#include "tests/engine/profiles.h"
#include "tests/seed.h"

using namespace tidemark;
using namespace tidemark::testing;

TEST_CASE("usage, owner and request make a recommendation", "[engine][advice]") {
  Bench bench;
  CHECK(bench.Workloads().empty());
  bench.Put(
      {{PodOwner("web-5c9-a", "ReplicaSet", "web-5c9"), {{kT0, 1}}},
       {ReplicaSetOwner("web-5c9", "Deployment", "web"), {{kT0, 1}}},
       {Named("kube_deployment_spec_replicas", {{"namespace", "shop"}, {"deployment", "web"}}),
        {{kT0, 3}}}});
  Run(bench, "web-5c9-a", kT0, 10, 0.5, 300e6);
  const int64_t end = kT0 + 600'000;
  bench.Put(
      {{Request("web-5c9-a", "cpu"), {{end, 2}}},
       {Request("web-5c9-a", "memory"), {{end, 1e9}}},
       {Request("web-5c9-a", "cpu", "app", "kube_pod_container_resource_limits"), {{end, 4}}},
       {Named("kube_deployment_spec_replicas", {{"namespace", "shop"}, {"deployment", "web"}}),
        {{end, 3}}}});
  CHECK(bench.Names() == std::vector<std::string>{"shop/deployment/web"});
  const auto cpu = bench.Find("web", "app", Resource::kCpu);
  REQUIRE(cpu);
  // 0.5 cores lie in the VPA's bucket that ends at 0.51113…; 15 % on top (docs: estimators/).
  CHECK(cpu->model_request == 0.511);
  CHECK(cpu->recommended_request == 0.587);
  CHECK(cpu->current_request == 2);
  CHECK(cpu->current_limit == 4);
  CHECK(*cpu->reclaimable == Approx((2 - 0.587) * 3));
  CHECK(cpu->confidence_days == Approx(9.0 / 1440));
  const auto memory = bench.Find("web", "app", Resource::kMemory);
  REQUIRE(memory);
  CHECK(*memory->model_request >= 300e6);
  CHECK(*memory->model_request <= 300e6 * 1.06);
  CHECK(*memory->recommended_request == Approx(*memory->model_request * 1.15).epsilon(1e-8));
  CHECK_FALSE(memory->current_limit);
}

TEST_CASE("scrape interval and jitter change the target by a bucket at most", "[engine][advice]") {
  const uint32_t seed = tidemark::testing::Seed();
  INFO("seed " << seed);
  std::mt19937 random(seed);
  // A daily wave on top of a slow one, as core-seconds; a resident set that follows.
  const auto cores = [](double t) {
    return 0.8 + 0.5 * std::sin(t / 900) + 0.2 * std::sin(t / 77);
  };
  const auto spent = [](double t) {
    return 0.8 * t - 0.5 * 900 * std::cos(t / 900) - 0.2 * 77 * std::cos(t / 77) + 1000;
  };
  std::map<double, std::pair<double, double>> targets;
  for (const double interval : {5.0, 15.0, 30.0, 60.0}) {
    Bench bench;
    bench.Put(PodOwner("db-0", "StatefulSet", "db"), kT0, 1);
    std::uniform_real_distribution<double> jitter(0, 0.2 * interval);
    for (double t = 0; t < 6 * 3600; t += interval) {
      const double at = std::round((t + jitter(random)) * 1000) / 1000;
      const int64_t at_ms = kT0 + static_cast<int64_t>(at * 1000);
      bench.Put({{Cpu("db-0"), {{at_ms, spent(at)}}},
                 {Memory("db-0"), {{at_ms, 2e8 + 1e8 * cores(at)}}}});
    }
    const auto cpu = bench.Find("db", "app", Resource::kCpu);
    const auto memory = bench.Find("db", "app", Resource::kMemory);
    REQUIRE((cpu && memory));
    targets[interval] = {*cpu->recommended_request, *memory->recommended_request};
  }
  for (const auto& [interval, target] : targets) {
    INFO("interval " << interval << " s: " << target.first << " cores, " << target.second
                     << " bytes; at 15 s " << targets[15].first << ", " << targets[15].second);
    // Neighbouring buckets of these values lie 5 to 6 % apart.
    CHECK(target.first == Approx(targets[15].first).epsilon(0.061));
    CHECK(target.second == Approx(targets[15].second).epsilon(0.061));
  }
}

TEST_CASE("a pod whose owner comes late is not shown before and loses nothing",
          "[engine][owners]") {
  Bench late;
  Run(late, "web-5c9-a", kT0, 4, 0.5, 300e6);
  CHECK(late.Names().empty());
  const auto why = late.engine.Explain("shop", "web-5c9-a");
  REQUIRE(why);
  CHECK(why->front().workload_type.empty());
  CHECK(why->front().pods.front().owner == "unknown: no kube_pod_owner yet");
  const int64_t end = kT0 + 240'000;
  late.Put(PodOwner("web-5c9-a", "ReplicaSet", "web-5c9"), end, 1);
  CHECK(late.Names().empty());
  late.Put(ReplicaSetOwner("web-5c9", "Deployment", "web"), end, 1);
  CHECK(late.Names() == std::vector<std::string>{"shop/deployment/web"});
  CHECK(late.Find("web", "app", Resource::kCpu)->confidence_days == Approx(3.0 / 1440));

  Bench early;
  early.Put({{PodOwner("web-5c9-a", "ReplicaSet", "web-5c9"), {{kT0, 1}}},
             {ReplicaSetOwner("web-5c9", "Deployment", "web"), {{kT0, 1}}}});
  Run(early, "web-5c9-a", kT0, 4, 0.5, 300e6);
  CHECK(early.Find("web", "app", Resource::kCpu)->recommended_request ==
        late.Find("web", "app", Resource::kCpu)->recommended_request);
  CHECK(early.Find("web", "app", Resource::kMemory)->recommended_request ==
        late.Find("web", "app", Resource::kMemory)->recommended_request);
}

TEST_CASE("after five minutes a missing link is assumed, and given up when the true one comes",
          "[engine][owners]") {
  Bench bench;
  bench.Put(PodOwner("fraud-7d8-a", "ReplicaSet", "fraud-7d8"), kT0, 1);
  Run(bench, "fraud-7d8-a", kT0, 4, 0.5, 300e6);
  CHECK(bench.Names().empty());
  Run(bench, "fraud-7d8-a", kT0 + 255'000, 3, 0.5, 300e6);
  CHECK(bench.Names() == std::vector<std::string>{"shop/deployment/fraud"});
  bench.Put(ReplicaSetOwner("fraud-7d8", "Rollout", "fraud"), kT0 + 450'000, 1);
  CHECK(bench.Names() == std::vector<std::string>{"shop/rollout/fraud"});
  CHECK(bench.Find("fraud", "app", Resource::kMemory)->confidence_days > 5.0 / 1440);
}

TEST_CASE("without kube_pod_owner a pod is never taken for a bare one", "[engine][owners]") {
  Bench bench;
  Run(bench, "lonely", kT0, 20, 0.5, 300e6);
  CHECK(bench.Names().empty());
  bench.Put(PodOwner("lonely", "", ""), kT0 + 1'200'000, 1);
  CHECK(bench.Names() == std::vector<std::string>{"shop/barepod/lonely"});
}

TEST_CASE("a pod comes back to an owner that it had before", "[engine][owners]") {
  Bench bench;
  bench.Put(ReplicaSetOwner("web-5c9", "Deployment", "web"), kT0, 1);
  const auto say = [&bench](int from_minute, const LabelMap& owner) {
    for (int i = 0; i < 40; ++i) {
      const int64_t at = kT0 + from_minute * 60'000LL + i * 15'000LL;
      bench.Put({{Cpu("web-5c9-a"), {{at, (from_minute * 4 + i) * 3.0}}}, {owner, {{at, 1}}}});
    }
  };
  say(0, PodOwner("web-5c9-a", "ReplicaSet", "web-5c9"));
  CHECK(bench.Names() == std::vector<std::string>{"shop/deployment/web"});
  say(10, PodOwner("web-5c9-a", "", ""));
  CHECK(bench.Workloads().front().id.workload_type == "barepod");
  CHECK(bench.Workloads().front().replicas == 1);
  say(20, PodOwner("web-5c9-a", "ReplicaSet", "web-5c9"));
  CHECK(bench.Workloads().front().replicas == 0);  // the bare pod
  CHECK(bench.Workloads().back().id.workload_type == "deployment");
  CHECK(bench.Workloads().back().replicas == 1);
}

TEST_CASE("a pod with a slash in its name does not hide a process", "[engine][advice]") {
  Bench bench;
  bench.Put(Cpu("process/sshd", "app", "host"), kT0, 1);
  for (int i = 0; i <= 8; ++i) {
    bench.Put(Named("namedprocess_namegroup_cpu_seconds_total",
                    {{"instance", "host"}, {"groupname", "sshd"}, {"mode", "user"}}),
              kT0 + i * 15'000LL, i);
  }
  CHECK(bench.Names() == std::vector<std::string>{"host/process/sshd"});
}

TEST_CASE("negative requests and counts are not believed", "[engine][advice]") {
  Bench bench;
  bench.Put({{PodOwner("db-0", "StatefulSet", "db"), {{kT0, 1}}},
             {Request("db-0", "cpu"), {{kT0, -2}}},
             {Named("kube_statefulset_replicas", {{"namespace", "shop"}, {"statefulset", "db"}}),
              {{kT0, -3}}}});
  Run(bench, "db-0", kT0, 2, 0.1, 50e6);
  CHECK_FALSE(bench.Find("db", "app", Resource::kCpu)->current_request);
  CHECK(bench.Workloads().front().replicas == 1);
}

TEST_CASE("any kind of owner is a workload of that type", "[engine][owners]") {
  Bench bench;
  for (const auto& [pod, kind, name] :
       std::vector<std::array<std::string, 3>>{{"game-x", "CloneSet", "game"},
                                               {"db-0", "StatefulSet", "db"},
                                               {"etcd-n1", "Node", "n1"}}) {
    bench.Put(PodOwner(pod, kind, name), kT0, 1);
    Run(bench, pod, kT0, 2, 0.1, 50e6);
  }
  CHECK(bench.Names() == std::vector<std::string>{"shop/cloneset/game", "shop/statefulset/db",
                                                  "shop/staticpod/etcd-n1"});
}

TEST_CASE("only the controller among several owners decides", "[engine][owners]") {
  Bench bench;
  LabelMap other = PodOwner("db-0", "Backup", "nightly");
  other["owner_is_controller"] = "false";
  bench.Put({{PodOwner("db-0", "StatefulSet", "db"), {{kT0, 1}}}, {other, {{kT0, 1}}}});
  Run(bench, "db-0", kT0, 2, 0.1, 50e6);
  CHECK(bench.Names() == std::vector<std::string>{"shop/statefulset/db"});
}

TEST_CASE("during a roll-over the newest pod says what is requested now", "[engine][advice]") {
  Bench bench;
  bench.Put(
      {{PodOwner("db-0", "StatefulSet", "db"), {{kT0, 1}}}, {Request("db-0", "cpu"), {{kT0, 1}}}});
  Run(bench, "db-0", kT0, 3, 0.1, 50e6);
  const int64_t later = kT0 + 180'000;
  bench.Put({{PodOwner("db-1", "StatefulSet", "db"), {{later, 1}}},
             {Request("db-1", "cpu"), {{later, 4}}},
             {Request("db-0", "cpu"), {{later, 1}}}});
  CHECK(bench.Find("db", "app", Resource::kCpu)->current_request == 4);
  // Two pods live, no spec is known.
  CHECK(bench.Workloads().front().replicas == 2);
  // The newest ends: its marker takes its request away at once.
  bench.Put({{Request("db-1", "cpu"), {{later + 1000, StaleMarker()}}},
             {PodOwner("db-1", "StatefulSet", "db"), {{later + 1000, StaleMarker()}}},
             {Request("db-0", "cpu"), {{later + 1000, 1}}}});
  CHECK(bench.Find("db", "app", Resource::kCpu)->current_request == 1);
  CHECK(bench.Workloads().front().replicas == 1);
}

TEST_CASE("completed pods are no replicas", "[engine][advice]") {
  Bench bench;
  const auto phase = [](std::string pod, std::string value) {
    return Named("kube_pod_status_phase", {{"namespace", "shop"}, {"pod", pod}, {"phase", value}});
  };
  for (const std::string pod : {"report-1", "report-2"}) {
    bench.Put(PodOwner(pod, "Job", "report-2940"), kT0, 1);
    Run(bench, pod, kT0, 2, 0.1, 50e6);
  }
  const int64_t end = kT0 + 120'000;
  bench.Put({{Named("kube_job_owner", {{"namespace", "shop"},
                                       {"job_name", "report-2940"},
                                       {"owner_kind", "CronJob"},
                                       {"owner_name", "report"}}),
              {{end, 1}}},
             {phase("report-1", "Succeeded"), {{end, 1}}},
             {phase("report-1", "Failed"), {{end, 0}}},
             {phase("report-2", "Running"), {{end, 1}}},
             {phase("report-2", "Succeeded"), {{end, 0}}}});
  REQUIRE(bench.Names() == std::vector<std::string>{"shop/cronjob/report"});
  CHECK(bench.Workloads().front().replicas == 1);
}

TEST_CASE("plain processes are workloads of type process", "[engine][advice]") {
  Bench bench;
  for (int i = 0; i <= 12; ++i) {
    const int64_t at = kT0 + i * 15'000LL;
    for (const std::string mode : {"user", "system"}) {
      bench.Put(Named("namedprocess_namegroup_cpu_seconds_total",
                      {{"instance", "host:9256"}, {"groupname", "sshd"}, {"mode", mode}}),
                at, i * 15 * 0.2);
    }
    for (const std::string memtype : {"resident", "virtual"}) {
      bench.Put(Named("namedprocess_namegroup_memory_bytes",
                      {{"instance", "host:9256"}, {"groupname", "sshd"}, {"memtype", memtype}}),
                at, memtype == "resident" ? 40e6 : 9e9);
    }
  }
  REQUIRE(bench.Names() == std::vector<std::string>{"host:9256/process/sshd"});
  CHECK(*bench.Find("sshd", "", Resource::kCpu)->model_request == Approx(0.4).epsilon(0.06));
  CHECK(*bench.Find("sshd", "", Resource::kMemory)->model_request < 60e6);
  CHECK_FALSE(bench.Find("sshd", "", Resource::kCpu)->current_request);
}

TEST_CASE("the cluster label is part of every identity", "[engine][advice]") {
  Bench bench;
  for (const std::string cluster : {"eu", "us"}) {
    LabelMap owner = PodOwner("db-0", "StatefulSet", "db");
    owner["cluster"] = cluster;
    bench.Put(owner, kT0, 1);
    for (int i = 0; i <= 8; ++i) {
      LabelMap cpu = Cpu("db-0");
      cpu["cluster"] = cluster;
      bench.Put(cpu, kT0 + i * 15'000LL, i * 15 * (cluster == "eu" ? 0.1 : 1));
    }
  }
  const auto all = bench.Workloads();
  REQUIRE(all.size() == 2);
  CHECK(all[0].id.cluster == "eu");
  CHECK(all[1].id.cluster == "us");
  CHECK(*all[0].containers[0].resources[0].model_request * 5 <
        *all[1].containers[0].resources[0].model_request);
}

TEST_CASE("the minimum of a pod is split over its containers and shown beside the model value",
          "[engine][advice]") {
  engine::Options options;
  options.profiles =
      ByPercentile([](Profile& profile) { profile.rule(Resource::kCpu).pod_minimum = 0.1; });
  Bench bench(options);
  bench.Put(PodOwner("db-0", "StatefulSet", "db"), kT0, 1);
  for (int i = 0; i <= 8; ++i) {
    bench.Put({{Cpu("db-0", "app"), {{kT0 + i * 15'000LL, i * 0.01}}},
               {Cpu("db-0", "sidecar"), {{kT0 + i * 15'000LL, i * 0.01}}}});
  }
  for (const std::string container : {"app", "sidecar"}) {
    CHECK(bench.Find("db", container, Resource::kCpu)->model_request == 0.01);
    CHECK(bench.Find("db", container, Resource::kCpu)->recommended_request == 0.05);
  }
}

TEST_CASE("restarts hidden by higher values are seen with start times", "[engine][advice]") {
  // A container that is killed after each scrape and spends a little more than the time before.
  const auto recommended = [](bool with_start, uint64_t& resets) {
    Bench bench;
    bench.Put(PodOwner("db-0", "StatefulSet", "db"), kT0, 1);
    for (int i = 0; i < 60; ++i) {
      const int64_t at = kT0 + i * 30'000LL;
      const int64_t start = with_start ? at - 29'000 : 0;
      bench.Put({{Cpu("db-0"), {{at, 30 + 0.01 * i, start}}}});
    }
    resets = bench.counters.counter_resets;
    const auto cpu = bench.Find("db", "app", Resource::kCpu);
    REQUIRE(cpu);
    return *cpu->model_request;
  };
  uint64_t resets = 0;
  // 30 core-seconds in 30 seconds, up to the end of their bucket.
  CHECK(recommended(true, resets) == Approx(1.04).epsilon(0.05));
  CHECK(resets == 59);
  CHECK(recommended(false, resets) < 0.1);
  CHECK(resets == 0);
}
