// Minutes of a pod's containers → minutes of the pod.
#include "workloads/pod_sum.h"

#include "tests/catch.h"
#include "tests/workloads/recorded_namespace.h"

using namespace tidemark;
using namespace tidemark::testing;
using workloads::kMinuteMs;
using workloads::kNever;
using workloads::PodSum;

namespace {

constexpr int64_t kT0 = RecordedNamespace::kBeginMs;

/// "minute usage request" of each, minutes counted from kT0.
std::vector<std::string> Text(const std::vector<PodSum::Minute>& minutes) {
  std::vector<std::string> text;
  for (const auto& minute : minutes) {
    text.push_back(std::to_string((minute.usage.start_ms - kT0) / kMinuteMs) + " " +
                   std::to_string(static_cast<int>(minute.usage.usage)) + " " +
                   (minute.request ? std::to_string(static_cast<int>(*minute.request)) : "-"));
  }
  return text;
}

using Lines = std::vector<std::string>;

workloads::UsageMinute At(int minute, double usage) { return {kT0 + minute * kMinuteMs, usage}; }

/// A pod's containers, each sampled every 15 s, with the memory it uses.
struct SummedPod : RecordedNamespace {
  SummedPod() { sink.sums_by_pod = true; }

  static LabelMap Memory(const std::string& container) {
    return {{"__name__", "container_memory_working_set_bytes"},
            {"namespace", "shop"},
            {"pod", "db-0"},
            {"container", container},
            {"id", "/kubepods/db-0/" + container}};
  }
  void Scrape(int64_t at, const std::vector<std::pair<std::string, double>>& used) {
    for (const auto& [container, bytes] : used) Put(Memory(container), at, bytes);
    End();
  }
  /// Minutes of the sum so far.
  Lines Sums() const {
    Lines lines;
    for (const auto& usage : sink.usage) {
      const std::string_view name = usage.container;
      if (!name.ends_with("//") || name.ends_with("///")) continue;
      lines.push_back(Text({{usage.minute, usage.request}}).front());
    }
    return lines;
  }
};

}  // namespace

TEST_CASE("a sum's minutes are given out once and in order", "[workloads][pod_sum]") {
  PodSum sum;
  std::vector<PodSum::Minute> out;
  sum.Close(kT0 + 100 * kMinuteMs, out);
  CHECK(out.empty());
  CHECK(sum.Add(At(1, 10), 5));
  CHECK(sum.Add(At(0, 1), 5));
  CHECK(sum.Add(At(1, 20), 6));
  CHECK(sum.Add(At(2, 3), std::nullopt));
  CHECK(sum.Add(At(2, 4), 6));
  CHECK(sum.HasOpen());
  sum.Close(kT0 + kMinuteMs - 1, out);
  CHECK(out.empty());
  sum.Close(kT0 + 2 * kMinuteMs, out);
  CHECK(Text(out) == Lines{"0 1 5", "1 30 11"});
  CHECK_FALSE(sum.Add(At(1, 7), 1));
  out.clear();
  sum.Flush(out);
  CHECK(Text(out) == Lines{"2 7 -"});
  CHECK_FALSE(sum.HasOpen());
  CHECK_FALSE(sum.Add(At(2, 7), 1));
  CHECK(sum.Add(At(3, 7), 1));
}

TEST_CASE("a saved sum is the same, and a cut one none", "[workloads][pod_sum]") {
  PodSum sum;
  std::vector<PodSum::Minute> out;
  sum.Add(At(0, 1), 5);
  sum.Close(kT0 + kMinuteMs, out);
  sum.Add(At(3, 2), std::nullopt);
  sum.Add(At(4, 2), 4);
  std::string bytes;
  ByteWriter writer(bytes);
  sum.Save(writer, kT0);
  ByteReader reader(bytes);
  auto restored = PodSum::Restore(reader, kT0);
  REQUIRE(restored);
  CHECK(reader.AtEnd());
  CHECK_FALSE(restored->Add(At(0, 1), 5));
  std::string again;
  ByteWriter second(again);
  restored->Save(second, kT0);
  CHECK(again == bytes);
  for (size_t cut = 0; cut < bytes.size(); ++cut) {
    ByteReader part(std::string_view(bytes).substr(0, cut));
    CHECK_FALSE(PodSum::Restore(part, kT0));
  }
}

TEST_CASE("a pod's minute is the sum of its containers' from the first on",
          "[workloads][pod_sum]") {
  SummedPod pod;
  for (int i = 0; i <= 12; ++i) pod.Scrape(kT0 + i * 15'000, {{"app", 5.0 + i}, {"proxy", 100}});
  CHECK(pod.Sums() == Lines{"0 108 -", "1 112 -", "2 116 -"});
  const auto views = pod.state->View(pod.state->event_time_ms());
  CHECK(views.empty());  // nobody knows whose it is
  pod.Send(OwnerOf("db-0", "StatefulSet", "db"), kT0 + 180'000, 1);
  const auto owned = pod.state->View(pod.state->event_time_ms());
  REQUIRE(owned.size() == 1);
  CHECK(owned[0].containers.size() == 2);
  CHECK(owned[0].containers_in_pod == 2);
  REQUIRE(owned[0].pod_sum);
  CHECK(pod.sink.names.at(*owned[0].pod_sum) == "statefulset:db//");
  CHECK(std::count(pod.sink.merged.begin(), pod.sink.merged.end(),
                   std::pair<std::string, std::string>{":db-0//", "statefulset:db//"}) == 1);
}

TEST_CASE("where one container stops the sum goes on with the rest", "[workloads][pod_sum]") {
  SummedPod pod;
  int i = 0;
  for (; i <= 8; ++i) pod.Scrape(kT0 + i * 15'000, {{"app", 1}, {"proxy", 100}});
  SECTION("by its marker, with its last minute") {
    pod.Put(SummedPod::Memory("proxy"), kT0 + i * 15'000, StaleMarker());
    for (; i <= 40; ++i) pod.Scrape(kT0 + i * 15'000, {{"app", 1}});
    REQUIRE(pod.Sums().size() == 10);
    CHECK(pod.Sums()[2] == "2 101 -");
    CHECK(pod.Sums()[3] == "3 1 -");
  }
  SECTION("by silence") {
    for (; i <= 28; ++i) pod.Scrape(kT0 + i * 15'000, {{"app", 1}});
    CHECK(pod.Sums() == Lines{"0 101 -", "1 101 -"});
    pod.Restart();
    for (; i <= 32; ++i) pod.Scrape(kT0 + i * 15'000, {{"app", 1}});
    CHECK(pod.Sums().size() == 8);
    CHECK(pod.Sums()[3] == "3 1 -");
  }
}

TEST_CASE("what is open of a sum is given out when its pod ends or falls silent",
          "[workloads][pod_sum]") {
  SummedPod pod;
  for (int i = 0; i <= 8; ++i) pod.Scrape(kT0 + i * 15'000, {{"app", 1}, {"proxy", 100}});
  // Another minute of one of them only: the other would have to pass it.
  for (int i = 9; i <= 16; ++i) pod.Scrape(kT0 + i * 15'000, {{"app", 1}});
  CHECK(pod.Sums() == Lines{"0 101 -", "1 101 -"});
  SECTION("ends") {
    pod.state->ForgetSeries();
    CHECK(pod.Sums().size() >= 5);
  }
  SECTION("falls silent") {
    for (int i = 17; i <= 50; ++i) {
      pod.Send(Restarts("other"), kT0 + i * 15'000, 0);
      if (i == 20) pod.Restart();
    }
    CHECK(pod.Sums().size() == 4);
  }
}

TEST_CASE("a container that is not summed, or calls itself as the sum, stays out",
          "[workloads][pod_sum]") {
  SummedPod pod;
  for (int i = 0; i <= 8; ++i) {
    pod.Scrape(kT0 + i * 15'000, {{"app", 1}, {"/", 100}, {"lonely", 1000}});
  }
  CHECK(pod.Sums() == Lines{"0 101 -", "1 101 -"});
  CHECK(pod.sink.labels.contains(":db-0////"));  // the wire's
}

TEST_CASE("a sum's request is that of all containers, where all are known",
          "[workloads][pod_sum]") {
  SummedPod pod;
  const auto request = [](const std::string& container) {
    return OfContainer("kube_pod_container_resource_requests", "db-0", container,
                       {{"resource", "memory"}});
  };
  for (int i = 0; i <= 12; ++i) {
    const int64_t at = kT0 + i * 15'000;
    pod.Put(request("app"), at, 10);
    if (i >= 4) pod.Put(request("proxy"), at, 7);
    pod.Scrape(at, {{"app", 1}, {"proxy", 2}});
  }
  // The first minute was closed as the second request came.
  CHECK(pod.Sums() == Lines{"0 3 17", "1 3 17", "2 3 17"});
  SummedPod other;
  for (int i = 0; i <= 8; ++i) {
    other.Put(request("app"), kT0 + i * 15'000, 10);
    other.Scrape(kT0 + i * 15'000, {{"app", 1}, {"proxy", 2}});
  }
  CHECK(other.Sums() == Lines{"0 3 -", "1 3 -"});
}

TEST_CASE("usage comes with the request in force, and the hooks of tests go the same way",
          "[workloads][pod_sum]") {
  SummedPod pod;
  pod.Put(OwnerOf("db-0", "StatefulSet", "db"), kT0, 1);
  pod.Put(MemoryRequest("db-0"), kT0, 10);
  pod.Send(Restarts("db-0"), kT0, 0);
  for (int i = 0; i < 7; ++i) {
    pod.state->GiveUsageForTest("db-0", "app", Resource::kMemory, At(i, i));
  }
  REQUIRE(pod.sink.usage.size() == 13);
  CHECK(pod.sink.usage[0].container == "statefulset:db/app");
  CHECK(pod.sink.usage[0].request == 10);
  CHECK(Text({{pod.sink.usage[2].minute, pod.sink.usage[2].request}}) == Lines{"0 0 10"});
  CHECK_FALSE(pod.sink.usage[12].request);  // nothing was said of it for over five minutes
  pod.state->GiveKillForTest("db-0", "app", {kT0 + 5000, std::nullopt});
  REQUIRE(pod.sink.kills.size() == 1);
  CHECK(pod.sink.kills[0].kill.requested_bytes == 10);
}
