#include "forecast/loss_record.h"

#include <algorithm>
#include <bit>
#include <cmath>

#include "forecast/packed_amount.h"

namespace tidemark::forecast {
namespace {

constexpr int64_t kHoursADay = 24;
constexpr uint8_t kMostAnHour = 60;
constexpr uint16_t kMostADay = 1440;
constexpr float kMostLoss = 1e37F;  // sums of more stay finite

size_t HourSlot(int64_t hour) { return static_cast<size_t>(hour % LossRecord::kHours); }
size_t DaySlot(int64_t day) { return static_cast<size_t>(day % LossRecord::kDays); }

std::optional<double> Ratio(double loss, double of) {
  if (!(of > 0)) return std::nullopt;
  return loss / of;
}

template <class Array>
void SaveAmounts(const Array& amounts, ByteWriter& out) {
  for (const auto amount : amounts) out.Varint(amount);
}

template <class Array>
void RestoreAmounts(Array& amounts, uint64_t most, ByteReader& in) {
  for (auto& amount : amounts) {
    const uint64_t read = in.Varint();
    if (read > most) in.Fail();
    amount = static_cast<typename Array::value_type>(read);
  }
}

float RestoreFloat(ByteReader& in) {
  const auto value = std::bit_cast<float>(in.Fixed32());
  if (!std::isfinite(value) || value < 0) in.Fail();
  return value;
}

}  // namespace

std::optional<double> LossSums::ErrorRatio() const { return Ratio(error, last_value_error); }

std::optional<double> LossSums::PinballRatio() const { return Ratio(pinball, last_value_pinball); }

LossRecord LossRecord::AsUnscored() const {
  LossRecord unscored = *this;
  unscored.hour_scored_ = {};
  unscored.day_scored_ = {};
  return unscored;
}

void LossRecord::Advance(int64_t hour, int64_t before) {
  if (hour <= before) return;
  hour_error_[HourSlot(before)] = PackAmount(error_);
  hour_pinball_[HourSlot(before)] = PackAmount(pinball_);
  error_today_ = std::min(kMostLoss, error_today_ + error_);
  pinball_today_ = std::min(kMostLoss, pinball_today_ + pinball_);
  error_ = pinball_ = 0;
  for (int64_t skipped = std::max(before, hour - kHours) + 1; skipped <= hour; ++skipped) {
    hour_error_[HourSlot(skipped)] = hour_pinball_[HourSlot(skipped)] = 0;
    hour_scored_[HourSlot(skipped)] = 0;
  }
  const int64_t day = hour / kHoursADay;
  const int64_t day_before = before / kHoursADay;
  if (day == day_before) return;
  day_error_[DaySlot(day_before)] = PackAmount(error_today_);
  day_pinball_[DaySlot(day_before)] = PackAmount(pinball_today_);
  error_today_ = pinball_today_ = 0;
  for (int64_t skipped = std::max(day_before, day - kDays) + 1; skipped <= day; ++skipped) {
    day_error_[DaySlot(skipped)] = day_pinball_[DaySlot(skipped)] = 0;
    day_scored_[DaySlot(skipped)] = 0;
  }
}

void LossRecord::Note(int64_t hour, float error, float pinball, bool own) {
  error_ = std::min(kMostLoss, error_ + error);
  pinball_ = std::min(kMostLoss, pinball_ + pinball);
  if (!own) return;
  uint8_t& in_hour = hour_scored_[HourSlot(hour)];
  in_hour = std::min<uint8_t>(kMostAnHour, static_cast<uint8_t>(in_hour + 1));
  uint16_t& in_day = day_scored_[DaySlot(hour / kHoursADay)];
  in_day = std::min<uint16_t>(kMostADay, static_cast<uint16_t>(in_day + 1));
}

LossRecord::Loss LossRecord::InHour(int64_t hour, int64_t present) const {
  const size_t slot = HourSlot(hour);
  if (hour == present) return {error_, pinball_, hour_scored_[slot]};
  return {UnpackAmount(hour_error_[slot]), UnpackAmount(hour_pinball_[slot]), hour_scored_[slot]};
}

LossRecord::Loss LossRecord::InDay(int64_t day, int64_t present) const {
  const size_t slot = DaySlot(day);
  if (day == present) return {error_today_ + error_, pinball_today_ + pinball_, day_scored_[slot]};
  return {UnpackAmount(day_error_[slot]), UnpackAmount(day_pinball_[slot]), day_scored_[slot]};
}

LossSums LossRecord::Day(int64_t hour, const LossRecord& last_value) const {
  LossSums sums;
  for (int64_t of = std::max<int64_t>(0, hour - kHours + 1); of <= hour; ++of) {
    const Loss own = InHour(of, hour);
    if (own.scored == 0) continue;
    const Loss unit = last_value.InHour(of, hour);
    sums.error += double{own.error};
    sums.pinball += double{own.pinball};
    sums.last_value_error += double{unit.error};
    sums.last_value_pinball += double{unit.pinball};
    sums.scored += own.scored;
    const double more_error = double{own.error} - double{unit.error};
    const double more_pinball = double{own.pinball} - double{unit.pinball};
    sums.error_squares += more_error * more_error;
    sums.pinball_squares += more_pinball * more_pinball;
    sums.products += more_error * more_pinball;
  }
  return sums;
}

LossSums LossRecord::Week(int64_t hour, const LossRecord& last_value) const {
  LossSums sums;
  const int64_t today = hour / kHoursADay;
  for (int64_t of = std::max<int64_t>(0, today - kDays + 1); of <= today; ++of) {
    const Loss own = InDay(of, today);
    if (own.scored == 0) continue;
    const Loss unit = last_value.InDay(of, today);
    sums.error += double{own.error};
    sums.pinball += double{own.pinball};
    sums.last_value_error += double{unit.error};
    sums.last_value_pinball += double{unit.pinball};
    sums.scored += own.scored;
  }
  return sums;
}

void LossRecord::Save(ByteWriter& out) const {
  SaveAmounts(hour_error_, out);
  SaveAmounts(hour_pinball_, out);
  SaveAmounts(hour_scored_, out);
  SaveAmounts(day_error_, out);
  SaveAmounts(day_pinball_, out);
  SaveAmounts(day_scored_, out);
  for (const float sum : {error_, pinball_, error_today_, pinball_today_}) {
    out.Fixed32(std::bit_cast<uint32_t>(sum));
  }
}

void LossRecord::Restore(ByteReader& in) {
  constexpr uint64_t kMostPacked = 0xFEFF;
  RestoreAmounts(hour_error_, kMostPacked, in);
  RestoreAmounts(hour_pinball_, kMostPacked, in);
  RestoreAmounts(hour_scored_, kMostAnHour, in);
  RestoreAmounts(day_error_, kMostPacked, in);
  RestoreAmounts(day_pinball_, kMostPacked, in);
  RestoreAmounts(day_scored_, kMostADay, in);
  for (float* const sum : {&error_, &pinball_, &error_today_, &pinball_today_}) {
    *sum = RestoreFloat(in);
  }
}

}  // namespace tidemark::forecast
