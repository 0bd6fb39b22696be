#pragma once
// Pods, their containers and the workloads they count for, as one namespace keeps them.

#include <algorithm>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "model/resource.h"
#include "model/resource_slots.h"
#include "model/workload_id.h"
#include "workloads/container_signs.h"
#include "workloads/demand_sum.h"
#include "workloads/fact.h"
#include "workloads/kill_watch.h"
#include "workloads/original_resources.h"
#include "workloads/owner_graph.h"
#include "workloads/pod_sum.h"
#include "workloads/readiness.h"
#include "workloads/series_batch.h"
#include "workloads/startup_times.h"
#include "workloads/usage.h"

namespace tidemark::workloads {

/// The earliest minute of which something is known; kNever: none is.
struct FirstMinute {
  int64_t ms = kNever;

  void Reaches(int64_t minute_ms) {
    if (ms == kNever || minute_ms < ms) ms = minute_ms;
  }
  friend bool operator==(FirstMinute, FirstMinute) = default;
};

/// What is told of a pod's container beside its usage.
struct ContainerSigns {
  ThrottledMinutes throttled;
  Fact page_cache;  ///< bytes
};

/// What a node can give to pods.
struct NodeFacts {
  std::array<Fact, 2> allocatable;  ///< cores and bytes, by Resource
  uint32_t references = 0;          ///< series that point here
};

/// A container of a workload: whose samples share a histogram.
struct WorkloadContainer {
  uint32_t index = 0;  ///< of ShardContext::containers
  int64_t last_usage_ms = kNever;
  int64_t last_kill_ms = kNever;
  /// Start of the minute of the first sample of each resource's usage, or of the past that was put
  /// before it; kNever: none has come. What a past brings must end here.
  ResourceSlots<FirstMinute> first;
  /// Minutes that start before it are those of a past that was merged: live ones do not count.
  int64_t past_until_ms = kNever;

  /// A sample of the resource's usage has come at this time.
  void BeginsAt(int64_t time_ms, Resource resource) {
    first.At(resource).Reaches(time_ms - time_ms % kMinuteMs);
  }
  /// Whether usage that counted for `other` is from before the end of this one's past.
  bool PastReachesOver(const WorkloadContainer& other) const {
    bool reaches = false;
    other.first.ForEach([&](Resource, FirstMinute its) {
      reaches = reaches || (its.ms != kNever && its.ms < past_until_ms);
    });
    return reaches;
  }
  /// What counted for `other` counts for this one now. Its history is the engine's.
  void TakeOver(const WorkloadContainer& other) {
    last_usage_ms = std::max(last_usage_ms, other.last_usage_ms);
    last_kill_ms = std::max(last_kill_ms, other.last_kill_ms);
    past_until_ms = std::max(past_until_ms, other.past_until_ms);
    other.first.ForEach([this](Resource resource, FirstMinute its) {
      if (its.ms != kNever) first.At(resource).Reaches(its.ms);
    });
  }
};

struct Pod;

/// The demand of a workload for which one is wished.
struct WorkloadDemand {
  DemandWish wish;
  DemandSum sum;
  WorkloadContainer* container = nullptr;               ///< kDemand
  std::map<std::string_view, Pod*, std::less<>> ended;  ///< PodDemand::State::kEnded, by name
  bool is_due = false;                                  ///< to be settled at the end of the batch

  WorkloadDemand(const DemandWish& wished, DemandSum begun, WorkloadContainer* of)
      : wish(wished), sum(std::move(begun)), container(of) {}
};

struct Workload {
  WorkloadId id;
  bool hidden =
      false;  ///< the private workload of a pod whose owner is not known yet: not exported
  bool assumed = false;    ///< found by the fallback rule only
  std::vector<Pod*> pods;  ///< in no order; each knows its place
  int64_t last_sample_ms = kNever;
  /// ProfileSubject::pod_labels, as its newest pod of which labels came has them.
  std::string pod_labels;
  int64_t labels_from_ms = kNever;  ///< Pod::first_ms of that pod
  std::map<std::string, WorkloadContainer, std::less<>> containers;
  std::unique_ptr<WorkloadDemand> demand;  ///< null: none is wished
  StartupTimes startups;                   ///< of its pods; looked at with its demand

  void Join(Pod& pod);
  void Leave(Pod& pod);
};

/// A container of one pod, or the sum of its containers (kPodSum), which has no series.
struct PodContainer {
  uint32_t index = 0;      ///< of ShardContext::instances
  uint32_t container = 0;  ///< of ShardContext::containers: the WorkloadContainer it counts for
  WorkloadContainer* shared = nullptr;
  Pod* pod = nullptr;
  ResourceSlots<std::unique_ptr<ContainerUsage>> usage;
  ResourceSlots<Fact> request;
  ResourceSlots<Fact> limit;
  std::unique_ptr<KillWatch> kills;  ///< null: nothing was told of requests for memory or restarts
  std::unique_ptr<ContainerSigns> signs;  ///< null: none that anybody minds

  /// Newest sample of anything that is told of it as long as it is there; kNever without one.
  int64_t LastSeenMs() const {
    int64_t last_ms = kills ? kills->LastRestartsMs() : kNever;
    usage.ForEach([&](Resource, const auto& of) {
      if (of) last_ms = std::max(last_ms, of->last_ms());
    });
    const auto see = [&](Resource, const Fact& fact) { last_ms = std::max(last_ms, fact.last_ms); };
    request.ForEach(see);
    limit.ForEach(see);
    return last_ms;
  }
  KillWatch& Kills() {
    if (!kills) kills = std::make_unique<KillWatch>();
    return *kills;
  }
  ContainerSigns& Signs() {
    if (!signs) signs = std::make_unique<ContainerSigns>();
    return *signs;
  }
};

struct Pod {
  std::string name;
  std::optional<Owner> owner;
  uint32_t owner_series = kNoSeries;
  uint32_t place = 0;  ///< in Workload::pods
  PodReadiness readiness;
  Fact completed;                ///< 1 while the pod is Succeeded or Failed
  Fact started;                  ///< when it started, Unix seconds
  int64_t first_ms = kNever;     ///< first sample
  int64_t last_ms = kNever;      ///< newest sample
  uint32_t series = 0;           ///< in the index
  uint32_t live_series = 0;      ///< of these, not ended by a stale marker
  Workload* workload = nullptr;  ///< never null once the pod is in its namespace
  /// Of a pod that uses what its workload's demand is of, and only then.
  std::unique_ptr<PodDemand> demand;
  uint64_t label_set = 0;             ///< UsageSink::SetLabelSet; 0: no labels came
  uint32_t label_series = kNoSeries;  ///< who says so
  /// What each of its annotations says (several while one takes the other's place), and which of
  /// them holds.
  std::vector<std::pair<uint32_t, OriginalRequests>> originals;
  Fact original;
  /// Of the containers that are summed; null when there are none.
  std::unique_ptr<ResourceSlots<PodSum>> sums;
  std::map<std::string, PodContainer, std::less<>> containers;

  bool LivesAt(int64_t event_time_ms) const {
    return live_series > 0 && last_ms >= event_time_ms - kMaxGapMs;
  }
  /// What the owner wrote for the container; null where it is not known.
  const OriginalRequest* OriginalAt(int64_t event_time_ms, std::string_view container) const {
    if (!original.At(event_time_ms)) return nullptr;
    for (const auto& [by, requests] : originals) {
      if (by == original.series) return FindOriginalRequest(requests, container);
    }
    return nullptr;
  }
  bool CompletedAt(int64_t event_time_ms) const {
    return completed.At(event_time_ms).value_or(0) > 0;
  }
};

inline void Workload::Join(Pod& pod) {
  pod.workload = this;
  pod.place = static_cast<uint32_t>(pods.size());
  pods.push_back(&pod);
}

/// The pod's pointer to the workload is left for whoever moves or removes it.
inline void Workload::Leave(Pod& pod) {
  pods[pod.place] = pods.back();
  pods[pod.place]->place = pod.place;
  pods.pop_back();
}

}  // namespace tidemark::workloads
