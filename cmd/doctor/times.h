#pragma once
// Times as people read them. Pure functions.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace tidemark::doctor {

/// "12d", "3h12m", "4m10s", "7s".
std::string DurationText(int64_t ms);
/// "2026-11-02".
std::string DayText(int64_t unix_ms);
/// RFC 3339 in UTC, e.g. 2026-11-02T10:15:30.123Z; nullopt for anything else.
std::optional<int64_t> ParseTime(std::string_view text);

}  // namespace tidemark::doctor
