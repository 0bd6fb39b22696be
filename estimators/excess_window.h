#pragma once
// The largest values of the last seven days, kept so that a tail can be fitted to them: of each day
// at most 64, with their minute, and how many observations there were.
//
// Observations are minutes of all pods of a container. A value up to the gate (the threshold that
// was estimated last) is only counted; beyond 64 a day, larger values displace smaller ones. Each
// day knows the largest value it let go, its floor: above the highest floor of the days in the ring
// nothing is missing, and that is where the tail begins, or higher. Days are those of UTC; the ring
// moves with the newest one, so a day that has nothing takes no room.
//
// A day that is neither today nor yesterday keeps no more than kKeptOfOld of its observations,
// which is more than a threshold at the quantile 0.98 needs, and at least kLeastKept.
//
// A kept value is 4 bytes: 21 bits of a float (a relative 2^-14 of rounding) and 11 bits of the
// minute within the day. Size: 176 bytes and 4 for each kept value: 1.3 KB
// for a pod without a gate, about 1 KB with one, 2 KB at most. Adding costs a comparison, seldom a
// step in a heap of 64.

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "estimators/peaks_over_threshold.h"
#include "model/byte_codec.h"
#include "model/result.h"

namespace tidemark::estimators {

/// A value type, not thread-safe. What comes in another order within the seven days gives the same
/// answers as long as the gate was the same.
class ExcessWindow {
 public:
  static constexpr int kDays = 7;
  static constexpr size_t kPerDay = 64;
  static constexpr int kMinutesPerDay = 1440;
  static constexpr double kKeptOfOld = 0.0225;
  static constexpr size_t kLeastKept = 16;
  /// So long without an excess, in minutes, ends a cluster of them.
  static constexpr int64_t kClusterGap = 10;
  static constexpr int kSavedFormat = 1;

  /// Takes one observation, of the minute `minute` since 1970. False, and nothing changed, when the
  /// value is negative, not finite or beyond a float, when the minute is more than seven days older
  /// than the newest, or before 1970 or after the year 4000.
  bool Add(int64_t minute, double value, double gate);

  /// Adds what `other` has: in each of the days the largest of both.
  void Merge(const ExcessWindow& other);

  uint64_t Observations() const;
  /// 0 without observations.
  double Largest() const;
  /// Above it nothing is missing; 0 when nothing was let go.
  double Floor() const;

  /// The tail above the highest of the floor, `threshold`, and the quantile `level` of the whole
  /// window where what is kept reaches so low.
  TailFit Fit(double level, double threshold, FitChoice choice) const;

  /// The quantile 1 - `risk` of the whole window; absent where it lies below the floor.
  std::optional<double> Empirical(double risk) const;

  /// How many kept values are above `threshold`, and how many of these are at least `cap`.
  struct AtCap {
    size_t excesses = 0;
    size_t at_cap = 0;
  };
  AtCap CountAtCap(double threshold, double cap) const;

  size_t MemoryBytes() const { return sizeof(*this) + kept_.capacity() * sizeof(uint32_t); }

  void Save(ByteWriter& out) const;
  /// kInvalidArgument when it is nothing that Save can have written.
  static Result<ExcessWindow> Restore(ByteReader& in);

 private:
  struct Day {
    int32_t day = 0;            // since 1970
    uint32_t observations = 0;  // at most UINT32_MAX
    float floor = 0;            // the largest value that was let go
    float largest = 0;
    uint32_t count = 0;  // of kept values

    friend bool operator==(const Day&, const Day&) = default;
  };

  std::span<const Day> Days() const { return std::span(days_).first(day_count_); }
  std::span<Day> Days() { return std::span(days_).first(day_count_); }
  Day* DayAt(int32_t day);
  size_t PlaceOf(const Day& day) const;
  void DropOldest();
  void TrimOld();
  void Keep(Day& day, uint32_t code);
  void Insert(size_t place, uint32_t code);
  std::vector<double> KeptAbove(double threshold) const;

  // Of one day after the other, oldest first; those of a day are a heap with the least on top.
  std::vector<uint32_t> kept_;
  std::array<Day, kDays> days_;  // ascending
  uint8_t day_count_ = 0;
};

}  // namespace tidemark::estimators
