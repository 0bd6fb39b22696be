#pragma once
// Which cluster's workloads the Kubernetes port shows, and where they are in a Snapshot.

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "model/snapshot.h"

namespace tidemark::kubernetes {

/// `configured` where it is given; else the only cluster that the Snapshot has, or "" where it has
/// none yet. nullopt with more than one: which of them asks cannot be told.
std::optional<std::string> ServedCluster(std::string_view configured, const Snapshot& snapshot);

using Blocks = std::span<const std::shared_ptr<const NamespaceBlock>>;

/// The namespaces of a cluster, by name; valid as long as the Snapshot.
Blocks BlocksOf(const Snapshot& snapshot, std::string_view cluster);

/// Null: nothing is known of the namespace.
const NamespaceBlock* FindNamespace(Blocks blocks, std::string_view name_space);

}  // namespace tidemark::kubernetes
