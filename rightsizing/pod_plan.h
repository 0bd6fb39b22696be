#pragma once
// What right-sizing makes of one pod or pod template: which requests are set to what, and what is
// recorded on the pod. The same for the admission webhook, POST /api/v1/rightsize and tidetool.
//
// Neither JSON nor YAML: whoever reads a pod fills a PodView, whoever writes one carries out a
// PodPlan.

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "model/profile.h"
#include "model/rightsizing.h"
#include "model/snapshot.h"
#include "model/workload_id.h"
#include "rightsizing/correction.h"

namespace tidemark::rightsizing {

/// Quantities by name of the resource ("cpu", "memory", …), as they are written.
using QuantityMap = std::map<std::string, std::string, std::less<>>;

struct PodContainer {
  std::string name;
  QuantityMap requests;
  QuantityMap limits;
  bool is_init = false;     ///< of initContainers
  bool is_sidecar = false;  ///< an init container with restartPolicy Always: runs all the time
};

/// A pod before it is corrected.
struct PodView {
  WorkloadId workload;     ///< whose pod it is; type and name may be empty: not known
  std::string mode_label;  ///< value of tidemark.io/mode; empty: none
  std::optional<std::string> original_annotation;  ///< tidemark.io/original-resources
  std::optional<std::string> applied_annotation;   ///< tidemark.io/applied
  /// In the order of the manifest, first `containers`, then `initContainers`.
  std::vector<PodContainer> containers;
};

/// One request to set.
struct RequestChange {
  size_t container = 0;  ///< index into PodView::containers
  std::string resource;  ///< as manifests write it
  std::string before;    ///< as written; empty: there was none
  std::string after;     ///< canonical quantity
  CorrectionRule rule = CorrectionRule::kNothing;
  std::string what;  ///< one sentence
};

/// Why a request is left as it is.
struct RequestKept {
  size_t container = 0;
  std::string resource;
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
};

/// The plan, by the correction rules (rightsizing/correction.h) for each container and resource
/// that the profile corrects. Always from the owner's originals: those of the annotation where it
/// names the container, else what is written; so that a second run over its own result changes
/// nothing. Requests never pass the container's limit, nor what the namespace's LimitRange allows;
/// limits are not touched. Init containers are left alone, but for sidecars. A pod that is
/// Guaranteed stays so, unless its profile lets it change (then only requests do); one that has
/// neither requests nor limits may become Burstable. A pod with a quantity or annotation that
/// cannot be read is left alone where that stands. Pure; thread-safe.
PodPlan PlanPod(const PodView& pod, const PodContext& context);

/// What is to be done with the pod: its label, the first rule that matches, the default.
RightsizingMode ModeOf(const PodView& pod, const RightsizingSettings& settings);

}  // namespace tidemark::rightsizing
