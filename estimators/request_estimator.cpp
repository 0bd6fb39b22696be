#include "estimators/request_estimator.h"

#include <algorithm>

#include "estimators/amount.h"

namespace tidemark::estimators {

RequestEstimate EstimateRequest(const DecayingHistogram& usage, const RequestPolicy& policy,
                                double units_per_amount, size_t containers_in_pod) {
  // Multiplied by the fraction, not divided: the two truncate differently for some counts.
  const double share = 1.0 / static_cast<double>(std::max<size_t>(containers_in_pod, 1));
  const int64_t minimum = ScaleAmount(policy.pod_minimum, share);
  const int64_t base = AmountFromDouble(usage.Percentile(policy.percentile) * units_per_amount);
  const int64_t with_margin = AddMargin(base, policy.margin_ratio);
  return {.model_amount = base,
          .recommended_amount = std::max(with_margin, minimum),
          .minimum_applied = minimum > with_margin};
}

}  // namespace tidemark::estimators
