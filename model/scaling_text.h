#pragma once
// Why a workload should have so many replicas, or why that is not said, in one sentence for people.

#include <string>

#include "model/resource.h"
#include "model/scaling.h"

namespace tidemark {

/// E.g. "12 replicas (10 now): demand of 5.2 may reach 7.9 within 3 minutes; 12 pods of 750m keep
/// that at 88 %, with the objective of more than 90 % in at most 2 % of the time."; without a
/// decision what is missing and what to do. `resource`: what the demand is for. Amounts as in
/// model/amount_text.h. Never empty; thread-safe.
std::string ScalingText(const WorkloadScaling& scaling, Resource resource);

}  // namespace tidemark
