#pragma once
// What the linear models read of the minutes before a forecast.
//
// A scrape or two that failed must not silence a forecast, so gaps of up to kBridgedMinutes read as
// the last value before them; longer ones are not bridged. What is bridged serves as input only:
// nothing is ever learnt from, or scored against, a value that was not measured. Thread-safe.

#include <cstdint>
#include <optional>
#include <span>

#include "forecast/demand_history.h"

namespace tidemark::forecast {

inline constexpr int64_t kBridgedMinutes = 5;
inline constexpr int64_t kMinutesADay = 1440;
/// What is taken from yesterday is known of so many minutes on both sides of the one that is meant.
inline constexpr int64_t kAroundYesterday = 1;

/// Writes the out.size() minutes up to and with `now`, oldest first. False where a gap among them
/// is longer than what is bridged; then what was written means nothing.
bool ReadLookBack(const DemandHistory& history, int64_t now, std::span<float> out);

/// The demand of `now`, bridged.
std::optional<double> ReadLast(const DemandHistory& history, int64_t now);

}  // namespace tidemark::forecast
