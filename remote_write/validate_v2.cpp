#include "remote_write/decoder_v2.h"
#include "remote_write/histogram_check.h"
#include "remote_write/packed_numbers.h"
#include "remote_write/wire_fields.h"

namespace tidemark::remote_write {
namespace {

constexpr DecodeError kNone = DecodeError::kNone;

constexpr uint32_t kRequestFields = FieldBit(4) | FieldBit(5);
constexpr uint32_t kSeriesFields = 0x7e;  // 1 to 6
constexpr uint32_t kExemplarFields = FieldBit(1) | FieldBit(2) | FieldBit(3);
constexpr uint32_t kMetadataFields = FieldBit(1) | FieldBit(3) | FieldBit(4);

DecodeError ValidateExemplar(std::string_view message) {
  return ForEachField(message, [](WireReader& reader, uint32_t key) {
    switch (key) {
      case BytesKey(1): {
        std::string_view references;
        const DecodeError error = reader.ReadBytes(references);
        return error == kNone ? ValidatePacked(references) : error;
      }
      case VarintKey(1):
      case Fixed64Key(2):
      case VarintKey(3): return reader.Skip(key);
      default: return SkipUnknown(reader, key, kExemplarFields);
    }
  });
}

DecodeError ValidateMetadata(std::string_view message) {
  return ForEachField(message, [](WireReader& reader, uint32_t key) {
    switch (key) {
      case VarintKey(1):
      case VarintKey(3):
      case VarintKey(4): return reader.Skip(key);
      default: return SkipUnknown(reader, key, kMetadataFields);
    }
  });
}

DecodeError ValidateSeries(std::string_view series, RequestShape& shape) {
  bool has_metadata = false;
  WireReader reader(series);
  while (!reader.AtEnd()) {
    uint32_t key = 0;
    if (const DecodeError error = reader.ReadKey(key); error != kNone) return error;
    if (TypeOf(key) != WireType::kBytes || FieldNumber(key) > 5) {
      const bool is_number = key == VarintKey(1) || key == VarintKey(6);
      const DecodeError error =
          is_number ? reader.Skip(key) : SkipUnknown(reader, key, kSeriesFields);
      if (error != kNone) return error;
      continue;
    }
    std::string_view bytes;
    DecodeError error = reader.ReadBytes(bytes);
    if (error != kNone) return error;
    switch (FieldNumber(key)) {
      case 1: error = ValidatePacked(bytes); break;
      case 2: {
        Sample sample;
        error = ReadSample<true>(bytes, sample);
        ++shape.samples;
        break;
      }
      case 3: {
        bool consistent = false;
        error = CheckHistogram(bytes, consistent, true);
        ++shape.histograms;
        break;
      }
      case 4:
        error = ValidateExemplar(bytes);
        ++shape.exemplars;
        break;
      default:  // 5
        error = ValidateMetadata(bytes);
        has_metadata = true;
    }
    if (error != kNone) return error;
  }
  if (has_metadata) ++shape.metadata;
  return kNone;
}

}  // namespace

DecodeError ValidateV2(std::string_view message, RequestShape& shape) {
  shape = RequestShape{};
  bool fields_of_v1 = false;
  WireReader reader(message);
  while (!reader.AtEnd()) {
    shape.fault_offset = static_cast<uint64_t>(reader.position() - message.data());
    uint32_t key = 0;
    if (const DecodeError error = reader.ReadKey(key); error != kNone) return error;
    std::string_view bytes;
    DecodeError error = kNone;
    if (key == BytesKey(5)) {
      ++shape.series;
      error = reader.ReadBytes(bytes);
      if (error == kNone) error = ValidateSeries(bytes, shape);
    } else if (key == BytesKey(4)) {
      ++shape.symbols;
      error = reader.ReadBytes(bytes);
    } else {
      fields_of_v1 |= key == BytesKey(1) || key == BytesKey(3);
      error = SkipUnknown(reader, key, kRequestFields);
    }
    if (error != kNone) return error;
  }
  shape.fault_offset = 0;
  shape.looks_like_other = fields_of_v1 && shape.series == 0 && shape.symbols == 0;
  return kNone;
}

}  // namespace tidemark::remote_write
