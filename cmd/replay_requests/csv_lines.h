#pragma once
// CSV without quotes, line by line, cell by cell: all that traces and their manifest need.

#include <cstddef>
#include <string_view>
#include <vector>

namespace tidemark::replay_requests {

/// Views into a text, which must outlive it. Lines end with \n or \r\n; empty ones are passed over.
class CsvLines {
 public:
  explicit CsvLines(std::string_view text) : rest_(text) {}

  /// False at the end; `cells` are those of the line otherwise.
  bool Next(std::vector<std::string_view>& cells) {
    while (!rest_.empty()) {
      ++number_;
      line_ = rest_.substr(0, rest_.find('\n'));
      rest_.remove_prefix(line_.size() == rest_.size() ? line_.size() : line_.size() + 1);
      if (line_.ends_with('\r')) line_.remove_suffix(1);
      if (line_.empty()) continue;
      cells.clear();
      for (std::string_view left = line_;;) {
        const size_t comma = left.find(',');
        cells.push_back(left.substr(0, comma));
        if (comma == std::string_view::npos) return true;
        left.remove_prefix(comma + 1);
      }
    }
    return false;
  }
  /// Of the last line, from 1.
  size_t number() const { return number_; }
  std::string_view line() const { return line_; }

 private:
  std::string_view rest_;
  std::string_view line_;
  size_t number_ = 0;
};

}  // namespace tidemark::replay_requests
