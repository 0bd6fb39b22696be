#pragma once
// What one series says, for as long as it says so.

#include <cstdint>
#include <optional>

#include "model/sample.h"
#include "workloads/usage.h"

namespace tidemark::workloads {

/// A value that one series tells and that holds until that series ends or falls silent.
struct Fact {
  double value = 0;
  int64_t last_ms = kNever;
  uint32_t series = kNoSeries;  ///< who says so; kNoSeries: nobody

  void Set(uint32_t by, Sample sample) { *this = Fact{sample.value, sample.timestamp_ms, by}; }
  /// Only the series that set it can end it: a pod's successor of the same name may have set it
  /// anew.
  void End(uint32_t by) {
    if (series == by) *this = Fact{};
  }
  std::optional<double> At(int64_t event_time_ms) const {
    if (series == kNoSeries || last_ms < event_time_ms - kMaxGapMs) return std::nullopt;
    return value;
  }
};

}  // namespace tidemark::workloads
