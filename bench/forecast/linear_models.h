#pragma once
// What the models without a network cost: a fit, a tick's forecasts, bytes.

#include <cstddef>

namespace tidemark::bench {

/// Makes so many workloads with eight days of minutes each; fits ridge regressions to all of them
/// and asks every linear model for the forecasts of a tick. On this thread; times are of its CPU,
/// the best of three rounds. Prints one line for each figure: `SYSTEM STEP VALUE UNIT`.
void MeasureLinearModels(size_t workloads);

}  // namespace tidemark::bench
