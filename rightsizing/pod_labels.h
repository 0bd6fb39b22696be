#pragma once
// A pod's labels, as profiles select by them.

#include <functional>
#include <map>
#include <string>

namespace tidemark::rightsizing {

using TextMap = std::map<std::string, std::string, std::less<>>;

/// The labels of a manifest under the names that kube-state-metrics makes of them
/// (label_app_kubernetes_io_name), without those of a revision (model/revision_label.h), in
/// canonical encoding (model/label.h): for ProfileSubject::pod_labels. Empty where they take more
/// than kMaxStableLabelBytes, as the engine has it. Thread-safe.
///
/// Source: kube-state-metrics 2.18, internal/store/utils.go (mapToPrometheusLabels).
std::string ProfileLabels(const TextMap& labels);

}  // namespace tidemark::rightsizing
