#pragma once
// `forecast:` of the configuration. Used by the configuration's own files only.
//
// Free functions without state, thread-safe.

#include <string>

#include "cmd/yaml_reader.h"
#include "model/forecast.h"
#include "model/resource_table.h"
#include "model/result.h"
#include "model/workload_id.h"

namespace tidemark::cmd {

/// A map; `out` holds the defaults. `resources`: those in force, also of the file's own.
Result<void> ReadForecast(const YamlValue& value, const ResourceTable& resources,
                          ForecastSettings& out);

/// The section as YAML, every key written out; read again it is the same.
std::string DumpForecast(const ForecastSettings& settings, const ResourceTable& resources);

/// What is forecast of a workload and by which rule, as a line for people, e.g. `forecast: rule 2
/// {namespace="shop"}: cpu 1m, 3m, 10m ahead by the best of last_value, ridge_30; pods count in
/// full from an age of 2m on`.
std::string ForecastLine(const ForecastSettings& settings, const ResourceTable& resources,
                         const WorkloadId& workload);

}  // namespace tidemark::cmd
