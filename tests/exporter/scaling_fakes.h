#pragma once
// Scaled workloads.

#include "model/scaling.h"
#include "model/snapshot.h"
#include "tests/exporter/fakes.h"

namespace tidemark::exporter {

/// By tidemark, with something in every field: ten pods of 0.75 cores, of which twelve are wanted.
inline WorkloadScaling WholeScaling() {
  WorkloadScaling scaling;
  scaling.policy = UsualSettings(ScalingPolicy::kTidemark);
  scaling.decision = {.target = 12,
                      .recommended = 12,
                      .reason = DecisionReason::kRisk,
                      .mode = ScalingMode::kPredictive,
                      .load_ratio = 0.75,
                      .forecast_load_ratio = 1.0625,
                      .high_water_load_ratio = 1.25,
                      .target_utilization_ratio = 0.5};
  scaling.bounds = {.min = 2, .max = 20};
  scaling.current_replicas = 10;
  scaling.demand = 5.625;
  scaling.request = 0.75;
  scaling.minute_ms = 1'699'999'980'000;
  scaling.startup_ms = 90'000;
  scaling.is_startup_measured = true;
  scaling.lead_minutes = 3;
  scaling.ready_pods = 9;
  scaling.missing_pods = 1;
  return scaling;
}

/// At half the request of cpu: 3 cores in the original, 2 now, 1.5 recommended.
inline AutoscalerUtilization WholeUtilization() {
  return {.autoscaler = "web",
          .resource = Resource::kCpu,
          .target_utilization_ratio = 0.5,
          .scale_point_before = 1.5,
          .scale_point_now = 1,
          .scale_point_after = 0.75,
          .preserving_target_ratio = 1};
}

inline WorkloadScaling WithoutDecision(std::string_view why) {
  WorkloadScaling scaling;
  scaling.why = why;
  return scaling;
}

inline std::shared_ptr<const WorkloadScaling> Shared(const WorkloadScaling& scaling) {
  return std::make_shared<const WorkloadScaling>(scaling);
}

}  // namespace tidemark::exporter
