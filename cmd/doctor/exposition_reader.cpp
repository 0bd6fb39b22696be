#include "cmd/doctor/exposition_reader.h"

#include <charconv>

namespace tidemark::doctor {
namespace {

struct Sample {
  std::string_view labels;  ///< between the braces
  double value = 0;
};

/// Calls `take` for each sample of the metric.
template <class Take>
void ForEach(std::string_view text, std::string_view name, const Take& take) {
  while (!text.empty()) {
    std::string_view line = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(line.size() + 1, text.size()));
    if (!line.starts_with(name)) continue;
    line.remove_prefix(name.size());
    Sample sample;
    if (line.starts_with('{')) {
      // Values may hold braces and escaped quotes.
      size_t end = 1;
      for (bool quoted = false; end < line.size() && (quoted || line[end] != '}'); ++end) {
        if (quoted && line[end] == '\\') {
          ++end;
        } else if (line[end] == '"') {
          quoted = !quoted;
        }
      }
      if (end >= line.size()) continue;
      sample.labels = line.substr(1, end - 1);
      line.remove_prefix(end + 1);
    }
    if (!line.starts_with(' ')) continue;
    line.remove_prefix(1);
    const auto [end, error] = std::from_chars(line.data(), line.data() + line.size(), sample.value);
    if (error == std::errc()) take(sample);
  }
}

std::string LabelOf(std::string_view labels, std::string_view label) {
  const std::string begin = std::string(label) + "=\"";
  size_t at = labels.find(begin);
  if (at == labels.npos || (at > 0 && labels[at - 1] != ',')) return "";
  at += begin.size();
  return std::string(labels.substr(at, labels.find('"', at) - at));
}

}  // namespace

std::optional<double> MetricValue(std::string_view text, std::string_view name) {
  std::optional<double> value;
  ForEach(text, name, [&](const Sample& sample) {
    if (sample.labels.empty()) value = sample.value;
  });
  return value;
}

std::map<std::string, double> MetricByLabel(std::string_view text, std::string_view name,
                                            std::string_view label) {
  std::map<std::string, double> values;
  ForEach(text, name,
          [&](const Sample& sample) { values[LabelOf(sample.labels, label)] += sample.value; });
  return values;
}

}  // namespace tidemark::doctor
