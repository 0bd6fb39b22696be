#pragma once
// What an exporter shows, as its families and rows: whoever collects them decides what becomes of
// them (text_page.h: the page of a scrape; history.h: samples of the past).

#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>

namespace tidemark::demo_cluster {

using PageLabel = std::pair<std::string_view, std::string_view>;

/// Appends `name="value"` pairs, separated by commas and escaped, to `out` (which may hold some
/// already).
void AppendLabels(std::initializer_list<PageLabel> labels, std::string& out);
/// Whole numbers in full, for people who read them; everything else as short as it is exact.
void AppendNumber(double value, std::string& out);

/// Families in order, each with its rows right after it. Not thread-safe.
class Page {
 public:
  virtual ~Page() = default;

  /// Begins a family. `type` is "counter" or "gauge"; all three have static storage.
  virtual void Family(std::string_view name, std::string_view type, std::string_view help) = 0;
  /// One row of the family begun last. `labels` as AppendLabels writes them.
  virtual void Row(std::string_view labels, double value) = 0;
  void Row(std::initializer_list<PageLabel> labels, double value);

 protected:
  Page() = default;
  Page(const Page&) = default;
  Page(Page&&) = default;
  Page& operator=(const Page&) = default;
  Page& operator=(Page&&) = default;

 private:
  std::string labels_;
};

}  // namespace tidemark::demo_cluster
