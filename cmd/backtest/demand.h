#pragma once
// A recorded demand as forecasts see it: one value a minute.

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "forecast/demand_history.h"
#include "model/result.h"

namespace tidemark::backtest {

struct Demand {
  std::string name;
  std::string kind;           ///< the manifest's class; empty: not known
  int64_t step_seconds = 60;  ///< as it was recorded
  forecast::DemandSeries minutes;

  /// Whether values were made up in between recorded ones.
  bool IsInterpolated() const { return step_seconds > 60; }
};

inline constexpr int64_t kMaxDemandMinutes = 366 * 1440LL;
inline constexpr int64_t kMinDemandStep = 1;     ///< seconds
inline constexpr int64_t kMaxDemandStep = 3600;  ///< longer ones say nothing of minutes

struct TimedValue {
  int64_t seconds = 0;  ///< Unix
  double value = 0;     ///< finite, 0 or more
};

/// Values are in order of time, at least two. The step is the shortest time between two of them.
/// Up to a minute: the mean of each minute. Above: straight lines between neighbours that are no
/// further apart than one and a half steps, read at each minute's start. All other minutes are
/// gaps. kInvalidArgument: steps, or the time in all, are out of range.
Result<void> SetMinutes(std::span<const TimedValue> values, Demand& demand);

}  // namespace tidemark::backtest
