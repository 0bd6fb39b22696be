#pragma once
// Where pods stand in a manifest: of which kind of object, and as what.

#include <string>
#include <string_view>
#include <vector>

#include "model/result.h"
#include "rightsizing/pod_plan.h"
#include "rightsizing/source_node.h"

namespace tidemark::rightsizing {

/// A pod, or the template of pods, in a document.
struct ManifestPod {
  std::string kind;                 ///< of the object, as written
  std::string name_space;           ///< of the object; empty: it says none
  std::string name;                 ///< of the object; empty: it has only a generateName, or none
  const SourceNode* pod = nullptr;  ///< has metadata and spec; of the document
  PodView view;                     ///< without cluster; namespace as above
  /// In the order of view.containers.
  std::vector<const SourceNode*> containers;
  std::string problem;  ///< why it cannot be looked at; empty: it can
};

/// All of a document: of a Pod, of what has a pod's template (Deployment, StatefulSet, DaemonSet,
/// ReplicaSet, ReplicationController, Job, CronJob, CloneSet, Rollout, PodTemplate), and of the
/// items of a List of these. Other kinds have none. Nodes live as long as `document`.
std::vector<ManifestPod> FindPods(const SourceNode& document);

}  // namespace tidemark::rightsizing
