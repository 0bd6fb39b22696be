#pragma once
// Manifests with the requests that their workloads should have: in CI/CD, before they are applied.

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "model/result.h"
#include "rightsizing/pod_plan.h"

namespace tidemark::rightsizing {

enum class ManifestFormat : uint8_t { kYaml, kJson };

/// The largest that is read; kube-apiserver takes no larger objects.
inline constexpr size_t kMaxManifestBytes = size_t{3} << 20;

/// JSON where the first thing is a brace or bracket and all of it reads as JSON, else YAML (of
/// which JSON over several documents, or with comments, is one).
ManifestFormat FormatOf(std::string_view text);

/// What the plan for a pod of the manifest is. `pod.workload` has its namespace filled in.
using PodPlanner = std::function<PodPlan(const PodView& pod)>;

/// One request that was changed, or one thing that was left alone.
struct ManifestLine {
  size_t document = 0;  ///< from 1
  std::string kind;     ///< of the object, as written
  std::string name_space;
  std::string name;
  std::string container;  ///< empty: all of the object
  std::string resource;   ///< empty: all of the container
  std::string before;     ///< empty: there was none
  std::string after;      ///< as `before` where it was left alone
  std::string rule;       ///< CorrectionRule; empty: none was asked
  std::string what;       ///< a sentence
};

struct RightsizedManifest {
  ManifestFormat format = ManifestFormat::kYaml;
  std::string text;
  std::vector<ManifestLine> changes;
  std::vector<ManifestLine> kept;
};

/// The manifest with requests and annotations (of the pod or its template) set as planned; every
/// other byte is as it was. `name_space`: of objects that say none; empty: "default".
///
/// The result is read again and must mean what the manifest meant, but for what was planned; an
/// object for which that cannot be had (anchors, text in odd places) is left alone, and `kept` says
/// so. kInvalidArgument, with the line, for what is no YAML or JSON, or over a bound of
/// yaml_source.h. Any bytes may be given. Thread-safe.
Result<RightsizedManifest> RightsizeManifest(std::string_view text, std::string_view name_space,
                                             const PodPlanner& plan);

}  // namespace tidemark::rightsizing
