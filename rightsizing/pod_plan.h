#pragma once
// What right-sizing makes of one pod or pod template: which requests are set to what, and what is
// recorded on the pod. The same for the admission webhook, POST /api/v1/rightsize and tidetool.
//
// Neither JSON nor YAML: whoever reads a pod fills a PodView, whoever writes one carries out a
// PodPlan.

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "model/profile.h"
#include "model/rightsizing.h"
#include "model/snapshot.h"
#include "model/workload_id.h"
#include "rightsizing/correction.h"
#include "rightsizing/pod_labels.h"

namespace tidemark::rightsizing {

/// Quantities by name of the resource ("cpu", "memory", …), as they are written.
using QuantityMap = TextMap;

struct PodContainer {
  std::string name;
  QuantityMap requests;
  QuantityMap limits;
  bool is_init = false;     ///< of initContainers
  bool is_sidecar = false;  ///< an init container with restartPolicy Always: runs all the time
};

/// A pod before it is corrected.
struct PodView {
  /// Whose pod it is; where type and name are empty it is not known, and the pod is left alone.
  WorkloadId workload;
  TextMap labels;                                  ///< of the pod's metadata, or the template's
  std::optional<std::string> original_annotation;  ///< tidemark.io/original-resources
  std::optional<std::string> applied_annotation;   ///< tidemark.io/applied
  /// `spec.resources` has requests or limits for the pod as a whole (Kubernetes 1.34): those bound
  /// the containers' and decide the QoS class, and such a pod is left alone.
  bool has_pod_resources = false;
  /// In the order of the manifest, first `containers`, then `initContainers`.
  std::vector<PodContainer> containers;
};

/// One request to set.
struct RequestChange {
  size_t container = 0;  ///< index into PodView::containers
  std::string resource;  ///< as manifests write it
  std::string before;    ///< as written; empty: there was none (where there is a limit, that is it)
  std::string after;     ///< canonical quantity
  CorrectionRule rule = CorrectionRule::kNothing;
  std::string what;  ///< one sentence
};

/// Why a request is left as it is.
struct RequestKept {
  size_t container = 0;
  std::string resource;  ///< empty: all of the container's
  CorrectionRule rule = CorrectionRule::kNothing;
  std::string what;
};

struct PodPlan {
  std::vector<RequestChange> changes;
  std::vector<RequestKept> kept;
  /// Annotations to set: absent where they stand already as they should, or nothing is changed.
  std::optional<std::string> original_annotation;
  std::optional<std::string> applied_annotation;
  /// Why nothing at all is done, where the reason is the whole pod's; else empty.
  std::string why_not;
};

/// What is known of the pod's workload and namespace.
struct PodContext {
  const WorkloadAdvice* advice = nullptr;  ///< null: never seen
  const NamespaceBlock* block = nullptr;   ///< null: never seen
  const ProfileSet& profiles;              ///< those in force
  const RightsizingSettings& settings;
  /// Somebody asks for this pod and takes the recommendations over himself: what a profile would
  /// only show (Effect::kShown) is set, too.
  bool is_asked_for = false;
};

/// The plan, by the correction rules (rightsizing/correction.h) for CPU, memory and ephemeral
/// storage of each container, as its profile has them: the one that its advice was made by, else
/// the one that would be. Always from the owner's originals: those of the annotation where it names
/// the container, else what is written (a limit without a request is the request, too); so that a
/// second run over its own result changes nothing. What is not corrected (any more) goes back to
/// its original.
///
/// - No request passes the container's limit; limits are never touched.
/// - What is set is held to the namespace's LimitRange, but with keep_original and a static ratio
///   not above the original.
/// - A change of less than `least_change_ratio` of the request in force is not made, unless memory
///   has to grow or the original is restored.
/// - Init containers are left alone, but for sidecars; so are `excluded_containers`.
/// - The QoS class that the originals make is kept, by doing without all changes of CPU and memory.
///   Two may change: BestEffort to Burstable; Guaranteed to Burstable where the profile of each
///   container that is changed lets it.
/// - A pod is left alone altogether, and `why_not` says why, where a quantity or the annotation
///   cannot be read, a request is above its limit, containers share a name, the annotations would
///   be over 16 KiB or 128 containers, or the workload is not known.
///
/// Once something is corrected the annotation of originals names every container that runs (but no
/// init containers, except sidecars); what it says already stays. That of what was applied names
/// each request that is not the original: {"app":{"cpu":{"request":"650m","rule":"candidate",
/// "original":"2"}}}, without "original" where there was no request.
///
/// Pure; thread-safe; microseconds for a usual pod.
PodPlan PlanPod(const PodView& pod, const PodContext& context);

/// What is to be done with the pod. A rule that says off wins, then the pod's label (a value that
/// is no mode means off: somebody wanted something else than the rule), then the first rule that
/// matches, then the default.
RightsizingMode ModeOf(const PodView& pod, const RightsizingSettings& settings);

}  // namespace tidemark::rightsizing
