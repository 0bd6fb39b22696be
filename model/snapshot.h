#pragma once
// The one picture of all advice that every face (metrics, API, page) shows.
//
// Immutable once published. It is made of one block per namespace; a block that did not change is
// shared with the Snapshot before. Readers hold a shared_ptr and never a lock.

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "model/forecast.h"
#include "model/profile.h"
#include "model/resource.h"
#include "model/resource_slots.h"
#include "model/resource_table.h"
#include "model/scaling.h"
#include "model/workload_id.h"

namespace tidemark {

/// What else than percentile, margin and expansion made a recommendation what it is. Bits of
/// ResourceAdvice::marks.
enum class AdviceMark : uint32_t {
  kKills = 1 << 0,         ///< kills for memory lifted the model value
  kPodMinimum = 1 << 1,    ///< the container's share of the pod's minimum was higher
  kFloor = 1 << 2,         ///< the floor was higher
  kCeiling = 1 << 3,       ///< the ceiling was lower
  kRounded = 1 << 4,       ///< rounding changed it
  kStatic = 1 << 5,        ///< the original request times the static ratio
  kEarlierRule = 1 << 6,   ///< the histogram is that of the rule before: the new one is too young
  kNoUpperBound = 1 << 7,  ///< too little is known for an upper bound
  kSharedByRequest = 1 << 8,  ///< a pod's sum, split by the containers' requests
  kSharedEqually = 1 << 9,    ///< a pod's sum, split equally: not all requests are known
  kOnlyKills = 1 << 10,       ///< no usage is known, only kills
  kNoOriginal = 1 << 11,      ///< a static pool, but the original request is not known
  kThrottled = 1 << 12,       ///< minutes in which the limit held the container back count for more
  kStartUpApart = 1 << 13,    ///< the first minutes of young pods are left out
  kPerRun = 1 << 14,          ///< the samples are the peaks of runs
  kPageCacheOut = 1 << 15,    ///< page cache is left out
  kNodeCap = 1 << 16,         ///< no node has room for more
  kPlateau = 1 << 17,         ///< usage lies at the limit and stays there: not lifted above it
  kHighWater = 1 << 18,       ///< the basis is a high-water mark
  kHours = 1 << 19,           ///< the basis is what the hours of the last week say
};

/// The level that usage of a pod's container passes with at most this probability in a minute.
struct HighWaterMark {
  double risk = 0;
  double value = 0;
  bool fitted = false;     ///< by a tail; else by what was seen
  bool confident = false;  ///< enough separate peaks are behind it
  bool censored = false;   ///< usage lies at the limit: demand above it is not seen
};

/// What a workload lives on most.
enum class WorkloadClass : uint8_t { kUnknown, kCompute, kMemory, kBalanced, kIdle };

/// As the label `class` has it: "unknown", "compute", "memory", "balanced", "idle".
std::string_view ToString(WorkloadClass workload_class);

/// Advice for one resource of one container. Amounts are per pod, in the resource's unit (cores,
/// bytes, ratio).
struct ResourceAdvice {
  Resource resource = Resource::kCpu;
  uint32_t marks = 0;  ///< of AdviceMark
  /// Kills for memory that count at present.
  uint32_t kills = 0;
  /// What the histogram says (or kills, where that is more), before margin, expansion and bounds.
  std::optional<double> model_request;
  /// The request to set.
  std::optional<double> recommended_request;
  /// A request below the one or above the other is wrong. Absent while nothing can be said.
  std::optional<double> lower_bound;
  std::optional<double> upper_bound;
  /// What the pod's owner wrote, where the stream says it.
  std::optional<double> original_request;
  /// The request and limit of the newest pod; absent when it has none or no pod lives.
  std::optional<double> current_request;
  std::optional<double> current_limit;
  /// (current − recommended) × replicas; negative where more is needed. Absent when either side is.
  std::optional<double> reclaimable;
  /// Days of samples behind the advice; 0 without any. Shown only beside a model value.
  double confidence_days = 0;
  uint64_t samples = 0;                   ///< minutes behind it
  std::vector<HighWaterMark> high_water;  ///< by falling risk

  bool Has(AdviceMark mark) const { return (marks & static_cast<uint32_t>(mark)) != 0; }
  void Mark(AdviceMark mark) { marks |= static_cast<uint32_t>(mark); }
};

struct ContainerAdvice {
  std::string container;  ///< empty for workloads that have no containers (processes): then no
                          ///< `container` label
  std::vector<ResourceAdvice> resources;  ///< in the order of Resource
  const Profile* profile = nullptr;       ///< in a Snapshot never null: of NamespaceBlock::profiles
};

struct WorkloadAdvice {
  WorkloadId id;
  double replicas = 0;                      ///< spec replicas where known, else the pods that live
  int64_t last_sample_ms = 0;               ///< Unix time of the newest sample of the workload
  std::vector<ContainerAdvice> containers;  ///< sorted by name
  uint32_t containers_in_pod = 1;           ///< that share the pod's minimum
  uint32_t containers_known = 0;            ///< also those of which there is no advice
  WorkloadClass workload_class = WorkloadClass::kUnknown;
  std::shared_ptr<const WorkloadForecast> forecast;  ///< null: its demand is not kept
  /// Null: neither an autoscaler nor the configuration says anything of its replicas.
  std::shared_ptr<const WorkloadScaling> scaling;
};

/// What the namespace's LimitRanges ask of each container (type Container); of several the
/// strictest. Amounts in the resource's unit.
struct ContainerLimits {
  std::optional<double> min;                      ///< of a request
  std::optional<double> max;                      ///< of a limit, and so of a request
  std::optional<double> max_limit_request_ratio;  ///< limit / request; at least 1

  friend bool operator==(const ContainerLimits&, const ContainerLimits&) = default;
};

/// All workloads of one namespace, sorted by type and name.
struct NamespaceBlock {
  std::string cluster;
  std::string name_space;
  int64_t event_time_ms = 0;  ///< how far the namespace's own time had come
  std::vector<WorkloadAdvice> workloads;
  ProfileSetPtr profiles;  ///< those that the advice was made by
  /// From kube_limitrange; empty where the stream does not carry it.
  ResourceSlots<ContainerLimits> container_limits;
};

/// What has come in for one source (a metric with a role).
struct SourceStatus {
  std::string role;
  std::string metric;
  uint64_t series = 0;
  std::optional<int64_t> last_sample_ms;  ///< absent: never seen
};

struct Snapshot {
  uint64_t generation = 0;                                    ///< counts up by one per tick
  int64_t published_ms = 0;                                   ///< wall clock
  std::vector<std::shared_ptr<const NamespaceBlock>> blocks;  ///< sorted by cluster, then namespace
  std::vector<SourceStatus> sources;                          ///< in the order of the source table
  /// What resources are called; never null.
  ResourceTablePtr resources = std::make_shared<const ResourceTable>();
};

/// Whoever serves asks here. Thread-safe.
class SnapshotReader {
 public:
  virtual ~SnapshotReader() = default;
  /// The newest Snapshot; never null.
  virtual std::shared_ptr<const Snapshot> Current() const = 0;
};

}  // namespace tidemark
