#pragma once
// Configuration → the daemon's back-fill.

#include <memory>

#include "backfill/options.h"
#include "backfill/runner.h"
#include "cmd/config.h"
#include "model/backfill.h"
#include "model/clock.h"
#include "model/past.h"

namespace tidemark::cmd {

/// What has to be the same as for live samples is taken from there: the labels that HA pairs lose,
/// and what labels may be.
backfill::Options BackfillOptionsOf(const Config& config);

/// Call StartIfDue on it once the daemon is ready, and Stop before the sink stops. Sink, clock and
/// counters must outlive it.
std::unique_ptr<backfill::Runner> MakeBackfill(const Config& config, PastSink& sink,
                                               const Clock& clock, BackfillCounters& counters);

}  // namespace tidemark::cmd
