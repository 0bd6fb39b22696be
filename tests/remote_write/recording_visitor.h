#pragma once
// A SeriesVisitor that keeps what a decoder tells it.

#include <algorithm>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "remote_write/series_visitor.h"
#include "tests/remote_write/wire_builder.h"

namespace tidemark::remote_write::test {

struct SeenSeries {
  LabelList labels;
  uint64_t label_count = 0;
  std::string in_place;
  bool bad_reference = false;
  bool is_utf8 = false;
  std::vector<Sample> samples;
  size_t largest_piece = 0;
  size_t histograms = 0;
  uint64_t exemplars = 0;
};

class RecordingVisitor final : public SeriesVisitor {
 public:
  void OnLabels(const WireLabels& labels) override {
    SeenSeries& entry = series.emplace_back();
    for (const LabelView& label : labels.labels) entry.labels.emplace_back(label.name, label.value);
    entry.label_count = labels.count;
    entry.in_place = labels.in_place;
    entry.bad_reference = labels.bad_reference;
    entry.is_utf8 = labels.is_utf8;
  }
  void OnSamples(std::span<const Sample> samples) override {
    SeenSeries& entry = series.back();
    entry.samples.insert(entry.samples.end(), samples.begin(), samples.end());
    entry.largest_piece = std::max(entry.largest_piece, samples.size());
  }
  void OnHistogram(std::string_view) override { ++series.back().histograms; }
  void OnExemplars(uint64_t count) override { series.back().exemplars += count; }

  std::vector<SeenSeries> series;
};

}  // namespace tidemark::remote_write::test
