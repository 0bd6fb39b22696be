#pragma once
// Labels of a series, as views into somebody else's bytes, and their canonical encoding.
//
// The canonical encoding of a label set is what remote write 1.0 puts on the wire for it when the
// sender is tidy: for each label, sorted by name, the protobuf field 1 of TimeSeries (tag 0x0a,
// length, name field, value field) with minimal varints. A tidy sender's bytes can so be hashed,
// compared and journalled where they lie; other senders' labels are re-encoded and then are the
// same series.

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace tidemark {

inline constexpr std::string_view kMetricNameLabel = "__name__";

struct LabelView {
  std::string_view name;
  std::string_view value;

  friend bool operator==(const LabelView&, const LabelView&) = default;
};

/// A label set: sorted by name, names unique, no empty value.
using LabelsView = std::span<const LabelView>;

/// The value of label `name`, empty when absent (an absent label and an empty value are the same in
/// Prometheus).
std::string_view FindLabel(LabelsView labels, std::string_view name);

/// Appends the canonical encoding of one label to `out`.
void AppendLabelBytes(LabelView label, std::string& out);

/// The canonical encoding of `labels`.
std::string EncodeLabels(LabelsView labels);

/// Reads a canonical encoding back into `labels` (cleared first); the views point into `bytes`.
/// False when `bytes` is not a canonical encoding of a label set; `labels` is then unspecified.
bool DecodeLabels(std::string_view bytes, std::vector<LabelView>& labels);

/// `{name="value", …}` for people, the metric name in front, cut to about `max_bytes`.
std::string FormatLabels(LabelsView labels, size_t max_bytes = 256);

}  // namespace tidemark
