#pragma once
// Writes Prometheus' text exposition format 0.0.4.

#include <string>
#include <string_view>
#include <utility>

#include "cmd/demo_cluster/page.h"

namespace tidemark::demo_cluster {

/// A page in the making. Not thread-safe.
class TextPage final : public Page {
 public:
  using Page::Row;
  void Family(std::string_view name, std::string_view type, std::string_view help) override;
  void Row(std::string_view labels, double value) override;

  /// The page so far; the object is then empty.
  std::string Take() { return std::exchange(text_, {}); }

 private:
  std::string text_;
  std::string name_;
};

}  // namespace tidemark::demo_cluster
