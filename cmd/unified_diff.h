#pragma once
// Differences of two texts as `diff -u` shows them and `patch` takes them.

#include <string>
#include <string_view>

namespace tidemark::cmd {

/// Empty when they are the same. `before_name` and `after_name` are for the two first lines.
/// Meant for texts that differ in a few places by few lines: what is far apart is told as a whole
/// block. Linear in the length of the texts. Thread-safe.
std::string UnifiedDiff(std::string_view before, std::string_view after,
                        std::string_view before_name, std::string_view after_name);

}  // namespace tidemark::cmd
