#pragma once
// Snapshot -> how many replicas workloads should have: tidemark_target_replicas and what is beside
// it.
//
// Labels: cluster (when there is one), namespace, workload_type, workload; mode or policy where the
// family goes by them. Only of workloads whose replicas are decided; what is not known, and a
// decision that does not stand (any more), is absent, never 0: whoever scales by it must not take
// silence for an order.

#include "exporter/block_text.h"
#include "exporter/exposition.h"
#include "model/snapshot.h"

namespace tidemark::exporter {

/// Renders Snapshots and keeps their text (block_text.h). Thread-safe.
class ScalingMetrics {
 public:
  /// Appends the families. Cost: the bytes written, and formatting for blocks not seen in the last
  /// call.
  void Append(const Snapshot& snapshot, ExpositionWriter& writer);

 private:
  BlockTextCache cache_;
};

}  // namespace tidemark::exporter
