#pragma once
// The time of a sample as the estimators compute with it.

#include <chrono>
#include <limits>

namespace tidemark::estimators {

/// Unix time in nanoseconds (years 1677 to 2262). The Kubernetes VPA measures ages in whole
/// nanoseconds too.
using Time = std::chrono::sys_time<std::chrono::nanoseconds>;

/// `later` - `earlier`; where that does not fit (292 years), the nearest duration that there is.
constexpr std::chrono::nanoseconds SaturatingDifference(Time later, Time earlier) {
  std::chrono::nanoseconds::rep difference = 0;
  if (__builtin_sub_overflow(later.time_since_epoch().count(), earlier.time_since_epoch().count(),
                             &difference)) {
    return later > earlier ? std::chrono::nanoseconds::max() : std::chrono::nanoseconds::min();
  }
  return std::chrono::nanoseconds(difference);
}

}  // namespace tidemark::estimators
