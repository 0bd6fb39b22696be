#pragma once
// GET /api/v1/workloads/{namespace}/{type}/{name}: how the requests of one workload came about.
// And what its demand is and will be, and how many replicas it should have.
//
// Pure functions of their arguments; thread-safe as far as these are.

#include <string>

#include "model/http.h"
#include "model/snapshot.h"
#include "model/workload_status.h"

namespace tidemark::exporter {

inline constexpr char kWorkloadPath[] = "/api/v1/workloads/*";

/// The path's segments are percent-decoded one by one. Optional parameter: cluster (empty: the
/// workload that has none), without which every cluster that has the workload is in the answer; and
/// history (true, false): whether `forecast` has what there is for each minute.
///
/// data: {generation, workloads: [{cluster, namespace, workload_type, workload, replicas,
/// event_time, containers: [{container, profile: {name, preset, level, strict, mode, effect,
/// profiles_before: [{name, why_not}]}, resources: [{those of advice_json.h, marks, histogram:
/// {samples, first_sample, last_sample, half_life_seconds, total_weight, p50, p90, p95, p99, max,
/// buckets: [{start, end, weight_ratio}]}, kills_counted: [{time, request, needed, holds_until}],
/// steps: [{name, value, changed, what}], correction: {rule, request, changed, what},
/// reason}]}], forecast: that of forecast_json.h, absent where the demand is not kept, scaling:
/// that of scaling_json.h, absent where nothing is said of its replicas}]}. The last bucket of a
/// layout has no `end`; a kill that does not hold has no `holds_until`; correction is what
/// right-sizing does to the original request (rightsizing/correction.h).
///
/// 400 when the path has other than three further segments or an empty one, for unknown parameters
/// and for values that are not allowed; 404 with what comes near when there is no such workload.
HttpResponse WorkloadAnswer(const Snapshot& snapshot, const StateReader& state,
                            const HttpRequest& request);

}  // namespace tidemark::exporter
