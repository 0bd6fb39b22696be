#include "exporter/rfc3339.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdio>

namespace tidemark::exporter {

std::string FormatRfc3339(int64_t unix_ms) {
  using namespace std::chrono;
  constexpr int64_t kFirst = -62167219200000;  // 0000-01-01T00:00:00.000Z
  constexpr int64_t kLast = 253402300799999;   // 9999-12-31T23:59:59.999Z
  const sys_time<milliseconds> time{milliseconds(std::clamp(unix_ms, kFirst, kLast))};
  const sys_days day = floor<days>(time);
  const year_month_day date(day);
  const hh_mm_ss<milliseconds> clock(time - day);
  std::array<char, 64> text{};
  const int length = std::snprintf(
      text.data(), text.size(), "%04d-%02u-%02uT%02d:%02d:%02d.%03dZ",
      static_cast<int>(date.year()), static_cast<unsigned>(date.month()),
      static_cast<unsigned>(date.day()), static_cast<int>(clock.hours().count()),
      static_cast<int>(clock.minutes().count()), static_cast<int>(clock.seconds().count()),
      static_cast<int>(clock.subseconds().count()));
  return {text.data(), static_cast<size_t>(length)};
}

}  // namespace tidemark::exporter
