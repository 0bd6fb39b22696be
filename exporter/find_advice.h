#pragma once
// One workload in a Snapshot.

#include "model/snapshot.h"
#include "model/snapshot_lookup.h"
#include "model/workload_id.h"

namespace tidemark::exporter {

/// Null where the Snapshot does not have it; lives as long as the Snapshot.
inline const WorkloadAdvice* FindAdvice(const Snapshot& snapshot, const WorkloadId& id) {
  return FindWorkload(FindNamespace(snapshot, id.cluster, id.name_space), id.workload_type,
                      id.workload);
}

/// What its demand is for.
inline Resource DemandResourceOf(const WorkloadAdvice& workload) {
  return workload.forecast ? workload.forecast->resource : Resource::kCpu;
}

}  // namespace tidemark::exporter
