#pragma once
// Which cluster's workloads the Kubernetes port shows.

#include <optional>
#include <string>
#include <string_view>

#include "model/snapshot.h"

namespace tidemark::kubernetes {

/// `configured` where it is given; else the only cluster that the Snapshot has, or "" where it has
/// none yet. nullopt with more than one: which of them asks cannot be told.
std::optional<std::string> ServedCluster(std::string_view configured, const Snapshot& snapshot);

}  // namespace tidemark::kubernetes
