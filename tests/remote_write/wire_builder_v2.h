#pragma once
// Requests of both protocols from one description, and messages of 2.0 field by field.

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include "model/sample.h"
#include "tests/remote_write/wire_builder.h"

namespace tidemark::remote_write::test {

/// The symbols of one request of 2.0, and what names them.
class Symbols {
 public:
  uint32_t Ref(std::string_view text) {
    const auto found = std::find(texts_.begin(), texts_.end(), text);
    if (found != texts_.end()) return static_cast<uint32_t>(found - texts_.begin());
    texts_.emplace_back(text);
    return static_cast<uint32_t>(texts_.size() - 1);
  }
  /// The packed references of labels, in their order: field 1 of a series or an exemplar.
  std::string Refs(const LabelList& labels) {
    std::string packed;
    for (const auto& [name, value] : labels) {
      const uint32_t name_ref = Ref(name);
      packed += Varint(name_ref) + Varint(Ref(value));
    }
    return BytesField(1, packed);
  }
  /// All fields 4 of the request.
  std::string Fields() const {
    std::string out;
    for (const std::string& text : texts_) out += BytesField(4, text);
    return out;
  }

 private:
  std::vector<std::string> texts_ = {""};
};

/// A TimeSeries entry of a Request.
inline std::string SeriesV2(std::string_view content) { return BytesField(5, content); }
/// As SampleField, with a start time stamp.
inline std::string SampleFieldV2(const Sample& sample) {
  std::string content =
      DoubleField(1, sample.value) + VarintField(2, static_cast<uint64_t>(sample.timestamp_ms));
  if (sample.start_timestamp_ms != 0) {
    content += VarintField(3, static_cast<uint64_t>(sample.start_timestamp_ms));
  }
  return BytesField(2, content);
}

/// One entry, whatever the protocol.
struct Item {
  LabelList labels;
  std::vector<Sample> samples;
  std::vector<std::string> histograms = {};  ///< messages
  struct OneExemplar {
    LabelList labels;
    double value = 0;
    int64_t timestamp_ms = 0;
  };
  std::vector<OneExemplar> exemplars = {};
  struct Metadata {
    uint64_t type = 1;
    std::string help;
    std::string unit;
  };
  std::vector<Metadata> metadata = {};  ///< none or one
};

/// Metadata go into fields of their own.
inline std::string EncodeV1(const std::vector<Item>& items) {
  std::string out;
  for (const Item& item : items) {
    std::string series = Labels(item.labels);
    for (const Sample& sample : item.samples) {
      series += SampleField(sample.value, sample.timestamp_ms);
    }
    for (const Item::OneExemplar& exemplar : item.exemplars) {
      series += BytesField(3, Labels(exemplar.labels) + DoubleField(2, exemplar.value) +
                                  VarintField(3, static_cast<uint64_t>(exemplar.timestamp_ms)));
    }
    for (const std::string& histogram : item.histograms) series += BytesField(4, histogram);
    out += Series(series);
    for (const Item::Metadata& metadata : item.metadata) {
      out += BytesField(3, VarintField(1, metadata.type) + BytesField(4, metadata.help) +
                               BytesField(5, metadata.unit));
    }
  }
  return out;
}

inline std::string EncodeV2(const std::vector<Item>& items) {
  Symbols symbols;
  std::string out;
  for (const Item& item : items) {
    std::string series = symbols.Refs(item.labels);
    for (const Sample& sample : item.samples) series += SampleFieldV2(sample);
    for (const std::string& histogram : item.histograms) series += BytesField(3, histogram);
    for (const Item::OneExemplar& exemplar : item.exemplars) {
      series += BytesField(4, symbols.Refs(exemplar.labels) + DoubleField(2, exemplar.value) +
                                  VarintField(3, static_cast<uint64_t>(exemplar.timestamp_ms)));
    }
    for (const Item::Metadata& metadata : item.metadata) {
      const uint32_t help = symbols.Ref(metadata.help);
      series += BytesField(5, VarintField(1, metadata.type) + VarintField(3, help) +
                                  VarintField(4, symbols.Ref(metadata.unit)));
    }
    out += SeriesV2(series);
  }
  return symbols.Fields() + out;
}

}  // namespace tidemark::remote_write::test
