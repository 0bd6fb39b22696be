#pragma once
// What stands in a write request, by number.

#include <cstdint>

namespace tidemark::remote_write {

struct RequestShape {
  uint64_t series = 0;
  uint64_t samples = 0;
  uint64_t histograms = 0;
  uint64_t exemplars = 0;
  uint64_t metadata = 0;
  uint64_t symbols = 0;  ///< 2.0 only
  /// Nothing that the protocol knows, but fields that the other one fills: a body under the wrong
  /// content type. Read as its content type says it would be an empty request, and its samples lost
  /// without a word.
  bool looks_like_other = false;
  /// After an error: where the top-level field with the fault begins.
  uint64_t fault_offset = 0;
};

}  // namespace tidemark::remote_write
