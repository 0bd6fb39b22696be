#pragma once
// What the rules on scaling mean for a workload, and which of them mean nothing, for people.
//
// Free functions without state, thread-safe.

#include <string>
#include <string_view>
#include <vector>

#include "cmd/config.h"
#include "model/scaling.h"
#include "model/workload_id.h"

namespace tidemark::cmd {

/// The policy and what it goes by, of the settings those that it reads, e.g. `tidemark, utilisation
/// above 0.9 in at most 0.02 of the time, tolerance 0.1, window 3m`.
std::string PolicyInWords(const PolicySettings& policy);

/// By which rule the replicas of a workload are decided, e.g. `scaling: rule 2
/// {namespace="shop"}: tidemark, …; 2 replicas to its HorizontalPodAutoscaler's maximum; one pod
/// counts for its request; start-up as measured`, and a line more where something is in the
/// way of a target, or of a forecast in it.
std::string ScalingLines(const Config& config, const WorkloadId& workload);

/// Rules of `scaling` and `forecast` that are no errors and will surprise: those that one before
/// them hides wholly, whose selector has a type in upper case (types are lower case), or that set
/// what their policy does not read. Each names the rule as an error would.
std::vector<std::string> RuleWarnings(const Config& config);

}  // namespace tidemark::cmd
