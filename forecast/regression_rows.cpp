#include "forecast/regression_rows.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "forecast/look_back.h"

namespace tidemark::forecast {
namespace {

/// Values that differ by less than this, relative to their mean, do not move: a history keeps them
/// with 16 bits.
constexpr double kLeastMove = 1e-5;

}  // namespace

RegressionRows::RegressionRows(const DemandSeries& history, int32_t lags, const Horizons& horizons)
    : first_minute_(history.first), values_(history.values.size()), state_(values_.size()) {
  double sum = 0;
  double known = 0;
  for (const float value : history.values) {
    if (std::isnan(value)) continue;
    sum += double{value};
    ++known;
  }
  if (known == 0) return;
  const double mean = sum / known;
  double squares = 0;
  for (const float value : history.values) {
    if (!std::isnan(value)) squares += (double{value} - mean) * (double{value} - mean);
  }
  const double deviation = std::sqrt(squares / known);
  if (!(deviation > kLeastMove * mean)) return;
  scale_ = deviation;
  FindRows(history, mean, lags, horizons);
}

void RegressionRows::FindRows(const DemandSeries& history, double mean, int32_t lags,
                              const Horizons& horizons) {
  const auto reach = static_cast<int64_t>(horizons.longest());
  const auto measured = [&](int64_t at) {
    return !std::isnan(history.values[static_cast<size_t>(at)]);
  };
  std::vector<int64_t> runs(values_.size());  // minutes up to each that are known or bridged
  int64_t run = 0;
  int64_t missing = kBridgedMinutes;
  for (int64_t i = 0; i < size(); ++i) {
    const auto at = static_cast<size_t>(i);
    missing = measured(i) ? 0 : missing + 1;
    run = missing > kBridgedMinutes ? 0 : run + 1;
    runs[at] = run;
    if (run == 0) continue;
    values_[at] = missing > 0 ? values_[at - 1] : (double{history.values[at]} - mean) / scale_;
    if (run < lags + reach) continue;
    const int64_t row = i - reach;
    uint8_t& state = state_[static_cast<size_t>(row)];
    state = kComplete;
    const int64_t newest = row - kMinutesADay + reach + kAroundYesterday;
    if (newest >= 0 && runs[static_cast<size_t>(newest)] > reach + 2 * kAroundYesterday) {
      state |= kYesterday;
    }
    bool good = measured(row);
    for (size_t h = 0; good && h < horizons.size(); ++h) good = measured(row + horizons[h]);
    if (!good) continue;
    state |= kMeasured;
    ++count_;
    if ((state & kYesterday) != 0) ++count_with_yesterday_;
  }
}

Result<void> RegressionRows::Check(int64_t least_rows) const {
  if (scale_ == 0) {
    return Fail(ErrorCode::kInvalidArgument, "history: the demand does not move");
  }
  if (count_ >= least_rows) return {};
  return Fail(ErrorCode::kInvalidArgument,
              fmt::format("history: {} minutes are known together with those before and after "
                          "them, needed: {}",
                          count_, least_rows));
}

int64_t RegressionRows::MinuteWith(double share, bool with_yesterday) const {
  auto before = static_cast<int64_t>(
      share * static_cast<double>(with_yesterday ? count_with_yesterday_ : count_));
  for (int64_t minute = 0; minute < size(); ++minute) {
    if (!IsRow(minute) || (with_yesterday && !HasYesterday(minute))) continue;
    if (before-- <= 0) return minute;
  }
  return size();
}

int64_t RegressionRows::MinuteOfDay(int64_t minute) const {
  return (first_minute_ + minute) % kMinutesADay;
}

void RegressionRows::Sum(int64_t first, int64_t end, bool with_yesterday, double weight,
                         ShiftProducts& products) const {
  const auto belongs = [&](int64_t minute) {
    return (State(minute) & kComplete) != 0 && HasYesterday(minute) == with_yesterday;
  };
  const int64_t minute_of_day = MinuteOfDay(0);
  for (int64_t begin = first; begin < end; ++begin) {
    if (!belongs(begin)) continue;
    int64_t stop = begin;
    while (stop < end && belongs(stop)) ++stop;
    products.Add(values_, minute_of_day, begin, stop, weight);
    for (int64_t minute = begin; minute < stop; ++minute) {
      if (!IsRow(minute)) products.Remove(values_, minute_of_day, minute, weight);
    }
    begin = stop - 1;
  }
}

}  // namespace tidemark::forecast
