#pragma once
// UTF-8 as Unicode defines it (table 3-7: no overlong forms, no surrogates, nothing over U+10FFFF).
// Pure functions.

#include <cstddef>
#include <string>
#include <string_view>

namespace tidemark::remote_write {

/// Whether all bytes are below 0x80. True for an empty text.
bool IsAscii(std::string_view text);

/// How many bytes the first character takes (1 to 4); 0 when there is none or it is not UTF-8.
size_t Utf8CharSize(std::string_view text);

/// Whether the whole text is UTF-8. A zero byte is a character like any other. True for an empty
/// text.
bool IsUtf8(std::string_view text);

/// `text` fit to be shown: control bytes and what is not UTF-8 as \xNN, cut to at most `max_bytes`
/// between characters.
std::string Printable(std::string_view text, size_t max_bytes);

}  // namespace tidemark::remote_write
