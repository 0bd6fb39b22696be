#pragma once
// A pod's labels, as kube_pod_labels tells them.

#include <cstdint>
#include <string>

#include "model/label.h"

namespace tidemark::workloads {

struct PodLabels {
  /// Hash of all label_* labels; never 0.
  uint64_t set = 0;
  /// Those that stay the same from one revision of a workload to the next, in canonical encoding.
  std::string stable;
  bool too_long = false;  ///< they would have been over kMaxStableLabelBytes: `stable` is empty
};

inline constexpr size_t kMaxStableLabelBytes = 4096;

/// Reads the label_* labels of a series. Left out of `stable` are those that controllers write for
/// each revision or pod, under the names that kube-state-metrics makes of them: a profile that
/// selected by them would lose its workload with the next roll-over (kubernetes/autoscaler #1548).
PodLabels ReadPodLabels(LabelsView labels);

}  // namespace tidemark::workloads
