#pragma once
// How many replicas workloads should have, as JSON: of one workload, and as a list of all.
//
// Pure functions of their arguments; thread-safe as far as these are.

#include "exporter/json_writer.h"
#include "model/http.h"
#include "model/resource_table.h"
#include "model/scaling.h"
#include "model/snapshot.h"

namespace tidemark::exporter {

inline constexpr char kScalingPath[] = "/api/v1/scaling";

/// Writes {sentence (scaling_text.h), why, policy: {name, and of its settings those that it reads:
/// target_utilization_ratio, utilization_low_ratio, utilization_high_ratio, high_water_risk,
/// slo_utilization_ratio, slo_time_ratio, tolerance_ratio, window_seconds}, decision: {target,
/// recommended, reason, mode, load_ratio, forecast_load_ratio, high_water_load_ratio,
/// target_utilization_ratio}, target_replicas, decided_replicas, escaped, bounds: {min, max},
/// current_replicas, resource, unit, demand, request, base, minute, startup_seconds,
/// startup_measured, lead_seconds, ready_pods, missing_pods, censored, utilization_targets:
/// [{autoscaler, resource, unit, target_utilization_ratio, scale_point_original,
/// scale_point_current, scale_point_recommended, preserving_target_ratio, sentence}]}. What is not
/// known is left out: `decision` where there is none, `why` where there is one; so are
/// target_replicas, decided_replicas and escaped without escape_dead_band, `base` where it is the
/// request or an amount, and utilization_targets without any. `resource`: what the demand is for.
void WriteScaling(const WorkloadScaling& scaling, Resource resource, const ResourceTable& names,
                  JsonWriter& json);

/// GET /api/v1/scaling: one item for each workload whose replicas are decided, or would be if it
/// were known what is missing. Parameters: cluster, namespace, workload_type, workload, limit and
/// page_token as those of recommendations (recommendation_query.h). data: {generation, published,
/// workloads: [{cluster, namespace, workload_type, workload, policy (its name), target_replicas (as
/// served), decided_replicas, escaped (both with escape_dead_band), recommended_replicas,
/// current_replicas, min_replicas, max_replicas, reason, mode, why, minute, sentence,
/// utilization_targets (as above)}], next}; `next` only when there is more.
HttpResponse ScalingAnswer(const Snapshot& snapshot, const HttpRequest& request);

}  // namespace tidemark::exporter
