#pragma once
// The part of a Snapshot that the port serves: one cluster's.

#include <memory>
#include <span>
#include <string_view>

#include "model/result.h"
#include "model/snapshot.h"

namespace tidemark::kubernetes {

using Blocks = std::span<const std::shared_ptr<const NamespaceBlock>>;

/// The namespaces of `cluster`; where that is empty those of the only cluster that there is (whose
/// name may be empty). kUnavailable where there are several and none is named. Views live as long
/// as the Snapshot.
Result<Blocks> BlocksOf(const Snapshot& snapshot, std::string_view cluster);

/// Null: nothing is known of the namespace.
const NamespaceBlock* FindNamespace(Blocks blocks, std::string_view name_space);

}  // namespace tidemark::kubernetes
