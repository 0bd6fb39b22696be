#pragma once
// The JSON API, in the manner of Prometheus': {"status":"success","data":...} or
// {"status":"error","errorType":...,"error":...}.
//
// Amounts are numbers in the resource's base unit and per pod, times RFC 3339 in UTC. What is not
// known is left out. Pure functions of their arguments; thread-safe as far as these are.

#include <cstdint>
#include <string>

#include "exporter/build_info.h"
#include "model/clock.h"
#include "model/counters.h"
#include "model/http.h"
#include "model/prices.h"
#include "model/result.h"
#include "model/snapshot.h"
#include "model/workload_status.h"

namespace tidemark::exporter {

/// errorType and status by code: kInvalidArgument bad_data 400, kNotFound not_found 404,
/// kUnavailable unavailable 503, the others internal 500.
HttpResponse ErrorAnswer(const Error& error);

/// GET /api/v1/recommendations: one item per container and resource. Parameters and paging:
/// recommendation_query.h. data: {generation, published, recommendations: [{cluster, namespace,
/// workload_type, workload, container, those of advice_json.h, replicas, last_sample, profile (its
/// name), reason (model/advice_text.h)}], next, summary}; `next` only when there is more. Where
/// prices are known, an item has savings_per_month, of its resource, and
/// workload_savings_per_month, of all of its workload. The summary (summary_json.h) is of all items
/// that match, whatever the page.
HttpResponse RecommendationsAnswer(const Snapshot& snapshot, const Prices& prices,
                                   const HttpRequest& request);

/// GET /api/v1/status/sources.
/// Without parameters, data: {generation, sources: [{role, metric, series, last_sample, missing}]},
/// in the order of the source table; `missing` is true when no sample ever came. With namespace and
/// workload (both or none), data: {workloads: [{cluster, namespace, workload_type, workload,
/// has_recommendation, prerequisites: [{what, present, last_sample, hint}], scaling: {has_target,
/// why, sentence, prerequisites}, pods: [{pod, owner, workload}]}]}: what each workload of that
/// name has and lacks, for its requests and for a target of replicas; no `scaling` where its demand
/// is not kept and no rule names it.
HttpResponse SourcesAnswer(const Snapshot& snapshot, const StateReader& state,
                           const HttpRequest& request);

/// GET /api/v1/status/buildinfo: as Prometheus, with `compiler` in place of goVersion.
HttpResponse BuildInfoAnswer(const BuildInfo& build);

/// GET /api/v1/status/config: data: {yaml}.
HttpResponse ConfigAnswer(const std::string& yaml);

struct RuntimeInfo {
  TimePoint started;
  TimePoint now;
  std::string storage_path;
};

/// GET /api/v1/status/runtimeinfo: names as Prometheus writes them, where it has them.
HttpResponse RuntimeInfoAnswer(const RuntimeInfo& info, const EngineCounters& engine,
                               const Snapshot& snapshot);

}  // namespace tidemark::exporter
