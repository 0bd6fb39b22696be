#pragma once
// From the percentiles of a histogram of usage to the request to set and the bounds within which
// the request in force may stay.
//
// Percentile, margin, confidence and minimum are those of the Kubernetes VPA (1.8, recommender);
// the expansion factor is the one of dynamic oversell; floor and ceiling are VPA's minAllowed and
// maxAllowed. In this order: the percentile becomes a whole amount, then margin, expansion, (of
// bounds) confidence, the minimum, the floor, rounding up, and last the ceiling, which wins.

#include <cstddef>
#include <cstdint>
#include <optional>

namespace tidemark::estimators {

/// Percentiles of a histogram, in its unit; of an empty histogram 0.
struct RequestBases {
  double target = 0;
  double lower = 0;
  double upper = 0;
};

/// Amounts are whole: millicores or bytes.
struct RequestPolicy {
  double margin_ratio = 0.15;   ///< on top of the percentile; negative or NaN: none
  double expansion_factor = 1;  ///< of what comes of that; negative or NaN is 0
  int64_t minimum = 0;          ///< the container's share of its pod's minimum (ShareOfMinimum)
  int64_t floor = 0;            ///< of each container
  std::optional<int64_t> ceiling = std::nullopt;
  int64_t rounding = 1;   ///< up to a multiple of it; 1 or less: none
  double confidence = 0;  ///< days of samples behind it, or what else is the unit
  /// To the letter: without confidence the upper bound is kMaxAmount, bounds need not enclose the
  /// request, and the floor, which VPA applies last but for the ceiling, is not rounded.
  bool as_vpa = false;
};

/// Whole amounts.
struct RequestEstimate {
  int64_t model_amount = 0;  ///< what the histogram says
  int64_t with_margin = 0;
  int64_t expanded = 0;
  int64_t recommended_amount = 0;  ///< and after minimum, floor, rounding and ceiling
  /// Below this the request in force is too small. Never above recommended_amount.
  int64_t lower_bound = 0;
  /// Above this the request in force is too large. Never below recommended_amount; absent where
  /// nothing can be said yet: the confidence is 0, or so small that the bound would be kMaxAmount.
  std::optional<int64_t> upper_bound = std::nullopt;
  // What raised or cut the request.
  bool minimum_applied = false;
  bool floor_applied = false;
  bool ceiling_applied = false;
  bool rounded = false;

  friend bool operator==(const RequestEstimate&, const RequestEstimate&) = default;
};

/// `amounts_per_unit` turns the histogram's unit into whole amounts: 1000 for cores to millicores,
/// 1 for bytes. The bounds are `lower` times (1 + 0.001/confidence)^-2 and `upper` times
/// (1 + 1/confidence), as VPA's. Never fails; thread-safe.
RequestEstimate EstimateRequest(const RequestBases& bases, const RequestPolicy& policy,
                                double amounts_per_unit);

/// What each of `containers` (0 counts as 1) has of a minimum that a pod's containers share.
int64_t ShareOfMinimum(int64_t pod_minimum, size_t containers);

}  // namespace tidemark::estimators
