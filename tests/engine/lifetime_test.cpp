// What is gone is forgotten, in event time: series, pods, workloads, namespaces.
#include "tests/engine/feed.h"

using namespace tidemark;
using namespace tidemark::testing;

namespace {
constexpr int64_t kHour = 3'600'000;

/// Moves the namespace's time on with a series of another pod.
void Pass(Bench& bench, int64_t to_ms) { bench.Put(Request("clockwork", "cpu"), to_ms, 1); }
}  // namespace

TEST_CASE("series and pods go after two silent hours, workloads after eight days",
          "[engine][lifetime]") {
  Bench bench;
  bench.Put(
      {{PodOwner("db-0", "StatefulSet", "db"), {{kT0, 1}}}, {Request("db-0", "cpu"), {{kT0, 1}}}});
  Run(bench, "db-0", kT0, 3, 0.1, 50e6);
  CHECK(bench.counters.series_now == 4);
  Pass(bench, kT0 + 10 * 60'000);
  CHECK_FALSE(bench.Find("db", "app", Resource::kCpu)->current_request);  // silent for 5 minutes
  CHECK(bench.counters.series_now == 5);
  Pass(bench, kT0 + 3 * kHour);
  CHECK(bench.counters.series_now == 1);
  CHECK(bench.counters.pods_now == 1);
  CHECK(bench.Names() == std::vector<std::string>{"shop/statefulset/db"});
  for (int day = 1; day <= 7; ++day) Pass(bench, kT0 + day * 24 * kHour);
  CHECK(bench.Find("db", "app", Resource::kMemory)->recommended_request);
  Pass(bench, kT0 + 8 * 24 * kHour + kHour);
  CHECK(bench.Names().empty());
  CHECK(bench.counters.workloads_now == 0);
  CHECK(bench.counters.containers_now == 1);
}

TEST_CASE("a silent namespace is aged by the wall clock, hour by hour", "[engine][lifetime]") {
  Bench bench;
  bench.Put(
      {{PodOwner("db-0", "StatefulSet", "db"), {{kT0, 1}}}, {Request("db-0", "cpu"), {{kT0, 1}}}});
  Run(bench, "db-0", kT0, 3, 0.1, 50e6);
  const int64_t end = kT0 + 180'000;
  CHECK(bench.Find("db", "app", Resource::kCpu)->current_request == 1);
  bench.clock.Set(FromUnixMs(end + 6 * 60'000));
  CHECK_FALSE(bench.Find("db", "app", Resource::kCpu)->current_request);  // nobody says it any more
  CHECK(bench.Find("db", "app", Resource::kCpu)->recommended_request);
  for (int hour = 1; hour <= 7 * 24; ++hour) {
    bench.clock.Set(FromUnixMs(end + hour * kHour));
    bench.engine.Tick();
  }
  CHECK(bench.Names().size() == 1);
  for (int hour = 7 * 24; hour <= 9 * 24; ++hour) {
    bench.clock.Set(FromUnixMs(end + hour * kHour));
    bench.engine.Tick();
  }
  CHECK(bench.Names().empty());
  CHECK(bench.counters.series_now == 0);
  CHECK(bench.counters.pods_now == 0);
  CHECK(bench.counters.workloads_now == 0);
  CHECK(bench.counters.containers_now == 0);
  CHECK(bench.counters.namespaces_now == 0);
  CHECK(bench.counters.internal_errors == 0);
}

TEST_CASE("a wall clock that jumps takes nothing away", "[engine][lifetime]") {
  Bench bench;
  bench.Put(PodOwner("db-0", "StatefulSet", "db"), kT0, 1);
  Run(bench, "db-0", kT0, 3, 0.1, 50e6);
  CHECK(bench.Names().size() == 1);
  bench.clock.Set(FromUnixMs(kT0 + 9 * 24 * kHour));
  CHECK(bench.Names().size() == 1);
  bench.clock.Set(FromUnixMs(kT0 + 200'000));
  CHECK(bench.Names().size() == 1);
  CHECK(bench.counters.series_now == 3);
}

TEST_CASE("a stream of old time stamps is kept as long as it comes", "[engine][lifetime]") {
  Bench bench;
  bench.clock.Set(FromUnixMs(kT0 + 30 * 24 * kHour));
  bench.Put(PodOwner("db-0", "StatefulSet", "db"), kT0, 1);
  for (int i = 0; i <= 12; ++i) {
    bench.Put(Cpu("db-0"), kT0 + i * 15'000LL, i);
    bench.engine.Tick();
  }
  CHECK(bench.Names().size() == 1);
}

TEST_CASE("silent namespaces give their series up when the ceiling is near", "[engine][lifetime]") {
  engine::Options options;
  options.max_series = 20;
  Bench bench(options);
  for (int i = 0; i < 20; ++i) bench.Put(Cpu("p" + std::to_string(i), "app", "old"), kT0, 1);
  bench.engine.Tick();
  CHECK(bench.Put(Cpu("new", "app", "new"), kT0, 1).TotalRejected() == 1);
  for (int hour = 1; hour <= 3; ++hour) {
    bench.clock.Set(FromUnixMs(kT0 + hour * kHour));
    bench.engine.Tick();
  }
  CHECK(bench.Put(Cpu("new", "app", "new"), kT0 + 3 * kHour, 1).accepted == 1);
}

TEST_CASE("a body that leaps through time makes work once, not for each leap",
          "[engine][lifetime]") {
  Bench bench;
  bench.clock.Set(FromUnixMs(kT0));
  FeedSeries leaps{Request("db-0", "cpu"), {}};
  for (int64_t i = 0; i < 50'000; ++i) leaps.samples.push_back({kT0 - (50'000 - i) * 301'000, 1});
  for (int i = 0; i < 2000; ++i) {
    bench.Put(Request("old-" + std::to_string(i), "cpu"), leaps.samples.front().timestamp_ms, 1);
  }
  CHECK(bench.Put({leaps}).accepted == 50'000);
  // All that is silent for two hours is gone in one collection.
  CHECK(bench.counters.series_collected == 2000);
  CHECK(bench.counters.series_now == 1);
}

TEST_CASE("churn does not grow state", "[engine][lifetime]") {
  Bench bench;
  bench.Put(ReplicaSetOwner("web-5c9", "Deployment", "web"), kT0, 1);
  int64_t most = 0;
  for (int run = 0; run < 400; ++run) {  // a new pod every 10 minutes for almost three days
    const int64_t at = kT0 + run * 600'000LL;
    const std::string pod = "web-5c9-" + std::to_string(run);
    bench.Put({{PodOwner(pod, "ReplicaSet", "web-5c9"), {{at, 1}}},
               {ReplicaSetOwner("web-5c9", "Deployment", "web"), {{at, 1}}}});
    for (int i = 0; i < 8; ++i) bench.Put(Cpu(pod), at + i * 15'000LL, i);
    if (run > 50) most = std::max<int64_t>(most, bench.counters.series_now);
  }
  CHECK(most <= 2 * 14 + 1);
  CHECK(bench.counters.workloads_now == 1);
  CHECK(bench.counters.containers_now == 1);
}

TEST_CASE("the last minute of a container that ends is not lost", "[engine][lifetime]") {
  Bench bench;
  bench.Put(PodOwner("job-x", "Job", "job"), kT0, 1);
  for (int i = 0; i <= 3; ++i) bench.Put(Cpu("job-x"), kT0 + i * 15'000LL, i * 15.0);
  bench.Put(Cpu("job-x"), kT0 + 50'000, StaleMarker());
  CHECK(bench.counters.usage_minutes == 0);
  for (int i = 1; i <= 7; ++i) Pass(bench, kT0 + i * 60'000LL);
  CHECK(bench.counters.usage_minutes == 1);
}

TEST_CASE("a pod of the same name with a new uid is not ended by the old one's markers",
          "[engine][lifetime]") {
  Bench bench;
  LabelMap old_request = Request("db-0", "cpu");
  old_request["uid"] = "1";
  LabelMap new_request = Request("db-0", "cpu");
  new_request["uid"] = "2";
  bench.Put(PodOwner("db-0", "StatefulSet", "db"), kT0, 1);
  Run(bench, "db-0", kT0, 2, 0.1, 50e6);
  const int64_t at = kT0 + 120'000;
  bench.Put(old_request, at, 1);
  bench.Put(new_request, at + 1000, 2);
  bench.Put(old_request, at + 2000, StaleMarker());
  CHECK(bench.Find("db", "app", Resource::kCpu)->current_request == 2);
}
