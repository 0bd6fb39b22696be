#pragma once
// What runs in the demo cluster: its nodes and workloads, before anything has happened.
//
// The rows are chosen so that every kind of owner and every habit of usage that Tidemark must tell
// apart occurs at least once, most of them with requests that are far too high, as in real
// clusters.

#include <cstdint>
#include <string_view>
#include <vector>

namespace tidemark::demo_cluster {

enum class OwnerKind : uint8_t {
  kDeployment,  ///< pod → ReplicaSet → Deployment
  kStatefulSet,
  kDaemonSet,
  kCronJob,  ///< pod → Job → CronJob
  kJob,
  kBarePod,              ///< no owner
  kStaticPod,            ///< owner kind Node
  kRollout,              ///< Argo Rollouts: pod → ReplicaSet → Rollout
  kCloneSet,             ///< OpenKruise
  kAdvancedStatefulSet,  ///< OpenKruise; its pods name an owner of kind StatefulSet too
};

enum class Temper : uint8_t {
  kSteady,
  kDailyWave,
  kWeeklyWave,  ///< quiet at weekends
  kBursty,      ///< a few minutes at several times the usual load, at random
  kLeaking,     ///< memory grows until the limit kills the container
  kBatch,
};

/// Per container, in cores or MiB. A request or limit of 0 is not set.
struct Amounts {
  double request = 0;
  double limit = 0;
  double mean = 0;  ///< usage over a long time
};

struct ContainerSpec {
  std::string_view name;
  std::string_view image;
  Amounts cpu;
  Amounts memory_mib;
};

/// Periods are in simulated seconds; 0 = never.
struct WorkloadSpec {
  std::string_view name_space;
  std::string_view name;
  OwnerKind kind = OwnerKind::kDeployment;
  int replicas = 1;  ///< the minimum of one that is scaled; ignored for DaemonSets (one per node)
  Temper temper = Temper::kSteady;
  std::vector<ContainerSpec> containers;
  int max_replicas = 0;        ///< above 0: scaled by a HorizontalPodAutoscaler
  double scale_period = 0;     ///< one wave of the scaled replicas
  double rollover_period = 0;  ///< mean time between two versions
  double leak_period = 0;      ///< from a container's start to its OOM kill
  double run_period = 0;       ///< batch: from one start to the next
  /// JSON of the annotation tidemark.io/original-resources: what the owner wrote before an
  /// admission webhook corrected it; empty: nothing was corrected.
  std::string_view original_resources = "";
};

enum class Runtime : uint8_t { kContainerd, kDocker };

struct NodeSpec {
  std::string_view name;
  Runtime runtime = Runtime::kContainerd;
  bool control_plane = false;  ///< takes static pods and DaemonSets only
  double cores = 0;
  double memory_gib = 0;
};

/// Texts have static storage.
std::vector<WorkloadSpec> MakeCatalog();
std::vector<NodeSpec> MakeNodes();

/// The owner kind that kube_pod_owner names: "ReplicaSet", "Job", … ; empty for a bare pod.
std::string_view PodOwnerKind(OwnerKind kind);
/// Whether pods hang on a ReplicaSet.
bool HasReplicaSets(OwnerKind kind);
/// Whether pods end by themselves.
bool IsBatch(OwnerKind kind);

}  // namespace tidemark::demo_cluster
