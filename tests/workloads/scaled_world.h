#pragma once
// One namespace with a StatefulSet `web`, of which everything that decides replicas can be told.

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "tests/workloads/recorded_namespace.h"

namespace tidemark::testing {

/// cAdvisor is scraped every 15 s, kube-state-metrics every 30 s. Time is in seconds since kT0.
struct ScaledWorld : RecordedNamespace {
  static constexpr int64_t kT0 = kBeginMs;

  struct Told {
    double cores = 1;
    double spent = 0;
    std::optional<double> request = 0.5;
    std::optional<double> limit;
    double throttled_ratio = 0;  // of its CFS periods
    double throttled = 0;
    std::optional<int> started;      // second
    std::optional<int> ready_from;   // second; before it is not
    std::optional<int> ready_until;  // second
    bool tells_ready = true;         // kube_pod_status_ready
    bool tells_ready_time = false;   // kube_pod_status_ready_time
    bool is_scraped = true;          // by cAdvisor
    std::string of = "web";
    std::string uid = "1";
  };
  struct Scaler {
    std::string kind = "StatefulSet";
    std::string target = "web";
    std::optional<double> min = 2;
    std::optional<double> max = 10;
  };
  std::map<std::string, Told> pods;
  std::map<std::string, Scaler> scalers;
  std::optional<double> replicas = 2;
  bool facts = true;       // kube-state-metrics answers
  bool backwards = false;  // series of a scrape in the opposite order
  bool in_batches_of_one = false;
  int now = 0;
  int next = 0;

  explicit ScaledWorld(workloads::DemandWish wish = {Resource::kCpu, 0}) { sink.wish = wish; }

  /// A pod of which something is known from now on, and that has been ready for long.
  Told& Add(const std::string& pod, double cores = 1) {
    Told& told = pods[pod];
    told.cores = cores;
    told.started = now - 3600;
    told.ready_from = now - 3500;
    return told;
  }
  /// One that starts now and is ready after so many seconds.
  Told& Start(const std::string& pod, int ready_after, double cores = 1) {
    Told& told = Add(pod, cores);
    told.started = now;
    told.ready_from = now + ready_after;
    return told;
  }
  /// The pod is gone from everywhere.
  void Stop(const std::string& pod) {
    std::vector<LabelMap> all;
    for (const auto& [labels, value] : Usage(pod)) all.push_back(labels);
    for (const auto& [labels, value] : State(pod)) all.push_back(labels);
    End(all);
    pods.erase(pod);
  }
  void End(const std::vector<LabelMap>& all) {
    for (const LabelMap& labels : all) Put(labels, kT0 + now * 1000LL + 500, StaleMarker());
    RecordedNamespace::End();
  }

  using Series = std::vector<std::pair<LabelMap, double>>;
  static LabelMap OfPod(const std::string& metric, const std::string& pod, const LabelMap& more) {
    LabelMap labels = {{"__name__", metric}, {"namespace", "shop"}, {"pod", pod}};
    for (const auto& [name, value] : more) labels[name] = value;
    return labels;
  }
  static LabelMap OfScaler(const std::string& what, const std::string& name) {
    return {{"__name__", "kube_horizontalpodautoscaler_" + what},
            {"namespace", "shop"},
            {"horizontalpodautoscaler", name}};
  }
  LabelMap InfoOf(const std::string& name) const {
    LabelMap labels = OfScaler("info", name);
    labels["scaletargetref_kind"] = scalers.at(name).kind;
    labels["scaletargetref_name"] = scalers.at(name).target;
    return labels;
  }

  Series Usage(const std::string& pod) const {
    const Told& told = pods.at(pod);
    const LabelMap app = {{"container", "app"}, {"id", "/" + pod + told.uid}};
    Series series = {{OfPod("container_cpu_usage_seconds_total", pod, app), told.spent}};
    if (told.throttled_ratio > 0) {
      series.emplace_back(OfPod("container_cpu_cfs_periods_total", pod, app), now * 10);
      series.emplace_back(OfPod("container_cpu_cfs_throttled_periods_total", pod, app),
                          told.throttled);
    }
    return series;
  }
  Series State(const std::string& pod) const {
    const Told& told = pods.at(pod);
    LabelMap owner = OwnerOf(pod, "StatefulSet", told.of);
    owner["uid"] = told.uid;
    Series series = {{owner, 1}};
    const LabelMap uid = {{"uid", told.uid}};
    const LabelMap cpu = {
        {"uid", told.uid}, {"container", "app"}, {"resource", "cpu"}, {"unit", "core"}};
    if (told.request) {
      series.emplace_back(OfPod("kube_pod_container_resource_requests", pod, cpu), *told.request);
    }
    if (told.limit) {
      series.emplace_back(OfPod("kube_pod_container_resource_limits", pod, cpu), *told.limit);
    }
    if (told.started) {
      series.emplace_back(OfPod("kube_pod_start_time", pod, uid),
                          static_cast<double>(kT0) / 1000 + *told.started);
    }
    const bool is_ready = told.ready_from && now >= *told.ready_from &&
                          !(told.ready_until && now >= *told.ready_until);
    if (told.tells_ready && told.ready_from) {
      series.emplace_back(
          OfPod("kube_pod_status_ready", pod, {{"uid", told.uid}, {"condition", "true"}}),
          is_ready ? 1 : 0);
    }
    if (told.tells_ready_time && is_ready) {
      series.emplace_back(OfPod("kube_pod_status_ready_time", pod, uid),
                          static_cast<double>(kT0) / 1000 + *told.ready_from);
    }
    return series;
  }

  void Scrape(const Series& series) {
    for (size_t i = 0; i < series.size(); ++i) {
      const auto& [labels, value] = series[backwards ? series.size() - 1 - i : i];
      Put(labels, kT0 + now * 1000LL, value);
      if (in_batches_of_one) RecordedNamespace::End();
    }
    RecordedNamespace::End();
  }
  /// Each second of these, up to this one.
  void Until(int seconds) {
    for (; next <= seconds; ++next) {
      now = next;
      for (auto& [name, pod] : pods) {
        pod.spent += pod.cores;
        pod.throttled += 10 * pod.throttled_ratio;
      }
      if (now % 30 == 20 && facts) ScrapeFacts();
      if (now % 15 != 5) continue;
      for (const auto& [name, pod] : pods) {
        if (pod.is_scraped) Scrape(Usage(name));
      }
    }
    now = seconds;
  }
  void Minutes(int minutes) { Until(minutes * 60); }
  void ScrapeFacts() {
    Series all;
    for (const auto& [name, pod] : pods) {
      for (auto& one : State(name)) all.push_back(std::move(one));
    }
    if (replicas) {
      all.emplace_back(LabelMap{{"__name__", "kube_statefulset_replicas"},
                                {"namespace", "shop"},
                                {"statefulset", "web"}},
                       *replicas);
    }
    for (const auto& [name, scaler] : scalers) {
      all.emplace_back(InfoOf(name), 1);
      if (scaler.min) all.emplace_back(OfScaler("spec_min_replicas", name), *scaler.min);
      if (scaler.max) all.emplace_back(OfScaler("spec_max_replicas", name), *scaler.max);
    }
    Scrape(all);
  }

  /// What was told with the newest minute of `workload`.
  const RecordingSink::ToldDemand& Newest(const std::string& workload = "web") const {
    const RecordingSink::ToldDemand* newest = nullptr;
    for (const auto& told : sink.demand) {
      if (told.container == "statefulset:" + workload + "///") newest = &told;
    }
    REQUIRE(newest != nullptr);
    return *newest;
  }
  const workloads::DemandFacts& Facts() const { return Newest().facts; }
  /// Number of the newest minute since kT0.
  int NewestMinute() const {
    return static_cast<int>((Newest().minute.start_ms - kT0) / workloads::kMinuteMs);
  }
  workloads::WorkloadView View(const std::string& workload = "web") {
    const auto views = state->PeekAt("statefulset", workload, state->event_time_ms());
    REQUIRE(views.size() == 1);
    return views.front();
  }
};

/// "replicas request min max ready startup", "-" for what nobody says.
inline std::string TextOf(const workloads::DemandFacts& facts) {
  std::string text;
  const auto add = [&text](const auto& value) {
    if (!text.empty()) text += ' ';
    if (!value) {
      text += '-';
      return;
    }
    char number[32];
    std::snprintf(number, sizeof number, "%.10g", static_cast<double>(*value));
    text += number;
  };
  add(facts.replicas);
  add(facts.request);
  add(facts.min_replicas);
  add(facts.max_replicas);
  add(facts.ready_pods);
  add(facts.startup_ms);
  return text;
}

}  // namespace tidemark::testing
