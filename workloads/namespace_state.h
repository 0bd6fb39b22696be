#pragma once
// Everything known of one namespace: its series, pods, owners and workloads, and how far its time
// has come.
//
// State advances on sample timestamps only. Lives on one shard's thread; not thread-safe.

#include <boost/unordered/unordered_flat_set.hpp>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "model/byte_codec.h"
#include "model/past.h"
#include "model/result.h"
#include "model/sink.h"
#include "model/workload_status.h"
#include "workloads/autoscalers.h"
#include "workloads/entities.h"
#include "workloads/identity.h"
#include "workloads/limit_ranges.h"
#include "workloads/past.h"
#include "workloads/series_batch.h"

namespace tidemark::workloads {

/// One container of a workload, as of the namespace's event time.
struct ContainerView {
  std::string_view name;
  uint32_t container = 0;  ///< of ShardContext::containers
  /// Whether the newest pod has it; without any pod, whether it was among the last that were used.
  bool in_pod = false;
  ResourceSlots<std::optional<double>> request;  ///< of the newest pod
  ResourceSlots<std::optional<double>> limit;
  ResourceSlots<std::optional<double>> original_request;  ///< as the owner wrote it
};

struct WorkloadView {
  const WorkloadId* id = nullptr;
  double replicas = 0;  ///< of the spec where known, else the pods that live
  int64_t last_sample_ms = 0;
  size_t containers_in_pod = 1;           ///< of the newest pod; at least 1
  size_t containers_known = 1;            ///< of all that any pod ever had; at least 1
  std::vector<ContainerView> containers;  ///< sorted by name; without kPodSum and kDemand
  std::optional<uint32_t> pod_sum;        ///< ShardContext::containers of kPodSum
  std::optional<uint32_t> demand;         ///< of kDemand; absent while none is wished
  // As DemandFacts has them, as of now.
  std::optional<double> min_replicas;
  std::optional<double> max_replicas;
  std::optional<uint32_t> ready_pods;
  std::optional<int64_t> startup_ms;
  /// Of the newest pod, for selectors (ProfileSubject::pod_labels).
  std::string_view pod_labels;
  bool is_autoscaled = false;  ///< by a HorizontalPodAutoscaler, whether bounds are told or not
  /// At which utilisation of its pods' requests, at most one of each resource.
  std::vector<ToldUtilization> utilization;
};

class NamespaceState {
 public:
  /// `number`: SeriesPlace::name_space of its series.
  NamespaceState(std::string cluster, std::string name, size_t number, ShardContext& context);
  ~NamespaceState();
  NamespaceState(const NamespaceState&) = delete;
  NamespaceState& operator=(const NamespaceState&) = delete;

  /// Number of a saved source that the present table has no equal of.
  static constexpr uint16_t kNoSource = 0xFFFF;
  /// The present number of each saved source (SeriesItem::source), or kNoSource.
  using SourceMapping = std::span<const uint16_t>;

  /// Appends the whole state, with what ShardContext::usage keeps of its containers: about 35 bytes
  /// a series, and what the history of each workload's container takes. Between batches only (after
  /// EndBatch). The numbers of ShardContext are not in it: it may be restored into another shard.
  void Save(ByteWriter& out) const;

  /// The namespace that Save wrote: to the same batches it gives the same verdicts, views and bytes
  /// as the saved one, as long as `sources` maps each source to its equal. Series of sources that
  /// are gone are then removed as if they had been collected. Counters, budget (also beyond its
  /// ceiling) and ShardContext::source_counts are brought up to date; ShardContext::known is not:
  /// what is known has passed limits that may be others now.
  ///
  /// Total: any bytes restore or give kInvalidArgument with everything in `context` as it was.
  /// Reads no further than its own bytes.
  static Result<std::unique_ptr<NamespaceState>> Restore(ByteReader& in, SourceMapping sources,
                                                         size_t number, ShardContext& context);
  /// Cluster and name of a saved namespace, without restoring it. Reads nothing else.
  static Result<NamespaceName> SavedName(std::string_view bytes);

  /// Judges and applies the samples of one series; adds to `verdict`. The namespace's time stands
  /// still until EndBatch.
  void Apply(const SeriesItem& item, std::span<const Sample> samples, int64_t arrival_ms,
             WriteVerdict& verdict);

  /// The same for an item whose series stands at its place, as Holds has said.
  void ApplyKnown(const SeriesItem& item, std::span<const Sample> samples, int64_t arrival_ms,
                  WriteVerdict& verdict);
  /// The same wherever the series stands; false, and nothing done, when it does not exist.
  bool ApplyByHash(const SeriesItem& item, std::span<const Sample> samples, int64_t arrival_ms,
                   WriteVerdict& verdict);
  /// Whether the series is at this place.
  bool Holds(uint32_t index, const SeriesHash& hash) const {
    return index < series_.size() && series_[index].in_use && series_[index].hash == hash;
  }
  /// Has the memory fetched that ApplyKnown will need: first the series, later, when it has come,
  /// what the series points to.
  void PrefetchSeries(uint32_t index) const;
  void PrefetchTargets(uint32_t index) const;

  /// True on the first call since the last EndBatch.
  bool Touch() { return !std::exchange(touched_, true); }
  /// Moves the namespace's time to the newest sample applied, and does what is then due: last
  /// minutes, the fallback for owners, garbage collection. Once a batch, so that one body full of
  /// old time stamps cannot make work for each of them.
  void EndBatch();
  /// Gives all series back, as if each had been silent for long; workloads and their history stay.
  void ForgetSeries();

  const std::string& cluster() const { return cluster_; }
  const std::string& name() const { return name_; }
  /// Newest sample, never later than the wall clock at its arrival: one sample from the future must
  /// not make all others look silent. kNever before the first.
  int64_t event_time_ms() const { return event_time_ms_; }
  /// True when something was applied since the last call of View.
  bool dirty() const { return dirty_; }

  /// Exported workloads, sorted by type and name. What holds only while somebody says so (requests,
  /// limits, replicas) is shown as of `as_of_ms`, at least the event time. Views live until the
  /// next Apply.
  std::vector<WorkloadView> View(int64_t as_of_ms);
  /// The same; dirty() stays as it is.
  std::vector<WorkloadView> Peek(int64_t as_of_ms) const;
  /// The one of them of this type and name, or none; costs no more than a look at each pod.
  std::vector<WorkloadView> PeekAt(std::string_view workload_type, std::string_view workload,
                                   int64_t as_of_ms) const;
  /// ShardContext::containers of the workload's kDemand; nothing where there is none.
  std::optional<uint32_t> DemandContainer(std::string_view workload_type,
                                          std::string_view workload) const;
  /// Appends a status for each workload, and each unresolved pod, of that name.
  void Explain(std::string_view workload, std::vector<WorkloadStatus>& out) const;

  using VisitContainer =
      std::function<void(const Workload&, std::string_view name, const WorkloadContainer&)>;
  /// All containers of exported workloads, in order; without kDemand.
  void ForEachContainer(const VisitContainer& visit) const;
  /// The kDemand of all workloads that have one, likewise.
  void ForEachDemand(const VisitContainer& visit) const;
  /// All containers of pods: ShardContext::containers and ShardContext::instances of each.
  void ForEachPodContainer(
      const std::function<void(uint32_t container, uint32_t instance)>& visit) const;
  /// WorkloadContainer::first of the container that a past is of; null when there is none.
  const ResourceSlots<FirstMinute>* FirstMinutes(const PastContainer& of) const;
  /// Whether usage of the container is known from before the end of this past.
  bool ReachesInto(const PastContainer& past) const;
  /// Puts a past before what is here; makes the workload where it is not. False, and nothing
  /// changed, when usage is known from before its end. Takes effect on time with EndBatch.
  bool MergePast(const PastContainer& past);

  /// Has UsageSink::ContainerIs called for all containers, and UsageSink::DemandOf for all
  /// workloads: the configuration may have changed.
  void TellContainers();

  /// A minute of usage, as if samples had made it, with the request that the facts tell. The sum of
  /// the pod, and the demand of the workload, are given out up to the minute's start: give each
  /// minute of all pods and containers before the next. Both must be there. Demand begins after the
  /// workload's first facts.
  void GiveUsageForTest(std::string_view pod, std::string_view container, Resource resource,
                        UsageMinute minute);
  /// A kill, as if the series of the container's restarts had told it; where `kill` names no
  /// request, with the one that was in force then. Both must be there.
  void GiveKillForTest(std::string_view pod, std::string_view container, const Kill& kill);

  /// The most that any node whose size this namespace is told can give to pods, of cores and of
  /// bytes.
  std::array<std::optional<double>, 2> LargestNode(int64_t as_of_ms) const;

  /// What LimitRanges ask of each container (StrictestOf).
  ResourceSlots<ContainerLimits> ContainerLimitsAt(int64_t as_of_ms) const;

  size_t pod_count() const { return pods_.size(); }
  size_t workload_count() const { return workloads_.size(); }
  size_t series_count() const { return by_hash_.size(); }
  /// Pods that were looked at to tell the facts of closed minutes.
  uint64_t FactVisitsForTest() const { return fact_visits_; }
  /// Pods that were looked at to find demands that are complete.
  uint64_t DemandVisitsForTest() const { return demand_visits_; }

 private:
  using WorkloadKey = std::pair<std::string, std::string>;  // type, name
  struct ReplicasFact {
    Fact fact;
    uint32_t references = 0;  // series that point here
  };
  struct PodsOfWorkload;
  class Saver;
  class Restorer;
  /// A container of which no series lives, and when to close its last minute.
  struct PendingFlush {
    PodContainer* container;
    Resource resource;
  };

  /// One series that has a role. 1:1 with an entry of by_hash_.
  struct Series {
    SeriesHash hash;
    int64_t last_ms = kNever;
    double last_value = 0;
    Pod* pod = nullptr;                   // counted in pod->series
    PodContainer* container = nullptr;    // of that pod
    ContainerUsage* usage = nullptr;      // of that container
    Fact* fact = nullptr;                 // request, limit, replicas or phase that it tells
    std::unique_ptr<WorkloadKey> object;  // what it tells of: a ReplicaSet, a Job, a workload's
                                          // replicas; of a pod's owner: kind and name
    ContainerUsage::PartKey part;
    uint16_t source = 0;      // kNoSource only while it is being restored and removed
    Role role = Role::kNone;  // of its source
    bool stale = false;
    bool in_use = false;
  };
  // The index holds the numbers of series only: their hashes stand in series_.
  struct SeriesHasher {
    using is_avalanching = void;
    using is_transparent = void;
    size_t operator()(const SeriesHash& hash) const { return hash.low ^ hash.high; }
    size_t operator()(uint32_t index) const { return (*this)((*series)[index].hash); }
    const std::vector<Series>* series;
  };
  struct SeriesEqual {
    using is_transparent = void;
    bool operator()(uint32_t a, uint32_t b) const { return a == b; }
    bool operator()(const SeriesHash& hash, uint32_t index) const {
      return hash == (*series)[index].hash;
    }
    bool operator()(uint32_t index, const SeriesHash& hash) const { return (*this)(hash, index); }
    const std::vector<Series>* series;
  };

  uint32_t AddSeries(const SeriesItem& item, int64_t first_ms);
  void ApplyAt(uint32_t index, const SeriesItem& item, std::span<const Sample> samples,
               int64_t arrival_ms, WriteVerdict& verdict);
  void Bind(uint32_t index, const Source& source, LabelsView labels, int64_t first_ms);
  static bool IsYetToBind(const Series& series);
  static bool IsUnnamed(const Series& series);
  void BindLate(uint32_t index, const SeriesItem& item, int64_t first_ms);
  void BindRequest(uint32_t index, LabelsView labels);
  void BindOwner(uint32_t index, Pod& pod, LabelsView labels);
  void AdoptOwner(uint32_t index, int64_t time_ms);
  void SetOwner(uint32_t index, Pod& pod, Owner owner);
  void RemoveSeries(uint32_t index);
  void ApplySample(uint32_t index, Sample sample, const SeriesItem& item, WriteVerdict& verdict);
  void JudgeLate(const SeriesItem& item, WriteVerdict& verdict);
  void Reject(RejectReason reason, const SeriesItem& item, std::string_view why,
              WriteVerdict& verdict);
  void ApplyStale(uint32_t index);
  void ApplyUsage(uint32_t index, const Source& source, Sample sample, WriteVerdict& verdict);
  void FlushOverdue();
  void Flush(PodContainer& container, Resource resource);
  void GiveOut(PodContainer& container, Resource resource,
               std::optional<int64_t> passed_ms = std::nullopt);
  static std::optional<int64_t> AgeMs(const Pod& pod, int64_t time_ms);
  void TellSign(uint32_t index, Role role, Sample sample, double increase);
  static MinuteContext ContextOf(const PodContainer& container, Resource resource,
                                 const UsageMinute& minute);
  PodContainer& SumContainer(Pod& pod);
  void CloseSum(Pod& pod, Resource resource, int64_t until_ms);
  void GiveSum(Pod& pod, Resource resource);
  void FlushSums(Pod& pod);
  void SettleSums();

  void StartDemand(Workload& workload);
  void StopDemand(Workload& workload);
  void AdaptDemands();
  void TakeDemand(Pod& pod, Resource resource, std::optional<int64_t> passed_ms);
  void FollowDemand(Pod& pod, std::optional<int64_t> passed_ms);
  void EndDemand(Pod& pod);
  static void ExpectDemand(Pod& pod, int64_t start_ms);
  void LeaveDemand(Pod& pod);
  static bool IsYoung(const Pod& pod, int64_t end_ms, int64_t startup_ms);
  void HandOver(Pod& pod, int64_t until_ms, int64_t missing_until_ms);
  void DemandIsDue(Workload& workload);
  void WatchDemands();
  void SettleDemands();
  void SettleDemand(Workload& workload);

  /// What is told of the pods of a workload at the end of a minute.
  struct PodFacts {
    // As DemandFacts has them.
    std::optional<double> request;
    std::optional<double> limit;
    std::optional<double> original_request;
    std::optional<uint32_t> ready;
  };
  static AutoscalerSlot SlotOf(const Series& series);
  void TellReadiness(uint32_t index, Sample sample, int64_t previous_ms);
  int64_t LastReadinessMs(const Pod& pod) const;
  PodReadiness::State ReadinessAt(const Pod& pod, int64_t time_ms) const;
  void CountStart(Pod& pod, int64_t time_ms, int64_t settled_ms);
  Headroom HeadroomOf(const Pod& pod, Resource resource, UsageMinute minute) const;
  std::optional<double> ReplicasOf(const Workload& workload, int64_t time_ms) const;
  std::optional<uint32_t> ReadyPodsOf(const Workload& workload, int64_t time_ms) const;
  PodFacts LookAtPods(Workload& workload, Resource resource, int64_t time_ms);
  void ExplainScaling(const Workload& workload, WorkloadStatus& status) const;

  void AdvanceTime();
  void CountContainer(std::string_view name, int64_t by);

  void BindLabels(uint32_t index, Pod& pod, LabelsView labels);
  void BindOriginal(uint32_t index, Pod& pod, LabelsView labels);
  void ForgetLabels(uint64_t text);
  void AdoptLabels(uint32_t index, int64_t time_ms);
  void TakeLabels(uint32_t index);
  const std::string& LabelText(uint64_t text) const;
  void SpreadLabels(const Pod& pod, const Workload& from, Workload& to);
  void SetWorkloadLabels(Workload& workload, int64_t from_ms, const std::string& labels);
  void TellContainers(const Workload& workload);

  void TellKills(uint32_t index, Sample sample);
  void TakeOutcome(Pod& pod, PodContainer& container, const KillWatch::Outcome& outcome);
  void GiveKill(PodContainer& container, const Kill& kill);
  void SettleKills();

  Pod& PodNamed(std::string_view label, int64_t first_ms);
  PodContainer& ContainerNamed(Pod& pod, std::string_view label);
  PodContainer& AddContainer(Pod& pod, std::string_view name);
  /// The pod of a workload that is named directly (a process): made with the workload resolved.
  Pod& DirectPod(const Source& source, std::string_view workload, int64_t first_ms);
  Workload& WorkloadFor(const ResolvedOwner& owner, int64_t now_ms);
  WorkloadContainer& SharedContainer(Workload& workload, std::string_view name);
  void Wait(Pod& pod);
  void StopWaiting(const Pod& pod);
  void ResolvePod(Pod& pod, bool waited);
  void ResolveWaitingFor(std::string_view owner_name);
  void ResolveOverdue();
  void MovePod(Pod& pod, Workload& to);
  void RemovePod(Pod& pod);
  /// Takes the workload's containers out of the engine; the caller erases the workload.
  void DropContainers(Workload& workload);

  void CollectGarbage();
  std::vector<WorkloadView> ViewsOf(const Workload* only, int64_t as_of_ms) const;
  WorkloadView ViewOf(const Workload& workload, const PodsOfWorkload* pods, int64_t as_of_ms) const;
  void ExplainWorkload(const Workload& workload, std::vector<WorkloadStatus>& out) const;

  const std::string cluster_;
  const std::string name_;
  const size_t number_;
  ShardContext& context_;
  int64_t event_time_ms_ = kNever;
  int64_t newest_sample_ms_ = kNever;  // becomes the event time at the end of the batch
  int64_t next_collection_ms_ = kNever;
  uint64_t samples_since_collection_ = 0;
  bool dirty_ = false;
  bool touched_ = false;

  std::vector<Series> series_;
  boost::unordered_flat_set<uint32_t, SeriesHasher, SeriesEqual> by_hash_{0, SeriesHasher{&series_},
                                                                          SeriesEqual{&series_}};
  std::vector<uint32_t> free_series_;

  // Ordered maps: whatever walks them does so in the same order on every run.
  std::map<std::string, std::unique_ptr<Pod>, std::less<>> pods_;
  std::map<WorkloadKey, std::unique_ptr<Workload>> workloads_;
  std::map<std::string, std::unique_ptr<Workload>, std::less<>> hidden_;  // by pod
  std::map<WorkloadKey, ReplicasFact> replicas_;
  std::map<std::string, NodeFacts, std::less<>> nodes_;
  Autoscalers autoscalers_;
  LimitRanges limit_ranges_;
  std::map<std::pair<std::string, std::string>, Pod*>
      waiting_;  // by owner's name and pod: unknown or assumed
  OwnerGraph owners_;
  // By due time. A container outlives its entry: its series are kept for longer than the entry is
  // due.
  std::multimap<int64_t, PendingFlush> flushes_;

  // Pods of which a restart waits to be known as a kill or not, by name. Made anew when restored.
  std::map<std::string, Pod*, std::less<>> undecided_;

  // Pods with open minutes of their sums, likewise.
  std::map<std::string, Pod*, std::less<>> summing_;
  // Labels of pods, by the hash in their series' part.run: pods of a workload share them.
  struct SharedLabels {
    std::string text;
    uint32_t series = 0;  // that have them
  };
  std::map<uint64_t, SharedLabels> label_texts_;
  // Workloads of which minutes of demand may be complete, in the order in which they came to be so;
  // empty between batches.
  std::vector<Workload*> due_demands_;
  uint64_t demand_visits_ = 0;
  uint64_t fact_visits_ = 0;

  // Scratch, kept to save allocations.
  std::vector<LabelView> labels_;
  std::vector<UsageMinute> minutes_;
  std::vector<PodSum::Minute> sum_minutes_;
  std::vector<DemandMinute> demand_minutes_;
};

}  // namespace tidemark::workloads
