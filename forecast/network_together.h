#pragma once
// Fits of many workloads' networks.
//
// Each has weights of its own, so no product of one can be joined with that of another; what can be
// shared is the buffers, which are made once. An iteration of each in turn was measured as well,
// with shared buffers and with own ones: it takes as long, to two in a hundred. So they are trained
// one after the other, what was finished before a stop is kept, and the weights are, to the bit,
// those of a fit alone.
//
// Thread-safe in the sense of its forecasters: none of them may be in use meanwhile.

#include <cstddef>
#include <functional>
#include <span>
#include <vector>

#include "forecast/forecaster.h"

namespace tidemark::forecast {

struct TogetherFit {
  Forecaster* forecaster = nullptr;  ///< of MakeNetwork; others are fitted as they fit themselves
  const DemandSeries* history = nullptr;
  FitOptions options;
};

/// What is told of each fit when it has ended: its place among the fits, and what came of it.
using TogetherEnded = std::function<void(size_t, const Result<FitReport>&)>;

/// One answer for each, as of Forecaster::Fit, in order. A stop token ends its own fit only.
/// `ended` may be empty; it is called on this thread before the next fit begins.
std::vector<Result<FitReport>> TrainTogether(std::span<const TogetherFit> fits,
                                             const TogetherEnded& ended = {});

}  // namespace tidemark::forecast
