// Kills for memory as the series of kube-state-metrics and cAdvisor tell them.
#include <algorithm>
#include <functional>
#include <limits>

#include "model/sample.h"
#include "tests/workloads/recorded_namespace.h"

using namespace tidemark;
using namespace tidemark::testing;

namespace {

constexpr int64_t kT0 = RecordedNamespace::kBeginMs;
constexpr int64_t kStep = 30'000;

double Seconds(int64_t ms) { return static_cast<double>(ms) / 1000; }

/// A pod that has run for a while, as every scrape of kube-state-metrics tells it.
struct Cluster : RecordedNamespace {
  double restarts = 0;
  double terminated = 0;  // seconds; 0: no series
  std::string reason;     // empty: no series

  void Scrape(int64_t at) {
    Put(OwnerOf("db-0", "StatefulSet", "db"), at, 1);
    Put(MemoryRequest("db-0"), at, 1e9);
    Put(Restarts("db-0"), at, restarts);
    if (!reason.empty()) Put(Reason("db-0", reason), at, 1);
    if (terminated > 0) Put(Terminated("db-0"), at, terminated);
    End();
  }
};

}  // namespace

TEST_CASE("a kill is told once, with its time and the request before, in whatever order",
          "[workloads][kills]") {
  std::vector<int> order = {0, 1, 2};
  do {
    for (const bool one_batch : {true, false}) {
      for (int restart_after = -1; restart_after < 3; ++restart_after) {
        INFO("order " << order[0] << order[1] << order[2] << ", one batch " << one_batch
                      << ", restart after " << restart_after);
        Cluster cluster;
        cluster.Scrape(kT0);
        cluster.Scrape(kT0 + kStep);
        const int64_t at = kT0 + 2 * kStep;
        const std::vector<std::function<void()>> tells = {
            [&] { cluster.Put(Restarts("db-0"), at, 1); },
            [&] { cluster.Put(Reason("db-0"), at, 1); },
            [&] { cluster.Put(Terminated("db-0"), at, Seconds(at - 7000)); }};
        for (int i = 0; i < 3; ++i) {
          CHECK(cluster.sink.kills.empty());
          tells[static_cast<size_t>(order[static_cast<size_t>(i)])]();
          if (!one_batch || i == 2) cluster.End();
          if (restart_after == i && !one_batch) cluster.Restart();
        }
        REQUIRE(cluster.sink.kills.size() == 1);
        CHECK(cluster.sink.kills[0].container == "statefulset:db/app");
        CHECK(cluster.sink.kills[0].kill.time_ms == at - 7000);
        CHECK(cluster.sink.kills[0].kill.requested_bytes == 1e9);
        // And never again.
        cluster.restarts = 1;
        cluster.reason = "OOMKilled";
        cluster.terminated = Seconds(at - 7000);
        for (int i = 3; i < 40; ++i) cluster.Scrape(kT0 + i * kStep);
        CHECK(cluster.sink.kills.size() == 1);
        CHECK(cluster.counters.oom_kills == 1);
        CHECK(cluster.counters.restarts_without_kill == 0);
      }
    }
  } while (std::next_permutation(order.begin(), order.end()));
}

TEST_CASE("the first sight of a count is no kill, a jump is one", "[workloads][kills]") {
  Cluster cluster;
  cluster.restarts = 17;
  cluster.reason = "OOMKilled";
  cluster.terminated = Seconds(kT0 - 5000);
  cluster.Scrape(kT0);
  cluster.Scrape(kT0 + kStep);
  CHECK(cluster.sink.kills.empty());
  cluster.restarts = 21;
  cluster.terminated = Seconds(kT0 + kStep + 1000);
  cluster.Scrape(kT0 + 2 * kStep);
  CHECK(cluster.sink.kills.size() == 1);
  CHECK(cluster.sink.kills[0].kill.time_ms == kT0 + kStep + 1000);
}

TEST_CASE("a restart for another reason is no kill, whatever the reason before and after",
          "[workloads][kills]") {
  Cluster cluster;
  cluster.reason = "OOMKilled";
  cluster.terminated = Seconds(kT0 - 90'000);
  cluster.Scrape(kT0);
  SECTION("the series of the reason changes, as newer versions tell it") {
    cluster.reason = "Error";
    cluster.restarts = 1;
    cluster.terminated = Seconds(kT0 + 1000);
    const int64_t at = kT0 + kStep;
    cluster.Put(Restarts("db-0"), at, 1);
    cluster.Put(Reason("db-0"), at, StaleMarker());
    cluster.Scrape(at + kStep);
  }
  SECTION("the value changes, as older ones do") {
    const int64_t at = kT0 + kStep;
    cluster.Put(Reason("db-0"), at, 0);
    cluster.Put(Reason("db-0", "Error"), at, 1);
    cluster.Put(Restarts("db-0"), at, 1);
    cluster.End();
    cluster.reason = "";
    cluster.restarts = 1;
  }
  CHECK(cluster.counters.restarts_without_kill == 1);
  CHECK(cluster.sink.kills.empty());
  // The next one is for memory: it alone is a kill, though the reason comes first.
  const int64_t at = kT0 + 4 * kStep;
  cluster.Put(Reason("db-0"), at, 1);
  cluster.Put(Terminated("db-0"), at, Seconds(at - 1000));
  cluster.Put(Restarts("db-0"), at, 2);
  cluster.End();
  REQUIRE(cluster.sink.kills.size() == 1);
  CHECK(cluster.sink.kills[0].kill.time_ms == at - 1000);
  CHECK(cluster.counters.restarts_without_kill == 1);
}

TEST_CASE("a restart of which no reason comes within five minutes is no kill",
          "[workloads][kills]") {
  Cluster cluster;
  cluster.Scrape(kT0);
  cluster.restarts = 1;
  const int64_t at = kT0 + kStep;
  for (int i = 0; i < 10; ++i) cluster.Scrape(at + i * kStep);
  CHECK(cluster.counters.restarts_without_kill == 0);
  SECTION("never") {
    cluster.Scrape(at + 10 * kStep);
    CHECK(cluster.counters.restarts_without_kill == 1);
    cluster.Send(Reason("db-0"), at + 11 * kStep, 1);
    CHECK(cluster.sink.kills.empty());
  }
  SECTION("or just in time") {
    cluster.Send(Reason("db-0"), at + 9 * kStep, 1);
    cluster.Scrape(at + 10 * kStep);
    CHECK(cluster.sink.kills.size() == 1);
  }
}

TEST_CASE("without a series of the time the restart's sample tells it, a minute later",
          "[workloads][kills]") {
  Cluster cluster;
  cluster.Scrape(kT0);
  cluster.restarts = 1;
  cluster.reason = "OOMKilled";
  cluster.Scrape(kT0 + kStep);
  cluster.Scrape(kT0 + 2 * kStep);
  CHECK(cluster.sink.kills.empty());
  cluster.Scrape(kT0 + 3 * kStep);
  REQUIRE(cluster.sink.kills.size() == 1);
  CHECK(cluster.sink.kills[0].kill.time_ms == kT0 + kStep);
}

TEST_CASE("a time that cannot be is not believed", "[workloads][kills]") {
  const int64_t at = kT0 + kStep;
  const double time =
      GENERATE_COPY(std::numeric_limits<double>::quiet_NaN(), 0.0, -5.0, 9e8, Seconds(at) + 1,
                    1e300, std::numeric_limits<double>::infinity(), static_cast<double>(at));
  INFO(time);
  Cluster cluster;
  cluster.Scrape(kT0);
  cluster.Put(Terminated("db-0"), at, time);
  cluster.Put(Reason("db-0"), at, 1);
  cluster.Put(Restarts("db-0"), at, 1);
  cluster.End();
  REQUIRE(cluster.sink.kills.size() == 1);
  CHECK(cluster.sink.kills[0].kill.time_ms == at);
}

TEST_CASE("a kill has the request of its own pod, and of before", "[workloads][kills]") {
  Cluster cluster;
  cluster.Scrape(kT0);
  const int64_t at = kT0 + kStep;
  SECTION("not that of a resize told with it") {
    cluster.Put(MemoryRequest("db-0"), at, 2e9);
    cluster.Put(Restarts("db-0"), at, 1);
    cluster.Put(Reason("db-0"), at, 1);
    cluster.Put(Terminated("db-0"), at, Seconds(at));
    cluster.End();
    REQUIRE(cluster.sink.kills.size() == 1);
    CHECK(cluster.sink.kills[0].kill.requested_bytes == 1e9);
  }
  SECTION("but that of a resize long before") {
    cluster.Send(MemoryRequest("db-0"), at, 2e9);
    cluster.Put(Restarts("db-0"), at + kStep, 1);
    cluster.Put(Reason("db-0"), at + kStep, 1);
    cluster.Put(Terminated("db-0"), at + kStep, Seconds(at + 1000));
    cluster.End();
    REQUIRE(cluster.sink.kills.size() == 1);
    CHECK(cluster.sink.kills[0].kill.requested_bytes == 2e9);
  }
  SECTION("not that of the next pod of the same name") {
    cluster.Put(MemoryRequest("db-0", {{"uid", "next"}}), at, 3e9);
    cluster.Put(Restarts("db-0"), at + kStep, 1);
    cluster.Put(Reason("db-0"), at + kStep, 1);
    cluster.Put(Terminated("db-0"), at + kStep, Seconds(at + 1000));
    cluster.End();
    REQUIRE(cluster.sink.kills.size() == 1);
    CHECK(cluster.sink.kills[0].kill.requested_bytes == 1e9);
    // Its own kill, and its count begins anew.
    const LabelMap next = {{"uid", "next"}};
    cluster.Send(Restarts("db-0", next), at + 2 * kStep, 0);
    cluster.Put(Restarts("db-0", next), at + 3 * kStep, 1);
    cluster.Put(Reason("db-0", "OOMKilled", next), at + 3 * kStep, 1);
    cluster.Put(Terminated("db-0", next), at + 3 * kStep, Seconds(at + 3 * kStep - 5));
    cluster.End();
    REQUIRE(cluster.sink.kills.size() == 2);
    CHECK(cluster.sink.kills[1].kill.requested_bytes == 3e9);
  }
  SECTION("none where none is known") {
    cluster.Send(Restarts("web-1"), at, 0);
    cluster.Put(Restarts("web-1"), at + kStep, 1);
    cluster.Put(Reason("web-1"), at + kStep, 1);
    cluster.Put(Terminated("web-1"), at + kStep, Seconds(at));
    cluster.End();
    REQUIRE(cluster.sink.kills.size() == 1);
    CHECK_FALSE(cluster.sink.kills[0].kill.requested_bytes);
  }
}

TEST_CASE("two scrapes of one pod tell one kill", "[workloads][kills]") {
  RecordedNamespace one;
  const LabelMap first = {{"instance", "a"}};
  const LabelMap second = {{"instance", "b"}};
  for (const LabelMap& scrape : {first, second}) one.Put(Restarts("db-0", scrape), kT0, 3);
  one.End();
  const auto tell = [&](const LabelMap& scrape, int64_t at, double count) {
    one.Put(Restarts("db-0", scrape), at, count);
    one.Put(Reason("db-0", "OOMKilled", scrape), at, 1);
    one.Put(Terminated("db-0", scrape), at, Seconds(kT0 + 1000));
    one.End();
  };
  tell(first, kT0 + kStep, 4);
  one.Restart();
  tell(second, kT0 + kStep + 5, 4);
  tell(first, kT0 + 2 * kStep, 4);
  tell(second, kT0 + 2 * kStep + 5, 3);  // from a cache that lags
  tell(second, kT0 + 3 * kStep + 5, 4);
  CHECK(one.sink.kills.size() == 1);
  CHECK(one.counters.oom_kills_repeated == 2);
  // A third one that begins later changes nothing.
  tell({{"instance", "c"}}, kT0 + 4 * kStep, 4);
  CHECK(one.sink.kills.size() == 1);
  CHECK(one.counters.restarts_without_kill == 0);
}

TEST_CASE("a count that falls begins anew", "[workloads][kills]") {
  RecordedNamespace one;
  const auto tell = [&](int64_t at, double count) {
    one.Put(Restarts("db-0", {{"uid", ""}}), at, count);
    one.Put(Reason("db-0", "OOMKilled", {{"uid", ""}}), at, 1);
    one.Put(Terminated("db-0", {{"uid", ""}}), at, Seconds(at - 1));
    one.End();
  };
  tell(kT0, 5);
  tell(kT0 + kStep, 0);
  CHECK(one.sink.kills.empty());
  tell(kT0 + 2 * kStep, 1);
  tell(kT0 + 3 * kStep, 2);
  CHECK(one.sink.kills.size() == 2);
  // What is no count says nothing.
  tell(kT0 + 4 * kStep, -1);
  tell(kT0 + 5 * kStep, std::numeric_limits<double>::infinity());
  tell(kT0 + 6 * kStep, 2);
  CHECK(one.sink.kills.size() == 2);
}

TEST_CASE("events of the kernel count while nobody tells restarts", "[workloads][kills]") {
  RecordedNamespace one;
  one.Send(OomEvents("db-0"), kT0, 2);
  one.Send(MemoryRequest("db-0"), kT0 + 1000, 5e8);
  CHECK(one.sink.kills.empty());
  one.Send(OomEvents("db-0"), kT0 + kStep, 4);
  REQUIRE(one.sink.kills.size() == 1);
  CHECK(one.sink.kills[0].kill.time_ms == kT0 + kStep);
  CHECK(one.sink.kills[0].kill.requested_bytes == 5e8);
  one.Send(OomEvents("db-0"), kT0 + 2 * kStep, 0);  // began anew
  CHECK(one.sink.kills.size() == 1);
  one.Restart();
  one.Send(OomEvents("db-0"), kT0 + 3 * kStep, 1);
  CHECK(one.sink.kills.size() == 2);
  // A second scrape of the same cgroup.
  one.Send(OomEvents("db-0", {{"job", "other"}}), kT0 + 3 * kStep, 0);
  one.Send(OomEvents("db-0", {{"job", "other"}}), kT0 + 4 * kStep, 1);
  CHECK(one.sink.kills.size() == 2);
  CHECK(one.counters.oom_kills_repeated == 1);

  one.Send(Restarts("db-0"), kT0 + 5 * kStep, 9);
  one.Send(OomEvents("db-0"), kT0 + 6 * kStep, 2);
  CHECK(one.sink.kills.size() == 2);
  CHECK(one.counters.oom_kills_repeated == 2);
  // Its marker, or five minutes without it, and they count again.
  one.Send(Restarts("db-0"), kT0 + 7 * kStep, StaleMarker());
  one.Send(OomEvents("db-0"), kT0 + 8 * kStep, 3);
  CHECK(one.sink.kills.size() == 3);
  // When the restarts are told again, the kill that the events told is not a new one.
  one.Put(Restarts("db-0"), kT0 + 9 * kStep, 10);
  one.Put(Reason("db-0"), kT0 + 9 * kStep, 1);
  one.Put(Terminated("db-0"), kT0 + 9 * kStep, Seconds(kT0 + 8 * kStep - 10));
  one.End();
  CHECK(one.sink.kills.size() == 3);
  CHECK(one.counters.oom_kills_repeated == 3);
  one.Send(OomEvents("db-0"), kT0 + 20 * kStep, 4);
  CHECK(one.sink.kills.size() == 4);
}

TEST_CASE("kills of a pod whose owner is not known yet come to its workload",
          "[workloads][kills]") {
  RecordedNamespace one;
  one.Send(Restarts("db-0"), kT0, 0);
  one.Put(Restarts("db-0"), kT0 + kStep, 1);
  one.Put(Reason("db-0"), kT0 + kStep, 1);
  one.Put(Terminated("db-0"), kT0 + kStep, Seconds(kT0));
  one.End();
  REQUIRE(one.sink.kills.size() == 1);
  CHECK(one.sink.kills[0].container == ":db-0/app");
  one.Send(OwnerOf("db-0", "StatefulSet", "db"), kT0 + kStep, 1);
  CHECK(one.sink.merged ==
        std::vector<std::pair<std::string, std::string>>{{":db-0/app", "statefulset:db/app"}});
  const auto views = one.state->View(one.state->event_time_ms());
  REQUIRE(views.size() == 1);
  REQUIRE(views[0].containers.size() == 1);
  CHECK(views[0].containers[0].name == "app");
}

TEST_CASE("a container of which only kills are known stays for eight days", "[workloads][kills]") {
  RecordedNamespace one;
  one.Put(OwnerOf("db-0", "StatefulSet", "db"), kT0, 1);
  one.Send(Restarts("db-0"), kT0, 0);
  one.Put(Restarts("db-0"), kT0 + kStep, 1);
  one.Put(Reason("db-0"), kT0 + kStep, 1);
  one.Put(Terminated("db-0"), kT0 + kStep, Seconds(kT0));
  one.End();
  // The workload goes on with another container.
  const auto go_on = [&](int64_t at) {
    one.Put(OwnerOf("db-1", "StatefulSet", "db"), at, 1);
    one.Send(OfContainer("kube_pod_container_status_restarts_total", "db-1", "other"), at, 0);
  };
  constexpr int64_t kDayMs = 24 * 3'600'000LL;
  const auto containers = [&] {
    return one.state->View(one.state->event_time_ms()).at(0).containers.size();
  };
  for (int day = 1; day < 8; ++day) go_on(kT0 + day * kDayMs);
  one.Restart();
  go_on(kT0 + 8 * kDayMs - 3'600'000);
  CHECK(containers() == 2);
  for (int hour = 1; hour < 5; ++hour) go_on(kT0 + 8 * kDayMs + hour * 3'600'000);
  CHECK(containers() == 1);
}

TEST_CASE("a restart that waits goes with its pod", "[workloads][kills]") {
  RecordedNamespace one;
  one.Send(Restarts("db-0"), kT0, 0);
  one.Send(Restarts("db-0"), kT0 + kStep, 1);
  one.state->ForgetSeries();
  CHECK(one.state->pod_count() == 0);
  CHECK(one.counters.restarts_without_kill == 1);
  one.Send(OwnerOf("db-1", "StatefulSet", "db"), kT0 + 20 * kStep, 1);
  CHECK(one.sink.kills.empty());
}
