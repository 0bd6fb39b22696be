#include "model/label.h"

#include <cstdint>

namespace tidemark {
namespace {

constexpr char kLabelTag = 0x0a;  // field 1, length-delimited: TimeSeries.labels and Label.name
constexpr char kValueTag = 0x12;  // field 2, length-delimited: Label.value

size_t VarintSize(uint64_t value) {
  size_t size = 1;
  while (value >= 0x80) {
    value >>= 7;
    ++size;
  }
  return size;
}

void AppendVarint(uint64_t value, std::string& out) {
  while (value >= 0x80) {
    out.push_back(static_cast<char>((value & 0x7f) | 0x80));
    value >>= 7;
  }
  out.push_back(static_cast<char>(value));
}

/// Takes one minimal varint off the front of `bytes`.
bool TakeVarint(std::string_view& bytes, uint64_t& value) {
  value = 0;
  for (unsigned shift = 0; shift < 35 && !bytes.empty(); shift += 7) {
    const auto byte = static_cast<unsigned char>(bytes.front());
    bytes.remove_prefix(1);
    value |= static_cast<uint64_t>(byte & 0x7f) << shift;
    if (byte < 0x80) return shift == 0 || byte != 0;
  }
  return false;
}

/// Takes `tag`, a length and that many bytes off the front of `bytes`.
bool TakeField(std::string_view& bytes, char tag, std::string_view& content) {
  uint64_t length = 0;
  if (bytes.empty() || bytes.front() != tag) return false;
  bytes.remove_prefix(1);
  if (!TakeVarint(bytes, length) || length > bytes.size()) return false;
  content = bytes.substr(0, length);
  bytes.remove_prefix(length);
  return true;
}

}  // namespace

std::string_view FindLabel(LabelsView labels, std::string_view name) {
  for (const LabelView& label : labels) {
    if (label.name == name) return label.value;
  }
  return {};
}

void AppendLabelBytes(LabelView label, std::string& out) {
  const size_t inner = 2 + VarintSize(label.name.size()) + label.name.size() +
                       VarintSize(label.value.size()) + label.value.size();
  out.push_back(kLabelTag);
  AppendVarint(inner, out);
  out.push_back(kLabelTag);
  AppendVarint(label.name.size(), out);
  out.append(label.name);
  out.push_back(kValueTag);
  AppendVarint(label.value.size(), out);
  out.append(label.value);
}

std::string EncodeLabels(LabelsView labels) {
  std::string bytes;
  for (const LabelView& label : labels) AppendLabelBytes(label, bytes);
  return bytes;
}

bool DecodeLabels(std::string_view bytes, std::vector<LabelView>& labels) {
  labels.clear();
  while (!bytes.empty()) {
    std::string_view inner;
    LabelView label;
    if (!TakeField(bytes, kLabelTag, inner) || !TakeField(inner, kLabelTag, label.name) ||
        !TakeField(inner, kValueTag, label.value) || !inner.empty() || label.value.empty()) {
      return false;
    }
    if (!labels.empty() && labels.back().name >= label.name) return false;
    labels.push_back(label);
  }
  return true;
}

std::string FormatLabels(LabelsView labels, size_t max_bytes) {
  std::string text(FindLabel(labels, kMetricNameLabel));
  text.push_back('{');
  bool first = true;
  for (const LabelView& label : labels) {
    if (label.name == kMetricNameLabel) continue;
    if (text.size() >= max_bytes) {
      text.append(first ? "..." : ", ...");
      break;
    }
    if (!first) text.append(", ");
    first = false;
    text.append(label.name.substr(0, max_bytes)).append("=\"");
    for (const char c : label.value.substr(0, max_bytes)) {
      if (c == '\\' || c == '"') text.push_back('\\');
      if (c == '\n') {
        text.append("\\n");
      } else {
        text.push_back(c);
      }
    }
    text.push_back('"');
  }
  text.push_back('}');
  return text;
}

}  // namespace tidemark
