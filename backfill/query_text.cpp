#include "backfill/query_text.h"

#include <fmt/format.h>

#include <chrono>

#include "model/quoted.h"

namespace tidemark::backfill {

std::string Quoted(std::string_view text) { return QuotedText(text); }

std::string QuotedMeta(std::string_view text) {
  constexpr std::string_view kSpecial = "\\.+*?()|[]{}^$";  // regexp.QuoteMeta of Go
  std::string out;
  for (const char c : text) {
    if (kSpecial.find(c) != std::string_view::npos) out.push_back('\\');
    out.push_back(c);
  }
  return out;
}

void Matchers::Append(std::string_view label, std::string_view op, std::string_view value) {
  if (!text_.empty()) text_.push_back(',');
  fmt::format_to(std::back_inserter(text_), "{}{}{}", label, op, Quoted(value));
}

Matchers& Matchers::Equals(std::string_view label, std::string_view value) {
  Append(label, "=", value);
  return *this;
}

Matchers& Matchers::NotEquals(std::string_view label, std::string_view value) {
  Append(label, "!=", value);
  return *this;
}

Matchers& Matchers::OneOf(std::string_view label, std::span<const std::string> values) {
  if (values.size() == 1) return Equals(label, values.front());
  std::string expression;
  for (const std::string& value : values) {
    if (!expression.empty()) expression.push_back('|');
    expression.append(QuotedMeta(value));
  }
  Append(label, "=~", expression);
  return *this;
}

Matchers IdentityMatchers(const PastMetric& metric) {
  Matchers out;
  for (const std::string* label :
       {&metric.namespace_label, &metric.pod_label, &metric.container_label}) {
    if (!label->empty()) out.NotEquals(*label, "");
  }
  // The sandbox of a pod, as docker names it.
  if (!metric.container_label.empty()) out.NotEquals(metric.container_label, "POD");
  return out;
}

std::string SelectorOf(const PastMetric& metric, std::string_view more) {
  const bool both = !metric.matchers.empty() && !more.empty();
  return fmt::format("{}{{{}{}{}}}", metric.metric, metric.matchers, both ? "," : "", more);
}

std::string CountBy(const std::vector<std::string>& labels, std::string_view selector) {
  std::string names;
  for (const std::string& label : labels) {
    if (label.empty()) continue;
    if (!names.empty()) names.append(",");
    names.append(label);
  }
  return fmt::format("count by ({}) ({})", names, selector);
}

std::string SecondsText(int64_t unix_ms) {
  return fmt::format("{}.{:03}", unix_ms / 1000, unix_ms % 1000);
}

std::string TimeText(int64_t unix_ms) {
  using namespace std::chrono;
  const sys_seconds time{seconds(unix_ms / 1000)};
  const sys_days day = floor<days>(time);
  const year_month_day date(day);
  const hh_mm_ss<seconds> clock(time - day);
  return fmt::format("{:04}-{:02}-{:02}T{:02}:{:02}:{:02}Z", static_cast<int>(date.year()),
                     static_cast<unsigned>(date.month()), static_cast<unsigned>(date.day()),
                     clock.hours().count(), clock.minutes().count(), clock.seconds().count());
}

std::string SpanText(int64_t from_ms, int64_t to_ms) {
  return fmt::format("{} to {}", TimeText(from_ms), TimeText(to_ms));
}

}  // namespace tidemark::backfill
