#pragma once
// Columns of text.

#include <string>
#include <vector>

namespace tidemark::replay_requests {

/// Cells in columns as wide as they need, two spaces apart; the first `left` columns begin at their
/// left, the others end at their right. Widths count characters of UTF-8. Not thread-safe.
class TextTable {
 public:
  explicit TextTable(size_t left) : left_(left) {}

  void Add(std::vector<std::string> cells) { rows_.push_back(std::move(cells)); }
  std::string Text() const;

 private:
  const size_t left_;
  std::vector<std::vector<std::string>> rows_;
};

}  // namespace tidemark::replay_requests
