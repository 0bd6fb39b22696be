#pragma once
// Settings of the store, from the flags and the configuration (`storage:`).

#include <cstdint>
#include <string>

namespace tidemark::storage {

/// When what was appended is on the disk itself.
enum class SyncMode : uint8_t {
  kAlways,    ///< before Append returns: it survives the loss of power
  kInterval,  ///< within `sync_interval_ms`; until then it survives the end of the process, not
              ///< that of the machine
};

struct Options {
  std::string path;  ///< directory; made when it is missing
  SyncMode sync = SyncMode::kAlways;
  int64_t sync_interval_ms = 1000;        ///< 10 … 60'000
  uint64_t min_free_bytes = 64ULL << 20;  ///< with less room on the disk, appends are refused
  bool read_only = false;                 ///< for looking at a store: nothing on disk changes, no
                                          ///< lock is taken
};

}  // namespace tidemark::storage
