#pragma once
// Snapshot -> what is known of the demand of workloads: tidemark_demand, tidemark_load_ratio,
// tidemark_forecast_*, tidemark_high_water_demand and tidemark_high_water_load_ratio.
//
// Labels: cluster (when there is one), namespace, workload_type, workload, resource, unit, and
// horizon_seconds, model or risk where the family goes by them; horizons, models and the risk are
// the configuration's, so there are a few of each. Demand is that of all pods of a workload. Ratios
// are of what all its replicas request, or count for where they are scaled (load_ratio.h), and
// absent where that is not known or 0.
//
// What is shown is what the Snapshot has: it leaves out what is too old.

#include "exporter/block_text.h"
#include "exporter/exposition.h"
#include "model/snapshot.h"

namespace tidemark::exporter {

/// Renders Snapshots and keeps their text (block_text.h). Thread-safe.
class ForecastMetrics {
 public:
  /// Appends the families. Cost: the bytes written, and formatting for blocks not seen in the last
  /// call.
  void Append(const Snapshot& snapshot, ExpositionWriter& writer);

 private:
  BlockTextCache cache_;
};

}  // namespace tidemark::exporter
