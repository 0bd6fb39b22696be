#include "cmd/config_fields.h"

#include <fmt/format.h>

#include "model/quoted.h"

namespace tidemark::cmd {
namespace {

/// Reads text, has it parsed, and compares it with the range.
template <class T, class Parse, class Format>
Result<T> ReadInRange(const YamlValue& value, T low, T high, Parse parse, Format format) {
  auto text = value.ReadText();
  if (!text) return tl::unexpected(text.error());
  auto parsed = parse(*text);
  if (!parsed) return value.Wrong(parsed.error().message);
  if (*parsed < low || *parsed > high) {
    return value.Wrong(fmt::format("{} is out of range, allowed: {} <= x <= {}", *text, format(low),
                                   format(high)));
  }
  return *parsed;
}

template <class T, class Read>
Result<void> Store(const Result<Read>& read, T& out) {
  if (!read) return tl::unexpected(read.error());
  out = static_cast<T>(*read);
  return {};
}

}  // namespace

FieldReader Number(double& out, NumberRange range) {
  return [&out, range](const YamlValue& value) { return Store(value.ReadNumber(range), out); };
}

FieldReader WholeNumber(int64_t& out, int64_t low, int64_t high) {
  return [&out, low, high](const YamlValue& value) {
    return Store(value.ReadInteger(low, high), out);
  };
}

FieldReader WholeNumber(uint64_t& out, uint64_t low, uint64_t high) {
  return [&out, low, high](const YamlValue& value) {
    return Store(value.ReadInteger(static_cast<int64_t>(low), static_cast<int64_t>(high)), out);
  };
}

FieldReader Duration(int64_t& out_ms, std::chrono::milliseconds low,
                     std::chrono::milliseconds high) {
  return [&out_ms, low, high](const YamlValue& value) -> Result<void> {
    auto read = ReadInRange(value, low, high, ParseDuration, FormatDuration);
    if (!read) return tl::unexpected(read.error());
    out_ms = read->count();
    return {};
  };
}

FieldReader Size(uint64_t& out, uint64_t low, uint64_t high) {
  return [&out, low, high](const YamlValue& value) {
    return Store(ReadInRange(value, low, high, ParseSize, FormatSize), out);
  };
}

FieldReader Quantity(double& out, double high, QuantityStyle style) {
  return [&out, high, style](const YamlValue& value) {
    const auto format = [style](double amount) { return FormatQuantity(amount, style); };
    return Store(ReadInRange(value, 0.0, high, ParseQuantity, format), out);
  };
}

std::string YamlQuoted(std::string_view text) { return QuotedText(text); }

}  // namespace tidemark::cmd
