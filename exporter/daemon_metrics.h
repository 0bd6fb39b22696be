#pragma once
// The daemon's own metrics: the rooms' plain counters as tidemark_remote_write_*, tidemark_http_*,
// tidemark_engine_*, and process_*, tidemark_build_info. About 110 series whatever the load; known
// label values are there from the start with 0.

#include "exporter/build_info.h"
#include "exporter/exposition.h"
#include "exporter/process_stats.h"
#include "model/counters.h"
#include "model/snapshot.h"

namespace tidemark::exporter {

/// Appends the families. Counters are read one by one while others write them, so two that grow
/// together may differ by what was under way. Times that are "never" have no line. Sources of the
/// same role and metric are one series: their series add up and the newest sample counts.
/// Thread-safe.
void AppendDaemonMetrics(const RemoteWriteCounters& remote_write, const HttpCounters& http,
                         const EngineCounters& engine, const Snapshot& snapshot,
                         const BuildInfo& build, const ProcessStats& process,
                         ExpositionWriter& writer);

}  // namespace tidemark::exporter
