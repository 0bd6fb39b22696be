#pragma once
// What is expected of a workload's demand, in one sentence for people.

#include <string>

#include "model/forecast.h"
#include "model/resource_table.h"

namespace tidemark::exporter {

/// E.g. "cpu demand 3.2; expected in 1m 3.3 (3.1 to 3.6) by ridge_30, in 10m 3.9 by last_value; 5.1
/// is passed in a minute with a probability of at most 0.001"; without a forecast it says why.
/// Amounts as in model/amount_text.h. Never empty; thread-safe.
std::string ForecastText(const WorkloadForecast& forecast, const ResourceTable& names);

}  // namespace tidemark::exporter
