#pragma once
// The blocks of a checkpoint: one head, then one for each namespace. Free functions without state,
// thread-safe.

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "engine/shard.h"
#include "model/result.h"

namespace tidemark::engine {

enum class BlockKind : uint8_t { kHead = 1, kNamespace = 2 };

/// Nothing for an empty block.
BlockKind KindOfBlock(std::string_view block);

/// What holds for all namespaces.
struct CheckpointHead {
  /// Fingerprints of the source table: series refer to their source by its number in it.
  std::vector<std::string> sources;
  std::string past_cursor;
};
void EncodeHead(const CheckpointHead& head, std::string& out);
Result<CheckpointHead> DecodeHead(std::string_view block);

/// Writes all but SavedNamespace::state, which the caller appends.
void EncodeNamespaceHead(const SavedNamespace& saved, std::string& out);
/// The state points into the block.
Result<SavedNamespace> DecodeNamespaceHead(std::string_view block);

}  // namespace tidemark::engine
