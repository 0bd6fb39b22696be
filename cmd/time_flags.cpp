#include "cmd/time_flags.h"

#include <fmt/format.h>

#include <charconv>
#include <string>
#include <system_error>

#include "cmd/command_line.h"
#include "cmd/text.h"
#include "cmd/units.h"
#include "model/rfc3339.h"

namespace tidemark::cmd {

Result<int64_t> ReadDuration(const GivenFlags& flags, std::string_view name, int64_t otherwise_ms,
                             std::chrono::milliseconds least, std::chrono::milliseconds most) {
  if (!flags.contains(name)) return otherwise_ms;
  const auto duration = ParseDuration(FlagValue(flags, name));
  if (!duration) return WrongFlag(name, duration.error().message);
  if (*duration < least || *duration > most) {
    return WrongFlag(
        name, fmt::format("{} is not in range, allowed: {} to {}", Shown(FlagValue(flags, name)),
                          FormatDuration(least), FormatDuration(most)));
  }
  return duration->count();
}

Result<int64_t> ReadTime(const GivenFlags& flags, std::string_view name, int64_t otherwise_ms,
                         int64_t now_ms) {
  if (!flags.contains(name)) return otherwise_ms;
  const std::string text = FlagValue(flags, name);
  if (const auto ago = ParseDuration(text); ago && text != "0") return now_ms - ago->count();
  if (const auto time = ParseRfc3339(text)) return *time;
  double seconds = 0;
  const auto [end, wrong] = std::from_chars(text.data(), text.data() + text.size(), seconds);
  if (wrong == std::errc() && end == text.data() + text.size() && seconds > 0 && seconds < 1e11) {
    return static_cast<int64_t>(seconds * 1000);
  }
  return WrongFlag(name, fmt::format("{} is no time, allowed: RFC 3339 such as "
                                     "2026-11-01T00:00:00Z, seconds since 1970, or a duration ago "
                                     "such as 8d",
                                     Shown(text, text.empty())));
}

}  // namespace tidemark::cmd
