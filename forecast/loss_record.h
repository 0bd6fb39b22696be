#pragma once
// What the forecasts of one model at one horizon have cost, by two hours for a day and by the day
// for a week: absolute error, and pinball loss at a high quantile.
//
// Closed slots and days are kept in 16 bits (packed_amount.h): a relative 2^-9 each, less in the
// sum. A model that could not say anything for a minute is charged with what the last value cost:
// that is what would have been used in its place. So the records of two models that both said
// something within a slot are of the same minutes, and are compared slot by slot.
//
// A value type, not thread-safe. 112 bytes.

#include <array>
#include <cstdint>
#include <optional>

#include "model/byte_codec.h"

namespace tidemark::forecast {

/// Of a model and of the last value over the same slots.
struct LossSums {
  double error = 0;
  double pinball = 0;
  double last_value_error = 0;
  double last_value_pinball = 0;
  uint32_t scored = 0;  ///< minutes for which the model said something
  // Over the slots, of how much more the model cost than the last value: the sums of the squares
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
  static constexpr int64_t kSlotMinutes = 120;
  /// A whole day besides the present slot, so that no hour of the day is missing.
  static constexpr int64_t kSlots = 13;
  static constexpr int64_t kDays = 7;

  /// The same losses of a model that has not said anything yet: for one that becomes a candidate,
  /// from the last value's.
  LossRecord AsUnscored() const;
  // All minutes are since 1970 and never earlier than what was said before.

  /// Time has moved on from the minute `before`; to be called before anything is noted of `minute`.
  void Advance(int64_t minute, int64_t before);
  /// `own`: the model said something.
  void Note(int64_t minute, float error, float pinball, bool own);

  /// Over the present slot and the whole day before it, as far as the model said something in them.
  /// `minute`: that of Advance.
  LossSums Day(int64_t minute, const LossRecord& last_value) const;
  /// Over the present day and the six before it.
  LossSums Week(int64_t minute, const LossRecord& last_value) const;

  void Save(ByteWriter& out) const;
  /// Fails the reader where it is nothing that Save can have written.
  void Restore(ByteReader& in);

 private:
  struct Loss {
    float error = 0;
    float pinball = 0;
    uint32_t scored = 0;
  };
  static void AddTo(LossSums& sums, const Loss& own, const Loss& unit);
  Loss InSlot(int64_t slot, int64_t present) const;
  Loss InDay(int64_t day, int64_t present) const;

  std::array<uint16_t, kSlots> slot_error_{};
  std::array<uint16_t, kSlots> slot_pinball_{};
  std::array<uint16_t, kDays> day_error_{};
  std::array<uint16_t, kDays> day_pinball_{};
  std::array<uint16_t, kDays> day_scored_{};
  std::array<uint8_t, kSlots> slot_scored_{};
  // Of the present slot, and of the present day up to it.
  float error_ = 0;
  float pinball_ = 0;
  float error_today_ = 0;
  float pinball_today_ = 0;
};

}  // namespace tidemark::forecast
