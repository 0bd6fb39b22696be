#pragma once
// Readers of single configuration values, with their ranges. Used by the configuration's own files
// only.
//
// Each returns what YamlField::read wants. `out` must outlive the call of ReadMap; it is written
// only when the value is good.

#include <chrono>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

#include "cmd/units.h"
#include "cmd/yaml_reader.h"

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
/// From 0 to `high`.
FieldReader Quantity(double& out, double high, QuantityStyle style);

/// Text in double quotes, as YAML reads it back.
std::string YamlQuoted(std::string_view text);

}  // namespace tidemark::cmd
