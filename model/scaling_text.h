#pragma once
// Why a workload should have so many replicas, or why that is not said, in one sentence for people.

#include <string>

#include "model/resource.h"
#include "model/scaling.h"

namespace tidemark {

/// E.g. "12 replicas (10 now): demand of 5.2 may reach 7.9 within 3 minutes; 12 pods of 750m keep
/// that at 88 %, with the objective of more than 90 % in at most 2 % of the time."; without a
/// decision what is missing and what to do. `resource`: what the demand is for. Amounts as in
/// model/amount_text.h. Never empty; thread-safe.
std::string ScalingText(const WorkloadScaling& scaling, Resource resource);

/// At what load an autoscaler that keeps to a utilisation of requests scales, how the recommended
/// requests would move that, and what to set to keep it, e.g. "HorizontalPodAutoscaler web scales
/// at 60 % of the cpu that a pod requests: 1.2 a pod by the original requests, 900m a pod by those
/// of now, 780m a pod by the recommended ones. With the recommended requests set type AverageValue,
/// averageValue: 1200m to keep its scale point: a utilisation of 92.3 % is no target to set." From
/// 30 to 90 % it is averageUtilization that is to be set: below, the slightest load is above it;
/// above, nothing is left for a peak. Never empty; thread-safe.
std::string UtilizationTargetText(const AutoscalerUtilization& target);

}  // namespace tidemark
