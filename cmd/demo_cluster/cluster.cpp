#include "cmd/demo_cluster/cluster.h"

#include <cassert>

#include "cmd/demo_cluster/controllers.h"

namespace tidemark::demo_cluster {
namespace {

/// The pause container does nothing.
constexpr double kSandboxCores = 0.00002;

void FinishStep(Pod& pod, double seconds) {
  pod.cpu.FinishStep(seconds);
  pod.sandbox_cpu.FinishStep(seconds);
  for (Container& container : pod.containers) {
    container.cpu.FinishStep(seconds);
    container.periods.FinishStep(seconds);
    container.throttled.FinishStep(seconds);
  }
}

}  // namespace

Cluster::Cluster(uint64_t seed, const Pace& pace, TimePoint start)
    : pace_since_ms_(ToUnixMs(start)),
      pace_since_simulated_s_(static_cast<double>(pace_since_ms_) / 1000),
      now_ms_(pace_since_ms_) {
  assert(pace.speed > 0 && pace.speed <= kMaxSpeed);
  world_.seed = seed;
  world_.random = Random(seed);
  world_.now = {pace_since_ms_, pace_since_simulated_s_, pace};
  for (const NodeSpec& spec : MakeNodes()) {
    Node node;
    node.spec = spec;
    node.system_cpu.total = 30 * 86400 * 0.02 * spec.cores;
    node.system_memory = spec.memory_gib * 0.03 * 1024 * 1024 * 1024;
    world_.nodes.push_back(node);
  }
  for (WorkloadSpec& spec : MakeCatalog()) {
    Workload workload;
    workload.index = world_.workloads.size();
    workload.spec = std::move(spec);
    world_.workloads.push_back(std::move(workload));
  }
  Populate(world_);
  UpdateRates();
}

void Cluster::AdvanceTo(TimePoint time) {
  if (ToUnixMs(time) <= now_ms_) return;
  now_ms_ = ToUnixMs(time);
  while (world_.now.wall_ms + world_.now.pace.step_ms <= now_ms_) Step();
}

void Cluster::ChangePace(const Pace& pace) {
  assert(pace.speed > 0 && pace.speed <= kMaxSpeed);
  pace_since_ms_ = world_.now.wall_ms;
  pace_since_simulated_s_ = world_.now.simulated_s;
  demo_cluster::ChangePace(world_, pace);
}

void Cluster::Step() {
  const Pace& pace = world_.now.pace;
  for (Node& node : world_.nodes) {
    node.system_cpu.FinishStep(pace.step_s());
    for (Meter& meter : node.qos_cpu) meter.FinishStep(pace.step_s());
  }
  for (Workload& workload : world_.workloads) {
    for (Pod& pod : workload.pods) FinishStep(pod, pace.step_s());
  }
  world_.now.wall_ms += pace.step_ms;
  world_.now.simulated_s =
      pace_since_simulated_s_ +
      static_cast<double>(world_.now.wall_ms - pace_since_ms_) / 1000 * pace.speed;
  for (Workload& workload : world_.workloads) Reconcile(world_, workload);
  UpdateRates();
}

void Cluster::UpdateRates() {
  for (Node& node : world_.nodes) {
    node.system_cpu.rate = node.spec.cores * 0.02 * (1 + 0.1 * world_.random.Normal());
    for (Meter& meter : node.qos_cpu) meter.rate = 0;
  }
  for (Workload& workload : world_.workloads) {
    const WorkloadSpec& spec = workload.spec;
    const double load =
        LoadFactor(spec.temper, world_.seed, workload.index, world_.now.simulated_s);
    for (Pod& pod : workload.pods) {
      if (pod.phase != Phase::kRunning) continue;
      pod.sandbox_cpu.rate = kSandboxCores;
      pod.cpu.rate = kSandboxCores;
      for (Container& container : pod.containers) {
        UpdateUsage(container, spec, load, world_.now, world_.random);
        pod.cpu.rate += container.cpu.rate;
      }
      world_.nodes[pod.node].qos_cpu[static_cast<size_t>(pod.qos)].rate += pod.cpu.rate;
    }
  }
}

}  // namespace tidemark::demo_cluster
