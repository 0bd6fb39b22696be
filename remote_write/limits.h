#pragma once
// The bounds of one remote-write request, from the configuration (`remote_write:`).

#include <cstddef>
#include <cstdint>

namespace tidemark::remote_write {

struct Limits {
  uint64_t max_body_bytes = 16ULL << 20;      ///< compressed
  uint64_t max_unpacked_bytes = 32ULL << 20;  ///< as the snappy block claims
  size_t max_labels = 128;                    ///< labels of one series, the name included
  size_t max_label_name_bytes = 1024;
  size_t max_label_value_bytes = 4096;
  int64_t max_future_ms = 10 * 60 * 1000;  ///< ahead of the wall clock
};

}  // namespace tidemark::remote_write
