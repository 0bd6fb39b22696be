#include <cmath>
#include <string>
#include <vector>

#include "cmd/demo_cluster/names.h"
#include "cmd/demo_cluster/pages.h"

namespace tidemark::demo_cluster {
namespace {

constexpr std::string_view kPauseImage = "registry.k8s.io/pause:3.9";

/// One cgroup.
struct Row {
  std::string labels;
  double cpu = 0;
  Memory memory;
  bool has_quota = false;
  double periods = 0;
  double throttled = 0;
};

std::string CgroupLabels(std::string_view container, std::string_view id, std::string_view image,
                         std::string_view name, std::string_view name_space, std::string_view node,
                         std::string_view pod) {
  std::string labels;
  AppendLabels({{"container", container},
                {"id", id},
                {"image", image},
                {"name", name},
                {"namespace", name_space},
                {"node", node},
                {"pod", pod}},
               labels);
  return labels;
}

/// Memory of the pods on one node, by class.
struct NodeMemory {
  std::array<Memory, kQosCount> qos;
};

class Collector {
 public:
  explicit Collector(const Cluster& cluster)
      : cluster_(cluster),
        into_(cluster.seconds_into_step()),
        node_memory_(cluster.nodes().size()) {}

  std::vector<Row> Collect() {
    for (const Workload& workload : cluster_.workloads()) {
      for (const Pod& pod : workload.pods) {
        if (pod.phase == Phase::kRunning) AddPod(workload.spec, pod);
      }
    }
    for (size_t i = 0; i < cluster_.nodes().size(); ++i) {
      AddNode(cluster_.nodes()[i], node_memory_[i]);
    }
    return std::move(rows_);
  }

 private:
  void AddPod(const WorkloadSpec& spec, const Pod& pod) {
    const NodeSpec& node = cluster_.nodes()[pod.node].spec;
    Memory total = AddSandbox(spec, pod, node);
    for (const Container& container : pod.containers) {
      Row row;
      row.labels =
          CgroupLabels(container.spec->name, ContainerCgroup(node.runtime, pod, container.id),
                       container.spec->image,
                       RuntimeName(node.runtime, spec.name_space, pod, container.spec->name,
                                   container.id, container.restarts),
                       spec.name_space, node.name, pod.name);
      row.cpu = container.cpu.At(into_);
      row.memory = container.memory;
      row.has_quota = container.spec->cpu.limit > 0;
      row.periods = std::floor(container.periods.At(into_));
      row.throttled = std::floor(container.throttled.At(into_));
      total += container.memory;
      rows_.push_back(std::move(row));
    }
    Row row;
    row.labels = CgroupLabels("", PodCgroup(node.runtime, pod), "", "", spec.name_space, node.name,
                              pod.name);
    row.cpu = pod.cpu.At(into_);
    row.memory = total;
    rows_.push_back(std::move(row));
    node_memory_[pod.node].qos[static_cast<size_t>(pod.qos)] += total;
  }

  Memory AddSandbox(const WorkloadSpec& spec, const Pod& pod, const NodeSpec& node) {
    constexpr double kPage = 4096;
    Row row;
    row.labels =
        CgroupLabels(node.runtime == Runtime::kDocker ? "POD" : "",
                     ContainerCgroup(node.runtime, pod, pod.sandbox_id), kPauseImage,
                     RuntimeName(node.runtime, spec.name_space, pod, "POD", pod.sandbox_id, 0),
                     spec.name_space, node.name, pod.name);
    row.cpu = pod.sandbox_cpu.At(into_);
    row.memory = {120 * kPage, 11 * kPage, 0};
    const Memory memory = row.memory;
    rows_.push_back(std::move(row));
    return memory;
  }

  void AddSlice(const NodeSpec& node, std::string_view id, double cpu, const Memory& memory) {
    Row row;
    row.labels = CgroupLabels("", id, "", "", "", node.name, "");
    row.cpu = cpu;
    row.memory = memory;
    rows_.push_back(std::move(row));
  }

  void AddNode(const Node& node, const NodeMemory& memory) {
    double cpu = 0;
    Memory total;
    for (const Qos qos : {Qos::kBurstable, Qos::kBestEffort, Qos::kGuaranteed}) {
      const auto index = static_cast<size_t>(qos);
      cpu += node.qos_cpu[index].At(into_);
      total += memory.qos[index];
      // Guaranteed pods have no slice of their own: they lie in that of all pods, which comes last.
      const bool own_slice = qos != Qos::kGuaranteed;
      AddSlice(node.spec, QosCgroup(node.spec.runtime, qos),
               own_slice ? node.qos_cpu[index].At(into_) : cpu,
               own_slice ? memory.qos[index] : total);
    }
    const double system_cpu = node.system_cpu.At(into_);
    const Memory system{node.system_memory, 0.6 * node.system_memory, 0.5 * node.system_memory};
    AddSlice(node.spec, "/system.slice", system_cpu, system);
    total += system;
    AddSlice(node.spec, "/", cpu + system_cpu, total);
  }

  const Cluster& cluster_;
  double into_;
  std::vector<NodeMemory> node_memory_;
  std::vector<Row> rows_;
};

}  // namespace

void AppendCadvisorPage(const Cluster& cluster, Page& page) {
  const std::vector<Row> rows = Collector(cluster).Collect();
  page.Family("container_cpu_usage_seconds_total", "counter", "CPU time used, in core-seconds.");
  for (const Row& row : rows) page.Row(row.labels + R"(,cpu="total")", row.cpu);
  page.Family("container_cpu_cfs_periods_total", "counter",
              "Enforcement periods that have passed.");
  for (const Row& row : rows) {
    if (row.has_quota) page.Row(row.labels, row.periods);
  }
  page.Family("container_cpu_cfs_throttled_periods_total", "counter",
              "Enforcement periods in which the quota ran out.");
  for (const Row& row : rows) {
    if (row.has_quota) page.Row(row.labels, row.throttled);
  }
  page.Family("container_memory_working_set_bytes", "gauge",
              "Memory that cannot be taken back without harm.");
  for (const Row& row : rows) page.Row(row.labels, row.memory.working_set);
  page.Family("container_memory_rss", "gauge", "Anonymous memory, in bytes.");
  for (const Row& row : rows) page.Row(row.labels, row.memory.rss);
  page.Family("container_memory_cache", "gauge", "Page cache, in bytes.");
  for (const Row& row : rows) page.Row(row.labels, row.memory.cache);
  // A kill of a container's first process ends the cgroup with its count: what is left to see is 0.
  page.Family("container_oom_events_total", "counter", "Out-of-memory kills inside the cgroup.");
  for (const Row& row : rows) page.Row(row.labels, 0);
}

}  // namespace tidemark::demo_cluster
