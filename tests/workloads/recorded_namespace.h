#pragma once
// One namespace, fed with series as labels, and everything that it hands on.

#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "model/label.h"
#include "tests/catch.h"
#include "tests/engine/random_traffic.h"
#include "workloads/identity.h"
#include "workloads/namespace_state.h"

namespace tidemark::testing {

using LabelMap = std::map<std::string, std::string>;

/// Remembers what it is given. Containers are named "workload/container".
class RecordingSink final : public workloads::UsageSink {
 public:
  struct Usage {
    std::string container;
    uint32_t instance = 0;
    Resource resource = Resource::kCpu;
    workloads::UsageMinute minute;
    std::optional<double> request;
    workloads::MinuteContext context;
  };
  struct ToldDemand {
    std::string container;
    Resource resource = Resource::kCpu;
    workloads::DemandMinute minute;
    workloads::DemandFacts facts;
  };
  struct ToldKill {
    std::string container;
    uint32_t instance = 0;
    workloads::Kill kill;
  };

  void AddUsage(uint32_t container, uint32_t instance, Resource resource,
                workloads::UsageMinute minute, const workloads::MinuteContext& context) override {
    usage.push_back({names.at(container), instance, resource, minute, context.request, context});
  }
  void AddKill(uint32_t container, uint32_t instance, const workloads::Kill& kill) override {
    kills.push_back({names.at(container), instance, kill});
  }
  void MergeContainer(uint32_t from, uint32_t into) override {
    merged.emplace_back(names.at(from), names.at(into));
  }
  void RemoveContainer(uint32_t container) override { names.erase(container); }
  void RemoveInstance(uint32_t instance) override { label_sets.erase(instance); }
  void ContainerIs(uint32_t container, const ProfileSubject& subject) override {
    names[container] = subject.workload.workload_type + ":" + subject.workload.workload + "/" +
                       std::string(subject.container);
    labels[names[container]] = std::string(subject.pod_labels);
    ++told;
  }
  bool SumsByPod(uint32_t container) const override {
    return sums_by_pod && !names.at(container).ends_with("/lonely");
  }
  std::optional<workloads::DemandWish> DemandOf(const WorkloadId& workload) const override {
    ++asked;
    return workload.workload == "unwished" ? std::nullopt : wish;
  }
  void AddDemand(uint32_t container, Resource resource, const workloads::DemandMinute& minute,
                 const workloads::DemandFacts& facts) override {
    demand.push_back({names.at(container), resource, minute, facts});
  }
  bool LeavesOutPageCache(uint32_t /*container*/) const override { return leaves_out_page_cache; }
  void SetLabelSet(uint32_t instance, uint64_t set) override { label_sets[instance] = set; }
  void Collect(uint32_t container, int64_t event_time_ms) override {
    collected[names.at(container)] = event_time_ms;
  }
  void SaveContainer(uint32_t container, ByteWriter& out) const override {
    out.Bool(names.contains(container));
  }
  void SaveInstance(uint32_t /*instance*/, ByteWriter& /*out*/) const override {}
  Result<void> RestoreContainer(uint32_t container, ByteReader& in) override {
    // ContainerIs comes first.
    if (names.contains(container) && in.Bool()) return {};
    return Fail(ErrorCode::kInvalidArgument, "a container that nobody knows");
  }
  Result<void> RestoreInstance(uint32_t /*instance*/, ByteReader& /*in*/) override { return {}; }
  Result<void> MergeSaved(uint32_t /*container*/, ByteReader& /*in*/) override { return {}; }

  bool sums_by_pod = false;
  bool leaves_out_page_cache = false;
  std::optional<workloads::DemandWish> wish;  // of all workloads but "unwished"
  mutable int asked = 0;                      // calls of DemandOf
  int told = 0;                               // calls of ContainerIs
  std::map<uint32_t, std::string> names;
  std::map<std::string, std::string> labels;  // by name
  std::map<uint32_t, uint64_t> label_sets;
  std::map<std::string, int64_t> collected;
  std::vector<Usage> usage;
  std::vector<ToldKill> kills;
  std::vector<ToldDemand> demand;
  std::vector<std::pair<std::string, std::string>> merged;
};

struct RecordedNamespace {
  static constexpr int64_t kBeginMs = 1'700'000'040'000;  // a whole minute

  workloads::SourceTable sources;
  RecordingSink sink;
  EngineCounters counters;
  workloads::SeriesBudget budget{1'000'000};
  workloads::KnownSeries known;
  workloads::ShardContext context{sources, sink, budget, counters, known};
  std::unique_ptr<workloads::NamespaceState> state;
  std::map<std::string, uint64_t> numbers;  // of series, by their labels

  RecordedNamespace() {
    context.source_counts.resize(sources.size());
    state = std::make_unique<workloads::NamespaceState>("", "shop", 0, context);
  }
  ~RecordedNamespace() { state.reset(); }
  RecordedNamespace(const RecordedNamespace&) = delete;
  RecordedNamespace& operator=(const RecordedNamespace&) = delete;

  /// One series in the batch at hand.
  void Put(const LabelMap& labels, int64_t time_ms, double value) {
    std::vector<LabelView> views;
    for (const auto& [name, text] : labels) {
      if (!text.empty()) views.push_back({name, text});
    }
    const std::string bytes = EncodeLabels(views);
    const auto source = sources.Find(views);
    REQUIRE(source);
    REQUIRE(workloads::Identify(sources.at(*source), views));
    workloads::SeriesItem item;
    item.series.low = numbers.emplace(bytes, numbers.size() + 1).first->second;
    item.label_bytes = bytes;
    item.source = *source;
    item.may_create = budget.TryTake();
    const Sample sample{time_ms, value, 0};
    state->Apply(item, {&sample, 1}, time_ms, verdict);
  }
  void End() { state->EndBatch(); }
  /// As a shard applies a batch of its traffic.
  void PutBatch(const TrafficBatch& batch) {
    std::vector<LabelView> views;
    for (const TrafficSeries& series : batch.series) {
      if (!DecodeLabels(series.label_bytes, views)) continue;
      const auto source = sources.Find(views);
      if (!source || !workloads::Identify(sources.at(*source), views)) continue;
      workloads::SeriesItem item;
      item.series.low = numbers.emplace(series.label_bytes, numbers.size() + 1).first->second;
      item.label_bytes = series.label_bytes;
      item.source = *source;
      item.from_ha_pair = series.from_ha_pair;
      item.may_create = budget.TryTake();
      state->Apply(item, series.samples, batch.arrival_ms, verdict);
    }
    End();
  }
  /// A batch of its own.
  void Send(const LabelMap& labels, int64_t time_ms, double value) {
    Put(labels, time_ms, value);
    End();
  }

  std::string Saved() const {
    std::string bytes;
    ByteWriter out(bytes);
    state->Save(out);
    return bytes;
  }
  /// As after a restart.
  void Restart() {
    const std::string saved = Saved();
    std::vector<uint16_t> mapping;
    for (size_t i = 0; i < sources.size(); ++i) mapping.push_back(static_cast<uint16_t>(i));
    // What a namespace hands on as it goes is nothing that a process hands on as it ends.
    const uint64_t without_kill = counters.restarts_without_kill;
    const size_t usage = sink.usage.size();
    const auto labels = sink.labels;
    state.reset();
    sink.labels = labels;
    counters.restarts_without_kill = without_kill;
    sink.usage.resize(usage);
    ByteReader in(saved);
    auto restored = workloads::NamespaceState::Restore(in, mapping, 0, context);
    INFO((restored ? "" : restored.error().message));
    REQUIRE(restored);
    REQUIRE(in.AtEnd());
    state = std::move(*restored);
    REQUIRE(Saved() == saved);
  }

  WriteVerdict verdict;
};

/// A series of kube-state-metrics about a container of a pod.
inline LabelMap OfContainer(const std::string& metric, const std::string& pod,
                            const std::string& container = "app", const LabelMap& more = {}) {
  LabelMap labels = {{"__name__", metric},
                     {"namespace", "shop"},
                     {"pod", pod},
                     {"uid", "uid-of-" + pod},
                     {"container", container}};
  for (const auto& [name, value] : more) labels[name] = value;
  return labels;
}
inline LabelMap Restarts(const std::string& pod, const LabelMap& more = {}) {
  return OfContainer("kube_pod_container_status_restarts_total", pod, "app", more);
}
inline LabelMap Reason(const std::string& pod, const std::string& reason = "OOMKilled",
                       LabelMap more = {}) {
  more["reason"] = reason;
  return OfContainer("kube_pod_container_status_last_terminated_reason", pod, "app", more);
}
inline LabelMap Terminated(const std::string& pod, const LabelMap& more = {}) {
  return OfContainer("kube_pod_container_status_last_terminated_timestamp", pod, "app", more);
}
inline LabelMap MemoryRequest(const std::string& pod, const LabelMap& more = {}) {
  LabelMap labels = OfContainer("kube_pod_container_resource_requests", pod, "app",
                                {{"resource", "memory"}, {"unit", "byte"}});
  for (const auto& [name, value] : more) labels[name] = value;
  return labels;
}
inline LabelMap OomEvents(const std::string& pod, const LabelMap& more = {}) {
  LabelMap labels = {{"__name__", "container_oom_events_total"},
                     {"namespace", "shop"},
                     {"pod", pod},
                     {"container", "app"},
                     {"id", "/kubepods/" + pod}};
  for (const auto& [name, value] : more) labels[name] = value;
  return labels;
}
inline LabelMap OwnerOf(const std::string& pod, const std::string& kind, const std::string& name) {
  return {{"__name__", "kube_pod_owner"}, {"namespace", "shop"}, {"pod", pod},
          {"owner_kind", kind},           {"owner_name", name},  {"owner_is_controller", "true"}};
}

}  // namespace tidemark::testing
