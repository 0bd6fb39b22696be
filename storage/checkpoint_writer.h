#pragma once
// Writes one checkpoint: see CheckpointWriter in storage/store.h.

#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "model/counters.h"
#include "model/result.h"
#include "storage/store.h"

namespace tidemark::storage {

struct CheckpointTask {
  std::string directory;
  uint64_t journal_number = 0;
  int64_t created_ms = 0;
  /// Number of the journal's newest record; asked when the last block has been added.
  std::function<uint64_t()> last_record;
  StorageCounters* counters = nullptr;
  std::function<void()> done;  ///< called once, when it has ended, well or not
};

Result<std::unique_ptr<CheckpointWriter>> BeginCheckpointFile(CheckpointTask task);

}  // namespace tidemark::storage
