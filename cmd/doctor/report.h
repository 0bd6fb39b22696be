#pragma once
// Findings as text. Pure functions; docs/doctor.md documents the forms.

#include <array>
#include <string>
#include <string_view>

#include "cmd/doctor/finding.h"

namespace tidemark::doctor {

enum class Output : uint8_t { kTable, kJson };
inline constexpr std::array<Output, 2> kAllOutputs = {Output::kTable, Output::kJson};
/// "table", "json".
std::string_view ToString(Output output);

/// With a newline at its end. What others have said is made harmless for a terminal.
std::string Write(Output output, const Findings& findings);

}  // namespace tidemark::doctor
