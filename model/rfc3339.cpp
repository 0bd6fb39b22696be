#include "model/rfc3339.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdio>

namespace tidemark {
namespace {

/// Takes `count` digits off the front; -1: they are not there.
int TakeNumber(std::string_view& text, size_t count) {
  if (text.size() < count) return -1;
  int value = 0;
  for (const char c : text.substr(0, count)) {
    if (c < '0' || c > '9') return -1;
    value = value * 10 + (c - '0');
  }
  text.remove_prefix(count);
  return value;
}

bool TakeOneOf(std::string_view& text, std::string_view chars) {
  if (text.empty() || chars.find(text.front()) == std::string_view::npos) return false;
  text.remove_prefix(1);
  return true;
}

/// `.123`: milliseconds, finer digits cut; 0 where there is no fraction, -1 for a dot alone.
int TakeFraction(std::string_view& text) {
  if (!TakeOneOf(text, ".")) return 0;
  int millis = 0;
  int scale = 100;
  bool any = false;
  while (!text.empty() && text.front() >= '0' && text.front() <= '9') {
    millis += (text.front() - '0') * scale;
    scale /= 10;
    any = true;
    text.remove_prefix(1);
  }
  return any ? millis : -1;
}

/// `Z` or `+01:00`, in minutes, as all of the rest.
std::optional<int> TakeOffset(std::string_view text) {
  if (text == "Z" || text == "z") return 0;
  const bool minus = text.starts_with('-');
  if (!TakeOneOf(text, "+-")) return std::nullopt;
  const int hours = TakeNumber(text, 2);
  const bool colon = TakeOneOf(text, ":");
  const int minutes = TakeNumber(text, 2);
  if (!colon || hours < 0 || hours > 23 || minutes < 0 || minutes > 59 || !text.empty()) {
    return std::nullopt;
  }
  return (minus ? -1 : 1) * (hours * 60 + minutes);
}

}  // namespace

std::optional<int64_t> ParseRfc3339(std::string_view text) {
  using namespace std::chrono;
  const int years = TakeNumber(text, 4);
  const bool first = TakeOneOf(text, "-");
  const int months = TakeNumber(text, 2);
  const bool second = TakeOneOf(text, "-");
  const int days_of_month = TakeNumber(text, 2);
  if (years < 0 || months < 0 || days_of_month < 0 || !first || !second) return std::nullopt;
  const year_month_day date(year(years), month(static_cast<unsigned>(months)),
                            day(static_cast<unsigned>(days_of_month)));
  if (!date.ok() || !TakeOneOf(text, "Tt ")) return std::nullopt;
  const int hour = TakeNumber(text, 2);
  const bool third = TakeOneOf(text, ":");
  const int minute = TakeNumber(text, 2);
  const bool fourth = TakeOneOf(text, ":");
  const int second_of_minute = TakeNumber(text, 2);  // 60: a leap second
  if (hour < 0 || hour > 23 || minute < 0 || minute > 59 || second_of_minute < 0 ||
      second_of_minute > 60 || !third || !fourth) {
    return std::nullopt;
  }
  const int fraction = TakeFraction(text);
  const std::optional<int> offset = TakeOffset(text);
  if (fraction < 0 || !offset) return std::nullopt;
  const auto time = sys_days(date) + hours(hour) + minutes(minute - *offset) +
                    seconds(second_of_minute) + milliseconds(fraction);
  return time.time_since_epoch().count();
}

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

}  // namespace tidemark
