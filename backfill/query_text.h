#pragma once
// PromQL texts. Pure functions.

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "model/past.h"

namespace tidemark::backfill {

/// In double quotes, escaped as PromQL reads it back.
std::string Quoted(std::string_view text);
/// `text` as a regular expression of RE2 that matches it alone.
std::string QuotedMeta(std::string_view text);

/// Matchers beyond the metric's own, comma-separated.
class Matchers {
 public:
  Matchers& Equals(std::string_view label, std::string_view value);
  Matchers& NotEquals(std::string_view label, std::string_view value);
  /// One of `values`; none of them empty.
  Matchers& OneOf(std::string_view label, std::span<const std::string> values);
  const std::string& text() const { return text_; }

 private:
  void Append(std::string_view label, std::string_view op, std::string_view value);
  std::string text_;
};

/// Matchers that leave out rows of pods, sandboxes, slices and nodes: each label of the metric's
/// identity is there.
Matchers IdentityMatchers(const PastMetric& metric);

/// `metric{own matchers,more}`.
std::string SelectorOf(const PastMetric& metric, std::string_view more);

/// `count by (labels) (selector)`; empty names are left out.
std::string CountBy(const std::vector<std::string>& labels, std::string_view selector);

/// Unix time as the API reads it: seconds with three decimals.
std::string SecondsText(int64_t unix_ms);
/// For people: `2026-11-01T06:00:00Z`.
std::string TimeText(int64_t unix_ms);
std::string SpanText(int64_t from_ms, int64_t to_ms);

}  // namespace tidemark::backfill
