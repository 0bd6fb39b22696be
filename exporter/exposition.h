#pragma once
// Writes metrics as text: Prometheus' text format 0.0.4 and OpenMetrics 1.0.
//
// Sources: prometheus.io/docs/instrumenting/exposition_formats, OpenMetrics 1.0.0 (sections "ABNF"
// and "Unit"). What differs between the two: OpenMetrics names a counter's family without `_total`,
// has UNIT lines, escapes `"` in HELP, and ends with `# EOF`. Sample lines are the same in both, so
// rendered lines can be used for either.
//
// Time stamps are never written: a series that leaves the page is then ended by the next scrape.
// Nothing here keeps a view after a call. Functions are thread-safe; a writer belongs to one
// thread.

#include <cstdint>
#include <set>
#include <span>
#include <string>
#include <string_view>

#include "model/label.h"

namespace tidemark::exporter {

enum class ExpositionFormat : uint8_t { kText, kOpenMetrics };

/// The Content-Type of a page.
std::string_view ContentType(ExpositionFormat format);

enum class MetricType : uint8_t { kCounter, kGauge };

/// The head of a metric family.
struct FamilyHeader {
  std::string_view name;  ///< as in the text format: a counter's ends in `_total`
  std::string_view help;  ///< one sentence; any UTF-8
  MetricType type = MetricType::kGauge;
  std::string_view
      unit;  ///< empty, or a word with which the name (before `_total`) ends; OpenMetrics only
};

/// `[a-zA-Z_][a-zA-Z0-9_]*`
bool IsLabelName(std::string_view name);

/// Appends the shortest decimal text that reads back as `value`; `NaN`, `+Inf`, `-Inf` for the
/// rest.
void AppendNumber(double value, std::string& out);

/// Appends `name="value"` with `\`, `"` and newline escaped. `name` must be a label name and
/// `value` UTF-8 (both are checked when series come in).
void AppendLabel(std::string_view name, std::string_view value, std::string& out);

/// Appends one page to a string, family by family.
class ExpositionWriter {
 public:
  /// `out` must outlive the writer.
  ExpositionWriter(ExpositionFormat format, std::string& out) : format_(format), out_(out) {}

  /// Begins a family; each may be begun once, so that its lines stay together.
  void BeginFamily(const FamilyHeader& header);
  /// One sample of the family begun last; labels are written in the order given (they need not be
  /// sorted).
  void Sample(std::span<const LabelView> labels, double value);
  /// Whole sample lines of the family begun last, each with its newline.
  void Lines(std::string_view rendered);
  /// Makes room for that many bytes to come; growing a large page by doubling costs more than
  /// writing it.
  void Reserve(size_t bytes);
  /// Ends the page. Call it once, last.
  void Finish();

  ExpositionFormat format() const { return format_; }

 private:
  ExpositionFormat format_;
  std::string& out_;
  std::string name_;                         // of the samples of the family begun last
  std::set<std::string, std::less<>> seen_;  // families, named as in OpenMetrics
};

}  // namespace tidemark::exporter
