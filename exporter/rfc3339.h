#pragma once
// Times for people and JSON.

#include <cstdint>
#include <string>

namespace tidemark::exporter {

/// Unix time in milliseconds as RFC 3339 in UTC: "2023-11-14T22:13:20.000Z". Always with
/// milliseconds. Times outside the years 0000 to 9999, which RFC 3339 cannot write, become the
/// nearest it can. Thread-safe.
std::string FormatRfc3339(int64_t unix_ms);

}  // namespace tidemark::exporter
