#pragma once
// The decay factors that were needed last.
//
// The samples of one minute mostly have the same age against the same reference time and the same
// half-life, whatever container they are of; a power of two need then be computed once for all.

#include <array>
#include <chrono>
#include <cmath>
#include <cstddef>
#include <cstdint>

namespace tidemark::estimators {

/// A value type of 192 bytes that its owner hands to DecayingHistogram::Add; not thread-safe.
/// Answers are to the last bit those that are computed without it.
class DecayCache {
 public:
  /// 2^(age / half_life). `half_life` must be above zero.
  double Factor(std::chrono::nanoseconds age, std::chrono::nanoseconds half_life) {
    const auto mixed = static_cast<uint64_t>(age.count()) * 0x9E3779B97F4A7C15U +
                       static_cast<uint64_t>(half_life.count());
    Entry& entry = entries_[mixed >> 61];
    if (entry.age != age.count() || entry.half_life != half_life.count()) {
      entry = {age.count(), half_life.count(), Compute(age, half_life)};
    }
    return entry.factor;
  }

  static double Compute(std::chrono::nanoseconds age, std::chrono::nanoseconds half_life) {
    return std::exp2(static_cast<double>(age.count()) / static_cast<double>(half_life.count()));
  }

 private:
  struct Entry {
    int64_t age = 0;
    int64_t half_life = 0;  // 0 is no half-life: nothing is here yet
    double factor = 1;
  };
  static constexpr size_t kEntries = 8;  // the upper three bits choose
  std::array<Entry, kEntries> entries_;
};

}  // namespace tidemark::estimators
