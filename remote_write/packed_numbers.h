#pragma once
// Packed fields of uint32: numbers of remote write 2.0 that name symbols. Pure functions over
// somebody else's bytes, without allocation.

#include <cstdint>
#include <cstring>
#include <string_view>

#include "remote_write/wire_reader.h"

namespace tidemark::remote_write {

/// Whether `packed` is whole numbers of at most two bytes each, eight bytes at a time: no byte with
/// its high bit set may follow another, and none may be the last.
inline bool IsPackedShort(std::string_view packed) {
  constexpr uint64_t kHighBits = 0x8080808080808080ULL;
  uint64_t before = 0;  // the high bit of the byte before
  uint64_t doubled = 0;
  while (packed.size() >= sizeof(uint64_t)) {
    uint64_t word = 0;
    std::memcpy(&word, packed.data(), sizeof(word));
    word &= kHighBits;
    doubled |= word & (word << 8 | before);
    before = word >> 56;
    packed.remove_prefix(sizeof(word));
  }
  for (const char c : packed) {
    const auto high = static_cast<uint64_t>(static_cast<unsigned char>(c)) & 0x80;
    doubled |= high & before;
    before = high;
  }
  return (doubled | before) == 0;
}

/// Calls `take` with each number, cut to 32 bits as protobuf reads a uint32.
template <class Take>
[[nodiscard]] inline DecodeError ForEachPacked(std::string_view packed, Take take) {
  WireReader numbers(packed);
  while (!numbers.AtEnd()) {
    uint64_t value = 0;
    if (const DecodeError error = numbers.ReadVarint(value); error != DecodeError::kNone) {
      return error;
    }
    take(static_cast<uint32_t>(value));
  }
  return DecodeError::kNone;
}

/// Whether `packed` is a field of numbers at all.
[[nodiscard]] inline DecodeError ValidatePacked(std::string_view packed) {
  if (IsPackedShort(packed)) return DecodeError::kNone;
  return ForEachPacked(packed, [](uint32_t) {});
}

/// Takes two numbers below 2^14 off the front; false leaves the reader where it was.
inline bool TakeShortPair(WireReader& reader, uint32_t& first, uint32_t& second) {
  const std::string_view rest = reader.rest();
  if (rest.size() < 4) return false;
  const auto byte = [rest](size_t i) -> uint32_t { return static_cast<unsigned char>(rest[i]); };
  size_t at = 0;
  const auto take = [&](uint32_t& value) {
    value = byte(at++);
    if (value < 0x80) return true;
    const uint32_t high = byte(at++);
    value = (value & 0x7f) | high << 7;
    return high < 0x80;
  };
  if (!take(first) || !take(second)) return false;
  reader.Advance(at);
  return true;
}

}  // namespace tidemark::remote_write
