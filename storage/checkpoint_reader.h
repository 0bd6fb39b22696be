#pragma once
// Reads one checkpoint file, trusting nothing in it. Stateless, thread-safe.

#include <functional>
#include <string>
#include <string_view>

#include "model/result.h"
#include "storage/checkpoint_files.h"
#include "storage/store.h"

namespace tidemark::storage {

/// What the file says of itself: header, trailer, size. kNotFound when there is none; kIo when it
/// is damaged. The blocks are not looked at.
struct CheckpointSummary {
  CheckpointHeader header;
  CheckpointTrailer trailer;
  CheckpointInfo info;
};
Result<CheckpointSummary> SummarizeCheckpoint(const std::string& path);

/// As Store::ReadCheckpoint. Memory: one block, however large the file claims it to be.
Result<CheckpointInfo> ReadCheckpointFile(
    const std::string& path, const std::function<Result<void>(std::string_view)>& take);

}  // namespace tidemark::storage
