#include "engine/past_query.h"

#include <algorithm>
#include <string>
#include <string_view>

namespace tidemark::engine {
namespace {

using workloads::Role;

bool IsOwner(Role role) {
  return role == Role::kPodOwner || role == Role::kReplicaSetOwner || role == Role::kJobOwner;
}

/// Metrics that most clusters have: kube-state-metrics and cAdvisor.
bool IsCommon(const workloads::Source& source) {
  return IsOwner(source.role) ||
         (source.workload_type.empty() &&
          (source.resource == Resource::kCpu || source.resource == Resource::kMemory));
}

}  // namespace

std::vector<PastMetric> PastMetrics(const workloads::SourceTable& sources) {
  std::vector<PastMetric> metrics;
  for (size_t i = 0; i < sources.size(); ++i) {
    const workloads::Source& source = sources.at(static_cast<uint16_t>(i));
    const bool is_counter = source.role == Role::kUsageCounter;
    if (!is_counter && source.role != Role::kUsageGauge && !IsOwner(source.role)) continue;
    const std::string& selector = source.selector.text();
    PastMetric metric;
    metric.metric = source.metric;
    metric.is_owner = IsOwner(source.role);
    metric.is_counter = is_counter;
    metric.is_optional = !IsCommon(source);
    metric.cluster_label = source.labels.cluster;
    metric.namespace_label = source.labels.name_space;
    metric.pod_label = source.labels.pod;
    metric.container_label = source.labels.container;
    metric.matchers = selector.substr(1, selector.size() - 2);
    metrics.push_back(std::move(metric));
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
    state->ForEachContainer([&](const workloads::Workload& workload, std::string_view container,
                                const workloads::WorkloadContainer& known) {
      ends[{hash, workload.id.workload_type, workload.id.workload, std::string(container)}] =
          known.first_ms;
    });
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
