#pragma once
// The fits of forecast models as tidemark_forecast_training_*: how many there were, what they took,
// what waits.

#include "exporter/exposition.h"
#include "model/counters.h"

namespace tidemark::exporter {

/// Appends the families, about nine lines. Thread-safe.
void AppendTrainingMetrics(const TrainingCounters& counters, ExpositionWriter& writer);

}  // namespace tidemark::exporter
