#pragma once
// Series of a query → traces on one grid.

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "cmd/replay_requests/trace.h"
#include "model/result.h"
#include "model/sample.h"

namespace tidemark::replay_requests {

/// Not thread-safe.
class TraceBuilder {
 public:
  /// All samples lie on the grid from `start_ms` to `end_ms`, both included.
  TraceBuilder(int64_t start_ms, int64_t end_ms, int64_t step_ms);

  /// Samples of a pod's container. What is no usage (NaN, below 0, beyond all bounds) or beside the
  /// grid is left out. kInvalidArgument when it becomes too much in all.
  Result<void> Add(const WorkloadId& workload, const std::string& container, const std::string& pod,
                   size_t resource, const std::vector<Sample>& samples);
  void SetOriginal(const WorkloadId& workload, const std::string& container, size_t resource,
                   double amount);

  /// Sorted by workload and container, named NAMESPACE/WORKLOAD/CONTAINER as far as they are known.
  std::vector<Trace> Take();

 private:
  struct Building {
    Trace trace;
    std::unordered_map<std::string, size_t> pods;
  };
  using Key = std::pair<WorkloadId, std::string>;

  const int64_t start_ms_;
  const int64_t step_ms_;
  const size_t steps_;
  uint64_t cells_ = 0;
  std::map<Key, Building> traces_;
};

}  // namespace tidemark::replay_requests
