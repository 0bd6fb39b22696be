#pragma once
// The demand of one workload over the last eight days, one value for each step of the clock.
//
// Values are kept in 16 bits with a scale for each day (UTC): what is read is within 1/65534 of the
// day's largest value of what was put. Steps for which nothing came are gaps and read as NaN; they
// are never filled in. Memory: 2 bytes for each step of the days that are known, 26 kB when full
// with steps of a minute, 5 kB with five.
//
// A value type, not thread-safe. Put and At are O(1), but for a value that raises a day's scale.

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "model/byte_codec.h"

namespace tidemark::forecast {

/// Consecutive steps of demand, oldest first; NaN for gaps.
struct DemandSeries {
  int64_t first = 0;  ///< step of values[0], counted from 1970
  std::vector<float> values;

  int64_t end() const { return first + static_cast<int64_t>(values.size()); }
  /// NaN outside.
  float At(int64_t step) const;
};

class DemandHistory {
 public:
  static constexpr int32_t kDays = 8;

  /// `step_minutes` divides a day.
  explicit DemandHistory(int32_t step_minutes = 1);
  DemandHistory(const DemandHistory& other);
  DemandHistory& operator=(const DemandHistory& other);
  DemandHistory(DemandHistory&&) noexcept = default;
  DemandHistory& operator=(DemandHistory&&) noexcept = default;

  int32_t step_minutes() const { return step_minutes_; }
  /// The step of a time, Unix milliseconds of 0 or more.
  int64_t StepOf(int64_t time_ms) const { return time_ms / (60'000LL * step_minutes_); }
  int64_t TimeOf(int64_t step) const { return step * 60'000LL * step_minutes_; }

  bool IsEmpty() const { return newest_ < 0; }
  int64_t newest() const { return newest_; }  ///< step of the newest value; -1 without any
  int64_t oldest() const { return oldest_; }  ///< of the oldest that is kept; -1 without any
  /// Steps between oldest and newest, both counted; 0 without any.
  int64_t Span() const { return IsEmpty() ? 0 : newest_ - oldest_ + 1; }

  /// Of a finite demand of 0 or more; what is newer than all moves the window on, what is older
  /// than the window is let be.
  void Put(int64_t step, double demand);
  /// NaN for what is not known.
  float At(int64_t step) const;
  /// The out.size() steps up to and with `last`, oldest first.
  void Window(int64_t last, std::span<float> out) const;
  /// From oldest to newest.
  DemandSeries Series() const;

  /// Takes over what `earlier` knows and this does not. Of the same step.
  void FillFrom(const DemandHistory& earlier);
  /// The same demand in steps of so many minutes, a multiple of the present; the mean of what is
  /// known of each.
  DemandHistory InStepsOf(int32_t minutes) const;

  size_t MemoryBytes() const;
  void Save(ByteWriter& out) const;
  /// Fails the reader, and leaves this empty, where it is nothing that Save can have written.
  void Restore(ByteReader& in);

 private:
  struct Day {
    int64_t number = -1;
    float scale = 0;              ///< of one code
    std::vector<uint16_t> codes;  ///< 0: not known; else demand / scale + 1
  };

  int64_t StepsADay() const { return 1440 / step_minutes_; }
  Day* Find(int64_t day);
  const Day* Find(int64_t day) const;
  static void Encode(Day& day, size_t at, float demand);
  void DropBefore(int64_t step);

  int32_t step_minutes_;
  int64_t newest_ = -1;
  int64_t oldest_ = -1;
  std::array<std::unique_ptr<Day>, kDays + 1> days_;  // by number % (kDays + 1)
};

}  // namespace tidemark::forecast
