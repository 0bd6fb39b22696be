#pragma once
// tidemark_backfill_*.

#include "exporter/exposition.h"
#include "model/backfill.h"

namespace tidemark::exporter {

/// Thread-safe as far as its arguments are.
void AppendBackfillMetrics(const BackfillStatus& status, const BackfillCounters& counters,
                           ExpositionWriter& writer);

}  // namespace tidemark::exporter
