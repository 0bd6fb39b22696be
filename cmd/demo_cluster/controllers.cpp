#include "cmd/demo_cluster/controllers.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numbers>
#include <string>
#include <utility>

#include "cmd/demo_cluster/batch_controller.h"
#include "cmd/demo_cluster/names.h"

namespace tidemark::demo_cluster {
namespace {

constexpr double kDay = 86400;
constexpr int64_t kScaleIntervalMs = 15000;  // the HorizontalPodAutoscaler's sync period
constexpr int64_t kSwapIntervalMs = 8000;
constexpr size_t kKeptReplicaSets = 3;  // the present one and two to roll back to
/// After so long on the simulated clock, on average, a container crashes or a pod is evicted.
constexpr double kMeanTimeToCrashS = 14 * kDay;
constexpr double kMeanTimeToEvictionS = 7 * kDay;
/// The first change of version and the first OOM kill come so soon that a short demo shows them.
constexpr int64_t kFirstRolloverMs = 75000;
constexpr double kFirstKillS = 100;

/// True about once in `mean_s` simulated seconds.
bool Strikes(World& world, double mean_s) {
  return world.random.Uniform() < world.now.pace.speed * world.now.pace.step_s() / mean_s;
}

bool HasOrdinals(OwnerKind kind) {
  return kind == OwnerKind::kStatefulSet || kind == OwnerKind::kAdvancedStatefulSet;
}

void AddReplicaSet(World& world, Workload& workload, int replicas) {
  const std::string hash = RandomSuffix(world.random, 10);
  workload.replica_sets.push_back({fmt::format("{}-{}", workload.spec.name, hash), hash, replicas});
  if (workload.replica_sets.size() > kKeptReplicaSets) {
    workload.replica_sets.erase(workload.replica_sets.begin());
  }
}

void ScheduleRollover(World& world, Workload& workload) {
  const double after_s = workload.spec.rollover_period * world.random.Uniform(0.5, 1.5);
  workload.next_rollover_ms =
      world.now.wall_ms + static_cast<int64_t>(after_s * 1000 / world.now.pace.speed);
}

std::string FreeOrdinalName(const Workload& workload) {
  for (int ordinal = 0;; ++ordinal) {
    std::string name = fmt::format("{}-{}", workload.spec.name, ordinal);
    const bool taken = std::any_of(workload.pods.begin(), workload.pods.end(),
                                   [&](const Pod& pod) { return pod.name == name; });
    if (!taken) return name;
  }
}

PodIdentity NextIdentity(World& world, const Workload& workload) {
  const std::string owner(workload.spec.name);
  if (HasReplicaSets(workload.spec.kind)) {
    const ReplicaSet& set = workload.replica_sets.back();
    return {fmt::format("{}-{}", set.name, RandomSuffix(world.random, 5)), set.name, set.hash};
  }
  if (HasOrdinals(workload.spec.kind)) {
    return {FreeOrdinalName(workload), owner, workload.revision_hash};
  }
  if (workload.spec.kind == OwnerKind::kBarePod) return {owner, "", ""};
  return {fmt::format("{}-{}", owner, RandomSuffix(world.random, 5)), owner,
          workload.revision_hash};
}

/// A past between an hour and twelve days long.
int64_t SomeAgeMs(World& world) {
  return static_cast<int64_t>(world.random.Uniform(3600, 12 * kDay)) * 1000;
}

void PopulateOnNodes(World& world, Workload& workload) {
  const bool is_static = workload.spec.kind == OwnerKind::kStaticPod;
  for (size_t node = 0; node < world.nodes.size(); ++node) {
    const NodeSpec& spec = world.nodes[node].spec;
    if (is_static && !spec.control_plane) continue;
    PodIdentity identity = NextIdentity(world, workload);
    if (is_static) {
      identity = {fmt::format("{}-{}", workload.spec.name, spec.name), std::string(spec.name), ""};
    }
    Pod& pod = CreatePodOn(world, workload, std::move(identity), node);
    Backdate(world, workload, pod, static_cast<int64_t>(30 * kDay) * 1000);
  }
}

void PopulateReplicas(World& world, Workload& workload) {
  if (HasReplicaSets(workload.spec.kind)) {
    if (workload.spec.rollover_period > 0) AddReplicaSet(world, workload, 0);
    AddReplicaSet(world, workload, workload.replicas);
  }
  for (int i = 0; i < workload.replicas; ++i) {
    Pod& pod = CreatePod(world, workload, NextIdentity(world, workload));
    Backdate(world, workload, pod, SomeAgeMs(world));
  }
}

void FollowPods(World& world, Workload& workload) {
  const int64_t now_ms = world.now.wall_ms;
  for (Pod& pod : workload.pods) {
    if (pod.phase == Phase::kPending && now_ms >= pod.runs_at_ms) StartPod(world, pod);
    if (pod.phase != Phase::kRunning) continue;
    for (Container& container : pod.containers) {
      if (container.out_of_memory) {
        RestartContainer(world, pod, container, "OOMKilled");
      } else if (!IsBatch(workload.spec.kind) && Strikes(world, kMeanTimeToCrashS)) {
        RestartContainer(world, pod, container, "Error");
      }
    }
    if (!pod.ready && now_ms >= pod.ready_at_ms) pod.ready = true;
  }
}

void Scale(World& world, Workload& workload) {
  const WorkloadSpec& spec = workload.spec;
  if (spec.max_replicas <= spec.replicas) return;
  if (world.now.wall_ms % kScaleIntervalMs >= world.now.pace.step_ms) return;
  const double angle = 2 * std::numbers::pi * world.now.simulated_s / spec.scale_period;
  const double level = 0.5 - 0.5 * std::cos(angle);
  workload.replicas =
      spec.replicas + static_cast<int>(std::lround(level * (spec.max_replicas - spec.replicas)));
}

/// Makes up for pods that are gone and takes away those that are too many, the youngest first.
void Fill(World& world, Workload& workload) {
  const auto wanted = static_cast<size_t>(workload.replicas);
  while (workload.pods.size() > wanted) RemovePod(world, workload, workload.pods.size() - 1);
  while (workload.pods.size() < wanted) CreatePod(world, workload, NextIdentity(world, workload));
  if (!workload.replica_sets.empty()) workload.replica_sets.back().replicas = workload.replicas;
}

bool IsPresentVersion(const Workload& workload, const Pod& pod) {
  return workload.replica_sets.empty() || pod.owner == workload.replica_sets.back().name;
}

/// One move of a rolling update with maxSurge 1 and maxUnavailable 0. False when there is nothing
/// old left.
bool SwapVersions(World& world, Workload& workload) {
  const auto old = std::find_if(workload.pods.begin(), workload.pods.end(),
                                [&](const Pod& pod) { return !IsPresentVersion(workload, pod); });
  if (old == workload.pods.end()) return false;
  if (world.now.wall_ms < workload.next_swap_ms) return true;
  workload.next_swap_ms = world.now.wall_ms + kSwapIntervalMs;
  const auto wanted = static_cast<size_t>(workload.replicas);
  const bool all_ready = std::all_of(workload.pods.begin(), workload.pods.end(),
                                     [](const Pod& pod) { return pod.ready; });
  if (workload.pods.size() <= wanted) {
    CreatePod(world, workload, NextIdentity(world, workload));
  } else if (all_ready) {
    RemovePod(world, workload, static_cast<size_t>(old - workload.pods.begin()));
  }
  for (ReplicaSet& set : workload.replica_sets) {
    set.replicas =
        static_cast<int>(std::count_if(workload.pods.begin(), workload.pods.end(),
                                       [&](const Pod& pod) { return pod.owner == set.name; }));
  }
  return true;
}

void ReconcileReplicas(World& world, Workload& workload) {
  if (SwapVersions(world, workload)) return;
  // Only now: no pod may outlive the ReplicaSet that owns it.
  if (workload.next_rollover_ms > 0 && world.now.wall_ms >= workload.next_rollover_ms) {
    AddReplicaSet(world, workload, 0);
    ScheduleRollover(world, workload);
    return;
  }
  Scale(world, workload);
  if (workload.spec.kind != OwnerKind::kBarePod) {
    for (size_t pod = 0; pod < workload.pods.size(); ++pod) {
      if (workload.pods[pod].ready && Strikes(world, kMeanTimeToEvictionS)) {
        RemovePod(world, workload, pod);
        break;
      }
    }
  }
  Fill(world, workload);
}

bool IsPerNode(OwnerKind kind) {
  return kind == OwnerKind::kDaemonSet || kind == OwnerKind::kStaticPod;
}

/// What a short demo is to see happens soon from now.
void BeginShow(World& world) {
  bool shown_kill = false;
  int64_t first_rollover_ms = world.now.wall_ms + kFirstRolloverMs;
  for (Workload& workload : world.workloads) {
    if (workload.spec.rollover_period > 0) {
      ScheduleRollover(world, workload);
      if (first_rollover_ms > 0) workload.next_rollover_ms = std::exchange(first_rollover_ms, 0);
    }
    if (workload.spec.leak_period > 0 && !shown_kill) {
      Container& container = workload.pods.front().containers.front();
      container.leak_age =
          std::max(0.0, workload.spec.leak_period - kFirstKillS * world.now.pace.speed);
      shown_kill = true;
    }
  }
}

}  // namespace

void Populate(World& world) {
  for (Workload& workload : world.workloads) {
    workload.replicas = workload.spec.replicas;
    workload.revision_hash = RandomSuffix(world.random, 9);
    if (IsBatch(workload.spec.kind)) {
      PopulateBatch(world, workload);
    } else if (IsPerNode(workload.spec.kind)) {
      PopulateOnNodes(world, workload);
    } else {
      PopulateReplicas(world, workload);
    }
  }
  BeginShow(world);
}

void ChangePace(World& world, const Pace& pace) {
  world.now.pace = pace;
  for (Workload& workload : world.workloads) {
    if (IsBatch(workload.spec.kind)) RestartBatch(world, workload);
  }
  BeginShow(world);
}

void Reconcile(World& world, Workload& workload) {
  FollowPods(world, workload);
  if (IsBatch(workload.spec.kind)) {
    ReconcileBatch(world, workload);
  } else if (!IsPerNode(workload.spec.kind)) {
    ReconcileReplicas(world, workload);
  }
}

}  // namespace tidemark::demo_cluster
