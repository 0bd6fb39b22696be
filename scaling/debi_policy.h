#pragma once
// DEBI-HPA: the forecast where it is believable, the load where it is not, and a target that rises
// with the number of replicas.

#include <memory>

#include "scaling/policy.h"

namespace tidemark::scaling {

/// W = max(min(W2, W3), W1) in DEBI-HPA's algorithm 2: debi rounds up, debi-paper to the nearest.
/// W2 is the forecast at the lead of the model in use (the paper has a BiLSTM always: give that as
/// the only model for the same), W3 the high-water mark of settings.high_water_risk. Without state.
std::unique_ptr<ReplicaPolicy> MakeDebiPolicy(const PolicySettings& settings);

}  // namespace tidemark::scaling
