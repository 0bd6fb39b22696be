#pragma once
// Times and sorted names in a saved namespace.

#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>

#include "model/byte_codec.h"
#include "workloads/usage.h"

namespace tidemark::workloads {

/// The latest time that restores (year 2255): in nanoseconds, and with days added, it still fits 64
/// bits. Times before 1970 do not restore either; remote write takes neither.
inline constexpr int64_t kLatestSavedMs = 9'000'000'000'000;

/// As the distance to `base_ms`: most times are within a minute of the namespace's own.
inline void SaveMs(ByteWriter& out, int64_t time_ms, int64_t base_ms) {
  if (time_ms == kNever) {
    out.Varint(0);
    return;
  }
  const uint64_t before = static_cast<uint64_t>(base_ms) - static_cast<uint64_t>(time_ms);
  out.Varint(((before << 1) ^ (0 - (before >> 63))) + 1);
}

/// kNever, or from 0 to kLatestSavedMs; anything else fails the reader.
inline int64_t RestoreMs(ByteReader& in, int64_t base_ms) {
  const uint64_t coded = in.Varint();
  if (coded == 0) return kNever;
  const uint64_t zigzag = coded - 1;
  const uint64_t before = (zigzag >> 1) ^ (0 - (zigzag & 1));
  const auto time_ms = static_cast<int64_t>(static_cast<uint64_t>(base_ms) - before);
  if (time_ms >= 0 && time_ms <= kLatestSavedMs) return time_ms;
  in.Fail();
  return kNever;
}

/// The same without kNever.
inline int64_t RestoreTakenMs(ByteReader& in, int64_t base_ms) {
  const int64_t time_ms = RestoreMs(in, base_ms);
  if (time_ms != kNever) return time_ms;
  in.Fail();
  return 0;
}

/// How much of it is as in `before`, then the rest: names in order have much in common.
inline void SaveTextAfter(ByteWriter& out, std::string_view before, std::string_view text) {
  const auto differs = std::mismatch(before.begin(), before.end(), text.begin(), text.end());
  const auto shared = static_cast<size_t>(differs.second - text.begin());
  out.Varint(shared);
  out.Text(text.substr(shared));
}

inline std::string RestoreTextAfter(ByteReader& in, std::string_view before) {
  const uint64_t shared = in.Varint();
  const std::string_view rest = in.Text();
  if (in.failed() || shared > before.size()) {
    in.Fail();
    return {};
  }
  std::string text;
  text.reserve(shared + rest.size());
  return text.append(before.substr(0, shared)).append(rest);
}

}  // namespace tidemark::workloads
