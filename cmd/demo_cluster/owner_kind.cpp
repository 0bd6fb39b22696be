#include "cmd/demo_cluster/catalog.h"

namespace tidemark::demo_cluster {

using enum OwnerKind;

std::string_view PodOwnerKind(OwnerKind kind) {
  switch (kind) {
    case kDeployment:
    case kRollout: return "ReplicaSet";
    case kStatefulSet:
    case kAdvancedStatefulSet: return "StatefulSet";
    case kDaemonSet: return "DaemonSet";
    case kCronJob:
    case kJob: return "Job";
    case kStaticPod: return "Node";
    case kCloneSet: return "CloneSet";
    case kBarePod: return "";
  }
  return "";
}

bool HasReplicaSets(OwnerKind kind) { return kind == kDeployment || kind == kRollout; }

bool IsBatch(OwnerKind kind) { return kind == kCronJob || kind == kJob; }

}  // namespace tidemark::demo_cluster
