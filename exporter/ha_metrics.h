#pragma once
// What is known of HA pairs as tidemark_remote_write_ha_*: who leads, what was taken and shed, when
// each replica was last heard of.

#include <vector>

#include "exporter/exposition.h"
#include "model/ha_status.h"

namespace tidemark::exporter {

/// Appends the families; those without a line are left out. Bounded as `clusters` is: at most five
/// lines for each replica and one for each pair. Thread-safe.
void AppendHaMetrics(const std::vector<HaClusterStatus>& clusters, ExpositionWriter& writer);

}  // namespace tidemark::exporter
