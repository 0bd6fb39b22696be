#pragma once
// What the forecasts of one model at one horizon have cost, by the hour for a day and by the day
// for a week: absolute error, and pinball loss at a high quantile.
//
// Closed hours and days are kept in 16 bits (packed_amount.h): a relative 2^-9 each, less in the
// sum. A model that could not say anything for a minute is charged with what the last value cost:
// that is what would have been used in its place. So the records of two models that both said
// something within an hour are of the same minutes, and are compared hour by hour.
//
// A value type, not thread-safe. 180 bytes.

#include <array>
#include <cstdint>
#include <optional>

#include "model/byte_codec.h"

namespace tidemark::forecast {

/// Of a model and of the last value over the same hours.
struct LossSums {
  double error = 0;
  double pinball = 0;
  double last_value_error = 0;
  double last_value_pinball = 0;
  uint32_t scored = 0;  ///< minutes for which the model said something
  // Over the hours, of how much more the model cost than the last value: the sums of the squares
  // for error and pinball loss, and of their products. By day, not by week.
  double error_squares = 0;
  double pinball_squares = 0;
  double products = 0;

  /// Absent where the last value was never wrong.
  std::optional<double> ErrorRatio() const;
  std::optional<double> PinballRatio() const;
};

class LossRecord {
 public:
  /// A whole day besides the present hour, so that no hour of the day is missing.
  static constexpr int64_t kHours = 25;
  static constexpr int64_t kDays = 7;

  /// The same losses of a model that has not said anything yet: for one that becomes a candidate,
  /// from the last value's.
  LossRecord AsUnscored() const;
  /// Moves on to this hour (since 1970), which is not before the present one.
  void Advance(int64_t hour, int64_t before);
  /// Of a minute of the present hour. `own`: the model said something.
  void Note(int64_t hour, float error, float pinball, bool own);

  /// Over the present hour and the 24 before it, as far as the model said something in them.
  LossSums Day(int64_t hour, const LossRecord& last_value) const;
  LossSums Week(int64_t hour, const LossRecord& last_value) const;

  void Save(ByteWriter& out) const;
  /// Fails the reader where it is nothing that Save can have written.
  void Restore(ByteReader& in);

 private:
  struct Loss {
    float error = 0;
    float pinball = 0;
    uint32_t scored = 0;
  };
  Loss InHour(int64_t hour, int64_t present) const;
  Loss InDay(int64_t day, int64_t present) const;

  std::array<uint16_t, kHours> hour_error_{};
  std::array<uint16_t, kHours> hour_pinball_{};
  std::array<uint16_t, kDays> day_error_{};
  std::array<uint16_t, kDays> day_pinball_{};
  std::array<uint16_t, kDays> day_scored_{};
  std::array<uint8_t, kHours> hour_scored_{};
  // Of the present hour, and of the present day up to it.
  float error_ = 0;
  float pinball_ = 0;
  float error_today_ = 0;
  float pinball_today_ = 0;
};

}  // namespace tidemark::forecast
