#include "forecast/interval_record.h"

#include <algorithm>
#include <bit>
#include <cmath>

namespace tidemark::forecast {
namespace {

constexpr double kStep = 0.003;
constexpr double kLeastMiss = 0.005;
constexpr double kMostMiss = 0.45;
constexpr double kMostShift = 0.5;
constexpr uint8_t kMostAnHour = 60;

size_t SlotOf(int64_t hour) { return static_cast<size_t>(hour % IntervalRecord::kHours); }

float Moved(float shift, double miss, bool missed) {
  const double moved = double{shift} + kStep * (miss - (missed ? 1 : 0));
  // What was missed while the aim was at its bound is made up for later, within reason.
  return static_cast<float>(std::clamp(moved, -kMostShift, kMostShift));
}

}  // namespace

double IntervalRecord::Aim(double miss, float shift) {
  return std::clamp(miss + double{shift}, kLeastMiss, kMostMiss);
}

void IntervalRecord::Advance(int64_t hour, int64_t before) {
  for (int64_t skipped = std::max(before, hour - kHours) + 1; skipped <= hour; ++skipped) {
    intervals_[SlotOf(skipped)] = held_[SlotOf(skipped)] = 0;
  }
}

void IntervalRecord::Note(int64_t hour, double truth, double lower, double upper, double miss) {
  const size_t slot = SlotOf(hour);
  if (intervals_[slot] < kMostAnHour) {
    ++intervals_[slot];
    if (truth >= lower && truth <= upper) ++held_[slot];
  }
  lower_shift_ = Moved(lower_shift_, miss, truth < lower);
  upper_shift_ = Moved(upper_shift_, miss, truth > upper);
}

std::optional<double> IntervalRecord::Coverage() const {
  uint32_t intervals = 0;
  uint32_t held = 0;
  for (size_t slot = 0; slot < intervals_.size(); ++slot) {
    intervals += intervals_[slot];
    held += held_[slot];
  }
  if (intervals == 0) return std::nullopt;
  return static_cast<double>(held) / intervals;
}

void IntervalRecord::Save(ByteWriter& out) const {
  for (size_t slot = 0; slot < intervals_.size(); ++slot) {
    out.Byte(intervals_[slot]);
    out.Byte(held_[slot]);
  }
  out.Fixed32(std::bit_cast<uint32_t>(lower_shift_));
  out.Fixed32(std::bit_cast<uint32_t>(upper_shift_));
}

void IntervalRecord::Restore(ByteReader& in) {
  for (size_t slot = 0; slot < intervals_.size(); ++slot) {
    intervals_[slot] = in.Byte();
    held_[slot] = in.Byte();
    if (intervals_[slot] > kMostAnHour || held_[slot] > intervals_[slot]) in.Fail();
  }
  for (float* const shift : {&lower_shift_, &upper_shift_}) {
    *shift = std::bit_cast<float>(in.Fixed32());
    if (!(std::abs(*shift) <= 1)) in.Fail();
  }
  if (in.failed()) *this = IntervalRecord();
}

}  // namespace tidemark::forecast
