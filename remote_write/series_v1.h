#pragma once
// The pieces of a TimeSeries of remote write 1.0 that both passes read, and the usual forms of a
// label and of a series: nearly all have them, and are read in them with a third of the checks.
// Pure functions over somebody else's bytes, without allocation.

#include <cstdint>
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

/// Splits a series that ends in one sample in its usual form, before it the labels, if they are
/// labels at all: that the caller must know from elsewhere. Without looking at a label, so that a
/// series whose labels are known costs nothing but their hash.
inline bool SplitUsualSeries(std::string_view series, std::string_view& labels, Sample& sample) {
  for (const size_t size : {kUsualSampleBytes, kUsualZeroBytes}) {
    const size_t tail = 2 + size;  // with key and length
    if (series.size() < tail) continue;
    const std::string_view field = series.substr(series.size() - tail);
    if (static_cast<unsigned char>(field[0]) != BytesKey(2) ||
        static_cast<unsigned char>(field[1]) != size) {
      continue;
    }
    if (!ReadUsualSample(field.substr(2), sample)) continue;
    labels = series.substr(0, series.size() - tail);
    return true;
  }
  return false;
}

}  // namespace tidemark::remote_write
