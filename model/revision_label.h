#pragma once
// Which of a pod's labels are its revision's, and not its workload's.

#include <cstddef>
#include <string_view>

namespace tidemark {

/// Whether a label of kube_pod_labels (label_*, as kube-state-metrics names it) is one that a
/// controller writes for each revision or pod: of Kubernetes' own, Argo Rollouts and OpenKruise. A
/// profile that selected by such a label would lose its workload with the next roll-over
/// (kubernetes/autoscaler #1548). Thread-safe.
bool IsRevisionLabel(std::string_view name);

/// Of pods whose other labels take more in canonical encoding (model/label.h), none are kept.
inline constexpr size_t kMaxStableLabelBytes = 4096;

}  // namespace tidemark
