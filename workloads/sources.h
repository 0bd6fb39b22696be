#pragma once
// Which series mean what: the source table.
//
// A source gives a metric a role. Series of metrics without a role are set aside by name before any
// index.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "model/label.h"
#include "model/resource.h"
#include "model/resource_table.h"
#include "model/result.h"
#include "model/selector.h"

namespace tidemark::workloads {

/// What a series says.
enum class Role : uint8_t {
  kNone,          ///< configuration only: takes the metric's default meaning away
  kUsageCounter,  ///< usage of a resource as a counter (core-seconds): its increase per second is
                  ///< the usage
  kUsageGauge,    ///< usage of a resource as a level (bytes): the maximum in a minute is the usage
  kRequest,       ///< request of a container; the resource stands in the label `resource`
  kLimit,         ///< limit of a container; the resource stands in the label `resource`
  kPodOwner,      ///< owner of a pod
  kReplicaSetOwner,   ///< owner of a ReplicaSet
  kJobOwner,          ///< owner of a Job
  kReplicas,          ///< replicas that a workload's spec asks for
  kPodPhase,          ///< 1 for the phase a pod is in
  kPageCache,         ///< page cache of a container
  kThrottledPeriods,  ///< CFS periods in which a container was throttled
  kCfsPeriods,        ///< CFS periods of a container
  kRestarts,          ///< restarts of a container
  kTerminatedReason,  ///< why a container ended last
  kTerminatedTime,    ///< when a container ended last
  kOomEvents,         ///< OOM kills that the kernel counted
  kOriginalRequest,   ///< requests that the owner wrote, as a pod annotation
  kPodReady,          ///< whether a pod is ready
  kPodStartTime,      ///< when a pod started
  kPodReadyTime,      ///< when a pod became ready
  kAutoscalerInfo,    ///< which workload a HorizontalPodAutoscaler scales
  kAutoscalerMin,     ///< its lower bound
  kAutoscalerMax,     ///< its upper bound
  kAutoscalerTarget,  ///< its target; which one stands in metric_name, metric_target_type
  kNodeAllocatable,   ///< what a node can give to pods
  kPodLabels,         ///< labels of a pod
  kLimitRange,        ///< what a LimitRange asks; of what, and what, stands in resource, constraint
};

/// Whether it says something of a container's restarts or kills.
constexpr bool TellsOfKills(Role role) {
  return role == Role::kRestarts || role == Role::kTerminatedReason ||
         role == Role::kTerminatedTime || role == Role::kOomEvents;
}

/// Whether it says something of a container or pod that changes what its usage means.
constexpr bool IsSign(Role role) {
  return role == Role::kPageCache || role == Role::kThrottledPeriods || role == Role::kCfsPeriods;
}

/// Whether it says what an autoscaler scales, between which bounds, or by what.
constexpr bool TellsOfAutoscalers(Role role) {
  return role == Role::kAutoscalerInfo || role == Role::kAutoscalerMin ||
         role == Role::kAutoscalerMax || role == Role::kAutoscalerTarget;
}

/// snake_case name as in the configuration and in /api/v1/status/sources.
std::string_view ToString(Role role);
std::optional<Role> ParseRole(std::string_view name);
/// All role names, comma-separated, for error texts.
std::string RoleNames();

/// Which labels say whose series it is. An empty name means that the source has no such label.
struct IdentityLabels {
  std::string cluster = "cluster";
  std::string name_space = "namespace";
  std::string pod = "pod";
  std::string container = "container";
  std::string workload;  ///< the workload's own name (replicas, processes, ReplicaSet, Job, HPA);
                         ///< empty: found by owner
};

/// One line of the table.
struct Source {
  std::string metric;
  Role role = Role::kNone;
  /// The resource that usage is of; requests and limits carry theirs in a label.
  Resource resource = Resource::kCpu;
  /// Only series that match have the role; others of that metric have none (unless a further source
  /// takes them).
  Selector selector;
  IdentityLabels labels;
  /// Fixed `workload_type`; with it, `labels.workload` names the workload directly (replicas,
  /// processes). Empty: the workload is found through the pod's owners.
  std::string workload_type;
  /// Labels whose values tell apart the parts of one container's usage, which are summed (cpu,
  /// mode, id).
  std::vector<std::string> part_labels;
  /// Values are multiplied by it to come to the resource's unit; > 0.
  double scale = 1;
};

/// A text that is the same for two sources exactly when all their fields are, and their resources
/// have one name: what is saved under the one may be restored under the other. Stable across
/// versions as long as the fields are.
std::string Fingerprint(const Source& source, const ResourceTable& resources = {});

/// The default table: cAdvisor, kube-state-metrics, process-exporter and DCGM exporter, in the
/// order in which status shows it.
std::vector<Source> DefaultSources();

/// The table in force; immutable, thread-safe.
class SourceTable {
 public:
  /// `extra` comes before the defaults: its metrics replace the default lines of the same metric;
  /// Role::kNone only takes them away.
  /// `resources`: what the resources of usage, requests and limits are called.
  explicit SourceTable(const std::vector<Source>& extra = {}, ResourceTable resources = {});

  /// Index of the source that gives this label set its role; nullopt when none does. O(1) for
  /// unknown metrics.
  std::optional<uint16_t> Find(LabelsView labels) const;
  const Source& at(uint16_t index) const { return sources_[index]; }
  size_t size() const { return sources_.size(); }
  const ResourceTable& resources() const { return resources_; }

 private:
  struct NameHash {
    using is_transparent = void;
    size_t operator()(std::string_view name) const { return std::hash<std::string_view>{}(name); }
  };
  ResourceTable resources_;
  std::vector<Source> sources_;
  std::unordered_map<std::string, std::vector<uint16_t>, NameHash, std::equal_to<>> by_metric_;
};

}  // namespace tidemark::workloads
