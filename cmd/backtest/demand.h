#pragma once
// A recorded demand as forecasts see it: one value a minute.

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "forecast/demand_history.h"
#include "model/result.h"

namespace tidemark::backtest {

/// Consecutive minutes, NaN for gaps. In doubles: recorded loads are round numbers and lie on the
/// edges of decisions, which rounding would move.
struct Minutes {
  int64_t first = 0;  ///< of values[0], since 1970
  std::vector<double> values;

  int64_t end() const { return first + static_cast<int64_t>(values.size()); }
  /// NaN outside.
  double At(int64_t minute) const;
};

struct Demand {
  std::string name;
  std::string kind;           ///< the manifest's class; empty: not known
  int64_t step_seconds = 60;  ///< as it was recorded
  /// How many pods at 100 % of their request a demand of 1 keeps busy, where the manifest says so.
  std::optional<double> pods_per_unit;
  Minutes minutes;

  /// As forecasts keep them, in single precision.
  forecast::DemandSeries Series() const;
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
