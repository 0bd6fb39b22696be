#pragma once
// Snapshot -> the tidemark_* recommendation families.
//
// Every family carries the same labels, so that they join without relabelling: cluster (when there
// is one), namespace, workload_type, workload, container (when there is one), resource, unit. Only
// tidemark_recommendation_profile_info has no resource and unit but profile, preset and effect: it
// says, once per container, by which profile the others came about. A value that is absent in the
// Snapshot has no line; a family without a line has no header. Lines follow the Snapshot's order,
// so equal Snapshots give equal bytes.

#include "exporter/block_text.h"
#include "exporter/exposition.h"
#include "model/snapshot.h"

namespace tidemark::exporter {

/// Renders Snapshots and keeps their text (block_text.h). Thread-safe.
class RecommendationMetrics {
 public:
  /// Appends the families. Cost: the bytes written, and formatting for blocks not seen in the last
  /// call.
  void Append(const Snapshot& snapshot, ExpositionWriter& writer);

  /// How many blocks the last call had to format anew.
  size_t RenderedLastForTest() const { return cache_.RenderedLast(); }

 private:
  BlockTextCache cache_;
};

}  // namespace tidemark::exporter
