#pragma once
// A pod's labels, as kube_pod_labels tells them.

#include <cstdint>
#include <string>

#include "model/label.h"
#include "model/revision_label.h"

namespace tidemark::workloads {

struct PodLabels {
  /// Hash of all label_* labels; never 0.
  uint64_t set = 0;
  /// Those that stay the same from one revision of a workload to the next, in canonical encoding.
  std::string stable;
  bool too_long =
      false;  ///< they would have been over tidemark::kMaxStableLabelBytes: `stable` is empty
};

/// Reads the label_* labels of a series. Left out of `stable` are those of a revision
/// (model/revision_label.h).
PodLabels ReadPodLabels(LabelsView labels);

}  // namespace tidemark::workloads
