#pragma once
// Whose pod it is, from the pod alone.

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

namespace tidemark::rightsizing {

/// The owner reference whose `controller` is true.
struct ControllerReference {
  std::string kind;
  std::string name;
};

/// Type (lower case) and name of the workload, as `workload_type` and `workload` have them.
/// ReplicaSet: the Deployment, which is its name less "-" and the label pod-template-hash; with
/// rollouts-pod-template-hash an Argo Rollout; without either the ReplicaSet itself. Job: the
/// CronJob where the name ends in a scheduled time ("-" and 8 to 10 digits), else the Job. Any
/// other kind: itself. nullopt for a pod without a controller, and for the mirror of a static pod
/// (controller of kind Node), which nobody but its kubelet may change. Thread-safe.
std::optional<std::pair<std::string, std::string>> WorkloadOf(
    const std::optional<ControllerReference>& controller,
    const std::map<std::string, std::string, std::less<>>& labels);

}  // namespace tidemark::rightsizing
