// Samples of a workload's pods → minutes of its demand.
#include <algorithm>
#include <cmath>

#include "tests/catch.h"
#include "tests/workloads/recorded_namespace.h"
#include "workloads/past.h"

using namespace tidemark;
using namespace tidemark::testing;
using workloads::DemandWish;
using workloads::kMinuteMs;
using Lines = std::vector<std::string>;

namespace {

constexpr int64_t kT0 = RecordedNamespace::kBeginMs;
constexpr int64_t kSecond = 1000;

/// Pods of which each is scraped at a time of its own within 15 s. Time is in seconds since kT0.
struct Demanded : RecordedNamespace {
  struct Told {
    int phase = 0;                       // seconds
    std::map<std::string, double> uses;  // cores, by container
    std::map<std::string, double> spent;
    bool scraped = true;
  };
  std::map<std::string, Told> pods;
  int now = 0;
  int next = 0;       // second of Until
  bool facts = true;  // kube-state-metrics answers

  explicit Demanded(std::optional<DemandWish> wish = DemandWish{Resource::kCpu, 0}) {
    sink.wish = wish;
  }

  static LabelMap Cpu(const std::string& pod, const std::string& container = "app") {
    return {{"__name__", "container_cpu_usage_seconds_total"},
            {"namespace", "shop"},
            {"pod", pod},
            {"container", container},
            {"cpu", "total"},
            {"id", "/kubepods/" + pod + "/" + container}};
  }
  static LabelMap Started(const std::string& pod) {
    return {{"__name__", "kube_pod_start_time"}, {"namespace", "shop"}, {"pod", pod}};
  }
  void Own(const std::string& pod, const std::string& of = "web") {
    Put(OwnerOf(pod, "StatefulSet", of), kT0 + now * kSecond, 1);
  }
  /// A pod of which something is known from now on.
  Told& Add(const std::string& pod, double cores, int phase = 0) {
    Own(pod);
    End();
    pods[pod].phase = phase;
    pods[pod].uses["app"] = cores;
    return pods[pod];
  }
  /// The pod is gone from everywhere.
  void Stop(const std::string& pod) {
    for (const auto& [container, cores] : pods.at(pod).uses) {
      Put(Cpu(pod, container), kT0 + now * kSecond + 500, StaleMarker());
    }
    Put(OwnerOf(pod, "StatefulSet", "web"), kT0 + now * kSecond + 500, StaleMarker());
    End();
    pods.erase(pod);
  }
  void Fail(const std::string& pod) {
    for (const auto& [container, cores] : pods.at(pod).uses) {
      Put(Cpu(pod, container), kT0 + now * kSecond + 500, StaleMarker());
    }
    End();
    pods.at(pod).scraped = false;
  }
  /// Each second of these, up to this one.
  void Until(int seconds) {
    for (; next <= seconds; ++next) {
      now = next;
      for (auto& [name, pod] : pods) {
        for (const auto& [container, cores] : pod.uses) pod.spent[container] += cores;
        if (now % 15 != pod.phase || !pod.scraped) continue;
        for (const auto& [container, spent] : pod.spent) {
          Put(Cpu(name, container), kT0 + now * kSecond, spent);
        }
        End();
      }
      if (now % 30 != 20 || !facts) continue;
      for (const auto& [name, pod] : pods) Own(name);
      End();
    }
    now = seconds;
  }
  void Minutes(int minutes) { Until(minutes * 60); }

  /// "minute demand pods" of each so far, minutes counted from kT0, demand to three digits.
  Lines Demand(const std::string& container = "statefulset:web///") const {
    Lines lines;
    for (const auto& told : sink.demand) {
      if (told.container != container) continue;
      char text[64];
      std::snprintf(text, sizeof text, "%d %.3g %u",
                    static_cast<int>((told.minute.start_ms - kT0) / kMinuteMs), told.minute.demand,
                    told.minute.pods);
      lines.emplace_back(text);
    }
    return lines;
  }
  Lines Last(size_t count) const {
    Lines lines = Demand();
    lines.erase(lines.begin(), lines.end() - static_cast<long>(std::min(count, lines.size())));
    return lines;
  }
};

}  // namespace

TEST_CASE("the demand of a minute is what all pods and containers use, whenever they are scraped",
          "[workloads][demand]") {
  Demanded one;
  one.sink.sums_by_pod = true;  // whose sum must not count again
  one.Add("web-0", 1, 2);
  one.Add("web-1", 2, 7);
  one.Add("web-2", 4, 14).uses["proxy"] = 0.5;
  one.Until(4 * 60 + 13);
  CHECK(one.Demand() == Lines{"0 7.5 3", "1 7.5 3", "2 7.5 3"});
  one.Until(4 * 60 + 14);  // the slowest has passed
  CHECK(one.Demand() == Lines{"0 7.5 3", "1 7.5 3", "2 7.5 3", "3 7.5 3"});
  const auto views = one.state->View(one.state->event_time_ms());
  REQUIRE(views.size() == 1);
  CHECK(views[0].containers.size() == 2);
  CHECK(views[0].containers_in_pod == 1);
  CHECK(views[0].containers_known == 2);
  REQUIRE(views[0].demand);
  CHECK(one.sink.names.at(*views[0].demand) == "statefulset:web///");
  CHECK(one.counters.containers_now == 3);  // app, proxy, the pods' sum
  std::vector<WorkloadStatus> statuses;
  one.state->Explain("web", statuses);
  REQUIRE(statuses.size() == 1);
  for (const auto& item : statuses[0].prerequisites)
    CHECK(item.what.find("//") == std::string::npos);
  int shown = 0;
  one.state->ForEachContainer([&](const auto&, std::string_view name, const auto&) {
    CHECK(name != workloads::kDemand);
    ++shown;
  });
  CHECK(shown == 3);
}

TEST_CASE("no demand is summed where none is wished", "[workloads][demand]") {
  Demanded one(std::nullopt);
  one.Add("web-0", 1);
  one.Minutes(3);
  CHECK(one.sink.demand.empty());
  CHECK(one.sink.names.size() == 1);
  CHECK_FALSE(one.state->View(one.state->event_time_ms()).at(0).demand);
  CHECK(one.sink.asked == 1);  // not for each minute

  Demanded other;
  other.Own("x-0", "unwished");
  other.Until(0);
  for (int i = 0; i <= 12; ++i) other.Send(Demanded::Cpu("x-0"), kT0 + i * 15'000, i);
  CHECK(other.sink.usage.size() == 3);
  CHECK(other.sink.demand.empty());
}

TEST_CASE("the demand of levels is the sum of what pods reach", "[workloads][demand]") {
  Demanded one(DemandWish{Resource::kMemory, 0});
  const auto memory = [](const std::string& pod) {
    return OfContainer("container_memory_working_set_bytes", pod, "app",
                       {{"id", pod}, {"uid", ""}});
  };
  one.Own("web-0");
  one.Own("web-1");
  for (int i = 0; i <= 12; ++i) {
    one.Send(memory("web-0"), kT0 + i * 15'000, 100 + i);
    one.Send(memory("web-1"), kT0 + i * 15'000 + 7'000, 1000 - i);
  }
  CHECK(one.Demand() == Lines{"0 1.1e+03 2", "1 1.1e+03 2", "2 1.1e+03 2"});
  REQUIRE(one.sink.demand.size() == 3);
  CHECK(one.sink.demand[1].minute.demand == 107 + 996);
  CHECK(one.sink.demand[1].resource == Resource::kMemory);
}

TEST_CASE("a pod that ends counts to its end and makes no gap, nor a minute late",
          "[workloads][demand]") {
  Demanded one;
  one.Add("web-0", 1, 2);
  one.Add("web-1", 2, 4);
  one.Until(3 * 60 + 50);
  one.Stop("web-1");
  one.Until(5 * 60 + 2);
  CHECK(one.Demand() == Lines{"0 3 2", "1 3 2", "2 3 2", "3 3 2", "4 1 1"});
  SECTION("after less than half of the minute it is not in it") {
    one.Add("web-1", 2, 4);
    one.Until(7 * 60 + 20);
    one.Stop("web-1");
    one.Until(9 * 60 + 2);
    CHECK(one.Last(2) == Lines{"7 1 1", "8 1 1"});
  }
  SECTION("the last one's minute comes too") {
    one.Until(5 * 60 + 50);
    one.Stop("web-0");
    for (int i = 0; i < 3; ++i) one.Send(Restarts("other"), kT0 + (6 + i) * kMinuteMs, 0);
    CHECK(one.Last(2) == Lines{"4 1 1", "5 1 1"});
  }
}

TEST_CASE("a pod that starts counts for no more than the mean of the older ones",
          "[workloads][demand]") {
  Demanded one(DemandWish{Resource::kCpu, 120'000});
  for (const char* pod : {"web-0", "web-1"}) {
    one.Add(pod, pod[4] == '0' ? 1 : 3, 3);
    one.Put(Demanded::Started(pod), kT0, (kT0 - 3'600'000) / 1000.0);
  }
  one.Until(3 * 60);
  one.Put(Demanded::Started("web-2"), kT0 + 180'000, static_cast<double>(kT0) / 1000 + 180);
  one.Put(Demanded::Started("web-0"), kT0 + 180'000, (kT0 - 3'600'000) / 1000.0);
  one.Put(Demanded::Started("web-1"), kT0 + 180'000, (kT0 - 3'600'000) / 1000.0);
  one.Add("web-2", 10, 3);
  one.Until(8 * 60);
  // Its first whole minute is the fourth; it is two minutes old at the end of the fifth.
  CHECK(one.Demand() == Lines{"0 4 2", "1 4 2", "2 4 2", "3 6 3", "4 14 3", "5 14 3", "6 14 3"});
}

TEST_CASE("without a start time a pod is as old as what is known of it", "[workloads][demand]") {
  Demanded one(DemandWish{Resource::kCpu, 120'000});
  one.Add("web-0", 1, 3);
  one.Until(4 * 60 - 1);
  one.Add("web-1", 9, 3);
  one.Until(8 * 60);
  CHECK(one.Last(3) == Lines{"4 2 2", "5 10 2", "6 10 2"});
  CHECK(one.Demand().front() == "0 1 1");  // with nothing but young ones all count whole
}

TEST_CASE("a pod that falls silent is waited for three minutes, then missed, then left out",
          "[workloads][demand]") {
  Demanded one;
  for (int pod = 0; pod < 4; ++pod) one.Add("web-" + std::to_string(pod), 1, pod);
  one.Until(5 * 60 + 50);
  one.pods.at("web-3").scraped = false;  // and no marker comes
  one.Until(8 * 60 + 55);
  CHECK(one.Last(1) == Lines{"4 4 4"});
  SECTION("while something else is told of it") {
    one.Until(16 * 60 + 5);
    // From the seventh minute on a quarter of the pods is missing, until five minutes after.
    CHECK(one.Last(6) == Lines{"5 4 4", "11 3 3", "12 3 3", "13 3 3", "14 3 3", "15 3 3"});
  }
  SECTION("and counts again when it is back") {
    one.Until(12 * 60 + 5);
    one.pods.at("web-3").scraped = true;
    one.Until(16 * 60 + 5);
    CHECK(one.Last(3) == Lines{"13 4 4", "14 4 4", "15 4 4"});
  }
}

TEST_CASE("a pod of which nothing at all is told any more is not missed", "[workloads][demand]") {
  Demanded one;
  for (int pod = 0; pod < 4; ++pod) one.Add("web-" + std::to_string(pod), 1, pod);
  one.Until(2 * 60 + 59);
  one.pods.erase("web-3");
  one.Until(13 * 60 + 5);
  CHECK(one.Last(11) == Lines{"2 4 4", "3 3 3", "4 3 3", "5 3 3", "6 3 3", "7 3 3", "8 3 3",
                              "9 3 3", "10 3 3", "11 3 3", "12 3 3"});
}

TEST_CASE("pods that live and cannot be scraped make gaps when they are many",
          "[workloads][demand]") {
  const int failing = GENERATE(2, 3);
  Demanded one;
  for (int pod = 0; pod < 20; ++pod) one.Add("web-" + std::to_string(pod), 1, pod % 15);
  one.Until(3 * 60 - 1);
  for (int pod = 0; pod < failing; ++pod) one.Fail("web-" + std::to_string(pod));
  one.Until(7 * 60 + 59);
  const Lines all = one.Demand();
  if (failing == 2) {
    CHECK(all ==
          Lines{"0 20 20", "1 20 20", "2 20 20", "3 18 18", "4 18 18", "5 18 18", "6 18 18"});
  } else {
    CHECK(all == Lines{"0 20 20", "1 20 20", "2 20 20"});
  }
  for (auto& [name, pod] : one.pods) pod.scraped = true;
  one.Until(11 * 60 + 20);
  CHECK(one.Last(2) == Lines{"9 20 20", "10 20 20"});
}

TEST_CASE("a scrape that fails once and is caught up makes no gap", "[workloads][demand]") {
  Demanded one;
  one.Add("web-0", 1, 2);
  one.Add("web-1", 2, 4);
  one.Until(2 * 60 + 45);
  one.Fail("web-1");
  one.Until(2 * 60 + 58);
  one.pods.at("web-1").scraped = true;
  one.Until(5 * 60 + 5);
  CHECK(one.Demand() == Lines{"0 3 2", "1 3 2", "2 3 2", "3 3 2", "4 3 2"});
}

TEST_CASE("after an outage no minute is given of which some pods are not back",
          "[workloads][demand]") {
  Demanded one;
  for (int pod = 0; pod < 6; ++pod) one.Add("web-" + std::to_string(pod), 1, 2 * pod);
  one.Until(2 * 60 + 13);
  const bool by_marker = GENERATE(false, true);
  const bool restarts = GENERATE(false, true);
  for (auto& [name, pod] : one.pods) pod.scraped = false;
  if (by_marker) {
    for (int pod = 0; pod < 6; ++pod) one.Fail("web-" + std::to_string(pod));
  }
  one.facts = by_marker;
  // All are back in one minute, the first with more than half of it, the last with less.
  one.Until(12 * 60 - 1);
  for (int pod = 0; pod < 6; ++pod) {
    if (restarts) one.Restart();
    one.pods.at("web-" + std::to_string(pod)).scraped = true;
    one.Until(12 * 60 + 10 * pod);
  }
  one.facts = true;
  one.Until(16 * 60 + 12);
  const Lines wanted = {"0 6 6", "1 6 6"};
  Lines all = one.Demand();
  REQUIRE(all.size() >= 5);
  CHECK(Lines(all.end() - 3, all.end()) == Lines{"13 6 6", "14 6 6", "15 6 6"});
  CHECK(Lines(all.begin(), all.begin() + 2) == wanted);
  for (const Lines::value_type& line : all) CHECK(line.ends_with(" 6 6"));
}

TEST_CASE("an older pod that comes back with too little of a minute is missing in it",
          "[workloads][demand]") {
  Demanded one;
  for (int pod = 0; pod < 4; ++pod) one.Add("web-" + std::to_string(pod), 1, pod);
  one.Until(2 * 60 + 50);
  one.Fail("web-3");
  one.Until(10 * 60 + 40);
  one.pods.at("web-3").scraped = true;
  one.Until(13 * 60 + 5);
  CHECK(one.Last(4) == Lines{"8 3 3", "9 3 3", "11 4 4", "12 4 4"});
}

TEST_CASE("a pod that has completed is not missed", "[workloads][demand]") {
  Demanded one;
  one.Add("web-0", 1, 2);
  one.Add("web-1", 2, 4);
  const LabelMap phase = {{"__name__", "kube_pod_status_phase"},
                          {"namespace", "shop"},
                          {"pod", "web-1"},
                          {"phase", "Succeeded"}};
  one.Until(3 * 60 - 2);
  one.Fail("web-1");
  one.Send(phase, kT0 + one.now * kSecond, 1);
  one.Until(6 * 60 + 5);
  CHECK(one.Demand() == Lines{"0 3 2", "1 3 2", "2 3 2", "3 1 1", "4 1 1", "5 1 1"});
}

TEST_CASE("what comes late does not count, and what comes after a gap counts from there on",
          "[workloads][demand]") {
  Demanded one;
  one.Add("web-0", 1, 2);
  one.Until(3 * 60);
  CHECK(one.Demand() == Lines{"0 1 1", "1 1 1"});
  one.Send(Demanded::Cpu("web-0"), kT0 + 10'000, 5);  // older than the series' newest
  one.pods.at("web-0").scraped = false;
  one.Until(10 * 60 - 1);
  one.pods.at("web-0").scraped = true;
  one.Until(13 * 60);
  // Nothing is bridged over more than five minutes: the third has 47 s of its own. The minute in
  // which it comes back is left out: with more pods nobody would know whether all of them have.
  CHECK(one.Demand() == Lines{"0 1 1", "1 1 1", "2 1 1", "11 1 1"});
}

TEST_CASE("another ReplicaSet of a Deployment goes on with its demand", "[workloads][demand]") {
  Demanded one;
  const auto put_owner = [&](const std::string& set) {
    one.Put({{"__name__", "kube_replicaset_owner"},
             {"namespace", "shop"},
             {"replicaset", set},
             {"owner_kind", "Deployment"},
             {"owner_name", "api"}},
            kT0 + one.now * kSecond, 1);
  };
  const auto run = [&](const std::string& pod, const std::string& set, int from, int to) {
    for (int at = from; at <= to; at += 15) {
      one.Put(OwnerOf(pod, "ReplicaSet", set), kT0 + at * kSecond, 1);
      one.now = at;
      put_owner(set);
      one.Send(Demanded::Cpu(pod), kT0 + at * kSecond, at - from);
    }
  };
  run("api-1-a", "api-1", 0, 180);
  for (const LabelMap& gone :
       {Demanded::Cpu("api-1-a"), OwnerOf("api-1-a", "ReplicaSet", "api-1")}) {
    one.Put(gone, kT0 + 181 * kSecond, StaleMarker());
  }
  one.End();
  run("api-2-b", "api-2", 180, 420);
  CHECK(one.Demand("deployment:api///") ==
        Lines{"0 1 1", "1 1 1", "2 1 1", "3 1 1", "4 1 1", "5 1 1", "6 1 1"});
}

TEST_CASE("a pod whose owner is told late makes no gap", "[workloads][demand]") {
  Demanded one;
  one.Add("web-0", 1, 2);
  one.Add("web-1", 1, 5);
  one.Until(3 * 60);
  for (int at = 3 * 60; at <= 9 * 60; at += 15) {
    if (at == 5 * 60 + 15) {
      one.now = at;
      one.Own("web-2");
    }
    one.Until(at);
    one.Send(Demanded::Cpu("web-2"), kT0 + at * kSecond, 4 * (at - 180));
  }
  CHECK(one.Demand() ==
        Lines{"0 2 2", "1 2 2", "2 2 2", "3 2 2", "4 2 2", "5 6 3", "6 6 3", "7 6 3"});
}

TEST_CASE("demand begins with the first whole minute of the workload", "[workloads][demand]") {
  Demanded one;
  // What is known before is the usage of pods whose owners nobody has told.
  for (int at = 0; at <= 75; at += 15) {
    for (const char* pod : {"web-0", "web-1"}) one.Send(Demanded::Cpu(pod), kT0 + at * kSecond, at);
  }
  one.now = 76;
  one.Own("web-0");
  one.End();
  one.now = 89;
  one.Own("web-1");
  one.End();
  for (int at = 90; at <= 240; at += 15) {
    for (const char* pod : {"web-0", "web-1"}) one.Send(Demanded::Cpu(pod), kT0 + at * kSecond, at);
  }
  CHECK(one.Demand() == Lines{"2 2 2", "3 2 2"});
}

TEST_CASE("another wish begins anew", "[workloads][demand]") {
  Demanded one;
  one.Add("web-0", 1, 2);
  one.Until(2 * 60 + 30);
  const int asked = one.sink.asked;
  one.state->TellContainers();
  CHECK(one.sink.asked == asked + 1);
  one.Until(3 * 60 + 30);
  CHECK(one.Demand() == Lines{"0 1 1", "1 1 1", "2 1 1"});  // the same wish: nothing is dropped
  one.sink.wish = DemandWish{Resource::kMemory, 0};
  one.state->TellContainers();
  one.Until(5 * 60 + 30);
  CHECK(one.Demand().size() == 3);
  one.sink.wish = DemandWish{Resource::kCpu, 60'000};
  one.state->TellContainers();
  one.Until(8 * 60 + 30);
  CHECK(one.Last(2) == Lines{"6 1 1", "7 1 1"});
  CHECK(one.Demand().size() == 5);
  one.sink.wish.reset();
  one.state->TellContainers();
  one.Until(10 * 60 + 30);
  CHECK(one.Demand().size() == 5);
  CHECK_FALSE(one.state->View(one.state->event_time_ms()).at(0).demand);
}

TEST_CASE("a restart in the middle of a minute changes nothing", "[workloads][demand]") {
  Demanded plain;
  Demanded restarted;
  for (Demanded* const one : {&plain, &restarted}) {
    one->sink.wish = DemandWish{Resource::kCpu, 150'000};
    for (int pod = 0; pod < 5; ++pod) {
      one->Add("web-" + std::to_string(pod), 0.1 * (pod + 1), 3 * pod).uses["proxy"] = 0.01;
    }
    for (int at = 0; at <= 15 * 60; at += 7) {
      if (at == 301) one->Stop("web-1");
      if (at == 399) one->Fail("web-2");
      if (at == 497) one->Add("web-6", 3, 1);
      if (at == 602) one->pods.at("web-2").scraped = true;
      if (at == 700) one->pods.at("web-3").scraped = false;
      one->Until(at);
      if (one == &restarted) one->Restart();
    }
  }
  REQUIRE(plain.Demand().size() >= 7);
  REQUIRE(plain.sink.demand.size() == restarted.sink.demand.size());
  for (size_t i = 0; i < plain.sink.demand.size(); ++i) {
    CHECK(plain.sink.demand[i].minute.start_ms == restarted.sink.demand[i].minute.start_ms);
    CHECK(plain.sink.demand[i].minute.demand == restarted.sink.demand[i].minute.demand);
    CHECK(plain.sink.demand[i].minute.pods == restarted.sink.demand[i].minute.pods);
  }
  CHECK(plain.Saved() == restarted.Saved());
}

TEST_CASE("what was summed for another wish is dropped with a restart", "[workloads][demand]") {
  Demanded one;
  one.Add("web-0", 1, 2);
  one.Until(2 * 60 + 30);
  const std::string saved = one.Saved();
  const auto restore = [&] {
    std::vector<uint16_t> mapping;
    for (size_t i = 0; i < one.sources.size(); ++i) mapping.push_back(static_cast<uint16_t>(i));
    one.state.reset();
    ByteReader in(saved);
    auto restored = workloads::NamespaceState::Restore(in, mapping, 0, one.context);
    REQUIRE(restored);
    one.state = std::move(*restored);
  };
  SECTION("another") {
    one.sink.wish = DemandWish{Resource::kCpu, 1000};
    restore();
    one.Until(5 * 60 + 30);
    CHECK(one.Demand() == Lines{"0 1 1", "1 1 1", "3 1 1", "4 1 1"});
  }
  SECTION("none") {
    one.sink.wish.reset();
    restore();
    one.Until(5 * 60 + 30);
    CHECK(one.Demand() == Lines{"0 1 1", "1 1 1"});
  }
  for (size_t cut = 1; cut <= 40; ++cut) {
    one.state.reset();
    ByteReader in(std::string_view(saved).substr(0, saved.size() - cut));
    CHECK_FALSE(workloads::NamespaceState::Restore(in, {}, 0, one.context));
  }
}

TEST_CASE("a past of the demand comes before what lives, and once", "[workloads][demand]") {
  Demanded one;
  one.Add("web-0", 1, 2);
  one.Until(3 * 60 + 30);
  workloads::PastContainer past;
  past.workload_type = "statefulset";
  past.workload = "web";
  past.container = workloads::kDemand;
  const auto* const first = one.state->FirstMinutes(past);
  REQUIRE(first != nullptr);
  CHECK(first->Get(Resource::kCpu).ms == kT0);
  past.minutes.At(Resource::kCpu) = {kT0 - 3'600'000, kT0 + kMinuteMs, 61};
  CHECK(one.state->ReachesInto(past));
  CHECK_FALSE(one.state->MergePast(past));
  past.minutes.At(Resource::kCpu) = {kT0 - 3'600'000, kT0, 60};
  CHECK(one.state->MergePast(past));
  CHECK(one.state->FirstMinutes(past)->Get(Resource::kCpu).ms == kT0 - 3'600'000);
  one.Until(5 * 60 + 30);
  CHECK(one.Demand().size() == 5);
  // Of a workload that lives only later: its minutes from before the end do not count.
  past.workload = "late";
  past.minutes.At(Resource::kCpu) = {kT0, kT0 + 8 * kMinuteMs, 8};
  CHECK(one.state->MergePast(past));
  one.End();
  one.now = 6 * 60;
  one.Own("late-0", "late");
  for (int at = 6 * 60; at <= 11 * 60; at += 15) {
    one.Send(Demanded::Cpu("late-0"), kT0 + at * kSecond, at);
  }
  CHECK(one.Demand("statefulset:late///") == Lines{"8 1 1", "9 1 1", "10 1 1"});
  // Nobody asks for it any more.
  one.sink.wish.reset();
  one.state->TellContainers();
  past.workload = "other";
  CHECK(one.state->MergePast(past));
  CHECK(one.state->FirstMinutes(past) == nullptr);
  int demands = 0;
  one.state->ForEachDemand([&](const auto&, std::string_view, const auto&) { ++demands; });
  CHECK(demands == 2);
}

TEST_CASE("the hook of tests makes demand too", "[workloads][demand]") {
  Demanded one;
  for (const char* pod : {"web-0", "web-1"}) {
    one.Own(pod);
    one.Send(Restarts(pod), kT0, 0);
  }
  for (int i = 0; i < 5; ++i) {
    for (const char* pod : {"web-0", "web-1"}) {
      one.state->GiveUsageForTest(pod, "app", Resource::kCpu, {kT0 + i * kMinuteMs, 1.0 + i});
    }
  }
  CHECK(one.Demand() == Lines{"0 2 2", "1 4 2", "2 6 2", "3 8 2"});
}

TEST_CASE("a past that comes in slices makes the same demand", "[workloads][demand]") {
  const int slice = GENERATE(60, 1800, 3600);  // seconds
  Demanded one;
  for (int begin = 0; begin < 3600; begin += slice) {
    // Series by series, each with all samples of the slice, and no markers.
    for (int pod = 0; pod < 4; ++pod) {
      const std::string name = "web-" + std::to_string(pod);
      const int first = pod == 3 ? 1205 : pod;
      const int last = pod == 2 ? 1195 : 3599;
      for (int at = begin; at < begin + slice; ++at) {
        if (at < first || at > last) continue;
        if (at % 30 == pod) one.Put(OwnerOf(name, "StatefulSet", "web"), kT0 + at * kSecond, 1);
      }
      for (int at = begin; at < begin + slice; ++at) {
        if (at < first || at > last || at % 15 != pod % 15) continue;
        one.Put(Demanded::Cpu(name), kT0 + at * kSecond, at * (pod + 1));
      }
    }
    one.End();
  }
  one.state->ForgetSeries();
  const Lines all = one.Demand();
  REQUIRE(all.size() >= 58);
  CHECK(all.size() <= 59);  // of the last one nobody knows how it ends
  for (size_t i = 0; i < all.size(); ++i) {
    INFO(i);
    const char* const wanted = i < 20 ? " 6 3" : " 7 3";
    CHECK(all[i] == std::to_string(i) + wanted);
  }
  CHECK(one.Demand().size() == one.sink.demand.size());
}

TEST_CASE("demand outlives garbage collection as long as its workload", "[workloads][demand]") {
  Demanded one;
  one.Add("web-0", 1, 2);
  one.Until(3 * 60);
  one.Stop("web-0");
  constexpr int64_t kDayMs = 24 * 3'600'000;
  for (int day = 1; day <= 7; ++day) one.Send(Restarts("other"), kT0 + day * kDayMs, 0);
  CHECK(std::ranges::count_if(one.sink.names, [](const auto& named) {
          return named.second == "statefulset:web///";
        }) == 1);
  CHECK(one.sink.collected.contains("statefulset:web///"));
  for (int day = 8; day <= 20; ++day) one.Send(Restarts("other"), kT0 + day * kDayMs, 0);
  CHECK(std::ranges::count_if(one.sink.names, [](const auto& named) {
          return named.second == "statefulset:web///";
        }) == 0);
}

TEST_CASE("finding complete minutes takes a few looks at each pod that ends, and none at others",
          "[workloads][demand]") {
  Demanded one;
  constexpr int kPods = 200;
  for (int pod = 0; pod < kPods; ++pod) one.Add("web-" + std::to_string(pod), 1, pod % 15);
  one.Until(5 * 60);
  CHECK(one.Demand().size() == 4);
  CHECK(one.state->DemandVisitsForTest() == 0);
  for (int pod = 0; pod < 50; ++pod) one.Stop("web-" + std::to_string(pod));
  one.Until(10 * 60);
  CHECK(one.Demand().size() == 9);
  CHECK(one.Last(1) == Lines{"8 150 150"});
  CHECK(one.state->DemandVisitsForTest() <= 50 * 52);  // each batch ended one more
  const uint64_t before = one.state->DemandVisitsForTest();
  one.Until(15 * 60);
  CHECK(one.state->DemandVisitsForTest() == before);
}

TEST_CASE("a pod in a crash loop makes no gaps in what the others need", "[workloads][demand]") {
  Demanded one;
  for (int pod = 0; pod < 4; ++pod) one.Add("web-" + std::to_string(pod), 1, pod);
  one.Until(2 * 60 + 5);
  const size_t before = one.Demand().size();
  // It runs for 40 seconds of every four minutes; kube-state-metrics goes on to tell of it.
  for (int crash = 0; crash < 5; ++crash) {
    const int begin = 3 * 60 + crash * 4 * 60;
    one.Fail("web-3");
    one.Until(begin + 10);
    one.pods.at("web-3").scraped = true;
    one.pods.at("web-3").spent["app"] = 0;
    one.Until(begin + 50);
  }
  one.Fail("web-3");
  one.Until(24 * 60 + 5);
  // All but those after its one long run, in which it was missed for five minutes.
  CHECK(one.Demand().size() >= before + 21 - 6);
  CHECK(one.Last(8).size() == 8);
  const Lines last = one.Last(8);
  CHECK(last.back().substr(0, 3) == "23 ");
  CHECK(last.front().substr(0, 3) == "16 ");
}
