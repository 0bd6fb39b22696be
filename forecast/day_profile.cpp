#include "forecast/day_profile.h"

#include <algorithm>
#include <cmath>

#include "forecast/look_back.h"

namespace tidemark::forecast {
namespace {

/// What a day counts against the one after it.
constexpr double kDayFactor = 0.7;

}  // namespace

DayProfile::DayProfile(const DemandSeries& history, int64_t end) {
  const int64_t size =
      std::clamp<int64_t>(end - history.first, 0, static_cast<int64_t>(history.values.size()));
  if (size < kMinutesADay) return;
  // Running sums, so that the mean of any 24 hours is two look-ups.
  std::vector<double> sums(static_cast<size_t>(size) + 1);
  std::vector<int32_t> counts(sums.size());
  for (size_t i = 0; i + 1 < sums.size(); ++i) {
    const float value = history.values[i];
    const bool known = !std::isnan(value);
    sums[i + 1] = sums[i] + (known ? double{value} : 0);
    counts[i + 1] = counts[i] + (known ? 1 : 0);
  }
  std::vector<double> over(kSteps, 0);
  std::vector<double> weights(kSteps, 0);
  double weight = 1;
  for (int64_t i = size - 1, day = 0; i >= 0; --i) {
    if (const int64_t age = (size - 1 - i) / kMinutesADay; age != day) {
      day = age;
      weight *= kDayFactor;
    }
    const float value = history.values[static_cast<size_t>(i)];
    if (std::isnan(value)) continue;
    // At both ends the nearest whole day stands in for the one around.
    const int64_t from = std::clamp<int64_t>(i - kMinutesADay / 2, 0, size - kMinutesADay);
    const auto begin = static_cast<size_t>(from);
    const size_t stop = begin + static_cast<size_t>(kMinutesADay);
    const double level = (sums[stop] - sums[begin]) / (counts[stop] - counts[begin]);
    const auto step = static_cast<size_t>((history.first + i) % kMinutesADay / kStepMinutes);
    over[step] += weight * (double{value} - level);
    weights[step] += weight;
  }
  std::vector<float> steps(kSteps);
  for (size_t step = 0; step < kSteps; ++step) {
    if (weights[step] == 0) return;
    steps[step] = static_cast<float>(over[step] / weights[step]);
    if (!std::isfinite(steps[step])) return;
  }
  steps_ = std::move(steps);
}

double DayProfile::At(int64_t minute) const {
  if (steps_.empty()) return 0;
  // Halves of minutes since the middle of the step before.
  const int64_t halves = 2 * (minute % kMinutesADay) + 1 - kStepMinutes;
  const int64_t from = halves < 0 ? halves + 2 * kMinutesADay : halves;
  const auto step = static_cast<size_t>(from / (2 * kStepMinutes));
  const double part = static_cast<double>(from % (2 * kStepMinutes)) / (2 * kStepMinutes);
  const double next{steps_[step + 1 == kSteps ? 0 : step + 1]};
  return double{steps_[step]} * (1 - part) + next * part;
}

}  // namespace tidemark::forecast
