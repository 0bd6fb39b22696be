#pragma once
// Finds the end of a request's header block while it comes in, and looks for bytes that have no
// place in one.
//
// Why not leave it to the parser behind it: Beast joins folded lines silently, bounds each line and
// not the block, and would wait for the end of what is not HTTP at all (a TLS hello). After this
// scan the parser sees whole blocks only.

#include <cstddef>
#include <string_view>

namespace tidemark::server {

class HeadScanner {
 public:
  enum class State {
    kIncomplete,  ///< call again with more bytes
    kComplete,    ///< the block ends at size()
    kMalformed,   ///< see problem()
  };

  /// Looks at the unread input, which begins with the request; each call must give the bytes of the
  /// call before and may add to them. One empty line before the request line is skipped (RFC 9112
  /// section 2.2). Cost follows the new bytes.
  State Scan(std::string_view input);

  /// Where the request line begins and where the block ends, behind the empty line. After
  /// kComplete.
  size_t begin() const { return begin_; }
  size_t size() const { return position_; }
  /// A static text, after kMalformed.
  const char* problem() const { return problem_; }

 private:
  State Malformed(const char* problem);

  size_t begin_ = 0;
  size_t position_ = 0;    // bytes looked at
  size_t line_begin_ = 0;  // where the line at position_ begins
  char last_ = '\0';
  const char* problem_ = "";
};

}  // namespace tidemark::server
