#include "estimators/request_estimator.h"

#include <algorithm>
#include <cmath>

#include "estimators/amount.h"

namespace tidemark::estimators {

namespace {

/// What VPA makes of a margin can be up to twice kMaxAmount; a factor of 1 must not cut that.
int64_t Expand(int64_t amount, double factor) {
  return factor == 1 ? amount : ScaleAmount(amount, factor);
}

int64_t RoundUp(int64_t amount, int64_t multiple) {
  if (multiple <= 1) return amount;
  const int64_t step = std::min(multiple, kMaxAmount);
  return (amount + step - 1) / step * step;
}

/// An amount within the limits of `policy`, and which of them changed it.
struct Limited {
  int64_t amount = 0;
  bool minimum_applied = false;
  bool floor_applied = false;
  bool ceiling_applied = false;
  bool rounded = false;
};

Limited Limit(int64_t amount, const RequestPolicy& policy) {
  Limited limited{.amount = amount};
  const auto raise = [&limited](int64_t least) {
    const bool raised = least > limited.amount;
    if (raised) limited.amount = std::min(least, kMaxAmount);
    return raised;
  };
  limited.minimum_applied = raise(policy.minimum);
  if (!policy.as_vpa) limited.floor_applied = raise(policy.floor);
  const int64_t multiple = RoundUp(limited.amount, policy.rounding);
  limited.rounded = multiple != limited.amount;
  limited.amount = multiple;
  if (policy.as_vpa) limited.floor_applied = raise(policy.floor);
  if (policy.ceiling && *policy.ceiling < limited.amount) {
    limited.amount = std::max<int64_t>(*policy.ceiling, 0);
    limited.ceiling_applied = true;
  }
  return limited;
}

}  // namespace

RequestEstimate EstimateRequest(const RequestBases& bases, const RequestPolicy& policy,
                                double amounts_per_unit) {
  RequestEstimate estimate;
  const auto amount_of = [&](double base) { return AmountFromDouble(base * amounts_per_unit); };
  const auto expanded = [&](double base) {
    return Expand(AddMargin(amount_of(base), policy.margin_ratio), policy.expansion_factor);
  };
  estimate.model_amount = amount_of(bases.target);
  estimate.with_margin = AddMargin(estimate.model_amount, policy.margin_ratio);
  estimate.expanded = Expand(estimate.with_margin, policy.expansion_factor);
  const Limited target = Limit(estimate.expanded, policy);
  estimate.recommended_amount = target.amount;
  estimate.minimum_applied = target.minimum_applied;
  estimate.floor_applied = target.floor_applied;
  estimate.ceiling_applied = target.ceiling_applied;
  estimate.rounded = target.rounded;

  const double confidence = policy.confidence > 0 ? policy.confidence : 0;
  const double doubt = 1 + 0.001 / confidence;
  const double lower = static_cast<double>(expanded(bases.lower)) * (1 / (doubt * doubt));
  // Without confidence infinite, and no number where the base is 0: then AmountFromDouble says 0,
  // where VPA has the smallest integer, and the minimum is the answer of both.
  const double upper = static_cast<double>(expanded(bases.upper)) * (1 + 1 / confidence);
  estimate.lower_bound = Limit(AmountFromDouble(lower), policy).amount;
  if (policy.as_vpa) {
    estimate.upper_bound = Limit(AmountFromDouble(upper), policy).amount;
    return estimate;
  }
  estimate.lower_bound = std::min(estimate.lower_bound, estimate.recommended_amount);
  if (confidence > 0 && upper < static_cast<double>(kMaxAmount)) {
    estimate.upper_bound =
        std::max(Limit(AmountFromDouble(upper), policy).amount, estimate.recommended_amount);
  }
  return estimate;
}

int64_t ShareOfMinimum(int64_t pod_minimum, size_t containers) {
  // Multiplied by the fraction, not divided: the two truncate differently for some counts.
  return ScaleAmount(pod_minimum, 1.0 / static_cast<double>(std::max<size_t>(containers, 1)));
}

}  // namespace tidemark::estimators
