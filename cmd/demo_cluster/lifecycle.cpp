#include "cmd/demo_cluster/lifecycle.h"

#include <algorithm>
#include <utility>

#include "cmd/demo_cluster/names.h"

namespace tidemark::demo_cluster {
namespace {

Qos QosOf(const WorkloadSpec& spec) {
  bool any = false;
  bool all_equal = true;
  for (const ContainerSpec& container : spec.containers) {
    for (const Amounts& amounts : {container.cpu, container.memory_mib}) {
      any = any || amounts.request > 0 || amounts.limit > 0;
      all_equal = all_equal && amounts.limit > 0 && amounts.request == amounts.limit;
    }
  }
  if (!any) return Qos::kBestEffort;
  return all_equal ? Qos::kGuaranteed : Qos::kBurstable;
}

double RequestedCores(const WorkloadSpec& spec) {
  double cores = 0;
  for (const ContainerSpec& container : spec.containers) cores += container.cpu.request;
  return cores;
}

size_t EmptiestWorker(const World& world) {
  size_t best = 0;
  double best_load = -1;
  for (size_t i = 0; i < world.nodes.size(); ++i) {
    const Node& node = world.nodes[i];
    if (node.spec.control_plane) continue;
    const double load = node.requested_cores / node.spec.cores;
    if (best_load < 0 || load < best_load) {
      best = i;
      best_load = load;
    }
  }
  return best;
}

int64_t Milliseconds(double seconds) { return static_cast<int64_t>(seconds * 1000); }

void StartContainer(World& world, Container& container) {
  container.id = RandomContainerId(world.random);
  container.started_ms = world.now.wall_ms;
  container.leak_age = 0;
  container.out_of_memory = false;
  container.cpu = {};
  container.periods = {};
  container.throttled = {};
}

/// From now on the pod uses nothing.
void StopMeters(Pod& pod) {
  pod.cpu.rate = 0;
  pod.sandbox_cpu.rate = 0;
  for (Container& container : pod.containers) {
    container.cpu.rate = 0;
    container.periods.rate = 0;
    container.throttled.rate = 0;
    container.memory = {};
  }
}

}  // namespace

Pod& CreatePod(World& world, Workload& workload, PodIdentity identity) {
  return CreatePodOn(world, workload, std::move(identity), EmptiestWorker(world));
}

Pod& CreatePodOn(World& world, Workload& workload, PodIdentity identity, size_t node) {
  Pod pod;
  pod.name = std::move(identity.name);
  pod.owner = std::move(identity.owner);
  pod.hash = std::move(identity.hash);
  pod.uid = RandomUid(world.random);
  pod.node = node;
  pod.qos = QosOf(workload.spec);
  pod.created_ms = world.now.wall_ms;
  pod.runs_at_ms = pod.created_ms + Milliseconds(world.random.Uniform(1, 4));
  pod.ready_at_ms = pod.runs_at_ms + Milliseconds(world.random.Uniform(5, 20));
  for (const ContainerSpec& spec : workload.spec.containers) {
    Container container;
    container.spec = &spec;
    pod.containers.push_back(std::move(container));
  }
  world.nodes[node].requested_cores += RequestedCores(workload.spec);
  workload.pods.push_back(std::move(pod));
  return workload.pods.back();
}

void Backdate(World& world, Workload& workload, Pod& pod, int64_t age_ms) {
  StartPod(world, pod);
  pod.created_ms = world.now.wall_ms - age_ms;
  pod.runs_at_ms = std::min(pod.created_ms + 2000, world.now.wall_ms);
  pod.ready_at_ms = std::min(pod.runs_at_ms + 10000, world.now.wall_ms);
  pod.ready = true;
  const double age_s = static_cast<double>(age_ms) / 1000;
  pod.sandbox_cpu.total = 0.03;
  pod.cpu.total = pod.sandbox_cpu.total;
  for (Container& container : pod.containers) {
    container.started_ms = pod.runs_at_ms;
    container.cpu.total = container.spec->cpu.mean * age_s * world.random.Uniform(0.9, 1.1);
    if (container.spec->cpu.limit > 0) container.periods.total = 3 * age_s;
    pod.cpu.total += container.cpu.total;
  }
  world.nodes[pod.node].qos_cpu[static_cast<size_t>(pod.qos)].total += pod.cpu.total;
  if (workload.spec.leak_period <= 0) return;
  // A container that leaks has been killed before.
  Container& container = pod.containers.front();
  container.restarts = static_cast<int>(world.random.Next() % 5);
  container.leak_age = workload.spec.leak_period * world.random.Uniform(0.1, 0.9);
  if (container.restarts == 0) return;
  const int64_t leaking_ms = Milliseconds(container.leak_age / world.now.pace.speed);
  container.started_ms = std::max(pod.runs_at_ms, world.now.wall_ms - leaking_ms);
  container.last_termination = Termination{"OOMKilled", container.started_ms};
}

void StartPod(World& world, Pod& pod) {
  pod.phase = Phase::kRunning;
  pod.sandbox_id = RandomContainerId(world.random);
  pod.sandbox_cpu.total = 0.03;
  for (Container& container : pod.containers) StartContainer(world, container);
}

void RestartContainer(World& world, Pod& pod, Container& container, std::string_view reason) {
  StartContainer(world, container);
  ++container.restarts;
  container.last_termination = Termination{reason, world.now.wall_ms};
  pod.ready = false;
  pod.ready_at_ms = world.now.wall_ms + Milliseconds(world.random.Uniform(6, 12));
}

void CompletePod(World& world, Workload& workload, Pod& pod) {
  pod.phase = Phase::kSucceeded;
  pod.ready = false;
  StopMeters(pod);
  world.nodes[pod.node].requested_cores -= RequestedCores(workload.spec);
}

void RemovePod(World& world, Workload& workload, size_t pod) {
  const Pod& gone = workload.pods[pod];
  if (gone.phase != Phase::kSucceeded) {
    world.nodes[gone.node].requested_cores -= RequestedCores(workload.spec);
  }
  workload.pods.erase(workload.pods.begin() + static_cast<std::ptrdiff_t>(pod));
}

}  // namespace tidemark::demo_cluster
