#include "cmd/config_fields.h"

#include <fmt/format.h>

#include <algorithm>

#include "cmd/text.h"
#include "model/quoted.h"

namespace tidemark::cmd {
namespace {

constexpr size_t kMaxSelectorBytes = 4096;

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

FieldReader Quantity(double& out, NumberRange range, QuantityStyle style) {
  return [&out, range, style](const YamlValue& value) -> Result<void> {
    const auto text = value.ReadText();
    if (!text) return tl::unexpected(text.error());
    const auto amount = ParseQuantity(*text);
    if (!amount) return value.Wrong(amount.error().message);
    const bool high_enough = range.low_included ? *amount >= range.low : *amount > range.low;
    if (!high_enough || *amount > range.high) {
      return value.Wrong(fmt::format(
          "{} is out of range, allowed: {} {} x <= {}", *text, FormatQuantity(range.low, style),
          range.low_included ? "<=" : "<", FormatQuantity(range.high, style)));
    }
    out = *amount;
    return {};
  };
}

FieldReader Boolean(bool& out) {
  return [&out](const YamlValue& value) { return Store(value.ReadBool(), out); };
}

tl::unexpected<Error> NoSuch(const YamlValue& value, std::string_view kind, std::string_view text,
                             std::span<const std::string_view> names) {
  const auto meant = ClosestName(text, names);
  return value.Wrong(
      fmt::format("there is no {} {}{}, allowed: {}", kind, Shown(text, text.empty()),
                  meant ? fmt::format(" (did you mean {}?)", *meant) : "", Join(names)));
}

Result<Selector> SelectorOf(const YamlValue& value, const std::string& text) {
  if (text.size() > kMaxSelectorBytes) {
    return value.Wrong(fmt::format("the selector is {} bytes long, allowed: at most {}",
                                   text.size(), kMaxSelectorBytes));
  }
  auto selector = Selector::Parse(text);
  if (!selector) return value.Wrong(selector.error().message);
  return *selector;
}

Result<Selector> ReadSelectorOver(const YamlValue& value, std::string_view kind,
                                  std::span<const std::string_view> labels) {
  const auto text = value.ReadText();
  if (!text) return tl::unexpected(text.error());
  auto selector = SelectorOf(value, *text);
  if (!selector) return selector;
  for (const Selector::Part& part : selector->Parts()) {
    if (std::ranges::find(labels, part.label) != labels.end()) continue;
    const auto meant = ClosestName(part.label, labels);
    return value.Wrong(
        fmt::format("{} cannot be selected by the label {}{}, allowed: {}", kind, Shown(part.label),
                    meant ? fmt::format(" (did you mean {}?)", *meant) : "", Join(labels)));
  }
  return selector;
}

std::string YamlQuoted(std::string_view text) { return QuotedText(text); }

}  // namespace tidemark::cmd
