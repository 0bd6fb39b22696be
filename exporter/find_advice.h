#pragma once
// One workload in a Snapshot.

#include <algorithm>

#include "model/snapshot.h"
#include "model/workload_id.h"

namespace tidemark::exporter {

/// Null where the Snapshot does not have it; lives as long as the Snapshot.
inline const WorkloadAdvice* FindAdvice(const Snapshot& snapshot, const WorkloadId& id) {
  for (const auto& block : snapshot.blocks) {
    if (block->cluster != id.cluster || block->name_space != id.name_space) continue;
    const auto found = std::ranges::find(block->workloads, id, &WorkloadAdvice::id);
    if (found != block->workloads.end()) return &*found;
  }
  return nullptr;
}

/// What its demand is for.
inline Resource DemandResourceOf(const WorkloadAdvice& workload) {
  return workload.forecast ? workload.forecast->resource : Resource::kCpu;
}

}  // namespace tidemark::exporter
