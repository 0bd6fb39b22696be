// Ephemeral storage, GPUs, and resources that the configuration names, from samples to advice.

#include <cmath>
#include <string>

#include "tests/engine/durable.h"
#include "tests/engine/own_resources.h"
#include "tests/engine/profiles.h"
#include "tests/engine/usage_feed.h"

using namespace tidemark;
using namespace tidemark::testing;

namespace {

LabelMap Connections(const std::string& pod, const std::string& container = "app") {
  return Named("db_connections", {{"namespace", "shop"}, {"pod", pod}, {"container", container}});
}

LabelMap Received(const std::string& pod, const std::string& interface) {
  return Named("container_network_receive_bytes_total",
               {{"namespace", "shop"}, {"pod", pod}, {"id", "/" + pod}, {"interface", interface}});
}

LabelMap Disk(const std::string& pod, const std::string& device) {
  return Named("container_fs_usage_bytes", {{"namespace", "shop"},
                                            {"pod", pod},
                                            {"container", "app"},
                                            {"id", "/" + pod + "/app/0"},
                                            {"device", device}});
}

void DatabaseIn(Bench& bench) { bench.Put(PodOwner("db-0", "StatefulSet", "db"), kT0, 1); }

/// Within the width of a bucket above `amount`.
bool AtBucketAbove(double found, double amount) {
  return found >= amount && found <= amount * 1.051 + 0.002;
}

}  // namespace

TEST_CASE("A gauge and a counter of the configuration's own become requests", "[engine][own]") {
  const OwnConfig own({kConnections, kReceived});
  Bench bench(own.options, own.sources);
  DatabaseIn(bench);
  for (int i = 0; i <= 120; ++i) {
    const int64_t at = kT0 + i * 60'000;
    bench.Put({{Connections("db-0"), {{at, 40}}},
               {Received("db-0", "eth0"), {{at, 60'000.0 * 1000 * i}}},
               {Received("db-0", "eth1"), {{at, 60'000.0 * 500 * i}}}});
  }
  const auto connections = bench.Find("db", "app", own.Of(kConnections));
  REQUIRE(connections);
  CHECK(AtBucketAbove(connections->model_request.value(), 40));
  CHECK(connections->recommended_request.value() ==
        Approx(*connections->model_request * 1.15).margin(0.002));
  CHECK(connections->samples >= 119);
  CHECK(connections->lower_bound);
  CHECK(connections->upper_bound);

  // The network is the pod's: without a container, and summed over its interfaces.
  CHECK_FALSE(bench.Find("db", "app", own.Of(kReceived)));
  const auto received = bench.Find("db", "", own.Of(kReceived));
  REQUIRE(received);
  CHECK(AtBucketAbove(received->model_request.value(), 1'500'000));
  CHECK(bench.counters.internal_errors == 0);
}

TEST_CASE("What a pod uses as a whole has no share of its containers' minimum", "[engine][own]") {
  const OwnConfig own({kReceived});
  const auto recommended = [&](bool with_network) {
    Bench bench(own.options, own.sources);
    DatabaseIn(bench);
    for (int i = 0; i <= 60; ++i) {
      const int64_t at = kT0 + i * 60'000;
      bench.Put({{Cpu("db-0"), {{at, 0.06 * i}}}, {Memory("db-0"), {{at, 1e6}}}});
      if (with_network) bench.Put(Received("db-0", "eth0"), at, 1e6 * i);
    }
    const auto workloads = bench.Workloads();
    REQUIRE(workloads.size() == 1);
    CHECK(workloads[0].containers_in_pod == 1);
    CHECK(workloads[0].containers_known == 1);
    CHECK(workloads[0].containers.size() == (with_network ? 2 : 1));
    return bench.Find("db", "app", Resource::kCpu)->recommended_request.value();
  };
  CHECK(recommended(true) == recommended(false));
}

TEST_CASE("A pod's network is nothing that its containers wait for", "[engine][own]") {
  const OwnConfig own({kReceived});
  Bench bench(own.options, own.sources);
  DatabaseIn(bench);
  bench.Put(Received("db-0", "eth0"), kT0, 0);
  bench.Put(Cpu("db-0"), kT0, 0);
  const auto status = bench.engine.Explain("shop", "db");
  REQUIRE(status);
  for (const Prerequisite& item : status->front().prerequisites) {
    CHECK(item.what != "cpu usage");
    CHECK(item.what != "memory usage");
  }
}

TEST_CASE("A sum over a pod leaves alone who has none of the resource", "[engine][own]") {
  Profile sums = PresetProfile(Preset::kVpa);
  sums.level = Level::kPod;
  const OwnConfig own({kConnections}, sums);
  Bench bench(own.options, own.sources);
  DatabaseIn(bench);
  for (int i = 0; i <= 60 * 26; ++i) {
    const int64_t at = kT0 + i * 60'000;
    bench.Put({{Cpu("db-0"), {{at, 30.0 * i}}},
               {Cpu("db-0", "proxy"), {{at, 30.0 * i}}},
               {Connections("db-0"), {{at, 40}}}});
  }
  const auto connections = bench.Find("db", "app", own.Of(kConnections));
  REQUIRE(connections);
  CHECK(AtBucketAbove(connections->model_request.value(), 40));
  CHECK_FALSE(bench.Find("db", "proxy", own.Of(kConnections)));
  // CPU is shared by both.
  CHECK(bench.Find("db", "proxy", Resource::kCpu)->model_request.value() ==
        Approx(bench.Find("db", "app", Resource::kCpu)->model_request.value()));
}

TEST_CASE("Requests and limits belong to a resource by its name", "[engine][own]") {
  const OwnConfig own({kConnections});
  Bench bench(own.options, own.sources);
  DatabaseIn(bench);
  bench.Put(Connections("db-0"), kT0, 40);
  bench.Put(Request("db-0", "connections"), kT0, 100);
  bench.Put(Request("db-0", "connections", "app", "kube_pod_container_resource_limits"), kT0, 200);
  bench.Put(Request("db-0", "somebody_elses"), kT0, 7);
  const auto connections = bench.Find("db", "app", own.Of(kConnections));
  REQUIRE(connections);
  CHECK(connections->current_request == 100);
  CHECK(connections->current_limit == 200);
}

TEST_CASE("Ephemeral storage is summed over file systems, and requested in bytes",
          "[engine][own]") {
  Bench bench(OwnConfig({}).options);
  DatabaseIn(bench);
  for (int i = 0; i <= 24 * 60 + 5; ++i) {
    const int64_t at = kT0 + i * 60'000;
    bench.Put({{Disk("db-0", "/dev/sda1"), {{at, 3e6}}},
               {Disk("db-0", "/dev/sdb1"), {{at, 5e6}}},
               {Request("db-0", "ephemeral_storage"), {{at, 1e9}}},
               {Request("db-0", "ephemeral_storage", "app", "kube_pod_container_resource_limits"),
                {{at, 2e9}}}});
  }
  const auto disk = bench.Find("db", "app", Resource::kEphemeralStorage);
  REQUIRE(disk);
  CHECK(AtBucketAbove(disk->model_request.value(), 8e6));
  CHECK(std::floor(*disk->recommended_request) == *disk->recommended_request);
  CHECK(disk->current_request == 1e9);
  CHECK(disk->current_limit == 2e9);
  CHECK(disk->reclaimable);
}

TEST_CASE("GPUs are requested by the device, and used in parts of them", "[engine][own]") {
  Bench bench(OwnConfig({}).options);
  DatabaseIn(bench);
  const auto gpu = [](const std::string& number) {
    return Named("DCGM_FI_DEV_GPU_UTIL", {{"exported_namespace", "shop"},
                                          {"exported_pod", "db-0"},
                                          {"exported_container", "app"},
                                          {"namespace", "monitoring"},
                                          {"pod", "dcgm-1"},
                                          {"container", "dcgm"},
                                          {"gpu", number}});
  };
  for (int i = 0; i <= 120; ++i) {
    const int64_t at = kT0 + i * 60'000;
    LabelMap asked = Request("db-0", "nvidia_com_gpu");
    asked["unit"] = "integer";
    bench.Put({{gpu("0"), {{at, 50}}}, {gpu("1"), {{at, 50}}}, {asked, {{at, 2}}}});
  }
  const auto used = bench.Find("db", "app", Resource::kGpuUtilization);
  REQUIRE(used);
  CHECK(used->current_request == 2);
  CHECK(AtBucketAbove(used->model_request.value(), 1));
}

TEST_CASE("Odd values and hostile labels of such series do no harm", "[engine][own]") {
  const OwnConfig own({kConnections, kReceived});
  Bench bench(own.options, own.sources);
  DatabaseIn(bench);
  for (int i = 0; i <= 30; ++i) {
    const int64_t at = kT0 + i * 60'000;
    bench.Put({{Connections("db-0"),
                {{at, i % 3 == 0   ? NAN
                      : i % 3 == 1 ? -5
                                   : 1e300}}},
               {Connections("db-0", "/"), {{at, 1}}},
               {Connections("db/0", "a/b"), {{at, INFINITY}}},
               {Received("db-0", "eth\n0"), {{at, 1e308 * (i % 2)}}}});
  }
  for (const WorkloadAdvice& workload : bench.Workloads()) {
    for (const ContainerAdvice& container : workload.containers) {
      for (const ResourceAdvice& advice : container.resources) {
        CHECK(std::isfinite(advice.recommended_request.value_or(0)));
        CHECK(advice.recommended_request.value_or(0) >= 0);
      }
    }
  }
  CHECK(bench.counters.internal_errors == 0);
}
