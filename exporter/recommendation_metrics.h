#pragma once
// Snapshot -> the tidemark_* recommendation families.
//
// Every family carries the same labels, so that they join without relabelling: cluster (when there
// is one), namespace, workload_type, workload, container (when there is one), resource, unit. A
// value that is absent in the Snapshot has no line; a family without a line has no header. Lines
// follow the Snapshot's order, so equal Snapshots give equal bytes.

#include <memory>

#include "exporter/exposition.h"
#include "model/snapshot.h"

namespace tidemark::exporter {

/// Renders Snapshots and keeps the text of each NamespaceBlock: blocks are immutable and shared
/// between Snapshots, so a namespace that did not change since the last page costs a copy. The text
/// kept is that of the Snapshot rendered last (about 170 bytes a series); blocks themselves are not
/// kept alive. Thread-safe: concurrent calls render for themselves what neither finds.
class RecommendationMetrics {
 public:
  RecommendationMetrics();
  ~RecommendationMetrics();
  RecommendationMetrics(const RecommendationMetrics&) = delete;
  RecommendationMetrics& operator=(const RecommendationMetrics&) = delete;

  /// Appends the families. Cost: the bytes written, and formatting for blocks not seen in the last
  /// call.
  void Append(const Snapshot& snapshot, ExpositionWriter& writer);

  /// How many blocks the last call had to format anew.
  size_t RenderedLastForTest() const;

 private:
  struct Cache;
  std::unique_ptr<Cache> cache_;
};

}  // namespace tidemark::exporter
