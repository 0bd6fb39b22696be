#pragma once
// An amount of 0 or more in 16 bits: the upper half of a float without its sign, within a relative
// 2^-9 of what it was. For sums and lines that are many and need no more.

#include <algorithm>
#include <bit>
#include <cstdint>

namespace tidemark::forecast {

/// Of a finite amount of 0 or more; the largest ones become the largest that there is.
constexpr uint16_t PackAmount(float amount) {
  constexpr uint32_t kLargest = 0xFEFF;  // below infinity
  const uint32_t bits = std::bit_cast<uint32_t>(std::max(0.0F, amount));
  return static_cast<uint16_t>(std::min(kLargest, (bits + 0x4000) >> 15));
}

/// Finite for what PackAmount made.
constexpr float UnpackAmount(uint16_t packed) {
  return std::bit_cast<float>(static_cast<uint32_t>(packed) << 15);
}

/// Whether PackAmount can have made it.
constexpr bool IsPackedAmount(uint16_t packed) { return packed <= 0xFEFF; }

}  // namespace tidemark::forecast
