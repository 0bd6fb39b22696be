#pragma once
// Birth, restart and end of single pods: what the scheduler, the kubelet and the kernel do.

#include <string>
#include <string_view>
#include <vector>

#include "cmd/demo_cluster/random.h"
#include "cmd/demo_cluster/state.h"
#include "cmd/demo_cluster/usage.h"

namespace tidemark::demo_cluster {

/// Everything there is. Containers point into the workloads' specs: moving a World is fine, copying
/// is not.
struct World {
  uint64_t seed = 0;
  Random random{0};
  StepTime now;
  std::vector<Node> nodes;
  std::vector<Workload> workloads;

  World() = default;
  World(World&&) = default;
  World& operator=(World&&) = default;
  World(const World&) = delete;
  World& operator=(const World&) = delete;
};

struct PodIdentity {
  std::string name;
  std::string owner;
  std::string hash;
};

/// Adds a pending pod on the emptiest worker. The reference holds until the workload's pods change.
Pod& CreatePod(World& world, Workload& workload, PodIdentity identity);
/// The same, on a given node.
Pod& CreatePodOn(World& world, Workload& workload, PodIdentity identity, size_t node);
/// Makes a new pod one that has been running and ready for `age_ms` and has used about its mean all
/// that time.
void Backdate(World& world, Workload& workload, Pod& pod, int64_t age_ms);
/// Starts the containers of a pending pod.
void StartPod(World& world, Pod& pod);
/// A container dies and comes back at once: new id, counters from zero.
void RestartContainer(World& world, Pod& pod, Container& container, std::string_view reason);
/// A batch pod ends well; it stays as an object, without cgroups.
void CompletePod(World& world, Workload& workload, Pod& pod);
/// The pod disappears with everything that was its.
void RemovePod(World& world, Workload& workload, size_t pod);

}  // namespace tidemark::demo_cluster
