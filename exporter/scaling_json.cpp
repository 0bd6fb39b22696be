#include "exporter/scaling_json.h"

#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "exporter/answer_json.h"
#include "exporter/api.h"
#include "exporter/find_advice.h"
#include "exporter/recommendation_query.h"
#include "model/scaling_text.h"

namespace tidemark::exporter {
namespace {

constexpr int64_t kMinuteMs = 60'000;

void WriteNumber(std::string_view key, double value, JsonWriter& json) {
  json.Key(key), json.Number(value);
}

void WriteCount(std::string_view key, int64_t value, JsonWriter& json) {
  json.Key(key), json.Integer(value);
}

void WritePolicy(const PolicySettings& policy, JsonWriter& json) {
  json.BeginObject();
  json.Member("name", ToString(policy.policy));
  switch (policy.policy) {
    case ScalingPolicy::kHpa:
    case ScalingPolicy::kArimaHpa:
    case ScalingPolicy::kLstmHpa:
    case ScalingPolicy::kBiLstmHpa:
      WriteNumber("target_utilization_ratio", policy.target_utilization_ratio, json);
      break;
    case ScalingPolicy::kEvtBiLstmHpa:
      WriteNumber("target_utilization_ratio", policy.target_utilization_ratio, json);
      WriteNumber("high_water_risk", policy.high_water_risk, json);
      break;
    case ScalingPolicy::kDebi:
    case ScalingPolicy::kDebiPaper:
      WriteNumber("utilization_low_ratio", policy.utilization_low_ratio, json);
      WriteNumber("utilization_high_ratio", policy.utilization_high_ratio, json);
      WriteNumber("high_water_risk", policy.high_water_risk, json);
      break;
    case ScalingPolicy::kTidemark:
      WriteNumber("slo_utilization_ratio", policy.slo_utilization_ratio, json);
      WriteNumber("slo_time_ratio", policy.slo_time_ratio, json);
      break;
  }
  WriteNumber("tolerance_ratio", policy.tolerance_ratio, json);
  WriteCount("window_seconds", int64_t{policy.window_minutes} * 60, json);
  json.EndObject();
}

void WriteDecision(const ReplicaDecision& decision, JsonWriter& json) {
  json.BeginObject();
  WriteCount("target", decision.target, json);
  WriteCount("recommended", decision.recommended, json);
  json.Member("reason", ToString(decision.reason));
  json.Member("mode", ToString(decision.mode));
  WriteNumber("load_ratio", decision.load_ratio, json);
  WriteIfKnown("forecast_load_ratio", decision.forecast_load_ratio, json);
  WriteIfKnown("high_water_load_ratio", decision.high_water_load_ratio, json);
  if (decision.target_utilization_ratio > 0) {
    WriteNumber("target_utilization_ratio", decision.target_utilization_ratio, json);
  }
  json.EndObject();
}

/// Only where it is on: elsewhere what is served is what was decided.
void WriteEscape(const WorkloadScaling& scaling, JsonWriter& json) {
  const auto served = ServedTarget(scaling);
  if (!served || !scaling.escape_dead_band) return;
  WriteCount("decided_replicas", scaling.decision->target, json);
  json.Key("escaped"), json.Bool(served->is_escaped);
}

void WriteUtilizationTargets(const WorkloadScaling& scaling, JsonWriter& json) {
  if (scaling.utilization_targets.empty()) return;
  json.Key("utilization_targets");
  json.BeginArray();
  for (const AutoscalerUtilization& target : scaling.utilization_targets) {
    json.BeginObject();
    json.Member("autoscaler", target.autoscaler);
    json.Member("resource", ResourceName(target.resource));
    json.Member("unit", UnitName(target.resource));
    WriteNumber("target_utilization_ratio", target.target_utilization_ratio, json);
    WriteIfKnown("scale_point_original", target.scale_point_before, json);
    WriteIfKnown("scale_point_current", target.scale_point_now, json);
    WriteIfKnown("scale_point_recommended", target.scale_point_after, json);
    WriteIfKnown("preserving_target_ratio", target.preserving_target_ratio, json);
    json.Member("sentence", UtilizationTargetText(target));
    json.EndObject();
  }
  json.EndArray();
}

void WriteItem(const WorkloadAdvice& workload, JsonWriter& json) {
  const WorkloadScaling& scaling = *workload.scaling;
  json.BeginObject();
  WriteUnlessEmpty("cluster", workload.id.cluster, json);
  json.Member("namespace", workload.id.name_space);
  json.Member("workload_type", workload.id.workload_type);
  json.Member("workload", workload.id.workload);
  json.Member("policy", ToString(scaling.policy.policy));
  if (scaling.decision) {
    WriteCount("target_replicas", ServedTarget(scaling)->replicas, json);
    WriteEscape(scaling, json);
    WriteCount("recommended_replicas", scaling.decision->recommended, json);
  }
  if (scaling.current_replicas) WriteCount("current_replicas", *scaling.current_replicas, json);
  if (scaling.bounds) {
    WriteCount("min_replicas", scaling.bounds->min, json);
    WriteCount("max_replicas", scaling.bounds->max, json);
  }
  if (scaling.decision) {
    json.Member("reason", ToString(scaling.decision->reason));
    json.Member("mode", ToString(scaling.decision->mode));
  } else {
    WriteUnlessEmpty("why", scaling.why, json);
  }
  if (scaling.minute_ms != 0) WriteTime("minute", scaling.minute_ms, json);
  json.Member("sentence", ScalingText(scaling, DemandResourceOf(workload)));
  WriteUtilizationTargets(scaling, json);
  json.EndObject();
}

/// Where a workload stands among items: it has one only, of no container.
ItemPosition PositionOf(const WorkloadId& id) {
  return {.cluster = id.cluster,
          .name_space = id.name_space,
          .workload_type = id.workload_type,
          .workload = id.workload,
          .container = {}};
}

/// Writes one page of items as an array; the token of the next page when there is one.
std::optional<std::string> WritePage(const Snapshot& snapshot, const RecommendationQuery& query,
                                     JsonWriter& json) {
  const std::optional<ItemPosition> after = query.After(*snapshot.resources);
  std::optional<ItemPosition> last;
  std::optional<std::string> next;
  size_t written = 0;
  // False when the page is full and this workload is the first of the next.
  const auto visit = [&](const WorkloadAdvice& workload) {
    const ItemPosition position = PositionOf(workload.id);
    if (!workload.scaling || (after && position <= *after) || !query.Matches(position)) return true;
    if (written == query.limit) {
      next = EncodePageToken(*last, *snapshot.resources);
      return false;
    }
    WriteItem(workload, json);
    last = position;
    ++written;
    return true;
  };
  json.BeginArray();
  for (const auto& block : snapshot.blocks) {
    for (const WorkloadAdvice& workload : block->workloads) {
      if (!visit(workload)) break;
    }
    if (next) break;
  }
  json.EndArray();
  return next;
}

}  // namespace

void WriteScaling(const WorkloadScaling& scaling, Resource resource, const ResourceTable& names,
                  JsonWriter& json) {
  json.BeginObject();
  json.Member("sentence", ScalingText(scaling, resource));
  json.Key("policy");
  WritePolicy(scaling.policy, json);
  if (scaling.decision) {
    json.Key("decision");
    WriteDecision(*scaling.decision, json);
  } else {
    WriteUnlessEmpty("why", scaling.why, json);
  }
  if (const auto served = ServedTarget(scaling); served && scaling.escape_dead_band) {
    WriteCount("target_replicas", served->replicas, json);
    WriteEscape(scaling, json);
  }
  if (scaling.bounds) {
    json.Key("bounds");
    json.BeginObject();
    WriteCount("min", scaling.bounds->min, json);
    WriteCount("max", scaling.bounds->max, json);
    json.EndObject();
  }
  if (scaling.current_replicas) WriteCount("current_replicas", *scaling.current_replicas, json);
  json.Member("resource", names.NameOf(resource));
  json.Member("unit", names.UnitOf(resource));
  WriteIfKnown("demand", scaling.demand, json);
  WriteIfKnown("request", scaling.request, json);
  if (scaling.base_kind != UtilizationBase::kRequest) {
    json.Member("base", ToString(scaling.base_kind));
  }
  if (scaling.minute_ms != 0) WriteTime("minute", scaling.minute_ms, json);
  WriteNumber("startup_seconds", static_cast<double>(scaling.startup_ms) / 1000, json);
  json.Key("startup_measured"), json.Bool(scaling.is_startup_measured);
  WriteCount("lead_seconds", int64_t{scaling.lead_minutes} * kMinuteMs / 1000, json);
  if (scaling.ready_pods >= 0) WriteCount("ready_pods", scaling.ready_pods, json);
  WriteCount("missing_pods", scaling.missing_pods, json);
  json.Key("censored"), json.Bool(scaling.is_censored);
  WriteUtilizationTargets(scaling, json);
  json.EndObject();
}

HttpResponse ScalingAnswer(const Snapshot& snapshot, const HttpRequest& request) {
  const Result<RecommendationQuery> query = ParseWorkloadQuery(request, *snapshot.resources);
  if (!query) return ErrorAnswer(query.error());
  return SuccessAnswer([&](JsonWriter& json) {
    json.BeginObject();
    json.Key("generation"), json.Unsigned(snapshot.generation);
    if (snapshot.published_ms != 0) WriteTime("published", snapshot.published_ms, json);
    json.Key("workloads");
    const std::optional<std::string> next = WritePage(snapshot, *query, json);
    if (next) json.Member("next", *next);
    json.EndObject();
  });
}

}  // namespace tidemark::exporter
