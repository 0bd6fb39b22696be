#include <fmt/format.h>

#include <cmath>
#include <string>
#include <vector>

#include "cmd/demo_cluster/names.h"
#include "cmd/demo_cluster/pages.h"

namespace tidemark::demo_cluster {
namespace {

constexpr double kMebibyte = 1024.0 * 1024.0;

double Seconds(int64_t ms) { return std::floor(static_cast<double>(ms) / 1000); }

/// Calls `visit(workload, pod)` for every pod.
template <class Visit>
void ForEachPod(const Cluster& cluster, Visit visit) {
  for (const Workload& workload : cluster.workloads()) {
    for (const Pod& pod : workload.pods) visit(workload, pod);
  }
}

/// Calls `visit(labels, pod, container)` for every container, with labels container, namespace,
/// pod, uid.
template <class Visit>
void ForEachContainer(const Cluster& cluster, Visit visit) {
  std::string labels;
  ForEachPod(cluster, [&](const Workload& workload, const Pod& pod) {
    for (const Container& container : pod.containers) {
      labels.clear();
      AppendLabels({{"container", container.spec->name},
                    {"namespace", workload.spec.name_space},
                    {"pod", pod.name},
                    {"uid", pod.uid}},
                   labels);
      visit(labels, pod, container);
    }
  });
}

std::string PodLabels(const Workload& workload, const Pod& pod) {
  std::string labels;
  AppendLabels({{"namespace", workload.spec.name_space}, {"pod", pod.name}, {"uid", pod.uid}},
               labels);
  return labels;
}

void AppendAmounts(const Cluster& cluster, Page& page, double Amounts::*amount) {
  ForEachContainer(
      cluster, [&](const std::string& labels, const Pod& pod, const Container& container) {
        const std::string_view node = cluster.nodes()[pod.node].spec.name;
        const double cores = container.spec->cpu.*amount;
        const double mib = container.spec->memory_mib.*amount;
        if (cores > 0) {
          std::string row = labels;
          AppendLabels({{"node", node}, {"resource", "cpu"}, {"unit", "core"}}, row);
          page.Row(row, cores);
        }
        if (mib > 0) {
          std::string row = labels;
          AppendLabels({{"node", node}, {"resource", "memory"}, {"unit", "byte"}}, row);
          page.Row(row, mib * kMebibyte);
        }
      });
}

void AppendContainers(const Cluster& cluster, Page& page) {
  page.Family("kube_pod_container_resource_requests", "gauge", "What a container requests.");
  AppendAmounts(cluster, page, &Amounts::request);
  page.Family("kube_pod_container_resource_limits", "gauge", "The most a container may use.");
  AppendAmounts(cluster, page, &Amounts::limit);
  page.Family("kube_pod_container_status_restarts_total", "counter", "Restarts of a container.");
  ForEachContainer(cluster, [&](const std::string& labels, const Pod&, const Container& container) {
    page.Row(labels, container.restarts);
  });
  page.Family("kube_pod_container_status_last_terminated_reason", "gauge",
              "Why the container ended the last time.");
  ForEachContainer(cluster, [&](const std::string& labels, const Pod&, const Container& container) {
    if (!container.last_termination) return;
    std::string row = labels;
    AppendLabels({{"reason", container.last_termination->reason}}, row);
    page.Row(row, 1);
  });
  page.Family("kube_pod_container_status_last_terminated_timestamp", "gauge",
              "When the container ended the last time, in Unix time.");
  ForEachContainer(cluster, [&](const std::string& labels, const Pod&, const Container& container) {
    if (container.last_termination) page.Row(labels, Seconds(container.last_termination->time_ms));
  });
}

void AppendPodOwners(const Cluster& cluster, Page& page) {
  page.Family("kube_pod_owner", "gauge", "The object that a pod belongs to.");
  ForEachPod(cluster, [&](const Workload& workload, const Pod& pod) {
    std::string row = PodLabels(workload, pod);
    AppendLabels({{"owner_is_controller", pod.owner.empty() ? "" : "true"},
                  {"owner_kind", PodOwnerKind(workload.spec.kind)},
                  {"owner_name", pod.owner}},
                 row);
    page.Row(row, 1);
  });
  page.Family("kube_pod_annotations", "gauge", "Annotations of a pod that are let through.");
  ForEachPod(cluster, [&](const Workload& workload, const Pod& pod) {
    if (workload.spec.original_resources.empty()) return;
    std::string row = PodLabels(workload, pod);
    AppendLabels({{"annotation_tidemark_io_original_resources", workload.spec.original_resources}},
                 row);
    page.Row(row, 1);
  });
  page.Family("kube_pod_labels", "gauge", "Labels of a pod.");
  ForEachPod(cluster, [&](const Workload& workload, const Pod& pod) {
    std::string row = PodLabels(workload, pod);
    AppendLabels({{"label_app_kubernetes_io_name", workload.spec.name},
                  {"label_app_kubernetes_io_part_of", workload.spec.name_space}},
                 row);
    if (!pod.hash.empty()) {
      const bool template_hash = HasReplicaSets(workload.spec.kind);
      AppendLabels({{template_hash ? "label_pod_template_hash" : "label_controller_revision_hash",
                     pod.hash}},
                   row);
    }
    page.Row(row, 1);
  });
}

void AppendPodStates(const Cluster& cluster, Page& page) {
  page.Family("kube_pod_status_phase", "gauge", "The phase that a pod is in.");
  ForEachPod(cluster, [&](const Workload& workload, const Pod& pod) {
    const std::string labels = PodLabels(workload, pod);
    for (size_t phase = 0; phase < kPhaseNames.size(); ++phase) {
      std::string row = labels;
      AppendLabels({{"phase", kPhaseNames[phase]}}, row);
      page.Row(row, static_cast<size_t>(pod.phase) == phase ? 1 : 0);
    }
  });
  page.Family("kube_pod_status_ready", "gauge", "Whether a pod is ready to serve.");
  ForEachPod(cluster, [&](const Workload& workload, const Pod& pod) {
    const std::string labels = PodLabels(workload, pod);
    for (const std::string_view condition : {"true", "false", "unknown"}) {
      std::string row = labels;
      AppendLabels({{"condition", condition}}, row);
      page.Row(row, condition == (pod.ready ? "true" : "false") ? 1 : 0);
    }
  });
  page.Family("kube_pod_start_time", "gauge", "When the kubelet took the pod, in Unix time.");
  ForEachPod(cluster, [&](const Workload& workload, const Pod& pod) {
    page.Row(PodLabels(workload, pod), Seconds(pod.created_ms));
  });
  page.Family("kube_pod_status_ready_time", "gauge", "Since when the pod is ready, in Unix time.");
  ForEachPod(cluster, [&](const Workload& workload, const Pod& pod) {
    if (pod.ready) page.Row(PodLabels(workload, pod), Seconds(pod.ready_at_ms));
  });
}

void AppendOwners(const Cluster& cluster, Page& page) {
  page.Family("kube_replicaset_owner", "gauge", "The object that a ReplicaSet belongs to.");
  for (const Workload& workload : cluster.workloads()) {
    const bool rollout = workload.spec.kind == OwnerKind::kRollout;
    for (const ReplicaSet& set : workload.replica_sets) {
      page.Row({{"namespace", workload.spec.name_space},
                {"owner_is_controller", "true"},
                {"owner_kind", rollout ? "Rollout" : "Deployment"},
                {"owner_name", workload.spec.name},
                {"replicaset", set.name}},
               1);
    }
  }
  page.Family("kube_job_owner", "gauge", "The object that a Job belongs to.");
  ForEachPod(cluster, [&](const Workload& workload, const Pod& pod) {
    if (!IsBatch(workload.spec.kind)) return;
    const bool scheduled = workload.spec.kind == OwnerKind::kCronJob;
    page.Row({{"job_name", pod.owner},
              {"namespace", workload.spec.name_space},
              {"owner_is_controller", scheduled ? "true" : ""},
              {"owner_kind", scheduled ? "CronJob" : ""},
              {"owner_name", scheduled ? workload.spec.name : ""}},
             1);
  });
}

/// One family with the wanted replicas of all workloads of a kind that kube-state-metrics knows by
/// itself.
void AppendReplicasOf(const Cluster& cluster, Page& page, OwnerKind kind, std::string_view label) {
  for (const Workload& workload : cluster.workloads()) {
    if (workload.spec.kind != kind) continue;
    const bool per_node = kind == OwnerKind::kDaemonSet;
    page.Row({{label, workload.spec.name}, {"namespace", workload.spec.name_space}},
             per_node ? static_cast<double>(workload.pods.size()) : workload.replicas);
  }
}

void AppendReplicas(const Cluster& cluster, Page& page) {
  page.Family("kube_deployment_spec_replicas", "gauge", "Wanted pods of a Deployment.");
  AppendReplicasOf(cluster, page, OwnerKind::kDeployment, "deployment");
  page.Family("kube_statefulset_replicas", "gauge", "Wanted pods of a StatefulSet.");
  AppendReplicasOf(cluster, page, OwnerKind::kStatefulSet, "statefulset");
  page.Family("kube_daemonset_status_desired_number_scheduled", "gauge",
              "Nodes that should run a pod of the DaemonSet.");
  AppendReplicasOf(cluster, page, OwnerKind::kDaemonSet, "daemonset");
  page.Family("kube_replicaset_spec_replicas", "gauge", "Wanted pods of a ReplicaSet.");
  for (const Workload& workload : cluster.workloads()) {
    for (const ReplicaSet& set : workload.replica_sets) {
      page.Row({{"namespace", workload.spec.name_space}, {"replicaset", set.name}}, set.replicas);
    }
  }
}

void AppendAutoscalers(const Cluster& cluster, Page& page) {
  std::vector<const Workload*> scaled;
  for (const Workload& workload : cluster.workloads()) {
    if (workload.spec.max_replicas > 0) scaled.push_back(&workload);
  }
  page.Family("kube_horizontalpodautoscaler_info", "gauge", "What an autoscaler scales.");
  for (const Workload* workload : scaled) {
    page.Row({{"horizontalpodautoscaler", workload->spec.name},
              {"namespace", workload->spec.name_space},
              {"scaletargetref_api_version", "apps/v1"},
              {"scaletargetref_kind", "Deployment"},
              {"scaletargetref_name", workload->spec.name}},
             1);
  }
  const auto bound = [&](std::string_view name, std::string_view help, auto value) {
    page.Family(name, "gauge", help);
    for (const Workload* workload : scaled) {
      page.Row({{"horizontalpodautoscaler", workload->spec.name},
                {"namespace", workload->spec.name_space}},
               value(workload->spec));
    }
  };
  bound("kube_horizontalpodautoscaler_spec_min_replicas", "The fewest pods an autoscaler sets.",
        [](const WorkloadSpec& spec) { return spec.replicas; });
  bound("kube_horizontalpodautoscaler_spec_max_replicas", "The most pods an autoscaler sets.",
        [](const WorkloadSpec& spec) { return spec.max_replicas; });
  page.Family("kube_horizontalpodautoscaler_spec_target_metric", "gauge",
              "What an autoscaler keeps a metric at.");
  for (const Workload* workload : scaled) {
    page.Row({{"horizontalpodautoscaler", workload->spec.name},
              {"metric_name", "cpu"},
              {"metric_target_type", "utilization"},
              {"namespace", workload->spec.name_space}},
             70);
  }
}

/// One namespace has a LimitRange: that of the first workload.
void AppendLimitRange(const Cluster& cluster, Page& page) {
  page.Family("kube_limitrange", "gauge", "What a LimitRange asks.");
  if (cluster.workloads().empty()) return;
  const std::string_view name_space = cluster.workloads().front().spec.name_space;
  const auto row = [&](std::string_view resource, std::string_view constraint, double value) {
    page.Row({{"constraint", constraint},
              {"limitrange", "containers"},
              {"namespace", name_space},
              {"resource", resource},
              {"type", "Container"}},
             value);
  };
  row("cpu", "min", 0.01);
  row("cpu", "max", 16);
  row("memory", "min", 16 * kMebibyte);
  row("memory", "max", 32 * 1024 * kMebibyte);
}

void AppendNodes(const Cluster& cluster, Page& page) {
  page.Family("kube_node_status_allocatable", "gauge", "What a node has for pods.");
  for (const Node& node : cluster.nodes()) {
    const auto row = [&](std::string_view resource, std::string_view unit, double value) {
      page.Row({{"node", node.spec.name}, {"resource", resource}, {"unit", unit}}, value);
    };
    row("cpu", "core", node.spec.cores - 0.1);
    row("memory", "byte", (node.spec.memory_gib - 1.5) * 1024 * kMebibyte);
    row("ephemeral_storage", "byte", 95e9);
    row("pods", "integer", 110);
  }
}

}  // namespace

void AppendKubeStatePage(const Cluster& cluster, Page& page) {
  AppendContainers(cluster, page);
  AppendPodOwners(cluster, page);
  AppendPodStates(cluster, page);
  AppendOwners(cluster, page);
  AppendReplicas(cluster, page);
  AppendAutoscalers(cluster, page);
  AppendLimitRange(cluster, page);
  AppendNodes(cluster, page);
}

}  // namespace tidemark::demo_cluster
