#pragma once
// The grid on which reference times lie.

#include <chrono>
#include <cstdint>
#include <limits>

#include "estimators/event_time.h"

namespace tidemark::estimators {

/// The multiple of `step` (above zero) nearest to `time`, counted from the year 1 as Go's
/// time.Round does, halves up. Where that one is beyond the range of Time, the neighbour that is
/// inside.
inline Time RoundToGrid(Time time, std::chrono::nanoseconds step) {
  __extension__ using Int128 = __int128;  // -Wpedantic knows no 128-bit integers
  constexpr int64_t kYearOneToUnixSeconds = 62'135'596'800;
  const Int128 since_unix = time.time_since_epoch().count();
  const Int128 since_year_one = since_unix + Int128{kYearOneToUnixSeconds} * 1'000'000'000;
  const Int128 past = since_year_one % step.count();  // Time starts in 1677: never negative
  const Int128 below = since_unix - past;
  const Int128 above = below + step.count();
  const bool above_fits = above <= std::numeric_limits<int64_t>::max();
  const bool below_fits = below >= std::numeric_limits<int64_t>::min();
  const bool down = past + past < step.count() ? below_fits : !above_fits;
  return Time(std::chrono::nanoseconds(static_cast<int64_t>(down ? below : above)));
}

}  // namespace tidemark::estimators
