#pragma once
// Reads what namespace_saver.cpp writes; its text says in which order. Private to this room.

#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "workloads/namespace_state.h"
#include "workloads/saved_series.h"

namespace tidemark::workloads {

/// Builds a namespace apart and only then, when all of it is good, lets it count. What it takes of
/// the context before (numbers of containers and what is kept under them) it gives back otherwise.
class NamespaceState::Restorer {
 public:
  Restorer(ByteReader& in, SourceMapping sources, ShardContext& context)
      : in_(in), sources_(sources), context_(context) {}
  ~Restorer();
  Restorer(const Restorer&) = delete;
  Restorer& operator=(const Restorer&) = delete;

  Result<std::unique_ptr<NamespaceState>> Restore(size_t number);

 private:
  /// A workload and where its containers stand in shared_.
  struct WorkloadPlace {
    Workload* workload = nullptr;
    size_t first_container = 0;
    size_t containers = 0;
  };
  struct PodPlace {
    Pod* pod = nullptr;
    size_t first_container = 0;       // in containers_
    int64_t newest_ms = kNever;       // of its series
    int64_t newest_kept_ms = kNever;  // of those whose source is still there
  };
  struct SharedPlace {
    const std::string* name = nullptr;
    WorkloadContainer* container = nullptr;
  };
  struct ContainerPlace {
    PodContainer* container = nullptr;
    uint32_t pod = 0;
    uint32_t used = 0;  // a bit for each saved resource of which there is usage
  };

  int64_t Ms();
  int64_t TakenMs();
  /// Remembers what is wrong for the error, unless something was before; fails the reader.
  bool Damaged(std::string what);
  Result<std::unique_ptr<NamespaceState>> Failure();

  bool ReadHead(size_t number);
  bool ReadResources();
  /// How many resources the version had room for.
  uint64_t Resources() const { return version_ < 3 ? kFirstSavedResources : kSavedResources; }
  /// How many things of an autoscaler it knew.
  size_t AutoscalerSlots() const {
    return version_ < 6 ? kFirstSavedAutoscalerSlots : kAutoscalerSlots;
  }
  /// Bits of resources that may be there; fails the reader where others are set.
  uint32_t ResourceBits();
  /// Where the usage of a saved resource is put; null when there is none.
  std::unique_ptr<ContainerUsage>* UsageOf(const ContainerPlace& place, uint64_t saved);
  /// The container of the pod of this series.
  const ContainerPlace* PlaceInPod(const Series& series, uint64_t in_pod) const;
  /// The next key of a sorted list; false: it is cut or not above the one before.
  bool ReadKeyAfter(WorkloadKey& key, bool first);
  bool ReadWorkloads();
  bool ReadContainers(Workload& workload, WorkloadPlace& place);
  bool ReadPods();
  bool ReadPod(Pod& pod, const Pod* before);
  bool ReadPodContainers(Pod& pod, const WorkloadPlace& place);
  bool ReadReplicas();
  bool ReadAutoscalers();
  bool ReadSeries();
  bool ReadOneSeries(uint32_t index);
  bool ReadBinding(SavedKind kind, uint8_t head, uint32_t index);
  bool ReadPodOf(Series& series);
  bool ReadUsageBinding(Series& series);
  bool ReadRequestBinding(SavedKind kind, Series& series);
  bool ReadPodOwner(uint8_t head, uint32_t index, Series& series);
  bool ReadLink(SavedKind kind, uint8_t head, uint32_t index, Series& series);
  bool CheckReferences();
  bool ReadUsage();
  bool ReadFlushes();
  bool ReadKillsBinding(Series& series);
  bool ReadKills();
  bool ReadLabels();
  bool ReadLabelsBinding(bool holds, uint32_t index, Series& series);
  bool ReadOriginalBinding(uint32_t index, Series& series);
  bool ReadSums();
  bool ReadSigns();
  bool ReadSignBinding(bool holds, Series& series);
  bool ReadNodeBinding(Series& series);
  bool ReadAutoscalerBinding(bool holds, Series& series);
  bool ReadDemand();
  bool ReadPodDemand(const PodPlace& place);
  bool ReadStarts();
  bool ReadReadiness(Pod& pod);
  /// From here on nothing fails.
  void Count();
  void TakeDemand();
  void DropGone();
  void RemoveSourceless();
  void DropState();

  ByteReader& in_;
  const SourceMapping sources_;
  ShardContext& context_;
  std::string what_;
  uint8_t version_ = kSavedNamespaceVersion;
  int64_t base_ms_ = 0;
  /// The present resource of each saved one; nullopt: it has none, and what was kept of it is read
  /// and dropped.
  std::array<std::optional<Resource>, kSavedResources> resources_{};
  uint32_t resources_known_ = 0;  // those that the bytes may name, one bit each
  /// Usage of those that are gone, by container and saved resource, until it is dropped.
  std::map<std::pair<const PodContainer*, uint64_t>, std::unique_ptr<ContainerUsage>> gone_;
  bool fact_is_gone_ = false;  // of the series at hand
  bool counts_ = false;
  std::unique_ptr<NamespaceState> state_;
  std::vector<uint32_t> taken_containers_;
  std::vector<uint32_t> taken_instances_;
  std::vector<WorkloadPlace> workloads_;
  std::vector<SharedPlace> shared_;
  std::vector<PodPlace> pods_;
  std::vector<ContainerPlace> containers_;
  std::vector<std::pair<const WorkloadKey*, ReplicasFact*>> replicas_;
  std::vector<std::string> autoscalers_;
  struct SavedDemand {
    std::optional<DemandWish> wish;  // absent: of a resource that is gone
    DemandSum sum;
  };
  std::map<const Workload*, SavedDemand> demands_;
  std::vector<std::pair<Pod*, PodDemand>> pod_demands_;
  bool any_sourceless_ = false;
  int64_t pod_before_ = 0;
};

}  // namespace tidemark::workloads
