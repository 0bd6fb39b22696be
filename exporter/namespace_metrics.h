#pragma once
// Snapshot -> the tidemark_namespace_* families: what the requests of each namespace come to.
//
// Labels: cluster (when there is one), namespace, and resource and unit, or currency. Amounts are
// per pod × replicas, summed over the containers of which current and recommended request are both
// known; tidemark_namespace_containers says how many there are of those and of the others. A
// namespace of which nothing is known has no lines of amounts.

#include <mutex>

#include "exporter/block_text.h"
#include "exporter/exposition.h"
#include "model/prices.h"
#include "model/snapshot.h"

namespace tidemark::exporter {

/// Renders Snapshots and keeps their text (block_text.h). Thread-safe.
class NamespaceMetrics {
 public:
  /// Appends the families; savings only where a price is known. Cost: the bytes written, and a walk
  /// over the containers of blocks not seen in the last call, or of all when prices have changed.
  void Append(const Snapshot& snapshot, const Prices& prices, ExpositionWriter& writer);

 private:
  BlockTextCache cache_;
  std::mutex mutex_;
  Prices rendered_with_;
};

}  // namespace tidemark::exporter
