#pragma once
// What the Snapshot says of one metric: the items that a selector chooses among.

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "kubernetes/label_selector.h"
#include "kubernetes/metric_catalogue.h"
#include "model/resource_table.h"
#include "model/snapshot.h"

namespace tidemark::kubernetes {

/// One value that could be given back.
struct MetricPoint {
  const WorkloadAdvice* workload = nullptr;  ///< of the Snapshot
  /// workload, workload_type, cluster where there is one, and what tells the values of a workload
  /// apart (container, resource, unit, horizon_seconds).
  std::vector<std::pair<std::string, std::string>> labels;
  std::optional<double> value;  ///< absent: `missing` says why
  bool is_escaped = false;      ///< of a target: see ServedTarget
  bool is_binary = false;       ///< bytes, written with binary suffixes
  /// End of the minute that it is of, Unix time; 0: of none.
  int64_t time_ms = 0;
  bool follows_load = true;  ///< ages; else it stays while its workload is known
  /// A sentence; of a value that is absent.
  std::string missing;
  /// Whether what is missing comes with time (503), or is nothing that there is (404).
  bool may_come = true;
};

/// Labels by which a workload is told from others; all points of it have the same of these.
bool IsIdentityLabel(std::string_view key);

/// Whether the part of `selector` that is of identity labels holds for the workload: also of its
/// HorizontalPodAutoscalers' names, as `hpa`, where they are known.
bool MatchesWorkload(const LabelSelector& selector, const WorkloadAdvice& workload);

/// The workload's values of `metric` for which the rest of the selector holds; none where the
/// workload does not have it at all. Of requests: without a requirement of `container` the sums
/// over the pod's containers, which are missing unless each of those is accounted for.
std::vector<MetricPoint> PointsOf(ExternalMetric metric, const WorkloadAdvice& workload,
                                  const NamespaceBlock& block, const LabelSelector& selector);

}  // namespace tidemark::kubernetes
