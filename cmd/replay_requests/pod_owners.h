#pragma once
// Which workload each pod of a cluster's past belonged to, from kube-state-metrics.

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <utility>

#include "cmd/replay_requests/range_queries.h"
#include "model/result.h"
#include "workloads/owner_graph.h"

namespace tidemark::replay_requests {

/// By namespace and pod.
using PodOwners = std::map<std::pair<std::string, std::string>, workloads::ResolvedOwner>;

/// Of all pods that lived between the two times; of one namespace unless that is empty. Resolved by
/// the daemon's own rules, those of pods whose chain of owners is not whole included.
Result<PodOwners> FetchPodOwners(RangeQueries& queries, std::string_view name_space,
                                 int64_t start_ms, int64_t end_ms);

}  // namespace tidemark::replay_requests
