#pragma once
// From a histogram of usage to the request to set: percentile, margin, minimum.
//
// The target of the Kubernetes VPA (1.8, recommender), whose defaults are the 90th percentile, a
// margin of 15 %, and per pod at least 25 millicores and 250 MiB, which the pod's containers share
// equally.

#include <cstddef>
#include <cstdint>

#include "estimators/decaying_histogram.h"

namespace tidemark::estimators {

struct RequestPolicy {
  double percentile = 0.9;     ///< 0 to 1
  double margin_ratio = 0.15;  ///< on top of the percentile; negative or NaN: none
  int64_t pod_minimum =
      0;  ///< whole amount (millicores or bytes) that the containers of a pod share; below 0: none
};

/// Whole amounts: millicores or bytes.
struct RequestEstimate {
  int64_t model_amount = 0;  ///< what the histogram says
  int64_t recommended_amount =
      0;                         ///< with margin, and at least the container's share of the minimum
  bool minimum_applied = false;  ///< the minimum was higher

  friend bool operator==(const RequestEstimate&, const RequestEstimate&) = default;
};

/// `units_per_amount` turns the histogram's unit into whole amounts: 1000 for cores to millicores,
/// 1 for bytes. `containers_in_pod` is how many share the minimum; 0 counts as 1. An empty
/// histogram says 0, so that the minimum is recommended. Never fails; thread-safe as long as nobody
/// changes the histogram.
RequestEstimate EstimateRequest(const DecayingHistogram& usage, const RequestPolicy& policy,
                                double units_per_amount, size_t containers_in_pod);

}  // namespace tidemark::estimators
