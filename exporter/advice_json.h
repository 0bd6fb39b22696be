#pragma once
// An advice as members of a JSON object, the same wherever the API shows one.

#include "exporter/json_writer.h"
#include "model/profile.h"
#include "model/resource_table.h"
#include "model/snapshot.h"

namespace tidemark::exporter {

/// Writes resource, unit, current_request, current_limit, original_request, model_request,
/// recommended_request, lower_bound, upper_bound, reclaimable, confidence_days and samples (beside
/// a model value), high_water (the marks, where there are any), kills (of memory). Amounts are in
/// the resource's unit and per pod; what is not known is left out. `names`: of the resources.
void WriteAdvice(const ResourceAdvice& advice, const ResourceTable& names, JsonWriter& json);

/// The names of the marks that an advice has, as an array.
void WriteMarks(const ResourceAdvice& advice, JsonWriter& json);

}  // namespace tidemark::exporter
