#pragma once
// CronJobs and Jobs: runs of one pod each.

#include "cmd/demo_cluster/lifecycle.h"

namespace tidemark::demo_cluster {

/// Completed runs of the past, and one that begins now (so that a short demo sees whole runs).
void PopulateBatch(World& world, Workload& workload);

/// For a change of pace: what has been running ends with the next step, and a new run begins then.
void RestartBatch(World& world, Workload& workload);

/// Ends and starts runs; keeps the last three completed ones, as a CronJob's
/// successfulJobsHistoryLimit does by default.
void ReconcileBatch(World& world, Workload& workload);

}  // namespace tidemark::demo_cluster
