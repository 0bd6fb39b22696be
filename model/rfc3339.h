#pragma once
// Times for people and JSON.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace tidemark {

/// Unix time in milliseconds as RFC 3339 in UTC: "2023-11-14T22:13:20.000Z". Always with
/// milliseconds. Times outside the years 0000 to 9999, which RFC 3339 cannot write, become the
/// nearest it can. Thread-safe.
std::string FormatRfc3339(int64_t unix_ms);

/// Unix time in milliseconds; finer digits are cut. Nothing: it is no RFC 3339 time.
std::optional<int64_t> ParseRfc3339(std::string_view text);

}  // namespace tidemark
