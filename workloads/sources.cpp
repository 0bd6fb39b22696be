#include "workloads/sources.h"

#include <array>
#include <charconv>
#include <unordered_set>
#include <utility>

namespace tidemark::workloads {
namespace {

constexpr std::array<std::pair<Role, std::string_view>, 28> kRoleNames = {{
    {Role::kNone, "none"},
    {Role::kUsageCounter, "usage_counter"},
    {Role::kUsageGauge, "usage_gauge"},
    {Role::kRequest, "request"},
    {Role::kLimit, "limit"},
    {Role::kPodOwner, "pod_owner"},
    {Role::kReplicaSetOwner, "replicaset_owner"},
    {Role::kJobOwner, "job_owner"},
    {Role::kReplicas, "replicas"},
    {Role::kPodPhase, "pod_phase"},
    {Role::kPageCache, "page_cache"},
    {Role::kThrottledPeriods, "throttled_periods"},
    {Role::kCfsPeriods, "cfs_periods"},
    {Role::kRestarts, "restarts"},
    {Role::kTerminatedReason, "terminated_reason"},
    {Role::kTerminatedTime, "terminated_time"},
    {Role::kOomEvents, "oom_events"},
    {Role::kOriginalRequest, "original_request"},
    {Role::kPodReady, "pod_ready"},
    {Role::kPodStartTime, "pod_start_time"},
    {Role::kPodReadyTime, "pod_ready_time"},
    {Role::kAutoscalerInfo, "autoscaler_info"},
    {Role::kAutoscalerMin, "autoscaler_min"},
    {Role::kAutoscalerMax, "autoscaler_max"},
    {Role::kAutoscalerTarget, "autoscaler_target"},
    {Role::kNodeAllocatable, "node_allocatable"},
    {Role::kPodLabels, "pod_labels"},
    {Role::kLimitRange, "limit_range"},
}};

/// The whole text is a constant of ours: it parses.
Selector ConstantSelector(std::string_view text) {
  return Selector::Parse(text).value_or(Selector());
}

Source Make(std::string_view metric, Role role) {
  Source source;
  source.metric = metric;
  source.role = role;
  return source;
}

Source ContainerUsage(std::string_view metric, Role role, Resource resource,
                      std::vector<std::string> part_labels) {
  Source source = Make(metric, role);
  source.resource = resource;
  source.part_labels = std::move(part_labels);
  return source;
}

/// A source about a pod as a whole.
Source OfPod(std::string_view metric, Role role, std::string_view selector = "{}") {
  Source source = Make(metric, role);
  source.labels.container.clear();
  source.selector = ConstantSelector(selector);
  return source;
}

/// A source about a named object that is no pod.
Source OfObject(std::string_view metric, Role role, std::string_view name_label,
                std::string_view workload_type = "") {
  Source source = Make(metric, role);
  source.labels.pod.clear();
  source.labels.container.clear();
  source.labels.workload = name_label;
  source.workload_type = workload_type;
  return source;
}

/// The same, of what it says of containers.
Source OfContainers(std::string_view metric, Role role, std::string_view name_label) {
  Source source = OfObject(metric, role, name_label);
  source.selector = ConstantSelector(R"({type="Container"})");
  return source;
}

Source ProcessUsage(std::string_view metric, Role role, Resource resource,
                    std::string_view selector, std::vector<std::string> part_labels) {
  Source source = OfObject(metric, role, "groupname", "process");
  source.labels.name_space = "instance";
  source.resource = resource;
  source.selector = ConstantSelector(selector);
  source.part_labels = std::move(part_labels);
  return source;
}

Source DeviceUsage(std::string_view metric, Resource resource, double scale) {
  Source source = ContainerUsage(metric, Role::kUsageGauge, resource, {"gpu", "UUID"});
  source.scale = scale;
  return source;
}

}  // namespace

std::string_view ToString(Role role) {
  for (const auto& [value, name] : kRoleNames) {
    if (value == role) return name;
  }
  return "unknown";
}

std::optional<Role> ParseRole(std::string_view name) {
  for (const auto& [value, role_name] : kRoleNames) {
    if (role_name == name) return value;
  }
  return std::nullopt;
}

std::string RoleNames() {
  std::string names;
  for (const auto& [value, name] : kRoleNames) {
    if (!names.empty()) names.append(", ");
    names.append(name);
  }
  return names;
}

std::vector<Source> DefaultSources() {
  return {
      // cAdvisor. The `id` (the cgroup) tells one run of a container from the next, `cpu` one
      // core's row from another's.
      ContainerUsage("container_cpu_usage_seconds_total", Role::kUsageCounter, Resource::kCpu,
                     {"id", "cpu"}),
      ContainerUsage("container_memory_working_set_bytes", Role::kUsageGauge, Resource::kMemory,
                     {"id"}),
      // Of each file system that the container writes to: its own layer and its logs.
      ContainerUsage("container_fs_usage_bytes", Role::kUsageGauge, Resource::kEphemeralStorage,
                     {"id", "device"}),
      Make("container_memory_cache", Role::kPageCache),
      Make("container_cpu_cfs_throttled_periods_total", Role::kThrottledPeriods),
      Make("container_cpu_cfs_periods_total", Role::kCfsPeriods),
      Make("container_oom_events_total", Role::kOomEvents),
      // kube-state-metrics.
      Make("kube_pod_container_resource_requests", Role::kRequest),
      Make("kube_pod_container_resource_limits", Role::kLimit),
      Make("kube_pod_container_status_restarts_total", Role::kRestarts),
      Make("kube_pod_container_status_last_terminated_reason", Role::kTerminatedReason),
      Make("kube_pod_container_status_last_terminated_timestamp", Role::kTerminatedTime),
      OfPod("kube_pod_owner", Role::kPodOwner),
      OfObject("kube_replicaset_owner", Role::kReplicaSetOwner, "replicaset"),
      OfObject("kube_job_owner", Role::kJobOwner, "job_name"),
      OfObject("kube_deployment_spec_replicas", Role::kReplicas, "deployment", "deployment"),
      OfObject("kube_statefulset_replicas", Role::kReplicas, "statefulset", "statefulset"),
      OfObject("kube_replicaset_spec_replicas", Role::kReplicas, "replicaset", "replicaset"),
      OfObject("kube_daemonset_status_desired_number_scheduled", Role::kReplicas, "daemonset",
               "daemonset"),
      OfPod("kube_pod_status_phase", Role::kPodPhase),
      OfPod("kube_pod_status_ready", Role::kPodReady, R"({condition="true"})"),
      OfPod("kube_pod_start_time", Role::kPodStartTime),
      OfPod("kube_pod_status_ready_time", Role::kPodReadyTime),
      OfPod("kube_pod_annotations", Role::kOriginalRequest,
            R"({annotation_tidemark_io_original_resources!=""})"),
      OfPod("kube_pod_labels", Role::kPodLabels),
      OfObject("kube_horizontalpodautoscaler_info", Role::kAutoscalerInfo,
               "horizontalpodautoscaler"),
      OfObject("kube_horizontalpodautoscaler_spec_min_replicas", Role::kAutoscalerMin,
               "horizontalpodautoscaler"),
      OfObject("kube_horizontalpodautoscaler_spec_max_replicas", Role::kAutoscalerMax,
               "horizontalpodautoscaler"),
      OfObject("kube_horizontalpodautoscaler_spec_target_metric", Role::kAutoscalerTarget,
               "horizontalpodautoscaler"),
      OfObject("kube_node_status_allocatable", Role::kNodeAllocatable, "node"),
      // process-exporter: plain processes on a host are workloads of type `process`.
      ProcessUsage("namedprocess_namegroup_cpu_seconds_total", Role::kUsageCounter, Resource::kCpu,
                   "{}", {"mode"}),
      ProcessUsage("namedprocess_namegroup_memory_bytes", Role::kUsageGauge, Resource::kMemory,
                   R"({memtype="resident"})", {}),
      // DCGM exporter: percent and MiB of each GPU of a container.
      DeviceUsage("DCGM_FI_DEV_GPU_UTIL", Resource::kGpuUtilization, 0.01),
      DeviceUsage("DCGM_FI_DEV_FB_USED", Resource::kGpuMemory, 1024.0 * 1024.0),
      // kube-state-metrics again, of clusters that have any.
      OfContainers("kube_limitrange", Role::kLimitRange, "limitrange"),
  };
}

std::string Fingerprint(const Source& source, const ResourceTable& resources) {
  std::string text;
  // Each with its length before it, so that no two lists of texts read alike.
  const auto add = [&text](std::string_view field) {
    text += std::to_string(field.size());
    text += ':';
    text += field;
    text += ' ';
  };
  const auto name = [&](std::string_view what) { text.append(what).append("="); };
  name("metric"), add(source.metric);
  name("role"), add(ToString(source.role));
  name("resource"), add(resources.NameOf(source.resource));
  name("selector"), add(source.selector.text());
  name("cluster"), add(source.labels.cluster);
  name("namespace"), add(source.labels.name_space);
  name("pod"), add(source.labels.pod);
  name("container"), add(source.labels.container);
  name("workload"), add(source.labels.workload);
  name("workload_type"), add(source.workload_type);
  for (const std::string& label : source.part_labels) name("part"), add(label);
  std::array<char, 32> scale{};
  const auto end = std::to_chars(scale.data(), scale.data() + scale.size(), source.scale,
                                 std::chars_format::hex);
  name("scale"), add(std::string_view(scale.data(), end.ptr));
  return text;
}

SourceTable::SourceTable(const std::vector<Source>& extra, ResourceTable resources)
    : resources_(std::move(resources)) {
  std::unordered_set<std::string_view> replaced;
  for (const Source& source : extra) replaced.insert(source.metric);
  for (const Source& source : extra) {
    if (source.role != Role::kNone) sources_.push_back(source);
  }
  for (Source& source : DefaultSources()) {
    if (!replaced.contains(source.metric)) sources_.push_back(std::move(source));
  }
  for (size_t i = 0; i < sources_.size(); ++i) {
    by_metric_[sources_[i].metric].push_back(static_cast<uint16_t>(i));
  }
}

std::optional<uint16_t> SourceTable::Find(LabelsView labels) const {
  const auto found = by_metric_.find(FindLabel(labels, kMetricNameLabel));
  if (found == by_metric_.end()) return std::nullopt;
  for (const uint16_t index : found->second) {
    if (sources_[index].selector.Matches(labels)) return index;
  }
  return std::nullopt;
}

}  // namespace tidemark::workloads
