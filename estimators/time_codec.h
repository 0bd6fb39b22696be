#pragma once
// Times and durations of the estimators as bytes, short where they are whole minutes, seconds or
// milliseconds, as nearly all are. Every value survives to the nanosecond.

#include <array>
#include <chrono>
#include <cstdint>
#include <limits>

#include "estimators/event_time.h"
#include "model/byte_codec.h"

namespace tidemark::estimators {

/// Nanoseconds in the units that are tried, the largest first; their numbers are part of the
/// format.
inline constexpr std::array<int64_t, 4> kStoredUnits = {60'000'000'000, 1'000'000'000, 1'000'000,
                                                        1};

inline void SaveDuration(ByteWriter& out, std::chrono::nanoseconds duration) {
  uint8_t unit = 0;
  while (duration.count() % kStoredUnits[unit] != 0) ++unit;
  out.Byte(unit);
  out.Signed(duration.count() / kStoredUnits[unit]);
}

/// Fails the reader, and is 0, when what was read is none.
inline std::chrono::nanoseconds RestoreDuration(ByteReader& in) {
  const uint8_t unit = in.Byte();
  const int64_t count = in.Signed();
  int64_t nanoseconds = 0;
  if (unit >= kStoredUnits.size() ||
      __builtin_mul_overflow(count, kStoredUnits[unit], &nanoseconds)) {
    in.Fail();
    return {};
  }
  return std::chrono::nanoseconds(nanoseconds);
}

inline void SaveTime(ByteWriter& out, Time time) { SaveDuration(out, time.time_since_epoch()); }
inline Time RestoreTime(ByteReader& in) { return Time(RestoreDuration(in)); }

}  // namespace tidemark::estimators
