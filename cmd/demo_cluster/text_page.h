#pragma once
// Writes Prometheus' text exposition format 0.0.4.

#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>

namespace tidemark::demo_cluster {

using PageLabel = std::pair<std::string_view, std::string_view>;

/// Appends `name="value"` pairs, separated by commas and escaped, to `out` (which may hold some
/// already).
void AppendLabels(std::initializer_list<PageLabel> labels, std::string& out);

/// A page in the making: families in order, each with its rows right after it. Not thread-safe.
class TextPage {
 public:
  /// Begins a family. `type` is "counter" or "gauge".
  void Family(std::string_view name, std::string_view type, std::string_view help);
  /// One row of the family begun last. `labels` as AppendLabels writes them.
  void Row(std::string_view labels, double value);
  void Row(std::initializer_list<PageLabel> labels, double value);

  /// The page so far; the object is then empty.
  std::string Take() { return std::exchange(text_, {}); }

 private:
  std::string text_;
  std::string name_;
  std::string labels_;
};

}  // namespace tidemark::demo_cluster
