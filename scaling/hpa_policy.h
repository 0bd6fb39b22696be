#pragma once
// Kubernetes' HorizontalPodAutoscaler, as it is and on a forecast.

#include <memory>

#include "scaling/policy.h"

namespace tidemark::scaling {

/// hpa: W1 in the stock formula. arima-hpa, lstm-hpa, bilstm-hpa: the larger of W1 and W2, the
/// forecast of that model at the lead. evt-bilstm-hpa: W2 capped at the high-water mark W3 first.
/// It grows no faster than the HPA does: in each of the four 15-second periods of a minute by 100 %
/// or 4 pods, whichever is more (pkg/apis/autoscaling/v2/defaults.go); it shrinks without limit.
/// Without state.
std::unique_ptr<ReplicaPolicy> MakeHpaPolicy(const PolicySettings& settings);

}  // namespace tidemark::scaling
