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

#include "model/resource.h"
#include "model/workload_id.h"

namespace tidemark {

/// Advice for one resource of one container. Amounts are per pod, in the resource's unit (cores,
/// bytes, ratio).
struct ResourceAdvice {
  Resource resource = Resource::kCpu;
  /// What the histogram says, before margin and minimum.
  std::optional<double> model_request;
  /// The request to set: model value × margin, at least the minimum.
  std::optional<double> recommended_request;
  /// The request and limit of the newest pod; absent when it has none or no pod lives.
  std::optional<double> current_request;
  std::optional<double> current_limit;
  /// (current − recommended) × replicas; negative where more is needed. Absent when either side is.
  std::optional<double> reclaimable;
  /// Days of samples behind the advice; 0 without any. Shown only beside a model value.
  double confidence_days = 0;
};

struct ContainerAdvice {
  std::string container;  ///< empty for workloads that have no containers (processes): then no
                          ///< `container` label
  std::vector<ResourceAdvice> resources;  ///< in the order of Resource
};

struct WorkloadAdvice {
  WorkloadId id;
  double replicas = 0;                      ///< spec replicas where known, else the pods that live
  int64_t last_sample_ms = 0;               ///< Unix time of the newest sample of the workload
  std::vector<ContainerAdvice> containers;  ///< sorted by name
};

/// All workloads of one namespace, sorted by type and name.
struct NamespaceBlock {
  std::string cluster;
  std::string name_space;
  int64_t event_time_ms = 0;  ///< how far the namespace's own time had come
  std::vector<WorkloadAdvice> workloads;
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
};

/// Whoever serves asks here. Thread-safe.
class SnapshotReader {
 public:
  virtual ~SnapshotReader() = default;
  /// The newest Snapshot; never null.
  virtual std::shared_ptr<const Snapshot> Current() const = 0;
};

}  // namespace tidemark
