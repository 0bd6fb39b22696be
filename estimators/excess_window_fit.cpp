// The tail of what an ExcessWindow keeps.
#include <algorithm>
#include <cmath>
#include <vector>

#include "estimators/excess_code.h"
#include "estimators/excess_window.h"

namespace tidemark::estimators {
namespace {

/// The quantile of `observations` values whose largest are `ascending`: linear interpolation at
/// (n - 1) (1 - ratio). Absent where that reaches below them.
std::optional<double> UpperQuantile(std::span<const double> ascending, uint64_t observations,
                                    double ratio) {
  if (observations == 0) return std::nullopt;
  const double from_top = static_cast<double>(observations - 1) * std::clamp(ratio, 0.0, 1.0);
  const double above = std::floor(from_top);
  if (!(std::ceil(from_top) < static_cast<double>(ascending.size()))) return std::nullopt;
  const size_t place = ascending.size() - 1 - static_cast<size_t>(above);
  const double value = ascending[place];
  const double share = from_top - above;
  return share > 0 ? value - share * (value - ascending[place - 1]) : value;
}

/// Runs of minutes with less than `gap` between neighbours.
uint32_t CountRuns(std::vector<int64_t>& minutes, int64_t gap) {
  std::ranges::sort(minutes);
  uint32_t runs = 0;
  int64_t before = 0;
  for (const int64_t minute : minutes) {
    if (runs == 0 || minute - before > gap) ++runs;
    before = minute;
  }
  return runs;
}

}  // namespace

TailFit ExcessWindow::Fit(double level, double threshold, FitChoice choice) const {
  const uint64_t observations = Observations();
  double from = std::max(threshold, Floor());
  std::vector<double> excesses = KeptAbove(from);
  if (const auto quantile = UpperQuantile(excesses, observations, 1 - level)) {
    from = std::max(from, *quantile);
    excesses.erase(excesses.begin(), std::ranges::upper_bound(excesses, from));
  }
  for (double& value : excesses) value -= from;
  std::vector<int64_t> minutes;
  minutes.reserve(excesses.size());
  size_t place = 0;
  for (const Day& day : Days()) {
    for (const uint32_t code : std::span(kept_).subspan(place, day.count)) {
      if (!(ValueOf(code) > from)) continue;
      minutes.push_back(int64_t{day.day} * kMinutesPerDay + MinuteOf(code));
    }
    place += day.count;
  }
  return FitTail(from, excesses, observations, Largest(), choice, CountRuns(minutes, kClusterGap));
}

std::optional<double> ExcessWindow::Empirical(double risk) const {
  return UpperQuantile(KeptAbove(Floor()), Observations(), risk);
}

ExcessWindow::AtCap ExcessWindow::CountAtCap(double threshold, double cap) const {
  AtCap count;
  for (const uint32_t code : kept_) {
    const double value = ValueOf(code);
    if (!(value > threshold)) continue;
    ++count.excesses;
    if (value >= cap) ++count.at_cap;
  }
  return count;
}

}  // namespace tidemark::estimators
