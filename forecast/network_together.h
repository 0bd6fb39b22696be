#pragma once
// Fits of many workloads' networks.
//
// Each has weights of its own, so no product of one can be joined with that of another; what can be
// shared is memory. One after the other on one set of buffers, which stays in the cache and is made
// once, is the arrangement that was measured to be the fastest: in lockstep, an iteration each in
// turn, weights and moments (1.3 MB a network) have to come back from further away every time
// (scripts/bench forecast). So the weights are the same, to the bit, as those of a fit alone.
//
// Thread-safe in the sense of its forecasters: none of them may be in use meanwhile.

#include <span>
#include <vector>

#include "forecast/forecaster.h"

namespace tidemark::forecast {

struct TogetherFit {
  Forecaster* forecaster = nullptr;  ///< of MakeNetwork; others are fitted as they fit themselves
  const DemandSeries* history = nullptr;
  FitOptions options;
};

/// One answer for each, as of Forecaster::Fit. A stop token ends its own fit only.
std::vector<Result<FitReport>> TrainTogether(std::span<const TogetherFit> fits);

}  // namespace tidemark::forecast
