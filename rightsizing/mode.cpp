#include <algorithm>
#include <string_view>
#include <vector>

#include "rightsizing/pod_plan.h"

namespace tidemark::rightsizing {
namespace {

const RightsizingRule* FirstMatch(const WorkloadId& workload,
                                  const std::vector<RightsizingRule>& rules) {
  std::vector<LabelView> labels;  // sorted by name
  const auto add = [&labels](std::string_view name, std::string_view value) {
    if (!value.empty()) labels.push_back({name, value});
  };
  add("cluster", workload.cluster);
  add("namespace", workload.name_space);
  add("workload", workload.workload);
  add("workload_type", workload.workload_type);
  const auto found = std::ranges::find_if(
      rules, [&](const RightsizingRule& rule) { return rule.selector.Matches(labels); });
  return found == rules.end() ? nullptr : &*found;
}

}  // namespace

RightsizingMode ModeOf(const PodView& pod, const RightsizingSettings& settings) {
  const RightsizingRule* const rule = FirstMatch(pod.workload, settings.rules);
  if (rule != nullptr && rule->mode == RightsizingMode::kOff) return RightsizingMode::kOff;
  const auto label = pod.labels.find(kModeLabel);
  if (label != pod.labels.end()) {
    return RightsizingModeNamed(label->second).value_or(RightsizingMode::kOff);
  }
  return rule == nullptr ? settings.mode : rule->mode;
}

}  // namespace tidemark::rightsizing
