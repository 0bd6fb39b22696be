#pragma once
// tidemark_storage_*: journal, checkpoints, recovery.

#include "exporter/exposition.h"
#include "model/counters.h"

namespace tidemark::exporter {

/// Appends the families; what is not known yet has no line. Thread-safe.
void AppendStorageMetrics(const StorageCounters& counters, ExpositionWriter& writer);

}  // namespace tidemark::exporter
