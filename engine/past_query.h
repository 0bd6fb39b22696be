#pragma once
// What a back-fill asks of the engine before it begins. Free functions; those with a shard run on
// its thread.

#include <vector>

#include "engine/past_builder.h"
#include "engine/shard.h"
#include "model/past.h"
#include "model/profile.h"
#include "workloads/sources.h"

namespace tidemark::engine {

/// The metrics of a table that a past is made of: usage, who owns what, and kills for memory with
/// the requests that were in force. Of the rest only what the profiles need: requests where they
/// are weights, labels of pods where they tell profiles or histories apart. Requests are as many
/// samples as the usage itself.
std::vector<PastMetric> PastMetrics(const workloads::SourceTable& sources,
                                    const ProfileSet& profiles);

/// The metrics of a table that say what holds only now, and who owns and uses what now: all that
/// the live stream carries but kills, which are of the past.
std::vector<PastMetric> PresentMetrics(const workloads::SourceTable& sources,
                                       const ProfileSet& profiles);

/// Where the pasts of these namespaces have to end, as far as they live on this shard.
PastEnds FindPastEnds(const Shard& shard, const Addressing& addressing,
                      const std::vector<NamespaceName>& of);

/// Whether usage of any of the containers is known from before the end of this past.
bool IsOvertaken(const PastRecord::Namespace& past, const Shard& shard);

}  // namespace tidemark::engine
