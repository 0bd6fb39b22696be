#include "cmd/units.h"

#include <fmt/format.h>

#include <array>
#include <charconv>
#include <cmath>
#include <iterator>
#include <optional>
#include <system_error>

#include "cmd/text.h"

namespace tidemark::cmd {
namespace {

using std::chrono::milliseconds;

bool IsDigit(char c) { return c >= '0' && c <= '9'; }
bool IsLetter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }

/// Takes the longest run of bytes that `is_member` accepts off the front of `text`.
template <class Predicate>
std::string_view TakeRun(std::string_view& text, Predicate is_member) {
  size_t size = 0;
  while (size < text.size() && is_member(text[size])) ++size;
  const std::string_view run = text.substr(0, size);
  text.remove_prefix(size);
  return run;
}

std::optional<int64_t> ToInteger(std::string_view digits) {
  int64_t value = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
  if (error != std::errc() || end != digits.data() + digits.size()) return std::nullopt;
  return value;
}

// ---- durations

struct DurationUnit {
  std::string_view name;
  int64_t ms;
};
constexpr int64_t kDayMs = 24LL * 3600 * 1000;
constexpr std::array<DurationUnit, 7> kDurationUnits = {{{"y", 365 * kDayMs},
                                                         {"w", 7 * kDayMs},
                                                         {"d", kDayMs},
                                                         {"h", 3600 * 1000},
                                                         {"m", 60 * 1000},
                                                         {"s", 1000},
                                                         {"ms", 1}}};
constexpr size_t kFirstWrittenUnit = 2;  // years and weeks are read, not written
constexpr int64_t kMaxDurationMs = 292 * 365 * kDayMs;

tl::unexpected<Error> BadDuration(std::string_view text, std::string_view why) {
  return Fail(
      ErrorCode::kInvalidArgument,
      fmt::format(
          "{} is not a duration: {}, allowed: whole numbers with the units y, w, d, h, m, s, ms in "
          "this order, as in 90s, 1h30m or 7d",
          Shown(text), why));
}

// ---- sizes

struct SizeUnit {
  std::string_view name;
  std::string_view long_name;
  int64_t bytes;
};
constexpr std::array<SizeUnit, 5> kSizeUnits = {{{"TB", "TiB", 1LL << 40},
                                                 {"GB", "GiB", 1LL << 30},
                                                 {"MB", "MiB", 1LL << 20},
                                                 {"KB", "KiB", 1LL << 10},
                                                 {"B", "B", 1}}};
constexpr size_t kMaxFractionDigits = 6;  // fraction times unit stays below 2^63

tl::unexpected<Error> BadSize(std::string_view text, std::string_view why) {
  return Fail(ErrorCode::kInvalidArgument,
              fmt::format("{} is not a size: {}, allowed: a number with one of the units B, KB, "
                          "MB, GB, TB (or KiB, "
                          "MiB, GiB, TiB, the same), as in 64MB",
                          Shown(text), why));
}

// ---- quantities

struct QuantityUnit {
  std::string_view name;
  double factor;
  bool divide = false;  // small units divide, so that 250m is the double nearest to 0.25
};
constexpr std::array<QuantityUnit, 6> kBinaryUnits = {{{"Ei", 0x1p60},
                                                       {"Pi", 0x1p50},
                                                       {"Ti", 0x1p40},
                                                       {"Gi", 0x1p30},
                                                       {"Mi", 0x1p20},
                                                       {"Ki", 0x1p10}}};
constexpr std::array<QuantityUnit, 10> kDecimalUnits = {{{"n", 1e9, true},
                                                         {"u", 1e6, true},
                                                         {"m", 1e3, true},
                                                         {"", 1},
                                                         {"k", 1e3},
                                                         {"M", 1e6},
                                                         {"G", 1e9},
                                                         {"T", 1e12},
                                                         {"P", 1e15},
                                                         {"E", 1e18}}};

tl::unexpected<Error> BadQuantity(std::string_view text, std::string_view why) {
  return Fail(ErrorCode::kInvalidArgument,
              fmt::format("{} is not a quantity: {}, allowed: a number, with an exponent or one of "
                          "the units n, u, m, "
                          "k, M, G, T, P, E, Ki, Mi, Gi, Ti, Pi, Ei, as in 250m or 128Mi",
                          Shown(text), why));
}

bool IsExponent(std::string_view text) {
  if (text.empty() || (text[0] != 'e' && text[0] != 'E')) return false;
  text.remove_prefix(1);
  if (!text.empty() && (text[0] == '+' || text[0] == '-')) text.remove_prefix(1);
  return !text.empty() && !TakeRun(text, IsDigit).empty() && text.empty();
}

std::optional<double> ToDouble(std::string_view number) {
  double value = 0;
  const auto [end, error] = std::from_chars(number.data(), number.data() + number.size(), value);
  if (error != std::errc() || end != number.data() + number.size()) return std::nullopt;
  return value;
}

}  // namespace

Result<milliseconds> ParseDuration(std::string_view text) {
  if (text == "0") return milliseconds(0);
  if (text.empty()) return BadDuration(text, "it is empty");
  std::string_view rest = text;
  int64_t total = 0;
  size_t next_unit = 0;
  while (!rest.empty()) {
    const std::string_view digits = TakeRun(rest, IsDigit);
    if (digits.empty()) return BadDuration(text, "a number is missing");
    const std::string_view name = TakeRun(rest, IsLetter);
    if (name.empty())
      return BadDuration(text, rest.empty() ? "a unit is missing" : "it has a wrong character");
    size_t unit = 0;
    while (unit < kDurationUnits.size() && kDurationUnits[unit].name != name) ++unit;
    if (unit == kDurationUnits.size())
      return BadDuration(text, fmt::format("there is no unit {}", Shown(name)));
    if (unit < next_unit) return BadDuration(text, fmt::format("{} is out of order", name));
    next_unit = unit + 1;
    const std::optional<int64_t> count = ToInteger(digits);
    if (!count || *count > (kMaxDurationMs - total) / kDurationUnits[unit].ms) {
      return BadDuration(text, "it is longer than 292y");
    }
    total += *count * kDurationUnits[unit].ms;
  }
  return milliseconds(total);
}

std::string FormatDuration(milliseconds duration) {
  std::string out;
  int64_t rest = duration.count();
  for (size_t unit = kFirstWrittenUnit; unit < kDurationUnits.size(); ++unit) {
    const int64_t count = rest / kDurationUnits[unit].ms;
    rest %= kDurationUnits[unit].ms;
    if (count != 0)
      fmt::format_to(std::back_inserter(out), "{}{}", count, kDurationUnits[unit].name);
  }
  return out.empty() ? "0s" : out;
}

Result<uint64_t> ParseSize(std::string_view text) {
  if (text == "0") return uint64_t{0};
  std::string_view rest = text;
  const std::string_view whole = TakeRun(rest, IsDigit);
  if (whole.empty()) return BadSize(text, "it does not begin with a number");
  std::string_view fraction;
  if (rest.starts_with('.')) {
    rest.remove_prefix(1);
    fraction = TakeRun(rest, IsDigit);
    if (fraction.empty() || fraction.size() > kMaxFractionDigits) {
      return BadSize(text, "1 to 6 digits belong after the point");
    }
  }
  if (rest.empty()) return BadSize(text, "a unit is missing");
  for (const SizeUnit& unit : kSizeUnits) {
    if (rest != unit.name && rest != unit.long_name) continue;
    int64_t power = 1;
    for (size_t i = 0; i < fraction.size(); ++i) power *= 10;
    const std::optional<int64_t> units = ToInteger(whole);
    const int64_t part = fraction.empty() ? 0 : ToInteger(fraction).value_or(0) * unit.bytes;
    if (part % power != 0) return BadSize(text, "it is not a whole number of bytes");
    if (!units || *units > (INT64_MAX - part / power) / unit.bytes)
      return BadSize(text, "it is too large");
    return static_cast<uint64_t>(*units * unit.bytes + part / power);
  }
  return BadSize(text, fmt::format("there is no unit {}", Shown(rest)));
}

std::string FormatSize(uint64_t bytes) {
  for (const SizeUnit& unit : kSizeUnits) {
    const auto size = static_cast<uint64_t>(unit.bytes);
    if (bytes >= size && bytes % size == 0) return fmt::format("{}{}", bytes / size, unit.name);
  }
  return "0B";
}

Result<double> ParseQuantity(std::string_view text) {
  std::string_view rest = text;
  const bool negative = rest.starts_with('-');
  if (negative || rest.starts_with('+')) rest.remove_prefix(1);
  const std::string_view number = rest;
  const size_t whole = TakeRun(rest, IsDigit).size();
  size_t fraction = 0;
  if (rest.starts_with('.')) {
    rest.remove_prefix(1);
    fraction = TakeRun(rest, IsDigit).size();
  }
  if (whole + fraction == 0) return BadQuantity(text, "it does not begin with a number");
  const double sign = negative ? -1 : 1;
  if (IsExponent(rest)) {
    const std::optional<double> value = ToDouble(number);
    if (!value) return BadQuantity(text, "its exponent is too large or too small");
    return sign * *value;
  }
  const std::optional<double> mantissa = ToDouble(number.substr(0, number.size() - rest.size()));
  if (!mantissa) return BadQuantity(text, "it is too large or too small");
  const auto scaled = [&](const auto& units) -> std::optional<double> {
    for (const QuantityUnit& unit : units) {
      if (unit.name == rest)
        return sign * (unit.divide ? *mantissa / unit.factor : *mantissa * unit.factor);
    }
    return std::nullopt;
  };
  std::optional<double> value = scaled(kDecimalUnits);
  if (!value) value = scaled(kBinaryUnits);
  if (!value) return BadQuantity(text, fmt::format("there is no unit {}", Shown(rest)));
  if (!std::isfinite(*value)) return BadQuantity(text, "it is too large or too small");
  return *value;
}

std::string FormatQuantity(double value, QuantityStyle style) {
  constexpr double kExactly = 0x1p53;  // whole numbers up to here are exact
  if (style == QuantityStyle::kBinary) {
    for (const QuantityUnit& unit : kBinaryUnits) {
      const double count = value / unit.factor;
      if (count >= 1 && count < kExactly && count == std::floor(count)) {
        return fmt::format("{}{}", static_cast<int64_t>(count), unit.name);
      }
    }
  } else if (value != std::floor(value) && value < kExactly / 1000) {
    const auto milli = static_cast<int64_t>(std::round(value * 1000));
    if (static_cast<double>(milli) / 1000 == value) return fmt::format("{}m", milli);
  }
  return fmt::format("{}", value);
}

}  // namespace tidemark::cmd
