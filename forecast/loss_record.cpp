#include "forecast/loss_record.h"

#include <algorithm>
#include <bit>
#include <cmath>

#include "forecast/packed_amount.h"

namespace tidemark::forecast {
namespace {

constexpr int64_t kSlotsADay = 1440 / LossRecord::kSlotMinutes;
constexpr uint8_t kMostASlot = LossRecord::kSlotMinutes;
constexpr uint16_t kMostADay = 1440;
constexpr float kMostLoss = 1e37F;  // sums of more stay finite

int64_t SlotOf(int64_t minute) { return minute / LossRecord::kSlotMinutes; }
size_t PlaceOf(int64_t slot) { return static_cast<size_t>(slot % LossRecord::kSlots); }
size_t DayPlace(int64_t day) { return static_cast<size_t>(day % LossRecord::kDays); }

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
  unscored.slot_scored_ = {};
  unscored.day_scored_ = {};
  return unscored;
}

void LossRecord::Advance(int64_t minute, int64_t minute_before) {
  const int64_t slot = SlotOf(minute);
  const int64_t before = SlotOf(minute_before);
  if (slot <= before) return;
  slot_error_[PlaceOf(before)] = PackAmount(error_);
  slot_pinball_[PlaceOf(before)] = PackAmount(pinball_);
  error_today_ = std::min(kMostLoss, error_today_ + error_);
  pinball_today_ = std::min(kMostLoss, pinball_today_ + pinball_);
  error_ = pinball_ = 0;
  for (int64_t skipped = std::max(before, slot - kSlots) + 1; skipped <= slot; ++skipped) {
    slot_error_[PlaceOf(skipped)] = slot_pinball_[PlaceOf(skipped)] = 0;
    slot_scored_[PlaceOf(skipped)] = 0;
  }
  const int64_t day = slot / kSlotsADay;
  const int64_t day_before = before / kSlotsADay;
  if (day == day_before) return;
  day_error_[DayPlace(day_before)] = PackAmount(error_today_);
  day_pinball_[DayPlace(day_before)] = PackAmount(pinball_today_);
  error_today_ = pinball_today_ = 0;
  for (int64_t skipped = std::max(day_before, day - kDays) + 1; skipped <= day; ++skipped) {
    day_error_[DayPlace(skipped)] = day_pinball_[DayPlace(skipped)] = 0;
    day_scored_[DayPlace(skipped)] = 0;
  }
}

void LossRecord::Note(int64_t minute, float error, float pinball, bool own) {
  error_ = std::min(kMostLoss, error_ + error);
  pinball_ = std::min(kMostLoss, pinball_ + pinball);
  if (!own) return;
  const int64_t slot = SlotOf(minute);
  uint8_t& in_slot = slot_scored_[PlaceOf(slot)];
  if (in_slot < kMostASlot) ++in_slot;
  uint16_t& in_day = day_scored_[DayPlace(slot / kSlotsADay)];
  if (in_day < kMostADay) ++in_day;
}

LossRecord::Loss LossRecord::InSlot(int64_t slot, int64_t present) const {
  const size_t place = PlaceOf(slot);
  if (slot == present) return {error_, pinball_, slot_scored_[place]};
  return {UnpackAmount(slot_error_[place]), UnpackAmount(slot_pinball_[place]),
          slot_scored_[place]};
}

LossRecord::Loss LossRecord::InDay(int64_t day, int64_t present) const {
  const size_t place = DayPlace(day);
  if (day == present) return {error_today_ + error_, pinball_today_ + pinball_, day_scored_[place]};
  return {UnpackAmount(day_error_[place]), UnpackAmount(day_pinball_[place]), day_scored_[place]};
}

LossSums LossRecord::Day(int64_t minute, const LossRecord& last_value) const {
  LossSums sums;
  const int64_t present = SlotOf(minute);
  for (int64_t slot = std::max<int64_t>(0, present - kSlots + 1); slot <= present; ++slot) {
    const Loss own = InSlot(slot, present);
    if (own.scored == 0) continue;
    const Loss unit = last_value.InSlot(slot, present);
    AddTo(sums, own, unit);
    const double more_error = double{own.error} - double{unit.error};
    const double more_pinball = double{own.pinball} - double{unit.pinball};
    sums.error_squares += more_error * more_error;
    sums.pinball_squares += more_pinball * more_pinball;
    sums.products += more_error * more_pinball;
  }
  return sums;
}

LossSums LossRecord::Week(int64_t minute, const LossRecord& last_value) const {
  LossSums sums;
  const int64_t today = SlotOf(minute) / kSlotsADay;
  for (int64_t day = std::max<int64_t>(0, today - kDays + 1); day <= today; ++day) {
    const Loss own = InDay(day, today);
    if (own.scored > 0) AddTo(sums, own, last_value.InDay(day, today));
  }
  return sums;
}

void LossRecord::AddTo(LossSums& sums, const Loss& own, const Loss& unit) {
  sums.error += double{own.error};
  sums.pinball += double{own.pinball};
  sums.last_value_error += double{unit.error};
  sums.last_value_pinball += double{unit.pinball};
  sums.scored += own.scored;
}

void LossRecord::Save(ByteWriter& out) const {
  SaveAmounts(slot_error_, out);
  SaveAmounts(slot_pinball_, out);
  SaveAmounts(slot_scored_, out);
  SaveAmounts(day_error_, out);
  SaveAmounts(day_pinball_, out);
  SaveAmounts(day_scored_, out);
  for (const float sum : {error_, pinball_, error_today_, pinball_today_}) {
    out.Fixed32(std::bit_cast<uint32_t>(sum));
  }
}

void LossRecord::Restore(ByteReader& in) {
  constexpr uint64_t kMostPacked = 0xFEFF;
  RestoreAmounts(slot_error_, kMostPacked, in);
  RestoreAmounts(slot_pinball_, kMostPacked, in);
  RestoreAmounts(slot_scored_, kMostASlot, in);
  RestoreAmounts(day_error_, kMostPacked, in);
  RestoreAmounts(day_pinball_, kMostPacked, in);
  RestoreAmounts(day_scored_, kMostADay, in);
  for (float* const sum : {&error_, &pinball_, &error_today_, &pinball_today_}) {
    *sum = RestoreFloat(in);
  }
}

}  // namespace tidemark::forecast
