#pragma once
// Reads what namespace_saver.cpp writes; its text says in which order. Private to this room.

#include <cstdint>
#include <memory>
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
  };

  int64_t Ms();
  int64_t TakenMs();
  /// Remembers what is wrong for the error, unless something was before; fails the reader.
  bool Damaged(std::string what);
  Result<std::unique_ptr<NamespaceState>> Failure();

  bool ReadHead(size_t number);
  /// The next key of a sorted list; false: it is cut or not above the one before.
  bool ReadKeyAfter(WorkloadKey& key, bool first);
  bool ReadWorkloads();
  bool ReadContainers(Workload& workload, WorkloadPlace& place);
  bool ReadPods();
  bool ReadPod(Pod& pod, const Pod* before);
  bool ReadPodContainers(Pod& pod, const WorkloadPlace& place);
  bool ReadReplicas();
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
  /// From here on nothing fails.
  void Count();
  void RemoveSourceless();
  void DropState();

  ByteReader& in_;
  const SourceMapping sources_;
  ShardContext& context_;
  std::string what_;
  uint8_t version_ = kSavedNamespaceVersion;
  int64_t base_ms_ = 0;
  bool counts_ = false;
  std::unique_ptr<NamespaceState> state_;
  std::vector<uint32_t> taken_containers_;
  std::vector<uint32_t> taken_instances_;
  std::vector<WorkloadPlace> workloads_;
  std::vector<SharedPlace> shared_;
  std::vector<PodPlace> pods_;
  std::vector<ContainerPlace> containers_;
  std::vector<std::pair<const WorkloadKey*, ReplicasFact*>> replicas_;
  bool any_sourceless_ = false;
  int64_t pod_before_ = 0;
};

}  // namespace tidemark::workloads
