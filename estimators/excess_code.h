#pragma once
// A value and the minute of its day in 4 bytes: what an ExcessWindow keeps.
//
// The upper 21 bits are those of a positive float (8 of the exponent, 13 of the fraction), rounded
// to the nearest; the lower 11 the minute. So codes order by value first.

#include <bit>
#include <cstdint>

namespace tidemark::estimators {

inline constexpr int kMinuteBits = 11;  // 1440 minutes
inline constexpr int kDroppedBits = 32 - 1 - (32 - kMinuteBits);
/// What is larger is not kept; far above any amount there is.
inline constexpr double kLargestExcess = 1e30;
/// About the year 4000.
inline constexpr int64_t kLastMinute = int64_t{1440} * 365 * 2030;

/// `value` must be from 0 to kLargestExcess, `minute` below 1440.
inline uint32_t CodeOf(double value, uint32_t minute) {
  const auto bits = std::bit_cast<uint32_t>(static_cast<float>(value));
  const uint32_t rounded = (bits + (1U << (kDroppedBits - 1))) >> kDroppedBits;
  return rounded << kMinuteBits | minute;
}

inline double ValueOf(uint32_t code) {
  return std::bit_cast<float>(code >> kMinuteBits << kDroppedBits);
}

inline uint32_t MinuteOf(uint32_t code) { return code & ((1U << kMinuteBits) - 1); }

}  // namespace tidemark::estimators
