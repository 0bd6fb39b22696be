#include "exporter/exposition.h"

#include <algorithm>
#include <cassert>
#include <charconv>
#include <cmath>
#include <iterator>

namespace tidemark::exporter {
namespace {

constexpr std::string_view kCounterSuffix = "_total";

bool IsLetter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }
bool IsDigit(char c) { return c >= '0' && c <= '9'; }

/// Appends `text` with a backslash and newline escaped, and quotes where they would end the text.
void AppendEscaped(std::string_view text, bool escape_quotes, std::string& out) {
  size_t copied =
      0;  // a plain loop: names are short, and find_first_of pays a call for every character
  for (size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (c != '\\' && c != '\n' && !(c == '"' && escape_quotes)) continue;
    out.append(text.substr(copied, i - copied));
    out.push_back('\\');
    out.push_back(c == '\n' ? 'n' : c);
    copied = i + 1;
  }
  out.append(text.substr(copied));
}

std::string_view OpenMetricsName(const FamilyHeader& header) {
  std::string_view name = header.name;
  if (header.type == MetricType::kCounter) name.remove_suffix(kCounterSuffix.size());
  return name;
}

}  // namespace

std::string_view ContentType(ExpositionFormat format) {
  return format == ExpositionFormat::kOpenMetrics
             ? "application/openmetrics-text; version=1.0.0; charset=utf-8"
             : "text/plain; version=0.0.4; charset=utf-8";
}

bool IsLabelName(std::string_view name) {
  return !name.empty() && IsLetter(name.front()) &&
         std::all_of(name.begin(), name.end(), [](char c) { return IsLetter(c) || IsDigit(c); });
}

void AppendNumber(double value, std::string& out) {
  if (std::isnan(value)) {
    out += "NaN";
  } else if (std::isinf(value)) {
    out += value > 0 ? "+Inf" : "-Inf";
  } else {
    char text[32];  // the longest, -2.2250738585072014e-308, has 24 characters
    const auto end = std::to_chars(std::begin(text), std::end(text), value).ptr;
    out.append(std::begin(text), end);
  }
}

void AppendLabel(std::string_view name, std::string_view value, std::string& out) {
  assert(IsLabelName(name));
  out.append(name);
  out += "=\"";
  AppendEscaped(value, true, out);
  out.push_back('"');
}

void ExpositionWriter::BeginFamily(const FamilyHeader& header) {
  assert(IsLabelName(header.name));
  assert(header.type != MetricType::kCounter || header.name.ends_with(kCounterSuffix));
  const std::string_view openmetrics_name = OpenMetricsName(header);
  assert(header.unit.empty() || openmetrics_name.ends_with(header.unit));
  const bool first_time = seen_.emplace(openmetrics_name).second;
  assert(first_time);
  static_cast<void>(first_time);

  name_ = header.name;
  const bool openmetrics = format_ == ExpositionFormat::kOpenMetrics;
  const std::string_view family = openmetrics ? openmetrics_name : header.name;
  out_.append("# HELP ").append(family).push_back(' ');
  AppendEscaped(header.help, openmetrics, out_);
  out_.append("\n# TYPE ").append(family);
  out_ += header.type == MetricType::kCounter ? " counter\n" : " gauge\n";
  if (openmetrics && !header.unit.empty()) {
    out_.append("# UNIT ").append(family).append(" ").append(header.unit).push_back('\n');
  }
}

void ExpositionWriter::Sample(std::span<const LabelView> labels, double value) {
  assert(!name_.empty());
  out_.append(name_);
  char separator = '{';
  for (const LabelView& label : labels) {
    out_.push_back(separator);
    AppendLabel(label.name, label.value, out_);
    separator = ',';
  }
  if (!labels.empty()) out_.push_back('}');
  out_.push_back(' ');
  AppendNumber(value, out_);
  out_.push_back('\n');
}

void ExpositionWriter::Reserve(size_t bytes) { out_.reserve(out_.size() + bytes); }

void ExpositionWriter::Lines(std::string_view rendered) {
  assert(rendered.empty() || (rendered.starts_with(name_) && rendered.back() == '\n'));
  out_.append(rendered);
}

void ExpositionWriter::Finish() {
  if (format_ == ExpositionFormat::kOpenMetrics) out_ += "# EOF\n";
}

}  // namespace tidemark::exporter
