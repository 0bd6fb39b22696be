#include "engine/past_query.h"

#include <algorithm>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

namespace tidemark::engine {
namespace {

using workloads::Role;

std::optional<PastKind> KindOf(Role role) {
  switch (role) {
    case Role::kPodOwner:
    case Role::kReplicaSetOwner:
    case Role::kJobOwner: return PastKind::kOwner;
    case Role::kPodLabels: return PastKind::kLabels;
    case Role::kRequest: return PastKind::kRequest;
    case Role::kUsageCounter:
    case Role::kUsageGauge: return PastKind::kUsage;
    case Role::kTerminatedReason: return PastKind::kKillReason;
    case Role::kRestarts: return PastKind::kRestarts;
    case Role::kTerminatedTime: return PastKind::kKillTime;
    case Role::kOomEvents: return PastKind::kOomEvents;
    default: return std::nullopt;  // holds only now: the live stream says it
  }
}

/// Metrics that most clusters have: kube-state-metrics and cAdvisor.
bool IsCommon(PastKind kind, const workloads::Source& source) {
  return kind == PastKind::kOwner ||
         (kind == PastKind::kUsage && source.workload_type.empty() &&
          (source.resource == Resource::kCpu || source.resource == Resource::kMemory));
}

bool Any(const ProfileSet& profiles, const std::function<bool(const Profile&)>& is) {
  return is(profiles.fallback()) || std::ranges::any_of(profiles.profiles(), is);
}

bool IsWeight(const ProfileSet& profiles, Resource resource) {
  return Any(profiles, [resource](const Profile& profile) {
    return profile.rule(resource).weight == WeightRule::kByRequest;
  });
}

/// Selected by, or kept apart by (strict) labels of pods.
bool NeedLabels(const ProfileSet& profiles) {
  return Any(profiles, [](const Profile& profile) {
    return profile.strict ||
           std::ranges::any_of(profile.selector.Parts(), [](const Selector::Part& part) {
             return part.label.starts_with("label_");
           });
  });
}

/// Its name, labels and matchers.
PastMetric MetricOf(const workloads::Source& source) {
  const std::string& selector = source.selector.text();
  PastMetric metric;
  metric.metric = source.metric;
  metric.cluster_label = source.labels.cluster;
  metric.namespace_label = source.labels.name_space;
  metric.pod_label = source.labels.pod;
  metric.container_label = source.labels.container;
  metric.matchers = selector.substr(1, selector.size() - 2);
  return metric;
}

void AddMatcher(PastMetric& metric, std::string_view matcher) {
  if (!metric.matchers.empty()) metric.matchers.append(",");
  metric.matchers.append(matcher);
}

}  // namespace

std::vector<PastMetric> PresentMetrics(const workloads::SourceTable& sources,
                                       const ProfileSet& profiles) {
  std::vector<PastMetric> metrics;
  for (size_t i = 0; i < sources.size(); ++i) {
    const workloads::Source& source = sources.at(static_cast<uint16_t>(i));
    const bool of_labels = source.role == Role::kPodLabels;
    if (TellsOfKills(source.role) || (of_labels && !NeedLabels(profiles))) continue;
    PastMetric& metric = metrics.emplace_back(MetricOf(source));
    switch (source.role) {
      case Role::kAutoscalerInfo: metric.kind = PastKind::kAutoscaler; break;
      case Role::kAutoscalerTarget: metric.kind = PastKind::kAutoscalerTarget; break;
      default: metric.kind = KindOf(source.role).value_or(PastKind::kPresent);
    }
    // Nodes are of no namespace; the label, where there is one, names that of the exporter.
    if (source.role == Role::kNodeAllocatable) metric.namespace_label.clear();
  }
  return metrics;
}

std::vector<PastMetric> PastMetrics(const workloads::SourceTable& sources,
                                    const ProfileSet& profiles) {
  std::vector<PastMetric> metrics;
  for (size_t i = 0; i < sources.size(); ++i) {
    const workloads::Source& source = sources.at(static_cast<uint16_t>(i));
    const std::optional<PastKind> kind = KindOf(source.role);
    if (!kind || (kind == PastKind::kLabels && !NeedLabels(profiles))) continue;
    PastMetric metric = MetricOf(source);
    metric.kind = *kind;
    metric.is_counter = source.role == Role::kUsageCounter;
    metric.is_optional = !IsCommon(*kind, source);
    metric.only_where_killed = kind >= PastKind::kKillReason;
    if (kind == PastKind::kKillReason) AddMatcher(metric, R"(reason="OOMKilled")");
    if (kind != PastKind::kRequest) {
      metrics.push_back(std::move(metric));
      continue;
    }
    for (const Resource resource : {Resource::kCpu, Resource::kMemory}) {
      const bool is_weight = IsWeight(profiles, resource);
      if (!is_weight && resource != Resource::kMemory) continue;
      PastMetric& request = metrics.emplace_back(metric);
      request.only_where_killed = !is_weight;
      AddMatcher(request,
                 resource == Resource::kCpu ? R"(resource="cpu")" : R"(resource="memory")");
    }
  }
  return metrics;
}

PastEnds FindPastEnds(const Shard& shard, const Addressing& addressing,
                      const std::vector<NamespaceName>& of) {
  PastEnds ends;
  for (const NamespaceName& name : of) {
    const uint64_t hash = addressing.HashNamespace(name.cluster, name.name_space);
    const workloads::NamespaceState* const state = shard.Find(hash);
    if (state == nullptr) continue;
    const auto add = [&](const workloads::Workload& workload, std::string_view container,
                         const workloads::WorkloadContainer& known) {
      ends[{hash, workload.id.workload_type, workload.id.workload, std::string(container)}] =
          known.first;
    };
    state->ForEachContainer(add);
    state->ForEachDemand(add);
  }
  return ends;
}

bool IsOvertaken(const PastRecord::Namespace& past, const Shard& shard) {
  const workloads::NamespaceState* const state = shard.Find(past.hash);
  return state != nullptr &&
         std::any_of(past.containers.begin(), past.containers.end(),
                     [&](const auto& container) { return state->ReachesInto(container); });
}

}  // namespace tidemark::engine
