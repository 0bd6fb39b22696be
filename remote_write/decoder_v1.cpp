#include "remote_write/decoder_v1.h"

#include <algorithm>

#include "remote_write/series_v1.h"
#include "remote_write/wire_fields.h"

namespace tidemark::remote_write {
namespace {

constexpr DecodeError kNone = DecodeError::kNone;

// WriteRequest
constexpr uint32_t kRequestSeries = BytesKey(1);
// TimeSeries
constexpr uint32_t kSeriesLabel = BytesKey(1);
constexpr uint32_t kSeriesSample = BytesKey(2);
constexpr uint32_t kSeriesExemplar = BytesKey(3);
constexpr uint32_t kSeriesHistogram = BytesKey(4);

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

}  // namespace

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
