#include "scaling/replica_decision.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace tidemark::scaling {
namespace {

bool IsWithin(double load_ratio, double target_ratio, double tolerance_ratio) {
  return std::abs(load_ratio / target_ratio - 1) <= tolerance_ratio + kEdge;
}

/// Of the least whole number that is not below `wanted`: where a bound holds instead, which one.
ReplicaChoice Choose(double wanted, int32_t least, const ReplicaBounds& bounds) {
  const double whole = std::ceil(wanted - kEdge);
  if (whole > bounds.max) return {bounds.max, DecisionReason::kAtMaximum};
  if (whole < least) {
    return {least, least > bounds.min ? DecisionReason::kLoad : DecisionReason::kAtMinimum};
  }
  return {static_cast<int32_t>(whole), DecisionReason::kLoad};
}

}  // namespace

Result<void> CheckBounds(const ReplicaBounds& bounds) {
  if (bounds.min >= 1 && bounds.min <= bounds.max && bounds.max <= kMaxReplicas) return {};
  return Fail(
      ErrorCode::kInvalidArgument,
      fmt::format("replicas: {} to {} are no bounds, allowed: 1 <= minimum <= maximum <= {}",
                  bounds.min, bounds.max, kMaxReplicas));
}

int32_t RoundUpWithin(double replicas, const ReplicaBounds& bounds) {
  return Choose(replicas, bounds.min, bounds).replicas;
}

std::optional<CombinedLoad> Combine(std::optional<double> load, std::optional<double> forecast,
                                    std::optional<double> high_water) {
  if (!load) return std::nullopt;
  if (!forecast) return CombinedLoad{*load, ScalingMode::kReactive};
  const double expected = high_water ? std::min(*forecast, *high_water) : *forecast;
  if (*load >= expected) return CombinedLoad{*load, ScalingMode::kReactive};
  return CombinedLoad{expected, ScalingMode::kPredictive};
}

double DebiTarget(int32_t replicas, const ReplicaBounds& bounds, const DebiAim& aim) {
  const double share = static_cast<double>(bounds.min) / std::max(replicas, bounds.min);
  return aim.high_ratio - (aim.high_ratio - aim.low_ratio) * share;
}

ReplicaChoice DebiReplicas(double load_ratio, int32_t replicas, const ReplicaBounds& bounds,
                           const DebiAim& aim) {
  if (replicas == 0) return {0, DecisionReason::kSuspended};
  if (bounds.min == bounds.max) return {bounds.min, DecisionReason::kFixed};
  if (replicas >= bounds.min && replicas <= bounds.max &&
      IsWithin(load_ratio, DebiTarget(replicas, bounds, aim), aim.tolerance_ratio)) {
    return {replicas, DecisionReason::kWithinTolerance};
  }
  const double load = load_ratio * replicas;
  if (load <= aim.low_ratio * bounds.min + kEdge) return {bounds.min, DecisionReason::kAtMinimum};
  const double spare = (aim.high_ratio - aim.low_ratio) * bounds.min;
  const double wanted = (load + spare) / aim.high_ratio;
  return Choose(aim.rounding == Rounding::kUp ? wanted : wanted - 0.5, bounds.min + 1, bounds);
}

ReplicaChoice HpaReplicas(double load_ratio, int32_t replicas, const ReplicaBounds& bounds,
                          double target_ratio, double tolerance_ratio) {
  if (replicas == 0) return {0, DecisionReason::kSuspended};
  if (bounds.min == bounds.max) return {bounds.min, DecisionReason::kFixed};
  if (IsWithin(load_ratio, target_ratio, tolerance_ratio)) {
    const int32_t held = std::clamp(replicas, bounds.min, bounds.max);
    if (held > replicas) return {held, DecisionReason::kAtMinimum};
    if (held < replicas) return {held, DecisionReason::kAtMaximum};
    return {held, DecisionReason::kWithinTolerance};
  }
  return Choose(replicas * load_ratio / target_ratio, bounds.min, bounds);
}

}  // namespace tidemark::scaling
