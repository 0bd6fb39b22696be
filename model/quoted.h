#pragma once
// Text in double quotes.

#include <string>
#include <string_view>

namespace tidemark {

/// `text` in double quotes, with `\`, `"` and control characters escaped (`\x0a`) as both YAML and
/// PromQL read them back. Other bytes stay as they are.
std::string QuotedText(std::string_view text);

}  // namespace tidemark
