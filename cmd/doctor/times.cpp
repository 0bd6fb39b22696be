#include "cmd/doctor/times.h"

#include <fmt/format.h>

#include <array>
#include <charconv>
#include <chrono>

namespace tidemark::doctor {

std::string DurationText(int64_t ms) {
  const int64_t seconds = ms / 1000;
  if (seconds < 60) return fmt::format("{}s", seconds);
  if (seconds < 3600) return fmt::format("{}m{}s", seconds / 60, seconds % 60);
  if (seconds < 86400) return fmt::format("{}h{}m", seconds / 3600, seconds / 60 % 60);
  return fmt::format("{}d", seconds / 86400);
}

std::string DayText(int64_t unix_ms) {
  const std::chrono::year_month_day day{std::chrono::floor<std::chrono::days>(
      std::chrono::sys_time<std::chrono::milliseconds>(std::chrono::milliseconds(unix_ms)))};
  return fmt::format("{:04}-{:02}-{:02}", static_cast<int>(day.year()),
                     static_cast<unsigned>(day.month()), static_cast<unsigned>(day.day()));
}

std::optional<int64_t> ParseTime(std::string_view text) {
  // 2026-11-02T10:15:30[.123]Z
  if (text.size() < 20 || text.size() > 30 || !text.ends_with('Z')) return std::nullopt;
  constexpr std::string_view kShape = "dddd-dd-ddTdd:dd:dd";
  std::array<int, 6> parts{};
  size_t part = 0;
  for (size_t i = 0; i < kShape.size(); ++i) {
    const bool digit = text[i] >= '0' && text[i] <= '9';
    if (kShape[i] == 'd' ? !digit : text[i] != kShape[i]) return std::nullopt;
    if (kShape[i] == 'd') {
      parts[part] = parts[part] * 10 + (text[i] - '0');
    } else {
      ++part;
    }
  }
  const std::chrono::year_month_day day{std::chrono::year(parts[0]),
                                        std::chrono::month(static_cast<unsigned>(parts[1])),
                                        std::chrono::day(static_cast<unsigned>(parts[2]))};
  if (!day.ok() || parts[3] > 23 || parts[4] > 59 || parts[5] > 60) return std::nullopt;
  const auto time = std::chrono::sys_days(day) + std::chrono::hours(parts[3]) +
                    std::chrono::minutes(parts[4]) + std::chrono::seconds(parts[5]);
  return std::chrono::duration_cast<std::chrono::milliseconds>(time.time_since_epoch()).count();
}

}  // namespace tidemark::doctor
