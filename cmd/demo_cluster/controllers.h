#pragma once
// What keeps the workloads as they should be: Deployments, StatefulSets, Jobs, autoscalers – and
// what troubles them.

#include "cmd/demo_cluster/lifecycle.h"

namespace tidemark::demo_cluster {

/// Fills an empty world with workloads that have a past, and with batch runs that begin right now.
void Populate(World& world);

/// From now on the world moves at another pace, and shows again soon what a short demo is to see.
void ChangePace(World& world, const Pace& pace);

/// One step for one workload: pods start, become ready, are killed, end; replicas and versions
/// change.
void Reconcile(World& world, Workload& workload);

}  // namespace tidemark::demo_cluster
