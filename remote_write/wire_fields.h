#pragma once
// What the readers of both protocols share: keys of fields as they stand on the wire, and the
// Sample message. Pure functions over somebody else's bytes.

#include <bit>
#include <cstdint>
#include <string_view>

#include "model/sample.h"
#include "remote_write/wire_reader.h"

namespace tidemark::remote_write {

constexpr uint32_t BytesKey(uint32_t number) { return FieldKey(number, WireType::kBytes); }
constexpr uint32_t VarintKey(uint32_t number) { return FieldKey(number, WireType::kVarint); }
constexpr uint32_t Fixed64Key(uint32_t number) { return FieldKey(number, WireType::kFixed64); }

/// For the sets of field numbers that SkipUnknown takes.
constexpr uint32_t FieldBit(uint32_t number) { return 1U << number; }

/// Reads a Sample message. 1.0 has no field 3 and skips it like any other it does not know; in 2.0
/// it is the start time stamp.
template <bool kHasStart>
inline DecodeError ReadSample(std::string_view message, Sample& sample) {
  constexpr uint32_t kFields = FieldBit(1) | FieldBit(2) | (kHasStart ? FieldBit(3) : 0);
  WireReader reader(message);
  while (!reader.AtEnd()) {
    uint32_t key = 0;
    uint64_t bits = 0;
    if (const DecodeError error = reader.ReadKey(key); error != DecodeError::kNone) return error;
    DecodeError error = DecodeError::kNone;
    if (key == Fixed64Key(1)) {
      error = reader.ReadFixed64(bits);
      sample.value = std::bit_cast<double>(bits);
    } else if (key == VarintKey(2)) {
      error = reader.ReadVarint(bits);
      sample.timestamp_ms = static_cast<int64_t>(bits);
    } else if (kHasStart && key == VarintKey(3)) {
      error = reader.ReadVarint(bits);
      sample.start_timestamp_ms = static_cast<int64_t>(bits);
    } else {
      error = SkipUnknown(reader, key, kFields);
    }
    if (error != DecodeError::kNone) return error;
  }
  return DecodeError::kNone;
}

}  // namespace tidemark::remote_write
