#pragma once
// Text for terminals. Pure functions.

#include <cstddef>
#include <string>
#include <string_view>

namespace tidemark::report {

/// `text` as it can stand on a terminal and in a cell: what moves a cursor, begins a sequence,
/// turns the direction of writing, or is not UTF-8 becomes U+FFFD. Names come from whoever sends
/// series.
std::string Printable(std::string_view text);

/// How many columns of a terminal valid UTF-8 takes: 2 for wide characters (East Asian wide and
/// full width, most emoji), 0 for marks that combine with what is before them, 1 for the others.
size_t DisplayWidth(std::string_view text);

}  // namespace tidemark::report
