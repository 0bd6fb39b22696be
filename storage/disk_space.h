#pragma once
// Whether there is room on the disk, asked of the file system at most five times a second.
//
// Refusing while some room is left keeps it for what makes room again: checkpoints, after which the
// journal can be trimmed. Not thread-safe.

#include <chrono>
#include <cstdint>
#include <string>

#include "model/counters.h"
#include "model/result.h"

namespace tidemark::storage {

class DiskSpace {
 public:
  /// The counters must outlive it.
  DiskSpace(std::string directory, uint64_t min_free_bytes, StorageCounters& counters);

  /// kUnavailable when writing `bytes` would leave less than the least that has to stay free.
  Result<void> Admit(uint64_t bytes);
  /// Free bytes now, not from memory; -1 when the file system does not say.
  int64_t Look();

 private:
  std::string directory_;
  uint64_t min_free_bytes_;
  StorageCounters& counters_;
  int64_t free_bytes_ = -1;
  uint64_t admitted_since_ = 0;
  std::chrono::steady_clock::time_point looked_at_{};
};

}  // namespace tidemark::storage
