#pragma once
// What the readers of both protocols share: keys of fields as they stand on the wire, and the
// Sample message. Pure functions over somebody else's bytes.

#include <bit>
#include <cstdint>
#include <cstring>
#include <string_view>

#include "model/sample.h"
#include "remote_write/wire_reader.h"

namespace tidemark::remote_write {

constexpr uint32_t BytesKey(uint32_t number) { return FieldKey(number, WireType::kBytes); }
constexpr uint32_t VarintKey(uint32_t number) { return FieldKey(number, WireType::kVarint); }
constexpr uint32_t Fixed64Key(uint32_t number) { return FieldKey(number, WireType::kFixed64); }

/// For the sets of field numbers that SkipUnknown takes.
constexpr uint32_t FieldBit(uint32_t number) { return 1U << number; }

/// A Sample message in its usual form: the value, and a time stamp of six bytes (1971 to 2109).
inline constexpr size_t kUsualSampleBytes = 16;
/// The same without the value, which is then 0.
inline constexpr size_t kUsualZeroBytes = 7;

/// Reads a Sample message in its usual form, without a branch for each byte; false when it has
/// another.
inline bool ReadUsualSample(std::string_view message, Sample& sample) {
  constexpr size_t kValueBytes = kUsualSampleBytes - kUsualZeroBytes;
  const auto byte = [message](size_t at) { return static_cast<unsigned char>(message[at]); };
  const bool has_value = message.size() == kUsualSampleBytes;
  if (has_value ? byte(0) != Fixed64Key(1) : message.size() != kUsualZeroBytes) return false;
  const size_t key = has_value ? kValueBytes : 0;
  if (byte(key) != VarintKey(2)) return false;
  uint32_t low = 0;
  uint16_t high = 0;
  std::memcpy(&low, message.data() + key + 1, sizeof(low));
  std::memcpy(&high, message.data() + key + 5, sizeof(high));
  const uint64_t time = uint64_t{high} << 32 | low;
  if ((time & 0x808080808080) != 0x008080808080) return false;
  // Six groups of seven bits, the lowest first.
  uint64_t joined = 0;
  for (unsigned group = 0; group < 6; ++group) {
    joined |= (time >> (8 * group) & 0x7f) << (7 * group);
  }
  sample.timestamp_ms = static_cast<int64_t>(joined);
  sample.value = 0;
  if (has_value) std::memcpy(&sample.value, message.data() + 1, sizeof(sample.value));
  return true;
}

/// Calls `take(reader, key)` with each field of `message`, its value still to be read or passed
/// over; stops at the first error.
template <class Take>
[[nodiscard]] inline DecodeError ForEachField(std::string_view message, Take take) {
  WireReader reader(message);
  while (!reader.AtEnd()) {
    uint32_t key = 0;
    if (const DecodeError error = reader.ReadKey(key); error != DecodeError::kNone) return error;
    if (const DecodeError error = take(reader, key); error != DecodeError::kNone) return error;
  }
  return DecodeError::kNone;
}

/// Reads a Sample message. 1.0 has no field 3 and skips it like any other it does not know; in 2.0
/// it is the start time stamp.
template <bool kHasStart>
inline DecodeError ReadSample(std::string_view message, Sample& sample) {
  if (ReadUsualSample(message, sample)) return DecodeError::kNone;
  constexpr uint32_t kFields = FieldBit(1) | FieldBit(2) | (kHasStart ? FieldBit(3) : 0);
  return ForEachField(message, [&sample](WireReader& reader, uint32_t key) {
    uint64_t bits = 0;
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
    return error;
  });
}

}  // namespace tidemark::remote_write
