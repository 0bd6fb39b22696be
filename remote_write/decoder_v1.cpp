#include "remote_write/decoder_v1.h"

#include <algorithm>

#include "remote_write/histogram_check.h"
#include "remote_write/wire_fields.h"

namespace tidemark::remote_write {
namespace {

constexpr DecodeError kNone = DecodeError::kNone;

constexpr uint32_t kRequestFields = FieldBit(1) | FieldBit(3);
constexpr uint32_t kSeriesFields = FieldBit(1) | FieldBit(2) | FieldBit(3) | FieldBit(4);
constexpr uint32_t kLabelFields = FieldBit(1) | FieldBit(2);
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

inline DecodeError ReadLabel(std::string_view message, LabelView& label) {
  WireReader reader(message);
  while (!reader.AtEnd()) {
    uint32_t key = 0;
    if (const DecodeError error = reader.ReadKey(key); error != kNone) return error;
    DecodeError error = kNone;
    switch (key) {
      case BytesKey(1): error = reader.ReadBytes(label.name); break;
      case BytesKey(2): error = reader.ReadBytes(label.value); break;
      default: error = SkipUnknown(reader, key, kLabelFields);
    }
    if (error != kNone) return error;
  }
  return kNone;
}

/// Takes a whole labels field in its usual form: lengths of one byte, the name, the value and
/// nothing else. Nearly every label has it, and is read here with a third of the checks. False
/// leaves the reader where it was.
inline bool TakeUsualLabel(WireReader& reader, LabelView& label) {
  const std::string_view rest = reader.rest();
  if (rest.size() < 6) return false;
  const auto byte = [rest](size_t i) -> size_t { return static_cast<unsigned char>(rest[i]); };
  const size_t inner = byte(1);
  const size_t name = byte(3);
  if (byte(0) != kSeriesLabel || byte(2) != BytesKey(1)) return false;
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
    if (static_cast<unsigned char>(field[0]) != kSeriesSample ||
        static_cast<unsigned char>(field[1]) != size) {
      continue;
    }
    if (!ReadUsualSample(field.substr(2), sample)) continue;
    labels = series.substr(0, series.size() - tail);
    return true;
  }
  return false;
}

DecodeError ValidateExemplar(std::string_view message) {
  WireReader reader(message);
  while (!reader.AtEnd()) {
    uint32_t key = 0;
    if (const DecodeError error = reader.ReadKey(key); error != kNone) return error;
    DecodeError error = kNone;
    switch (key) {
      case BytesKey(1): {
        std::string_view bytes;
        LabelView label;
        error = reader.ReadBytes(bytes);
        if (error == kNone) error = ReadLabel(bytes, label);
        break;
      }
      case Fixed64Key(2):
      case VarintKey(3): error = reader.Skip(key); break;
      default: error = SkipUnknown(reader, key, kExemplarFields);
    }
    if (error != kNone) return error;
  }
  return kNone;
}

DecodeError ValidateMetadata(std::string_view message) {
  WireReader reader(message);
  while (!reader.AtEnd()) {
    uint32_t key = 0;
    if (const DecodeError error = reader.ReadKey(key); error != kNone) return error;
    DecodeError error = kNone;
    switch (key) {
      case VarintKey(1):
      case BytesKey(2):
      case BytesKey(4):
      case BytesKey(5): error = reader.Skip(key); break;
      default: error = SkipUnknown(reader, key, kMetadataFields);
    }
    if (error != kNone) return error;
  }
  return kNone;
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

/// Whether `field`, the wire bytes of one label, is the canonical encoding of `label`. No valid
/// encoding of the two strings is shorter, so the length alone tells that no byte is needless; then
/// only their order is open.
bool IsCanonical(std::string_view field, LabelView label) {
  if (label.name.empty() || label.value.empty()) return false;
  const size_t inner = 2 + VarintSize(label.name.size()) + label.name.size() +
                       VarintSize(label.value.size()) + label.value.size();
  return field.size() == 1 + VarintSize(inner) + inner && label.name.data() < label.value.data();
}

std::string_view Between(const char* begin, const char* end) {
  return {begin, static_cast<size_t>(end - begin)};
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

DecodeError DecoderV1::Walk(std::string_view message, SeriesVisitor& visitor) {
  WireReader reader(message);
  while (!reader.AtEnd()) {
    uint32_t key = 0;
    if (const DecodeError error = reader.ReadKey(key); error != kNone) return error;
    DecodeError error = kNone;
    if (key == kRequestSeries) {
      std::string_view series;
      error = reader.ReadBytes(series);
      std::string_view labels;
      Sample sample;
      if (error == kNone && SplitUsualSeries(series, labels, sample) &&
          visitor.OnRecognized(labels, sample)) {
        continue;
      }
      if (error == kNone) error = WalkSeries(series, visitor);
    } else {
      error = reader.Skip(key);
    }
    if (error != kNone) return error;
  }
  return kNone;
}

DecodeError DecoderV1::WalkSeries(std::string_view series, SeriesVisitor& visitor) {
  // Labels may come after samples, so they are gathered first; the rest is walked once they are
  // judged.
  const size_t max_labels = labels_.size() - 1;
  size_t count = 0;
  bool in_place = false;
  const char* labels_begin = nullptr;
  const char* labels_end = nullptr;
  const char* rest = nullptr;
  WireReader reader(series);
  while (!reader.AtEnd()) {
    const char* const begin = reader.position();
    LabelView& label = labels_[std::min(count, max_labels)];
    bool canonical = false;
    if (TakeUsualLabel(reader, label)) {
      canonical = !label.name.empty() && !label.value.empty();
    } else {
      uint32_t key = 0;
      if (const DecodeError error = reader.ReadKey(key); error != kNone) return error;
      if (key != kSeriesLabel) {
        if (rest == nullptr) rest = begin;
        if (const DecodeError error = reader.Skip(key); error != kNone) return error;
        continue;
      }
      std::string_view bytes;
      label = LabelView{};
      if (const DecodeError error = reader.ReadBytes(bytes); error != kNone) return error;
      if (const DecodeError error = ReadLabel(bytes, label); error != kNone) return error;
      canonical = IsCanonical(Between(begin, reader.position()), label);
    }
    if (count == 0) {
      labels_begin = begin;
      in_place = canonical;
    } else {
      in_place = in_place && canonical && begin == labels_end;
    }
    labels_end = reader.position();
    ++count;
  }

  WireLabels labels{std::span(labels_).first(std::min(count, max_labels)), count, {}};
  if (in_place && count <= max_labels) {
    labels.in_place = Between(labels_begin, labels_end);
  }
  visitor.OnLabels(labels);
  if (rest != nullptr) {
    const DecodeError error = WalkRest(Between(rest, series.data() + series.size()), visitor);
    if (error != kNone) return error;
  }
  visitor.OnSeriesEnd();
  return kNone;
}

DecodeError DecoderV1::WalkRest(std::string_view rest, SeriesVisitor& visitor) {
  size_t filled = 0;
  uint64_t exemplars = 0;
  WireReader reader(rest);
  while (!reader.AtEnd()) {
    uint32_t key = 0;
    std::string_view bytes;
    if (const DecodeError error = reader.ReadKey(key); error != kNone) return error;
    if (key == kSeriesSample) {
      Sample sample;
      if (const DecodeError error = reader.ReadBytes(bytes); error != kNone) return error;
      if (const DecodeError error = ReadSample<false>(bytes, sample); error != kNone) return error;
      if (filled == piece_.size()) {
        visitor.OnSamples(piece_);
        filled = 0;
      }
      piece_[filled++] = sample;
    } else if (key == kSeriesHistogram) {
      if (const DecodeError error = reader.ReadBytes(bytes); error != kNone) return error;
      visitor.OnHistogram(bytes);
    } else {
      if (key == kSeriesExemplar) ++exemplars;
      if (const DecodeError error = reader.Skip(key); error != kNone) return error;
    }
  }
  if (filled > 0) visitor.OnSamples({piece_.data(), filled});
  if (exemplars > 0) visitor.OnExemplars(exemplars);
  return kNone;
}

}  // namespace tidemark::remote_write
