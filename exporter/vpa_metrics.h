#pragma once
// Snapshot -> the metrics by which kube-state-metrics shows the recommendations of Vertical Pod
// Autoscalers, so that dashboards and alerts made for these show ours (compat.vpa_metrics).
//
// Families
// kube_customresource_verticalpodautoscaler_status_recommendation_containerrecommendations_
// {target,lowerbound,upperbound,uncappedtarget}: kube-state-metrics had them without
// "customresource" up to 2.8; since 2.9 they come of its custom resource state, whose default
// prefix this is. Labels as there: cluster (when there is one), namespace, verticalpodautoscaler
// (the workload's name), target_api_version, target_kind, target_name, container, resource (cpu,
// memory), unit (core, byte). Only workloads that have containers, as no others can be a VPA's
// target.

#include <cstddef>
#include <string>
#include <string_view>

#include "exporter/block_text.h"
#include "exporter/exposition.h"
#include "model/profile.h"
#include "model/snapshot.h"

namespace tidemark::exporter {

/// What a VPA's targetRef says of a workload.
struct TargetKind {
  std::string_view kind;         ///< as Kubernetes spells it
  std::string_view api_version;  ///< empty when the kind is not known
};

/// By `workload_type` (model/workload_id.h). An unknown type is its own kind, without a version;
/// the view then is the argument's.
TargetKind TargetKindOf(std::string_view workload_type);

/// The recommendation before floor and ceiling, as a VPA's uncappedTarget: with margin, expansion
/// and share of the pod's minimum, rounded up. `containers` share that minimum. `advice` must have
/// a recommended request; without a profile (null) it is that.
double UncappedRequest(const Profile* profile, size_t containers, const ResourceAdvice& advice);

/// Renders Snapshots and keeps their text (block_text.h). Thread-safe.
class VpaMetrics {
 public:
  void Append(const Snapshot& snapshot, ExpositionWriter& writer);
  /// Gives back what is kept: the metrics were switched off.
  void Clear() { cache_.Clear(); }

  size_t RenderedLastForTest() const { return cache_.RenderedLast(); }

 private:
  BlockTextCache cache_;
};

}  // namespace tidemark::exporter
