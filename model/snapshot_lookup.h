#pragma once
// Finding one cluster, namespace or workload in a Snapshot. Views live as long as the Snapshot;
// pure functions, thread-safe.

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "model/snapshot.h"
#include "model/workload_id.h"

namespace tidemark {

/// `configured` where it is given; else the only cluster that the Snapshot has, or "" where it has
/// none yet. nullopt with more than one: which of them is meant cannot be told.
std::optional<std::string> ServedCluster(std::string_view configured, const Snapshot& snapshot);

using NamespaceBlocks = std::span<const std::shared_ptr<const NamespaceBlock>>;

/// The namespaces of a cluster, by name.
NamespaceBlocks BlocksOf(const Snapshot& snapshot, std::string_view cluster);

/// Null: nothing is known of the namespace. `blocks`: of one cluster.
const NamespaceBlock* FindNamespace(NamespaceBlocks blocks, std::string_view name_space);
const NamespaceBlock* FindNamespace(const Snapshot& snapshot, std::string_view cluster,
                                    std::string_view name_space);

/// Null: the block is null or does not have it. Binary search.
const WorkloadAdvice* FindWorkload(const NamespaceBlock* block, std::string_view workload_type,
                                   std::string_view workload);

}  // namespace tidemark
