#pragma once
// What many requests come to, as JSON: the same wherever it is shown.

#include "exporter/json_writer.h"
#include "model/prices.h"
#include "model/request_sums.h"
#include "model/resource_table.h"

namespace tidemark::exporter {

/// Writes the members {currency, savings_per_month (both only where a price is known), resources:
/// [{resource, unit, current_request, recommended_request, reclaimable, savings_per_month (these
/// only where anything is known), containers_known, containers: {unknown, absent, under, fitting,
/// over, far_over}}]}, of cpu and memory, and of what else any container has. Amounts are per pod ×
/// replicas, of the containers of which both requests are known.
void WriteSummaryMembers(const AllRequestSums& sums, const Prices& prices,
                         const ResourceTable& resources, JsonWriter& json);
/// The same as an object.
void WriteSummary(const AllRequestSums& sums, const Prices& prices, const ResourceTable& resources,
                  JsonWriter& json);

}  // namespace tidemark::exporter
