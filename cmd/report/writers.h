#pragma once
// A report in one of its forms. Each returns the whole text, with a newline at its end. Pure
// functions; docs/report.md documents the forms, and what they have is only ever added to.

#include <array>
#include <string>
#include <string_view>

#include "cmd/report/report.h"

namespace tidemark::report {

enum class Output : uint8_t { kTable, kJson, kCsv, kMarkdown, kHtml };
inline constexpr std::array<Output, 5> kAllOutputs = {Output::kTable, Output::kJson, Output::kCsv,
                                                      Output::kMarkdown, Output::kHtml};
/// "table", "json", "csv", "markdown", "html".
std::string_view ToString(Output output);

/// `color`: the severities are coloured (ANSI), in the table alone.
std::string Write(Output output, const Report& report, bool color);

/// Aligned columns for a terminal.
std::string WriteTable(const Report& report, bool color);
/// One JSON object (RFC 8259); amounts in base units.
std::string WriteJson(const Report& report);
/// RFC 4180: CRLF, one header line, one line per container; amounts in base units; what is not
/// known is empty.
std::string WriteCsv(const Report& report);
/// Tables of GitHub Flavored Markdown.
std::string WriteMarkdown(const Report& report);
/// One file that needs nothing from anywhere, without scripts.
std::string WriteHtml(const Report& report);

}  // namespace tidemark::report
