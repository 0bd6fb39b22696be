#include "forecast/regression_rows.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "forecast/look_back.h"

namespace tidemark::forecast {
namespace {

/// Values that differ by less than this, relative to their mean, do not move.
constexpr double kLeastMove = 1e-6;

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
  // Runs of values that are known or bridged.
  int64_t run = 0;
  int64_t missing = kBridgedMinutes;
  const auto reach = static_cast<int64_t>(horizons.longest());
  for (int64_t i = 0; i < size(); ++i) {
    const float value = history.values[static_cast<size_t>(i)];
    missing = std::isnan(value) ? missing + 1 : 0;
    if (missing > kBridgedMinutes) {
      run = 0;
      continue;
    }
    ++run;
    values_[static_cast<size_t>(i)] =
        missing > 0 ? values_[static_cast<size_t>(i - 1)] : (double{value} - mean) / scale_;
    if (run < lags + reach) continue;
    const int64_t row = i - reach;
    const auto measured = [&](int64_t at) {
      return !std::isnan(history.values[static_cast<size_t>(at)]);
    };
    bool good = measured(row);
    for (size_t h = 0; good && h < horizons.size(); ++h) good = measured(row + horizons[h]);
    state_[static_cast<size_t>(row)] = good ? RowState::kRow : RowState::kBridged;
    if (good) ++count_;
  }
}

Result<void> RegressionRows::Check(double least_rows) const {
  if (scale_ == 0) return Fail(ErrorCode::kInvalidArgument, "history: the demand does not move");
  if (static_cast<double>(count_) >= least_rows) return {};
  return Fail(ErrorCode::kInvalidArgument,
              fmt::format("history: {} minutes are known together with those before and after "
                          "them, needed: {:.0f}",
                          count_, least_rows));
}

int64_t RegressionRows::RowWith(double share) const {
  auto before = static_cast<int64_t>(share * static_cast<double>(count_));
  for (int64_t row = 0; row < size(); ++row) {
    if (state_[static_cast<size_t>(row)] == RowState::kRow && before-- <= 0) return row;
  }
  return size();
}

int64_t RegressionRows::MinuteOfDay(int64_t minute) const {
  return (first_minute_ + minute) % kMinutesADay;
}

void RegressionRows::Sum(int64_t first, int64_t end, ShiftProducts& products) const {
  int64_t row = first;
  while (row < end) {
    if (state_[static_cast<size_t>(row)] == RowState::kNone) {
      ++row;
      continue;
    }
    int64_t last = row;
    while (last < end && state_[static_cast<size_t>(last)] != RowState::kNone) ++last;
    products.Add(values_, first_minute_ % kMinutesADay, row, last);
    for (int64_t at = row; at < last; ++at) {
      if (state_[static_cast<size_t>(at)] == RowState::kBridged) {
        products.Remove(values_, first_minute_ % kMinutesADay, at);
      }
    }
    row = last;
  }
}

}  // namespace tidemark::forecast
