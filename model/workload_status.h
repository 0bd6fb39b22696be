#pragma once
// Why a workload has, or has not yet, a recommendation. Too big for the Snapshot, so it is asked of
// the shard.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "model/explanation.h"
#include "model/result.h"

namespace tidemark {

/// One thing a recommendation needs, and whether it came.
struct Prerequisite {
  std::string what;  ///< e.g. "cpu usage of container app"
  bool present = false;
  std::optional<int64_t> last_sample_ms;  ///< Unix time, when present
  std::string hint;                       ///< what to do when it is missing
};

struct PodStatus {
  std::string pod;
  std::string owner;     ///< e.g. "replicaset/web-5c9", "unknown: no kube_pod_owner yet"
  std::string workload;  ///< "type/name" it counts for; empty while unresolved
};

struct WorkloadStatus {
  std::string cluster;
  std::string name_space;
  std::string workload_type;  ///< empty while no pod of that name is resolved
  std::string workload;
  bool has_recommendation = false;
  std::vector<Prerequisite> prerequisites;
  std::vector<PodStatus> pods;  ///< at most 100
  /// What a target of replicas needs beside a demand: replicas, bounds, request of a pod, start-up
  /// time. Empty where no demand is wished.
  std::vector<Prerequisite> scaling_prerequisites;
};

/// Questions that a shard answers. Thread-safe; may wait for the shard's queue.
class StateReader {
 public:
  virtual ~StateReader() = default;
  /// All workloads called `workload` in `name_space` (of any type and cluster), and pods of that
  /// name which are not resolved yet. ErrorCode::kNotFound when there is none.
  virtual Result<std::vector<WorkloadStatus>> Explain(std::string_view name_space,
                                                      std::string_view workload) const = 0;
  /// How the requests of a workload came about, for each cluster that has it.
  /// ErrorCode::kNotFound when none has.
  virtual Result<std::vector<WorkloadExplanation>> ExplainRequests(
      std::string_view name_space, std::string_view workload_type,
      std::string_view workload) const = 0;
};

}  // namespace tidemark
