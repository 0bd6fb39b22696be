#include "server/head_scanner.h"

namespace tidemark::server {

HeadScanner::State HeadScanner::Malformed(const char* problem) {
  problem_ = problem;
  return State::kMalformed;
}

HeadScanner::State HeadScanner::Scan(std::string_view input) {
  while (position_ < input.size()) {
    const char c = input[position_];
    if (last_ == '\r' && c != '\n') return Malformed("a carriage return without a line feed");
    if (c == '\n') {
      if (last_ != '\r') return Malformed("a line feed without a carriage return");
      const bool empty_line = position_ == line_begin_ + 1;
      const bool first_line = line_begin_ == begin_;
      ++position_;
      last_ = '\0';
      if (empty_line && !first_line) return State::kComplete;
      if (empty_line) {
        if (begin_ != 0) return Malformed("more than one empty line before the request line");
        begin_ = position_;
      }
      line_begin_ = position_;
      continue;
    }
    const auto byte = static_cast<unsigned char>(c);
    if ((byte < 0x20 && c != '\t' && c != '\r') || byte == 0x7f)
      return Malformed("a control character");
    if (position_ == line_begin_ && (c == ' ' || c == '\t')) {
      return Malformed("a line that begins with a blank (folded header lines are obsolete)");
    }
    last_ = c;
    ++position_;
  }
  return State::kIncomplete;
}

}  // namespace tidemark::server
