#pragma once
// The metrics that external.metrics.k8s.io has: a few, always the same, whatever workloads there
// are. (A name for each workload would be hundreds of rows in every discovery.)

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>

namespace tidemark::kubernetes {

inline constexpr std::string_view kGroup = "external.metrics.k8s.io";
inline constexpr std::string_view kVersion = "v1beta1";
inline constexpr std::string_view kGroupVersion = "external.metrics.k8s.io/v1beta1";

enum class ExternalMetric : uint8_t {
  kTargetReplicas,
  kForecastLoadRatio,
  kHighWaterLoadRatio,
  kRecommendedRequest,
};
inline constexpr std::array<ExternalMetric, 4> kExternalMetrics = {
    ExternalMetric::kTargetReplicas, ExternalMetric::kForecastLoadRatio,
    ExternalMetric::kHighWaterLoadRatio, ExternalMetric::kRecommendedRequest};

/// The names are those of /metrics.
constexpr std::string_view NameOf(ExternalMetric metric) {
  switch (metric) {
    case ExternalMetric::kTargetReplicas: return "tidemark_target_replicas";
    case ExternalMetric::kForecastLoadRatio: return "tidemark_forecast_load_ratio";
    case ExternalMetric::kHighWaterLoadRatio: return "tidemark_high_water_load_ratio";
    case ExternalMetric::kRecommendedRequest: return "tidemark_recommended_request";
  }
  return "";
}

/// The kind that discovery names. kubectl goes from a resource's name to its kind and back to a
/// resource, so that each must have one of its own; what is sent is an ExternalMetricValueList
/// whatever this says, and HPAs do not look.
constexpr std::string_view KindOf(ExternalMetric metric) {
  switch (metric) {
    case ExternalMetric::kTargetReplicas: return "ExternalMetricValueList";
    case ExternalMetric::kForecastLoadRatio: return "ForecastLoadRatio";
    case ExternalMetric::kHighWaterLoadRatio: return "HighWaterLoadRatio";
    case ExternalMetric::kRecommendedRequest: return "RecommendedRequest";
  }
  return "";
}

constexpr std::optional<ExternalMetric> MetricNamed(std::string_view name) {
  for (const ExternalMetric metric : kExternalMetrics) {
    if (NameOf(metric) == name) return metric;
  }
  return std::nullopt;
}

}  // namespace tidemark::kubernetes
