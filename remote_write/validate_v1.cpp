#include "remote_write/decoder_v1.h"
#include "remote_write/histogram_check.h"
#include "remote_write/series_v1.h"
#include "remote_write/wire_fields.h"

namespace tidemark::remote_write {
namespace {

constexpr DecodeError kNone = DecodeError::kNone;

constexpr uint32_t kRequestFields = FieldBit(1) | FieldBit(3);
constexpr uint32_t kSeriesFields = FieldBit(1) | FieldBit(2) | FieldBit(3) | FieldBit(4);
constexpr uint32_t kExemplarFields = FieldBit(1) | FieldBit(2) | FieldBit(3);
constexpr uint32_t kMetadataFields = FieldBit(1) | FieldBit(2) | FieldBit(4) | FieldBit(5);

// WriteRequest
constexpr uint32_t kRequestSeries = BytesKey(1);
constexpr uint32_t kRequestMetadata = BytesKey(3);
constexpr uint32_t kSymbolsOfV2 = BytesKey(4);
constexpr uint32_t kSeriesOfV2 = BytesKey(5);
// TimeSeries
constexpr uint32_t kSeriesLabel = BytesKey(1);
constexpr uint32_t kSeriesSample = BytesKey(2);
constexpr uint32_t kSeriesExemplar = BytesKey(3);
constexpr uint32_t kSeriesHistogram = BytesKey(4);

DecodeError ValidateExemplar(std::string_view message) {
  return ForEachField(message, [](WireReader& reader, uint32_t key) {
    switch (key) {
      case BytesKey(1): {
        std::string_view bytes;
        LabelView label;
        const DecodeError error = reader.ReadBytes(bytes);
        return error == kNone ? ReadLabel(bytes, label) : error;
      }
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
      case BytesKey(2):
      case BytesKey(4):
      case BytesKey(5): return reader.Skip(key);
      default: return SkipUnknown(reader, key, kMetadataFields);
    }
  });
}

DecodeError ValidateSeries(std::string_view series, RequestShape& shape) {
  WireReader reader(series);
  while (!reader.AtEnd()) {
    LabelView usual;
    if (TakeUsualLabel(reader, usual)) continue;
    uint32_t key = 0;
    std::string_view bytes;
    if (const DecodeError error = reader.ReadKey(key); error != kNone) return error;
    if (TypeOf(key) != WireType::kBytes || FieldNumber(key) > 4) {
      if (const DecodeError error = SkipUnknown(reader, key, kSeriesFields); error != kNone) {
        return error;
      }
      continue;
    }
    DecodeError error = reader.ReadBytes(bytes);
    if (error != kNone) return error;
    switch (key) {
      case kSeriesLabel: {
        LabelView label;
        error = ReadLabel(bytes, label);
        break;
      }
      case kSeriesSample: {
        Sample sample;
        error = ReadSample<false>(bytes, sample);
        ++shape.samples;
        break;
      }
      case kSeriesExemplar:
        error = ValidateExemplar(bytes);
        ++shape.exemplars;
        break;
      case kSeriesHistogram: {
        bool consistent = false;
        error = CheckHistogram(bytes, consistent);
        ++shape.histograms;
        break;
      }
      default: break;
    }
    if (error != kNone) return error;
  }
  return kNone;
}

/// Tells all series that end as usual. Stops at the first fault, which the walk after it will meet
/// again.
void Announce(std::string_view message, SeriesRecognizer& recognizer) {
  recognizer.Start();
  WireReader reader(message);
  while (!reader.AtEnd()) {
    uint32_t key = 0;
    if (reader.ReadKey(key) != kNone) break;
    if (key != kRequestSeries) {
      if (reader.Skip(key) != kNone) break;
      continue;
    }
    std::string_view series;
    std::string_view labels;
    Sample sample;
    if (reader.ReadBytes(series) != kNone) break;
    if (SplitUsualSeries(series, labels, sample) && !recognizer.Announce(labels)) break;
  }
  recognizer.LookUp();
}

}  // namespace

DecodeError ValidateV1(std::string_view message, RequestShape& shape,
                       SeriesRecognizer* recognizer) {
  shape = RequestShape{};
  if (recognizer != nullptr) Announce(message, *recognizer);
  bool fields_of_v2 = false;
  WireReader reader(message);
  while (!reader.AtEnd()) {
    shape.fault_offset = static_cast<uint64_t>(reader.position() - message.data());
    uint32_t key = 0;
    if (const DecodeError error = reader.ReadKey(key); error != kNone) return error;
    std::string_view bytes;
    DecodeError error = kNone;
    if (key == kRequestSeries) {
      ++shape.series;
      error = reader.ReadBytes(bytes);
      std::string_view labels;
      Sample sample;
      if (error == kNone && recognizer != nullptr && SplitUsualSeries(bytes, labels, sample) &&
          recognizer->Recognizes(labels)) {
        ++shape.samples;
        continue;
      }
      if (error == kNone) error = ValidateSeries(bytes, shape);
    } else if (key == kRequestMetadata) {
      ++shape.metadata;
      error = reader.ReadBytes(bytes);
      if (error == kNone) error = ValidateMetadata(bytes);
    } else {
      fields_of_v2 |= key == kSymbolsOfV2 || key == kSeriesOfV2;
      error = SkipUnknown(reader, key, kRequestFields);
    }
    if (error != kNone) return error;
  }
  if (recognizer != nullptr) recognizer->Rewind();
  shape.fault_offset = 0;
  shape.looks_like_other = fields_of_v2 && shape.series == 0 && shape.metadata == 0;
  return kNone;
}

}  // namespace tidemark::remote_write
