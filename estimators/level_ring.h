#pragma once
// One level of use for each of the last kSlots hours (or days), by slots of the clock.
//
// A slot is the number of hours (days) since 1970 in UTC, so that the rings of two halves of one
// history lie upon each other. Slots for which nothing came stay unknown. Advancing is O(1) for
// each slot passed, at most kSlots.

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>

#include "estimators/event_time.h"
#include "estimators/level_code.h"
#include "model/byte_codec.h"

namespace tidemark::estimators {

/// The hour (day) of `time`, counted from 1970.
inline int32_t HourOf(Time time) {
  return static_cast<int32_t>(
      std::chrono::floor<std::chrono::hours>(time.time_since_epoch()).count());
}
constexpr int32_t kHoursOfADay = 24;
constexpr int32_t kHoursOfAWeek = 7 * kHoursOfADay;
constexpr int32_t DayOfHour(int32_t hour) {
  return hour >= 0 ? hour / kHoursOfADay : -((-hour - 1) / kHoursOfADay) - 1;
}

/// A value type of 2 * kSlots + 4 bytes, not thread-safe.
template <size_t kSlots>
class LevelRing {
 public:
  bool IsEmpty() const { return CodeAt(newest_) == kUnknownLevel; }
  /// The newest slot that is known; of an empty ring it says nothing.
  int32_t newest() const { return newest_; }

  /// kUnknownLevel also for slots that are newer or too old.
  LevelCode CodeAt(int32_t slot) const {
    if (slot > newest_ || newest_ - int64_t{slot} >= int64_t{kSlots}) return kUnknownLevel;
    return cells_[Index(slot)];
  }
  /// 0 for what is not known.
  double At(int32_t slot) const { return DecodeLevel(CodeAt(slot)); }

  /// The slot's level becomes this one. A slot that is too old for the ring is let be.
  void Put(int32_t slot, double level) { PutCode(slot, EncodeLevel(level)); }
  /// The slot's level becomes this one where that is more.
  void Raise(int32_t slot, double level) {
    const LevelCode code = EncodeLevel(level);
    if (code > CodeAt(slot)) PutCode(slot, code);
  }

  /// The largest of the `count` slots up to `last`.
  LevelCode Largest(int32_t last, int32_t count) const {
    LevelCode largest = kUnknownLevel;
    for (int32_t slot = last - count + 1; slot <= last; ++slot) {
      largest = std::max(largest, CodeAt(slot));
    }
    return largest;
  }

  /// Each slot becomes the larger of the two.
  void Merge(const LevelRing& other) {
    if (other.IsEmpty()) return;
    for (int32_t back = kSlots - 1; back >= 0; --back) {
      const int32_t slot = other.newest_ - back;
      const LevelCode code = other.CodeAt(slot);
      if (code > CodeAt(slot)) PutCode(slot, code);
    }
  }

  void Save(ByteWriter& out) const {
    out.Bool(!IsEmpty());
    if (IsEmpty()) return;
    out.Signed(newest_);
    for (int32_t back = kSlots - 1; back >= 0; --back) out.Varint(CodeAt(newest_ - back));
  }
  /// Fails the reader where it is nothing that Save can have written.
  void Restore(ByteReader& in) {
    *this = LevelRing();
    if (!in.Bool() || in.failed()) return;
    const int64_t newest = in.Signed();
    if (newest < -kMostSlot || newest > kMostSlot) return in.Fail();
    for (int32_t back = kSlots - 1; back >= 0; --back) {
      const uint64_t code = in.Varint();
      if (code > UINT16_MAX) in.Fail();
      if (!in.failed() && code != kUnknownLevel) {
        PutCode(static_cast<int32_t>(newest) - back, static_cast<LevelCode>(code));
      }
    }
    if (in.failed() || newest_ != newest || IsEmpty()) {
      *this = LevelRing();
      in.Fail();
    }
  }

 private:
  static constexpr int32_t kMostSlot = 3'000'000;  // beyond every hour that Time has

  static size_t Index(int32_t slot) {
    const int32_t rest = slot % static_cast<int32_t>(kSlots);
    return static_cast<size_t>(rest < 0 ? rest + static_cast<int32_t>(kSlots) : rest);
  }
  void PutCode(int32_t slot, LevelCode code) {
    if (IsEmpty() || slot - int64_t{newest_} >= int64_t{kSlots}) {
      cells_.fill(kUnknownLevel);
      newest_ = slot;
    }
    for (; newest_ < slot; ++newest_) cells_[Index(newest_ + 1)] = kUnknownLevel;
    if (newest_ - int64_t{slot} < int64_t{kSlots}) cells_[Index(slot)] = code;
  }

  int32_t newest_ = 0;
  std::array<LevelCode, kSlots> cells_{};
};

/// Eight days: the same hour of a week before is known with the hours on either side of it.
using HourRing = LevelRing<192>;
using DayRing = LevelRing<8>;

}  // namespace tidemark::estimators
