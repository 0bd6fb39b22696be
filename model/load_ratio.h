#pragma once
// Demand as a share of what a workload requests.

#include <optional>

#include "model/forecast.h"
#include "model/snapshot.h"

namespace tidemark {

/// What load ratios are of: so many pods that each count for so much.
struct LoadBase {
  double replicas = 0;
  std::optional<double> request;  ///< in the resource's unit; absent: not known
};

/// Of a workload whose replicas are decided what that goes by, so that W1, W2 and W3 are the same
/// wherever they are shown; else its replicas and its pods' request. `forecast`: of this workload.
inline LoadBase LoadBaseOf(const WorkloadForecast& forecast, double replicas,
                           const WorkloadScaling* scaling) {
  LoadBase base = {.replicas = replicas, .request = forecast.request};
  if (scaling == nullptr) return base;
  if (scaling->current_replicas) base.replicas = *scaling->current_replicas;
  // Measured by a limit, utilisation is not known without one.
  if (scaling->request || scaling->why == "no_limit") base.request = scaling->request;
  return base;
}

/// Of what the pods request together; nothing where that or the demand is not known, or it is 0.
inline std::optional<double> LoadRatio(const LoadBase& base, const std::optional<double>& demand) {
  if (!demand || !base.request) return std::nullopt;
  const double requested = base.replicas * *base.request;
  return requested > 0 ? std::optional(*demand / requested) : std::nullopt;
}

}  // namespace tidemark
