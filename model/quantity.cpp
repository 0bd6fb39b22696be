#include "model/quantity.h"

#include <array>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <utility>

namespace tidemark {
namespace {

constexpr size_t kLongest = 64;

struct Suffix {
  std::string_view text;
  int exponent;  // of ten, or of two
  bool is_binary;
};
constexpr std::array<Suffix, 16> kSuffixes = {{{"", 0, false},
                                               {"n", -9, false},
                                               {"u", -6, false},
                                               {"m", -3, false},
                                               {"k", 3, false},
                                               {"M", 6, false},
                                               {"G", 9, false},
                                               {"T", 12, false},
                                               {"P", 15, false},
                                               {"E", 18, false},
                                               {"Ki", 10, true},
                                               {"Mi", 20, true},
                                               {"Gi", 30, true},
                                               {"Ti", 40, true},
                                               {"Pi", 50, true},
                                               {"Ei", 60, true}}};

bool IsDigit(char c) { return c >= '0' && c <= '9'; }

/// The length of the digits in front, with one point at most; 0 without a digit.
size_t NumberLength(std::string_view text) {
  size_t digits = 0;
  size_t points = 0;
  size_t length = 0;
  for (; length < text.size(); ++length) {
    if (IsDigit(text[length])) {
      ++digits;
    } else if (text[length] == '.') {
      ++points;
    } else {
      break;
    }
  }
  return digits > 0 && points <= 1 ? length : 0;
}

/// The exponent of "e3" or "E-6".
std::optional<int> ParseExponent(std::string_view text) {
  if (text.size() < 2 || (text[0] != 'e' && text[0] != 'E')) return std::nullopt;
  text.remove_prefix(1);
  if (text[0] == '+') {
    text.remove_prefix(1);
    if (text.empty() || !IsDigit(text[0])) return std::nullopt;
  }
  int exponent = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), exponent);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return exponent;
}

/// `digits` times ten to the `exponent`, rounded once.
std::optional<double> Decimal(std::string_view digits, int exponent) {
  const std::string text = std::string(digits) + "e" + std::to_string(exponent);
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || !std::isfinite(value)) {
    return std::nullopt;
  }
  return value;
}

}  // namespace

std::optional<double> ParseQuantity(std::string_view text) {
  if (text.empty() || text.size() > kLongest) return std::nullopt;
  const bool negative = text[0] == '-';
  if (negative || text[0] == '+') text.remove_prefix(1);
  const size_t length = NumberLength(text);
  if (length == 0) return std::nullopt;
  const std::string_view digits = text.substr(0, length);
  const std::string_view suffix = text.substr(length);
  std::optional<double> value;
  for (const Suffix& known : kSuffixes) {
    if (known.text != suffix) continue;
    value = Decimal(digits, known.is_binary ? 0 : known.exponent);
    if (value && known.is_binary) value = std::ldexp(*value, known.exponent);
  }
  if (const auto exponent = ParseExponent(suffix)) value = Decimal(digits, *exponent);
  if (!value) return std::nullopt;
  return negative ? -*value : *value;
}

namespace {

/// Above, whole thousandths are no longer exact in a double.
constexpr double kMostMilli = 9'007'199'254'740'992.0;

std::string Decimals(int64_t milli) {
  constexpr std::array<std::string_view, 8> kBySteps = {"m", "", "k", "M", "G", "T", "P", "E"};
  constexpr int64_t kStep = 1000;
  if (milli == 0) return "0";
  size_t step = 0;
  while (milli % kStep == 0 && step + 1 < kBySteps.size()) {
    milli /= kStep;
    ++step;
  }
  return std::to_string(milli) + std::string(kBySteps[step]);
}

std::string Binary(int64_t whole) {
  constexpr std::array<std::string_view, 7> kBySteps = {"", "Ki", "Mi", "Gi", "Ti", "Pi", "Ei"};
  constexpr int64_t kStep = 1024;
  size_t step = 0;
  while (whole % kStep == 0 && step + 1 < kBySteps.size()) {
    whole /= kStep;
    ++step;
  }
  return std::to_string(whole) + std::string(kBySteps[step]);
}

}  // namespace

std::optional<std::string> QuantityText(double value, QuantityFormat format) {
  constexpr double kPerUnit = 1000;
  if (!std::isfinite(value) || value < 0 || value > kMostMilli / kPerUnit) return std::nullopt;
  // A decimal such as 1.1 is stored a hair above or below: what is a thousandth but for that is
  // that thousandth, and not the next.
  const double exact = value * kPerUnit;
  const double nearest = std::round(exact);
  constexpr double kRoundingErrors = 4e-16;
  const double milli =
      std::abs(exact - nearest) <= exact * kRoundingErrors ? nearest : std::ceil(exact);
  const auto thousandths = static_cast<int64_t>(milli);
  constexpr int64_t kLeastBinary = 1024;
  if (format == QuantityFormat::kBinarySi && thousandths % 1000 == 0 &&
      thousandths / 1000 >= kLeastBinary) {
    const std::string binary = Binary(thousandths / 1000);
    // Without a binary suffix the decimal one may be shorter, as in 128M.
    if (binary.back() == 'i') return binary;
  }
  return Decimals(thousandths);
}

}  // namespace tidemark
