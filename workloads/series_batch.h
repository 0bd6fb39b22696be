#pragma once
// What one request brings to one shard, and what a shard's rooms share.

#include <atomic>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "model/byte_codec.h"
#include "model/counters.h"
#include "model/profile.h"
#include "model/result.h"
#include "model/sample.h"
#include "model/workload_id.h"
#include "workloads/known_series.h"
#include "workloads/sources.h"
#include "workloads/usage.h"

namespace tidemark::workloads {

/// Name of the container under which a workload keeps what its pods use in sum (Level::kPod). No
/// container's name has a slash (RFC 1123).
inline constexpr std::string_view kPodSum = "/";

/// Name of the container under which a workload keeps the demand of all its pods: the sum of their
/// minutes. No container's name has a slash.
inline constexpr std::string_view kDemand = "//";

/// One series of a batch. The label bytes live until the batch is applied.
struct SeriesItem {
  SeriesHash series;
  /// Where the series was when the request was read; it may be gone from there. Only a hint for
  /// items `by_hash`.
  SeriesPlace place;
  uint64_t name_space = 0;       ///< hash of cluster and namespace
  std::string_view label_bytes;  ///< empty when a journal gave the item by its hash
  uint32_t first_sample = 0;     ///< into SeriesBatch::samples
  uint32_t sample_count = 0;
  uint16_t source = 0;        ///< into the SourceTable
  bool from_ha_pair = false;  ///< IncomingSeries::from_ha_pair; decided before the journal
  bool vetted = false;        ///< IncomingSeries::vetted
  /// The journal names the series by its hash alone: it takes the samples where it stands, and
  /// makes nothing where it does not. Else `source` is set, and the series is made where needed.
  bool by_hash = false;
  /// A place under the ceiling on series was taken for it (SeriesBudget), in case it is new.
  bool may_create = false;
};

/// Everything one request has for one shard, in the order of the request.
struct SeriesBatch {
  int64_t arrival_ms =
      0;  ///< wall clock when it came; part of the batch, so that a replay decides alike
  std::vector<SeriesItem> items;
  std::vector<Sample> samples;
};

/// The ceiling on series, shared by all shards.
class SeriesBudget {
 public:
  explicit SeriesBudget(int64_t max_series) : max_series_(max_series) {}
  bool TryTake() {
    if (count_.fetch_add(1, std::memory_order_relaxed) < max_series_) return true;
    count_.fetch_sub(1, std::memory_order_relaxed);
    return false;
  }
  /// Takes what was decided before, or is there already, beyond the ceiling too.
  void Take(int64_t count) { count_.fetch_add(count, std::memory_order_relaxed); }
  void GiveBack(int64_t count) { count_.fetch_sub(count, std::memory_order_relaxed); }
  /// True when a tenth or less is left.
  bool IsScarce() const { return count() >= max_series_ - max_series_ / 10; }
  int64_t count() const { return count_.load(std::memory_order_relaxed); }
  int64_t max_series() const { return max_series_; }

 private:
  const int64_t max_series_;
  std::atomic<int64_t> count_{0};
};

/// Small dense numbers that can be given back; the engine keeps estimators in vectors under them.
class IndexPool {
 public:
  uint32_t Take() {
    if (free_.empty()) return next_++;
    const uint32_t index = free_.back();
    free_.pop_back();
    return index;
  }
  void Release(uint32_t index) { free_.push_back(index); }

 private:
  uint32_t next_ = 0;
  std::vector<uint32_t> free_;
};

/// A kill of a container for memory (docs/recommendations.md).
struct Kill {
  int64_t time_ms = 0;                    ///< when it ended; not after the newest sample but one
  std::optional<double> requested_bytes;  ///< its memory request in force before
};

/// What else is known of a minute of usage.
struct MinuteContext {
  std::optional<double> request = std::nullopt;  ///< of the resource, in force then
  std::optional<double> limit = std::nullopt;
  /// CPU: of the CFS periods of the minute those in which the container was throttled; 0 where
  /// nothing tells.
  double throttled_ratio = 0;
  /// From the start of the pod to the end of the minute; absent where nothing tells.
  std::optional<int64_t> pod_age_ms = std::nullopt;
  double page_cache_bytes = 0;  ///< memory: as much of the usage is page cache
};

/// A minute of a workload: the sum over its pods.
struct DemandMinute {
  int64_t start_ms = 0;
  double demand = 0;     ///< in the resource's unit
  uint32_t pods = 0;     ///< that are in it
  uint32_t missing = 0;  ///< that live and are not: nothing is known of what they used
  /// Of the ready pods that are no longer young and whose limit is known, at least half sit at it,
  /// or are throttled in a quarter of their periods: more is wanted than is used.
  bool is_censored = false;
};

/// What is told of a workload at the end of a minute of demand; absent: nobody says. As far as it
/// was told when the minute was closed: of a number that has changed since, the later one.
struct DemandFacts {
  std::optional<double> replicas = std::nullopt;  ///< of the spec
  /// Of the demand's resource by its newest pod that has one, above 0: the sum of its containers,
  /// of which those without a request ask for nothing. A pod known for less than a minute, of which
  /// not all may have been told, counts where there is no other.
  std::optional<double> request = std::nullopt;
  /// Of the pod whose request that is: the sum of its containers' limits, above 0. Absent where one
  /// that requests the resource has none, or where no pod requests it.
  std::optional<double> limit = std::nullopt;
  /// Of the same pod: the sum of what the owner wrote for its containers, and of the requests of
  /// those of which that is not known.
  std::optional<double> original_request = std::nullopt;
  /// Of the HorizontalPodAutoscaler that scales it: the first by name that has a maximum. As told,
  /// at least 0. A minimum is absent too while its autoscaler has none; both are as long as not all
  /// may have been told (a minute).
  std::optional<double> min_replicas = std::nullopt;
  std::optional<double> max_replicas = std::nullopt;
  std::optional<uint32_t> ready_pods = std::nullopt;
  /// From the start of a pod until it is ready, as seen of its latest pods (StartupTimes::Usual).
  std::optional<int64_t> startup_ms = std::nullopt;
};

/// What is to be summed over the pods of a workload.
struct DemandWish {
  Resource resource = Resource::kCpu;
  /// A pod younger than this counts for no more than the mean of the older ones.
  int64_t startup_ms = 0;

  friend bool operator==(const DemandWish&, const DemandWish&) = default;
};

/// Where closed minutes and kills go. Implemented by the engine; called on the shard's thread.
class UsageSink {
 public:
  virtual ~UsageSink() = default;
  /// A minute of usage of container `instance` (of one pod), which counts for `container` (of a
  /// workload).
  virtual void AddUsage(uint32_t container, uint32_t instance, Resource resource,
                        UsageMinute minute, const MinuteContext& context) = 0;
  /// The container was killed for memory.
  virtual void AddKill(uint32_t container, uint32_t instance, const Kill& kill) {
    static_cast<void>(container);
    static_cast<void>(instance);
    static_cast<void>(kill);
  }
  /// The history of `from` now belongs to `into`; `from` is removed afterwards.
  virtual void MergeContainer(uint32_t from, uint32_t into) = 0;
  virtual void RemoveContainer(uint32_t container) = 0;
  virtual void RemoveInstance(uint32_t instance) = 0;
  /// A container of a workload has come to be, or what profiles select it by has changed; before
  /// anything else is said of it. The private workload of a pod whose owner is not known has no
  /// type.
  virtual void ContainerIs(uint32_t container, const ProfileSubject& subject) {
    static_cast<void>(container);
    static_cast<void>(subject);
  }
  /// Whether the container's minutes are also to be summed with those of its pod's others: the sum
  /// is then given as usage of the workload's container kPodSum.
  virtual bool SumsByPod(uint32_t container) const {
    static_cast<void>(container);
    return false;
  }
  /// Whether the container's page cache is to be told with its usage of memory.
  virtual bool LeavesOutPageCache(uint32_t container) const {
    static_cast<void>(container);
    return false;
  }
  /// What of the workload is to be summed over its pods: its minutes are then given to AddDemand
  /// under the number of the workload's container kDemand. Asked when the workload comes to be and
  /// after TellContainers.
  virtual std::optional<DemandWish> DemandOf(const WorkloadId& workload) const {
    static_cast<void>(workload);
    return std::nullopt;
  }
  /// Each minute once, in order; one that is not known well enough is left out.
  virtual void AddDemand(uint32_t container, Resource resource, const DemandMinute& minute,
                         const DemandFacts& facts) {
    static_cast<void>(container);
    static_cast<void>(resource);
    static_cast<void>(minute);
    static_cast<void>(facts);
  }
  /// The pod of this container has these labels (a hash of all of them; 0: not known). VPA keeps
  /// samples apart by them.
  virtual void SetLabelSet(uint32_t instance, uint64_t labels) {
    static_cast<void>(instance);
    static_cast<void>(labels);
  }
  /// The namespace's time has come to here: what is too old may go.
  virtual void Collect(uint32_t container, int64_t event_time_ms) {
    static_cast<void>(container);
    static_cast<void>(event_time_ms);
  }

  // What is kept under a number, as bytes. The number is not among them, and nothing kept is bytes
  // too, so that what is saved under one number can be restored under another.

  virtual void SaveContainer(uint32_t container, ByteWriter& out) const = 0;
  virtual void SaveInstance(uint32_t instance, ByteWriter& out) const = 0;
  /// Reads what SaveContainer wrote; nothing may be kept under the number before. An error: the
  /// bytes are no such thing, and nothing is kept.
  virtual Result<void> RestoreContainer(uint32_t container, ByteReader& in) = 0;
  virtual Result<void> RestoreInstance(uint32_t instance, ByteReader& in) = 0;
  /// Reads what SaveContainer wrote and adds it to what is kept under the number, if anything is.
  /// All or nothing.
  virtual Result<void> MergeSaved(uint32_t container, ByteReader& in) = 0;
};

/// What has come in for one source.
struct SourceCount {
  uint64_t series = 0;
  int64_t last_ms = kNever;
};

/// What the namespaces of one shard share. Outlives them.
struct ShardContext {
  const SourceTable& sources;
  UsageSink& usage;
  SeriesBudget& budget;
  EngineCounters& counters;
  KnownSeries& known;
  size_t shard = 0;  ///< its number
  IndexPool containers{};
  IndexPool instances{};
  std::vector<SourceCount> source_counts{};  ///< one for each source of the table
  bool refuse_late = false;                  ///< engine::Options::refuse_late
};

}  // namespace tidemark::workloads
