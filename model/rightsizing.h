#pragma once
// Whose pods are right-sized when they are created. Plain values; thread-safe.

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "model/label.h"
#include "model/selector.h"

namespace tidemark {

/// What the admission webhook does with a pod.
enum class RightsizingMode : uint8_t {
  kOff,     ///< nothing
  kDryRun,  ///< says in a warning and an audit annotation what it would do
  kApply,   ///< answers with the patch
};
/// As the configuration and the pod's label write them: off, dry-run, apply.
std::string_view ToString(RightsizingMode mode);
std::optional<RightsizingMode> RightsizingModeNamed(std::string_view name);

/// A pod may say `off`, `dry-run` or `apply` for itself in a label of this name. It wins over the
/// configuration, but for a rule that says off.
inline constexpr std::string_view kModeLabel = "tidemark.io/mode";
/// What the owner wrote, by container, as JSON; put there by whoever corrects a pod first.
inline constexpr std::string_view kOriginalAnnotation = "tidemark.io/original-resources";
/// What was set and by which rule, by container and resource, as JSON.
inline constexpr std::string_view kAppliedAnnotation = "tidemark.io/applied";

/// The first rule that matches a pod's workload applies.
struct RightsizingRule {
  Selector selector;  ///< over cluster, namespace, workload_type and workload
  RightsizingMode mode = RightsizingMode::kOff;
};

struct RightsizingSettings {
  /// Where none matches, `mode` applies.
  std::vector<RightsizingRule> rules;
  RightsizingMode mode = RightsizingMode::kOff;
  /// Left alone in every pod, e.g. injected sidecars. Sorted.
  std::vector<std::string> excluded_containers;
  /// A change of less than this share of the request it replaces is not made, unless memory is to
  /// grow; in [0, 1).
  double least_change_ratio = 0.1;
};
using RightsizingSettingsPtr = std::shared_ptr<const RightsizingSettings>;

}  // namespace tidemark
