#include "cmd/loadgen/body_encoder.h"

#include <snappy.h>

#include <bit>
#include <string_view>

#include "model/label.h"
#include "model/sample.h"

namespace tidemark::loadgen {
namespace {

// Keys of the fields, number and wire type (remote-write specification 1.0 and 2.0).
constexpr char kV1Series = 0x0a;     // 1, bytes
constexpr char kV2Symbol = 0x22;     // 4, bytes
constexpr char kV2Series = 0x2a;     // 5, bytes
constexpr char kV2Refs = 0x0a;       // 1, bytes (packed)
constexpr char kSample = 0x12;       // 2, bytes, in both
constexpr char kV2Metadata = 0x2a;   // 5, bytes
constexpr char kSampleValue = 0x09;  // 1, fixed64
constexpr char kSampleTime = 0x10;   // 2, varint
constexpr char kType = 0x08;         // 1, varint
constexpr char kHelpRef = 0x18;      // 3, varint
constexpr uint64_t kCounterType = 1;
constexpr uint64_t kGaugeType = 2;

void AppendVarint(uint64_t value, std::string& out) {
  while (value >= 0x80) {
    out.push_back(static_cast<char>((value & 0x7f) | 0x80));
    value >>= 7;
  }
  out.push_back(static_cast<char>(value));
}

size_t VarintSize(uint64_t value) {
  size_t size = 1;
  for (; value >= 0x80; value >>= 7) ++size;
  return size;
}

/// proto3 leaves a 0 out, as a tidy sender does.
void AppendSample(const LoadSeries& series, int64_t time_ms, std::string& out) {
  const int64_t at_ms = time_ms + series.offset_ms;
  const double value = series.ends ? StaleMarker() : ValueAt(series.shape, at_ms);
  const auto bits = std::bit_cast<uint64_t>(value);
  const size_t size = (bits == 0 ? 0 : 9) + 1 + VarintSize(static_cast<uint64_t>(at_ms));
  out.push_back(kSample);
  out.push_back(static_cast<char>(size));
  if (bits != 0) {
    out.push_back(kSampleValue);
    for (int shift = 0; shift < 64; shift += 8) out.push_back(static_cast<char>(bits >> shift));
  }
  out.push_back(kSampleTime);
  AppendVarint(static_cast<uint64_t>(at_ms), out);
}

void AppendField(char key, std::string_view head, std::string_view sample, std::string_view tail,
                 std::string& out) {
  out.push_back(key);
  AppendVarint(head.size() + sample.size() + tail.size(), out);
  out.append(head).append(sample).append(tail);
}

}  // namespace

void EncodeV1(std::span<const LoadSeries> series, int64_t time_ms, std::string& out) {
  out.clear();
  std::string sample;
  for (const LoadSeries& one : series) {
    sample.clear();
    AppendSample(one, time_ms, sample);
    AppendField(kV1Series, one.label_bytes, sample, {}, out);
  }
}

void EncoderV2::Learn(std::span<const LoadSeries> series) {
  symbols_.clear();
  heads_.clear();
  tails_.clear();
  std::unordered_map<std::string_view, uint64_t> known;
  const auto reference = [&](std::string_view symbol) {
    const auto [found, added] = known.emplace(symbol, known.size());
    if (added) AppendField(kV2Symbol, symbol, {}, {}, symbols_);
    return found->second;
  };
  reference("");  // the first symbol is the empty one
  std::vector<LabelView> labels;
  std::string refs;
  for (const LoadSeries& one : series) {
    refs.clear();
    DecodeLabels(one.label_bytes, labels);
    for (const LabelView& label : labels) {
      AppendVarint(reference(label.name), refs);
      AppendVarint(reference(label.value), refs);
    }
    AppendField(kV2Refs, refs, {}, {}, heads_.emplace_back());
    std::string metadata;
    metadata.push_back(kType);
    AppendVarint(one.family->is_counter ? kCounterType : kGaugeType, metadata);
    metadata.push_back(kHelpRef);
    AppendVarint(reference(one.family->help), metadata);
    AppendField(kV2Metadata, metadata, {}, {}, tails_.emplace_back());
  }
}

void EncoderV2::Encode(std::span<const LoadSeries> series, int64_t time_ms, std::string& out) {
  if (heads_.size() != series.size()) Learn(series);
  out = symbols_;
  std::string sample;
  for (size_t i = 0; i < series.size(); ++i) {
    sample.clear();
    AppendSample(series[i], time_ms, sample);
    AppendField(kV2Series, heads_[i], sample, tails_[i], out);
  }
}

std::string Pack(const std::string& message) {
  std::string block;
  snappy::Compress(message.data(), message.size(), &block);
  return block;
}

}  // namespace tidemark::loadgen
