#pragma once
// The minutes of a history from which a regression on lags can learn.
//
// A row is a minute whose look-back and whose aims are known. Inputs are bridged over short gaps
// as they are when a forecast is made; the row's own minute and its aims are measured values.
// Values are centred and scaled, so that nothing depends on the unit.

#include <cstddef>
#include <cstdint>
#include <vector>

#include "forecast/demand_history.h"
#include "forecast/forecaster.h"
#include "forecast/shift_products.h"
#include "model/result.h"

namespace tidemark::forecast {

class RegressionRows {
 public:
  RegressionRows(const DemandSeries& history, int32_t lags, const Horizons& horizons);

  /// kInvalidArgument: fewer rows than that, or the demand does not move.
  Result<void> Check(int64_t least_rows) const;
  /// Minutes of the history.
  int64_t size() const { return static_cast<int64_t>(values_.size()); }
  int64_t count() const { return count_; }
  /// Rows for which yesterday is known too.
  int64_t count_with_yesterday() const { return count_with_yesterday_; }
  /// The minute that has that share of the rows (with yesterday) before it.
  int64_t MinuteWith(double share, bool with_yesterday) const;
  /// What one unit of values is in demand.
  double scale() const { return scale_; }
  int64_t MinuteOfDay(int64_t minute) const;
  const double* At(int64_t minute) const { return values_.data() + minute; }
  bool IsRow(int64_t minute) const { return (State(minute) & kMeasured) != 0; }
  bool HasYesterday(int64_t minute) const { return (State(minute) & kYesterday) != 0; }

  /// Sums the rows of [first, end) that have, or have not, a yesterday.
  void Sum(int64_t first, int64_t end, bool with_yesterday, double weight,
           ShiftProducts& products) const;

 private:
  static constexpr uint8_t kComplete = 1;   ///< all is there, some of it perhaps bridged
  static constexpr uint8_t kMeasured = 2;   ///< its minute and its aims are: a row
  static constexpr uint8_t kYesterday = 4;  ///< and yesterday is complete

  uint8_t State(int64_t minute) const { return state_[static_cast<size_t>(minute)]; }
  void FindRows(const DemandSeries& history, double mean, int32_t lags, const Horizons& horizons);

  int64_t first_minute_ = 0;
  std::vector<double> values_;
  std::vector<uint8_t> state_;
  int64_t count_ = 0;
  int64_t count_with_yesterday_ = 0;
  double scale_ = 0;
};

}  // namespace tidemark::forecast
