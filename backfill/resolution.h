#pragma once
// How far apart the server's own samples are. A step finer than that would repeat each sample, and
// a counter that stands still and then leaps is not how the container used its CPU.

#include <cstdint>
#include <optional>
#include <vector>

#include "backfill/plan.h"
#include "backfill/querier.h"
#include "model/past.h"

namespace tidemark::backfill {

/// The coarsest interval met among some namespaces at some times of the range, of the first
/// counter among `metrics`. Nothing when the server does not tell.
std::optional<int64_t> SampleIntervalMs(Querier& querier, const std::vector<PastMetric>& metrics,
                                        const std::vector<FoundNamespace>& namespaces,
                                        const TimeGrid& grid);

/// The same range with a step that is at least the interval, as far as steps may be.
TimeGrid FitStep(const TimeGrid& grid, int64_t interval_ms);

}  // namespace tidemark::backfill
