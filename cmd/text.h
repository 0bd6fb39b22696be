#pragma once
// Small helpers for what people write and read: configuration text and the one-line errors about
// it. Free functions without state, thread-safe.

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace tidemark::cmd {

/// `text` as it can stand in one line of an error: as it is when it is a plain word or number, else
/// in double quotes with control bytes, quotes and backslashes escaped. Cut to about 64 bytes, at a
/// character's border.
std::string Shown(std::string_view text, bool always_quote = false);

/// `text` with spaces in place of control bytes, so that it cannot break the line it stands in.
std::string OneLine(std::string_view text);

/// The one of `names` that `text` was most likely meant to be; nullopt when none is close.
std::optional<std::string_view> ClosestName(std::string_view text,
                                            std::span<const std::string_view> names);

/// `names`, separated by ", ".
std::string Join(std::span<const std::string_view> names);

/// Offset of the first byte that is not part of valid UTF-8 (RFC 3629), or is a control byte other
/// than tab, line feed and carriage return; nullopt when there is none.
std::optional<size_t> FindBadByte(std::string_view text);

}  // namespace tidemark::cmd
