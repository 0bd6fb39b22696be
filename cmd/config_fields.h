#pragma once
// Readers of single configuration values, with their ranges. Used by the configuration's own files
// only.
//
// Each returns what YamlField::read wants. `out` must outlive the call of ReadMap; it is written
// only when the value is good.

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>

#include "cmd/units.h"
#include "cmd/yaml_reader.h"
#include "model/selector.h"

namespace tidemark::cmd {

using FieldReader = std::function<Result<void>(const YamlValue&)>;

FieldReader Number(double& out, NumberRange range);
FieldReader WholeNumber(int64_t& out, int64_t low, int64_t high);
FieldReader WholeNumber(uint64_t& out, uint64_t low, uint64_t high);
/// Milliseconds.
FieldReader Duration(int64_t& out_ms, std::chrono::milliseconds low,
                     std::chrono::milliseconds high);
/// Bytes.
FieldReader Size(uint64_t& out, uint64_t low, uint64_t high);
FieldReader Quantity(double& out, NumberRange range, QuantityStyle style);
FieldReader Boolean(bool& out);

/// The error that there is no such thing as `text` among `names`; `kind` is what they are called.
tl::unexpected<Error> NoSuch(const YamlValue& value, std::string_view kind, std::string_view text,
                             std::span<const std::string_view> names);

/// One of `values`, as ToString(T) writes it.
template <class T, size_t N>
FieldReader Choice(T& out, std::string_view kind, const std::array<T, N>& values) {
  return [&out, kind, values](const YamlValue& value) -> Result<void> {
    const auto text = value.ReadText();
    if (!text) return tl::unexpected(text.error());
    std::array<std::string_view, N> names;
    for (size_t i = 0; i < N; ++i) {
      names[i] = ToString(values[i]);
      if (names[i] != *text) continue;
      out = values[i];
      return {};
    }
    return NoSuch(value, kind, *text, names);
  };
}

/// The selector that `text`, of the length that is allowed, means.
Result<Selector> SelectorOf(const YamlValue& value, const std::string& text);

/// The same of what stands at `value`, where only `labels` can be matched; `kind` is what it would
/// select ("forecasts").
Result<Selector> ReadSelectorOver(const YamlValue& value, std::string_view kind,
                                  std::span<const std::string_view> labels);

/// Text in double quotes, as YAML reads it back.
std::string YamlQuoted(std::string_view text);

}  // namespace tidemark::cmd
