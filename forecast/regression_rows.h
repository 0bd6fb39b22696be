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
  Result<void> Check(double least_rows) const;
  /// Minutes of the history.
  int64_t size() const { return static_cast<int64_t>(values_.size()); }
  int64_t count() const { return count_; }
  /// The minute that has that share of the rows before it.
  int64_t RowWith(double share) const;
  /// What one unit of values is in demand.
  double scale() const { return scale_; }
  int64_t MinuteOfDay(int64_t minute) const;
  /// Sums rows of [first, end).
  void Sum(int64_t first, int64_t end, ShiftProducts& products) const;
  /// use(row, pointer to its value; lags are before and aims behind it) for rows of [first, end).
  template <class Use>
  void ForEach(int64_t first, int64_t end, Use&& use) const {
    for (int64_t row = first; row < end; ++row) {
      if (state_[static_cast<size_t>(row)] == RowState::kRow) use(row, values_.data() + row);
    }
  }

 private:
  enum class RowState : uint8_t {
    kNone,     ///< something is missing
    kBridged,  ///< could be summed, but was not measured
    kRow,
  };

  int64_t first_minute_ = 0;
  std::vector<double> values_;
  std::vector<RowState> state_;
  int64_t count_ = 0;
  double scale_ = 0;
};

}  // namespace tidemark::forecast
