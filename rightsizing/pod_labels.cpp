#include "rightsizing/pod_labels.h"

#include <cctype>
#include <string_view>

#include "model/label.h"
#include "model/revision_label.h"

namespace tidemark::rightsizing {
namespace {

bool IsLower(char c) { return c >= 'a' && c <= 'z'; }
bool IsUpper(char c) { return c >= 'A' && c <= 'Z'; }
bool IsDigit(char c) { return c >= '0' && c <= '9'; }

/// What Prometheus has no letter for becomes "_"; "fooBar" becomes "foo_bar".
std::string MetricName(std::string_view label) {
  std::string name = "label_";
  char before = '_';
  for (const char c : label) {
    if (IsUpper(c)) {
      if (IsLower(before) || IsDigit(before)) name += '_';
      name += static_cast<char>(c - 'A' + 'a');
    } else {
      name += IsLower(c) || IsDigit(c) ? c : '_';
    }
    before = c;
  }
  return name;
}

}  // namespace

std::string ProfileLabels(const TextMap& labels) {
  // Of two labels with one name all but the first get a number; the first gets one afterwards.
  std::map<std::string, std::vector<std::string_view>> by_name;
  for (const auto& [label, value] : labels) by_name[MetricName(label)].push_back(value);
  std::map<std::string, std::string_view> named;
  for (const auto& [name, values] : by_name) {
    for (size_t i = 0; i < values.size(); ++i) {
      named[values.size() == 1 ? name : name + "_conflict" + std::to_string(i + 1)] = values[i];
    }
  }
  std::string encoded;
  for (const auto& [name, value] : named) {
    if (value.empty() || IsRevisionLabel(name)) continue;
    AppendLabelBytes({name, value}, encoded);
    if (encoded.size() > kMaxStableLabelBytes) return {};
  }
  return encoded;
}

}  // namespace tidemark::rightsizing
