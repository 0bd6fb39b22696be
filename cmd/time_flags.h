#pragma once
// Flags whose values are durations and times.

#include <chrono>
#include <cstdint>
#include <string_view>

#include "cmd/prometheus_access.h"
#include "model/result.h"

namespace tidemark::cmd {

/// In milliseconds; `otherwise_ms` when it was not given. Errors name the flag.
Result<int64_t> ReadDuration(const GivenFlags& flags, std::string_view name, int64_t otherwise_ms,
                             std::chrono::milliseconds least, std::chrono::milliseconds most);

/// RFC 3339, seconds since 1970, or a duration ago; in Unix milliseconds, `otherwise_ms` when it
/// was not given. `now_ms`: what "ago" counts from.
Result<int64_t> ReadTime(const GivenFlags& flags, std::string_view name, int64_t otherwise_ms,
                         int64_t now_ms);

}  // namespace tidemark::cmd
