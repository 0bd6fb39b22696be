#pragma once
// Whose series it is, read from its labels.

#include <optional>
#include <string_view>

#include "model/label.h"
#include "workloads/sources.h"

namespace tidemark::workloads {

/// Views into the labels it was read from.
struct SeriesIdentity {
  std::string_view cluster;  ///< empty: the stream carries none
  std::string_view name_space;
  std::string_view pod;
  std::string_view container;
  std::string_view workload;   ///< value of the source's workload label
  bool from_exported = false;  ///< exported_* labels stood above the plain ones
};

/// Reads the identity that `source` needs. nullopt when one of its labels is missing or the row is
/// none of a container's (pod, sandbox, slice and node rows of cAdvisor; container="POD").
///
/// Where exported_namespace, exported_pod or exported_container exist they win: a scrape without
/// honor_labels has moved the true ones there. pod_name and container_name (kubelets before 1.16)
/// stand in for pod and container.
std::optional<SeriesIdentity> Identify(const Source& source, LabelsView labels);

}  // namespace tidemark::workloads
