#pragma once
// How demand runs over the day: its distance from the level of the 24 hours around, by the minute
// of the day (UTC), averaged over the days with newer ones counting more.

#include <cstddef>
#include <cstdint>
#include <vector>

#include "forecast/demand_history.h"

namespace tidemark::forecast {

class DayProfile {
 public:
  static constexpr int64_t kStepMinutes = 5;
  static constexpr size_t kSteps = static_cast<size_t>(1440 / kStepMinutes);

  /// Of no shape: 0 at every minute.
  DayProfile() = default;
  /// Of the minutes before `end`; of no shape while they do not span a day, or where some time of
  /// the day is never known. NaN for gaps.
  DayProfile(const DemandSeries& history, int64_t end);
  /// Of kSteps finite values, or none.
  explicit DayProfile(std::vector<float> steps) : steps_(std::move(steps)) {}

  bool HasShape() const { return !steps_.empty(); }
  /// At a minute since 1970, between the middles of its steps.
  double At(int64_t minute) const;
  const std::vector<float>& steps() const { return steps_; }

 private:
  std::vector<float> steps_;
};

}  // namespace tidemark::forecast
