#pragma once
// The state of a shard as lines of JSON, for people, and for tests that compare two states.

#include <string>
#include <vector>

#include "engine/shard.h"

namespace tidemark::engine {

/// Runs on the shard's thread. One line for each namespace, with its numbers of series, pods and
/// workloads, followed by one for each resource of each container of its workloads: samples, first
/// and last minute, total weight, and the weights of the occupied buckets at the reference time. In
/// the order of clusters, namespaces, workloads and containers. Numbers are written so that they
/// read back to the last bit.
std::vector<std::string> DumpShard(const Shard& shard);

}  // namespace tidemark::engine
