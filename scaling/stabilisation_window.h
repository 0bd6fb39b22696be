#pragma once
// The highest recommendation of the last minutes, as Kubernetes' down-scale stabilisation has it.

#include <cstddef>
#include <cstdint>
#include <vector>

#include "model/byte_codec.h"

namespace tidemark::scaling {

/// A value type; not thread-safe. Add is O(minutes), of which there are at most 60; memory follows
/// the minutes of the window.
class StabilisationWindow {
 public:
  /// `minutes`: 1 or more, the present one counted.
  explicit StabilisationWindow(int32_t minutes) : minutes_(minutes) {}

  /// Minutes rise. Returns the highest of the window, this one included.
  int32_t Add(int64_t minute, int32_t recommended);
  /// Longer: what was dropped stays so.
  void SetMinutes(int32_t minutes) { minutes_ = minutes; }
  /// Whether nothing of before this minute counts at it any more.
  bool IsEmptyAt(int64_t minute) const;
  /// The newest minute of it; -1 without any.
  int64_t newest() const { return falling_.empty() ? -1 : falling_.back().minute; }
  size_t MemoryBytes() const;

  void Save(ByteWriter& out) const;
  /// Fails the reader, and leaves this empty, where it is nothing that Save can have written.
  void Restore(ByteReader& in);

 private:
  struct Entry {
    int64_t minute;
    int32_t recommended;
  };
  int32_t minutes_;
  std::vector<Entry> falling_;  // by minute; recommendations strictly falling
};

}  // namespace tidemark::scaling
