#pragma once
// Replicas by the risk of being short.

#include <memory>

#include "scaling/policy.h"

namespace tidemark::scaling {

/// ceil(max(D, Q) / (u base)): D the demand of now, Q what it will not pass at the lead but in the
/// objective's share of time, u the objective's utilisation. Without a forecast Q is D. No decrease
/// by less than the tolerance. Without state.
std::unique_ptr<ReplicaPolicy> MakeTidemarkPolicy(const PolicySettings& settings);

}  // namespace tidemark::scaling
