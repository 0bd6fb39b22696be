#pragma once
// The pieces of a TimeSeries of remote write 1.0 that both passes read, and the usual forms of a
// label and of a series: nearly all have them, and are read in them with a third of the checks.
// Pure functions over somebody else's bytes, without allocation.

#include <cstdint>
#include <cstring>
#include <string_view>

#include "model/label.h"
#include "model/sample.h"
#include "remote_write/wire_fields.h"
#include "remote_write/wire_reader.h"

namespace tidemark::remote_write {

/// Reads a Label message.
inline DecodeError ReadLabel(std::string_view message, LabelView& label) {
  WireReader reader(message);
  while (!reader.AtEnd()) {
    uint32_t key = 0;
    if (const DecodeError error = reader.ReadKey(key); error != DecodeError::kNone) return error;
    DecodeError error = DecodeError::kNone;
    switch (key) {
      case BytesKey(1): error = reader.ReadBytes(label.name); break;
      case BytesKey(2): error = reader.ReadBytes(label.value); break;
      default: error = SkipUnknown(reader, key, FieldBit(1) | FieldBit(2));
    }
    if (error != DecodeError::kNone) return error;
  }
  return DecodeError::kNone;
}

/// Takes a whole labels field in its usual form: lengths of one byte, the name, the value and
/// nothing else. False leaves the reader where it was.
inline bool TakeUsualLabel(WireReader& reader, LabelView& label) {
  const std::string_view rest = reader.rest();
  if (rest.size() < 6) return false;
  const auto byte = [rest](size_t i) -> size_t { return static_cast<unsigned char>(rest[i]); };
  const size_t inner = byte(1);
  const size_t name = byte(3);
  if (byte(0) != BytesKey(1) || byte(2) != BytesKey(1)) return false;
  if (inner >= 0x80 || inner + 2 > rest.size() || name + 4 > inner) return false;
  const size_t value = inner - 4 - name;
  if (byte(4 + name) != BytesKey(2) || byte(5 + name) != value) return false;
  label.name = std::string_view(rest.data() + 4, name);
  label.value = std::string_view(rest.data() + 6 + name, value);
  reader.Advance(inner + 2);
  return true;
}

/// Splits a series that ends in one sample in its usual form: a time stamp of six bytes (1971 to
/// 2109), before it the value unless that is 0, which proto3 leaves out. What stands before the
/// sample is `labels` if it is labels at all: that the caller must know from elsewhere. Without
/// looking at a label, so that a series whose labels are known costs nothing but their hash.
inline bool SplitUsualSeries(std::string_view series, std::string_view& labels, Sample& sample) {
  constexpr size_t kTime = 7;    // key and six bytes
  constexpr size_t kValue = 9;   // key and eight bytes
  constexpr size_t kHeader = 2;  // key and length of the sample
  if (series.size() < kHeader + kTime + kValue) return false;
  const char* const end = series.data() + series.size();
  const auto byte = [end](size_t from_end) {
    return static_cast<unsigned char>(*(end - from_end));
  };
  if (byte(kTime) != VarintKey(2)) return false;
  uint64_t time = 0;
  std::memcpy(&time, end - 8, sizeof(time));
  time >>= 16;
  if ((time & 0x808080808080) != 0x008080808080) return false;
  size_t tail = kTime;
  if (byte(kTime + kValue) == Fixed64Key(1) && byte(kTime + kValue + 1) == kTime + kValue) {
    tail += kValue;
    std::memcpy(&sample.value, end - tail + 1, sizeof(sample.value));
  } else {
    sample.value = 0;
  }
  tail += kHeader;
  if (byte(tail) != BytesKey(2) || byte(tail - 1) != tail - kHeader) return false;
  sample.timestamp_ms = static_cast<int64_t>(
      (time & 0x7f) | (time >> 1 & 0x7f << 7) | (time >> 2 & 0x7f << 14) |
      (time >> 3 & 0x7f << 21) | (time >> 4 & 0x7fULL << 28) | (time >> 5 & 0x7fULL << 35));
  labels = series.substr(0, series.size() - tail);
  return true;
}

}  // namespace tidemark::remote_write
