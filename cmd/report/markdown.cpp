#include <string>
#include <string_view>

#include "cmd/report/cells.h"
#include "cmd/report/display_text.h"
#include "cmd/report/writers.h"

namespace tidemark::report {
namespace {

/// What Markdown would take for markup stands as it is; a pipe would end the cell.
std::string Escaped(std::string_view text) {
  constexpr std::string_view kMarkup = "\\|*_`[]~";
  std::string out;
  for (const char c : Printable(text)) {
    if (c == '<') {
      out += "&lt;";
      continue;
    }
    if (c == '&') {
      out += "&amp;";
      continue;
    }
    if (kMarkup.find(c) != std::string_view::npos) out += '\\';
    out += c;
  }
  return out;
}

void AppendSheet(const Sheet& sheet, std::string& out) {
  for (const Column& column : sheet.columns) out += "| " + std::string(column.title) + ' ';
  out += "|\n";
  for (const Column& column : sheet.columns) out += column.right ? "| ---: " : "| --- ";
  out += "|\n";
  for (const auto& line : sheet.lines) {
    for (const std::string& text : line) out += "| " + Escaped(text) + ' ';
    out += "|\n";
  }
}

}  // namespace

std::string WriteMarkdown(const Report& report) {
  std::string out = "# Resource requests\n\n" + Escaped(SummaryText(report)) + ".\n\n";
  AppendSheet(ContainersSheet(report), out);
  out += "\n## Namespaces\n\n";
  AppendSheet(NamespacesSheet(report), out);
  out += '\n';
  for (const std::string& remark : Remarks(report)) out += "- " + Escaped(remark) + '\n';
  out += "- From " + Escaped(SourceText(report)) + ".\n";
  return out;
}

}  // namespace tidemark::report
