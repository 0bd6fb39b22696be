#pragma once
// What somebody may have meant who asked for a workload that is not there.

#include <string>
#include <vector>

#include "model/snapshot.h"
#include "model/workload_id.h"

namespace tidemark {

/// At most five workloads that `wanted` was perhaps meant to be, as "namespace/type/name" (and
/// "in cluster x"): of the same name elsewhere or of another type first, then those of the
/// namespace whose names are alike (one holds the other, or at most two edits). Never
/// `wanted` itself. In the order of the Snapshot. Thread-safe; costs a walk over all
/// workloads.
std::vector<std::string> NearMisses(const Snapshot& snapshot, const WorkloadId& wanted);

}  // namespace tidemark
