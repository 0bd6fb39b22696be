#pragma once
// The columns of a ridge regression on lags, and its solution for all horizons from one matrix.
//
// The aim is the change from the newest value to that of the horizon. Features are the changes of
// the lags against the newest value; where yesterday is asked for, the changes of the minutes
// around now, and around each horizon, a day ago against now a day ago; 1; the harmonics of the
// day. So nothing but changes counts, and only what belongs to 1 and the harmonics has a unit.

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "forecast/forecaster.h"
#include "forecast/look_back.h"
#include "forecast/shift_products.h"

namespace tidemark::forecast {

inline constexpr int32_t kMostLags = 60;
inline constexpr size_t kHarmonics = 3;
inline constexpr size_t kClockFeatures = 1 + 2 * kHarmonics;

/// Shifts of the minutes of yesterday that are features.
class YesterdayShifts {
 public:
  static constexpr size_t kMost = (kMaxForecastHorizons + 1) * (2 * kAroundYesterday + 1);

  explicit YesterdayShifts(const Horizons& horizons);
  std::span<const int16_t> shifts() const { return {shifts_.data(), count_}; }

 private:
  std::array<int16_t, kMost> shifts_{};
  uint8_t count_ = 0;
};

inline constexpr size_t kMostFeatures = kMostLags - 1 + YesterdayShifts::kMost + kClockFeatures;

/// What the features of one minute are.
struct LagFeatures {
  std::array<double, kMostFeatures> values{};
  size_t count = 0;
};

/// value(shift) is the demand that many minutes ago; `yesterday` may be null.
template <class Value>
void WriteLagFeatures(int32_t lags, const YesterdayShifts* yesterday, const Value& value,
                      int64_t minute_of_day, LagFeatures& out) {
  out.count = 0;
  const double newest{value(0)};
  for (int64_t lag = 1; lag < lags; ++lag) out.values[out.count++] = double{value(lag)} - newest;
  if (yesterday != nullptr) {
    const double then{value(kMinutesADay)};
    for (const int16_t shift : yesterday->shifts()) {
      out.values[out.count++] = double{value(shift)} - then;
    }
  }
  WriteHarmonics(minute_of_day, kHarmonics, &out.values[out.count]);
  out.count += kClockFeatures;
}

/// All horizons' weights, one after the other, in the order of WriteLagFeatures.
using LagWeights = std::vector<double>;

class LagRegression {
 public:
  /// Makes room for sums of such rows. `yesterday` may be null.
  LagRegression(int32_t lags, const Horizons& horizons, const YesterdayShifts* yesterday);

  size_t FeatureCount() const { return changes_.size() + kClockFeatures; }
  ShiftProducts MakeProducts() const { return {shifts_, kHarmonics}; }

  /// Takes the sums from which Solve starts.
  void SetProducts(const ShiftProducts& products);
  /// Empty where there is no solution. `penalty` is relative to each feature's own sum of squares.
  LagWeights Solve(double penalty) const;

 private:
  struct Change {  ///< indexes of shifts
    size_t of = 0;
    size_t against = 0;
  };

  std::vector<int64_t> shifts_;
  std::vector<Change> changes_;
  std::vector<Change> aims_;
  std::vector<double> matrix_;  // lower triangle
  std::vector<double> right_;   // by horizon
  double least_ = 0;
};

}  // namespace tidemark::forecast
