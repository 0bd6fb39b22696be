#include "remote_write/decoder_v2.h"

#include <algorithm>

#include "remote_write/canonical_writer.h"
#include "remote_write/packed_numbers.h"
#include "remote_write/wire_fields.h"

namespace tidemark::remote_write {
namespace {

constexpr DecodeError kNone = DecodeError::kNone;

// Request
constexpr uint32_t kRequestSymbol = BytesKey(4);
constexpr uint32_t kRequestSeries = BytesKey(5);
// TimeSeries
constexpr uint32_t kPackedReferences = BytesKey(1);
constexpr uint32_t kLooseReference = VarintKey(1);
constexpr uint32_t kSeriesSample = BytesKey(2);
constexpr uint32_t kSeriesHistogram = BytesKey(3);
constexpr uint32_t kSeriesExemplar = BytesKey(4);
constexpr uint32_t kSeriesMetadata = BytesKey(5);
constexpr uint32_t kSeriesCreated = VarintKey(6);
// Metadata
constexpr uint32_t kHelpReference = VarintKey(3);
constexpr uint32_t kUnitReference = VarintKey(4);

/// Memory for labels is booked in pieces of this size.
constexpr uint64_t kBookingStep = 256 << 10;

/// The labels that were written out as `bytes`.
void ReadBack(std::string_view bytes, std::vector<LabelView>& labels) {
  labels.clear();
  WireReader reader(bytes);
  uint32_t key = 0;
  std::string_view inner;
  while (!reader.AtEnd()) {
    LabelView& label = labels.emplace_back();
    if (reader.ReadKey(key) != kNone || reader.ReadBytes(inner) != kNone) return;
    WireReader fields(inner);
    if (fields.ReadKey(key) != kNone || fields.ReadBytes(label.name) != kNone) return;
    if (fields.ReadKey(key) != kNone || fields.ReadBytes(label.value) != kNone) return;
  }
}

/// What a start time stamp is worth: 0 unless it is a time at or before the sample's own. A sample
/// that has none takes `created_ms`, the entry's (drafts of 2.0 up to rc.3).
void SettleStart(Sample& sample, int64_t created_ms) {
  int64_t& start = sample.start_timestamp_ms;
  if (start == 0) start = created_ms;
  if (start < 0 || start > sample.timestamp_ms) start = 0;
}

}  // namespace

struct DecoderV2::Entry {
  uint64_t references = 0;
  bool bad_reference = false;
  uint64_t samples = 0;
  bool has_histograms = false;
  uint64_t exemplars = 0;
  int64_t created_ms = 0;
  uint32_t help_reference = 0;
  uint32_t unit_reference = 0;
};

DecodeError DecoderV2::Walk(std::string_view message, const RequestShape& shape,
                            SeriesVisitor& visitor, SeriesRecognizer* recognizer,
                            RequestMemory* memory) {
  label_bytes_ = 0;
  booked_label_bytes_ = 0;
  memory_ = memory;
  recognizer_ = recognizer;
  waiting_count_ = 0;
  if (const DecodeError error = GatherSymbols(message, shape); error != kNone) return error;
  WireReader reader(message);
  while (!reader.AtEnd()) {
    uint32_t key = 0;
    if (const DecodeError error = reader.ReadKey(key); error != kNone) return error;
    DecodeError error = kNone;
    if (key == kRequestSeries) {
      std::string_view series;
      error = reader.ReadBytes(series);
      if (error == kNone) error = WalkSeries(series, visitor);
    } else {
      error = reader.Skip(key);
    }
    if (error != kNone) return error;
  }
  TellWaiting(visitor);
  return kNone;
}

/// In their order; those that are not known as any other series.
void DecoderV2::TellWaiting(SeriesVisitor& visitor) {
  if (waiting_count_ == 0) return;
  const std::span<const Waiting> waiting = std::span(waiting_).first(waiting_count_);
  waiting_count_ = 0;
  recognizer_->Start();
  for (const Waiting& series : waiting) recognizer_->Announce(series.label_bytes);
  recognizer_->LookUp();
  for (const Waiting& series : waiting) {
    if (visitor.OnRecognized(series.label_bytes, series.sample)) continue;
    ReadBack(series.label_bytes, read_back_);
    WireLabels labels{read_back_, read_back_.size(), series.label_bytes};
    labels.is_utf8 = symbols_.all_utf8();
    visitor.OnLabels(labels);
    visitor.OnSamples({&series.sample, 1});
    visitor.OnSeriesEnd();
  }
}

void DecoderV2::Clear() {
  symbols_.Trim();
  arena_.Clear();
}

DecodeError DecoderV2::GatherSymbols(std::string_view message, const RequestShape& shape) {
  if (memory_ != nullptr && shape.symbols > SymbolTable::kKeptSymbols &&
      !memory_->Take(shape.symbols * SymbolTable::kSymbolBytes)) {
    return DecodeError::kNoRoom;
  }
  symbols_.Start(message, shape.symbols);
  WireReader reader(message);
  while (!reader.AtEnd()) {
    uint32_t key = 0;
    if (const DecodeError error = reader.ReadKey(key); error != kNone) return error;
    const char* const length = reader.position();
    if (const DecodeError error = reader.Skip(key); error != kNone) return error;
    if (key == kRequestSymbol) symbols_.Add(length);
  }
  return kNone;
}

DecodeError DecoderV2::WalkSeries(std::string_view series, SeriesVisitor& visitor) {
  // Whatever in the entry names a symbol can refuse all of it, so the whole is read before any of
  // it is told. The usual entry needs no second look.
  Entry entry;
  if (const DecodeError error = ReadEntry(series, entry); error != kNone) return error;
  const uint64_t count = entry.references / 2;
  const size_t kept = std::min<uint64_t>(count, labels_.size() - 1);
  WireLabels labels{std::span(labels_).first(kept), count, {}};
  labels.bad_reference = HasBadReference(entry);
  labels.is_utf8 = symbols_.all_utf8();
  if (!labels.bad_reference && count == kept) {
    if (const DecodeError error = WriteLabels(labels); error != kNone) return error;
  }
  const bool usual = entry.samples == 1 && !entry.has_histograms && entry.exemplars == 0;
  if (recognizer_ != nullptr && usual && !labels.in_place.empty()) {
    SettleStart(piece_.front(), entry.created_ms);
    waiting_[waiting_count_++] = {labels.in_place, piece_.front()};
    if (waiting_count_ == kMaxWaiting) TellWaiting(visitor);
    return kNone;
  }
  TellWaiting(visitor);
  visitor.OnLabels(labels);
  if (entry.has_histograms || entry.samples > piece_.size()) {
    if (const DecodeError error = WalkAgain(series, entry.created_ms, visitor); error != kNone) {
      return error;
    }
  } else if (entry.samples > 0) {
    const std::span<Sample> samples = std::span(piece_).first(entry.samples);
    for (Sample& sample : samples) SettleStart(sample, entry.created_ms);
    visitor.OnSamples(samples);
  }
  if (entry.exemplars > 0) visitor.OnExemplars(entry.exemplars);
  visitor.OnSeriesEnd();
  return kNone;
}

/// Reads all of an entry but its histograms, and of its samples those that fit into piece_.
DecodeError DecoderV2::ReadEntry(std::string_view series, Entry& entry) {
  WireReader reader(series);
  while (!reader.AtEnd()) {
    uint32_t key = 0;
    uint64_t value = 0;
    std::string_view bytes;
    if (const DecodeError error = reader.ReadKey(key); error != kNone) return error;
    if (TypeOf(key) == WireType::kBytes) {
      if (const DecodeError error = reader.ReadBytes(bytes); error != kNone) return error;
    }
    DecodeError error = kNone;
    switch (key) {
      case kPackedReferences: error = ReadReferences(bytes, entry); break;
      case kLooseReference:
        error = reader.ReadVarint(value);
        if (error == kNone) TakeReference(static_cast<uint32_t>(value), entry);
        break;
      case kSeriesSample:
        if (entry.samples < piece_.size()) {
          Sample& sample = piece_[entry.samples];
          sample = Sample{};
          error = ReadSample<true>(bytes, sample);
        }
        ++entry.samples;
        break;
      case kSeriesHistogram: entry.has_histograms = true; break;
      case kSeriesExemplar:
        error = CheckExemplar(bytes, entry.bad_reference);
        ++entry.exemplars;
        break;
      case kSeriesMetadata: error = ReadMetadata(bytes, entry); break;
      case kSeriesCreated:
        error = reader.ReadVarint(value);
        entry.created_ms = static_cast<int64_t>(value);
        break;
      default:
        if (TypeOf(key) != WireType::kBytes) error = reader.Skip(key);
    }
    if (error != kNone) return error;
  }
  return kNone;
}

/// Tells samples and histograms.
DecodeError DecoderV2::WalkAgain(std::string_view series, int64_t created_ms,
                                 SeriesVisitor& visitor) {
  size_t filled = 0;
  WireReader reader(series);
  while (!reader.AtEnd()) {
    uint32_t key = 0;
    std::string_view bytes;
    if (const DecodeError error = reader.ReadKey(key); error != kNone) return error;
    if (key == kSeriesSample) {
      Sample sample;
      if (const DecodeError error = reader.ReadBytes(bytes); error != kNone) return error;
      if (const DecodeError error = ReadSample<true>(bytes, sample); error != kNone) return error;
      SettleStart(sample, created_ms);
      if (filled == piece_.size()) {
        visitor.OnSamples(piece_);
        filled = 0;
      }
      piece_[filled++] = sample;
    } else if (key == kSeriesHistogram) {
      if (const DecodeError error = reader.ReadBytes(bytes); error != kNone) return error;
      visitor.OnHistogram(bytes);
    } else if (const DecodeError error = reader.Skip(key); error != kNone) {
      return error;
    }
  }
  if (filled > 0) visitor.OnSamples({piece_.data(), filled});
  return kNone;
}

inline std::string_view DecoderV2::Symbol(uint32_t reference, Entry& entry) const {
  if (reference < symbols_.size()) [[likely]]
    return symbols_[reference];
  entry.bad_reference = true;
  return {};
}

void DecoderV2::TakeReference(uint32_t reference, Entry& entry) {
  const uint64_t position = entry.references++;
  LabelView& label = labels_[std::min<uint64_t>(position / 2, labels_.size() - 1)];
  (position % 2 == 0 ? label.name : label.value) = Symbol(reference, entry);
}

DecodeError DecoderV2::ReadReferences(std::string_view packed, Entry& entry) {
  WireReader reader(packed);
  // Whole labels of short references, as long as there is room for them.
  if (entry.references % 2 == 0) {
    for (uint64_t i = entry.references / 2; i < labels_.size(); ++i) {
      uint32_t name = 0;
      uint32_t value = 0;
      if (!TakeShortPair(reader, name, value)) break;
      labels_[i] = {Symbol(name, entry), Symbol(value, entry)};
      entry.references += 2;
    }
  }
  return ForEachPacked(reader.rest(), [&](uint32_t reference) { TakeReference(reference, entry); });
}

DecodeError DecoderV2::CheckExemplar(std::string_view message, bool& bad_reference) const {
  uint64_t references = 0;
  const auto take = [&](uint32_t reference) {
    ++references;
    bad_reference |= reference >= symbols_.size();
  };
  WireReader reader(message);
  while (!reader.AtEnd()) {
    uint32_t key = 0;
    uint64_t value = 0;
    std::string_view bytes;
    if (const DecodeError error = reader.ReadKey(key); error != kNone) return error;
    DecodeError error = kNone;
    switch (key) {
      case kPackedReferences:
        error = reader.ReadBytes(bytes);
        if (error == kNone) error = ForEachPacked(bytes, take);
        break;
      case kLooseReference:
        error = reader.ReadVarint(value);
        take(static_cast<uint32_t>(value));
        break;
      default: error = reader.Skip(key);
    }
    if (error != kNone) return error;
  }
  bad_reference |= references % 2 != 0;
  return kNone;
}

DecodeError DecoderV2::ReadMetadata(std::string_view message, Entry& entry) {
  WireReader reader(message);
  while (!reader.AtEnd()) {
    uint32_t key = 0;
    if (const DecodeError error = reader.ReadKey(key); error != kNone) return error;
    if (key != kHelpReference && key != kUnitReference) {
      if (const DecodeError error = reader.Skip(key); error != kNone) return error;
      continue;
    }
    uint64_t value = 0;
    if (const DecodeError error = reader.ReadVarint(value); error != kNone) return error;
    (key == kHelpReference ? entry.help_reference : entry.unit_reference) =
        static_cast<uint32_t>(value);
  }
  return kNone;
}

bool DecoderV2::HasBadReference(const Entry& entry) const {
  // 0 is what a field that was left out has: no text, whatever the table holds.
  const auto is_bad = [this](uint32_t reference) {
    return reference != 0 && reference >= symbols_.size();
  };
  return entry.bad_reference || entry.references % 2 != 0 || is_bad(entry.help_reference) ||
         is_bad(entry.unit_reference);
}

/// Writes `labels` out into the arena, in their order, and points them there. What is no label of a
/// canonical set stays where it is: the visitor has to put it right.
DecodeError DecoderV2::WriteLabels(WireLabels& labels) {
  size_t least = 0;
  bool canonical = !labels.labels.empty();
  for (const LabelView& label : labels.labels) {
    least += CanonicalWriter::LeastBytes(label);
    canonical = canonical && !label.name.empty() && !label.value.empty();
  }
  // What is not written out here is written out by the visitor, so it counts as much.
  label_bytes_ += least;
  if (label_bytes_ > max_label_bytes_) return DecodeError::kLabelsTooLarge;
  if (label_bytes_ > booked_label_bytes_) {
    const uint64_t step = std::max<uint64_t>(label_bytes_ - booked_label_bytes_, kBookingStep);
    if (memory_ != nullptr && !memory_->Take(step)) return DecodeError::kNoRoom;
    booked_label_bytes_ += step;
  }
  if (!canonical) return kNone;
  const size_t long_lengths = labels.labels.size() * CanonicalWriter::kLongLengthBytes;
  char* const begin = arena_.Reserve(least + long_lengths + CanonicalWriter::kSlackBytes);
  CanonicalWriter writer(begin, symbols_.message());
  for (LabelView& label : std::span(labels_).first(labels.labels.size())) writer.Write(label);
  labels.in_place = arena_.Take(static_cast<size_t>(writer.end() - begin));
  return kNone;
}

}  // namespace tidemark::remote_write
