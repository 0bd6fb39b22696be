#pragma once
// Which workloads have a number of replicas that can be set.

#include <algorithm>
#include <array>
#include <string_view>

namespace tidemark {

/// False for what runs once a node or on none (daemonset, staticpod, process), what runs to an end
/// (job, cronjob), and single pods: whatever bounds a rule may have for them, a target would be
/// nobody's. All other types, of whatever controller, have a scale. `workload_type` in lower case.
inline bool HasReplicas(std::string_view workload_type) {
  constexpr std::array<std::string_view, 6> kWithout = {"daemonset", "staticpod", "process",
                                                        "job",       "cronjob",   "pod"};
  return std::find(kWithout.begin(), kWithout.end(), workload_type) == kWithout.end();
}

}  // namespace tidemark
