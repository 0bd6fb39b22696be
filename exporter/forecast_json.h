#pragma once
// The forecast of one workload as a JSON object.

#include "exporter/json_writer.h"
#include "model/forecast.h"
#include "model/load_ratio.h"
#include "model/resource_table.h"

namespace tidemark::exporter {

/// Whether the parts that have a value for each minute are written.
enum class ForecastParts : uint8_t { kAll, kWithoutHistory };

/// Writes {resource, unit, steps (minutes, five_minutes), summary, why, minute, demand, request,
/// load_ratio, horizons: [{horizon_seconds, model, demand, lower_bound, upper_bound, load_ratio,
/// coverage_ratio, scores: [{model, day_error_ratio, week_error_ratio, day_pinball_ratio,
/// week_pinball_ratio, scored}]}], high_water: {risk, demand, load_ratio, fit: {threshold, shape,
/// scale, excesses, observations}}, models: [{model, trained, seconds, iterations, loss, what}],
/// history: {start, step_seconds, values}, past: [{horizon_seconds, start, step_seconds, demand,
/// lower_bound, upper_bound}]}. What is not known is left out; steps of history and past that are
/// not known are null; `iterations` and `loss` are of networks only. Ratios of load are of
/// `base`, and `request` is its.
void WriteForecast(const ForecastExplanation& forecast, const ResourceTable& names,
                   const LoadBase& base, ForecastParts parts, JsonWriter& json);

}  // namespace tidemark::exporter
