#pragma once
// Demand as a share of what a workload requests.

#include <optional>

#include "model/forecast.h"

namespace tidemark::exporter {

/// Of what `replicas` pods request together; nothing where either is not known, or 0.
inline std::optional<double> LoadRatio(const WorkloadForecast& forecast, double replicas,
                                       const std::optional<double>& demand) {
  if (!demand || !forecast.request) return std::nullopt;
  const double requested = replicas * *forecast.request;
  return requested > 0 ? std::optional(*demand / requested) : std::nullopt;
}

}  // namespace tidemark::exporter
