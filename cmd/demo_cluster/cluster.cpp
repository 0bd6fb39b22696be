#include "cmd/demo_cluster/cluster.h"

#include <cassert>

#include "cmd/demo_cluster/controllers.h"

namespace tidemark::demo_cluster {
namespace {

constexpr int64_t kStepMs = 1000;
constexpr double kStepS = 1;
/// The pause container does nothing.
constexpr double kSandboxCores = 0.00002;

void FinishStep(Pod& pod) {
  pod.cpu.FinishStep(kStepS);
  pod.sandbox_cpu.FinishStep(kStepS);
  for (Container& container : pod.containers) {
    container.cpu.FinishStep(kStepS);
    container.periods.FinishStep(kStepS);
    container.throttled.FinishStep(kStepS);
  }
}

}  // namespace

Cluster::Cluster(uint64_t seed, double speed, TimePoint start)
    : start_ms_(ToUnixMs(start)), now_ms_(start_ms_) {
  assert(speed > 0 && speed <= kMaxSpeed);
  world_.seed = seed;
  world_.random = Random(seed);
  world_.now = {start_ms_, static_cast<double>(start_ms_) / 1000, speed};
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
  while (world_.now.wall_ms + kStepMs <= now_ms_) Step();
}

void Cluster::Step() {
  for (Node& node : world_.nodes) {
    node.system_cpu.FinishStep(kStepS);
    for (Meter& meter : node.qos_cpu) meter.FinishStep(kStepS);
  }
  for (Workload& workload : world_.workloads) {
    for (Pod& pod : workload.pods) FinishStep(pod);
  }
  world_.now.wall_ms += kStepMs;
  world_.now.simulated_s =
      static_cast<double>(start_ms_) / 1000 +
      static_cast<double>(world_.now.wall_ms - start_ms_) / 1000 * world_.now.speed;
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
