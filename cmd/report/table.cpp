#include <algorithm>
#include <optional>
#include <string>
#include <vector>

#include "cmd/report/cells.h"
#include "cmd/report/display_text.h"
#include "cmd/report/writers.h"

namespace tidemark::report {
namespace {

constexpr size_t kGap = 2;

/// ECMA-48, select graphic rendition: bold red, yellow, green, faint.
std::string_view ColorOf(Severity severity) {
  switch (severity) {
    case Severity::kCritical: return "\x1b[1;31m";
    case Severity::kWarning: return "\x1b[33m";
    case Severity::kOk: return "\x1b[32m";
    case Severity::kUnknown: return "\x1b[2m";
  }
  return "";
}
constexpr std::string_view kPlain = "\x1b[0m";

void AppendCell(const std::string& text, size_t width, bool right, bool last,
                std::string_view color, std::string& out) {
  const size_t own = DisplayWidth(text);
  const std::string blanks(width - std::min(width, own), ' ');
  if (right) out += blanks;
  if (!color.empty()) out += color;
  out += text;
  if (!color.empty()) out += kPlain;
  if (last) return;
  if (!right) out += blanks;
  out.append(kGap, ' ');
}

void AppendSheet(const Sheet& sheet, bool color, std::string& out) {
  std::vector<std::vector<std::string>> lines;
  std::vector<std::string>& titles = lines.emplace_back();
  for (const Column& column : sheet.columns) titles.emplace_back(column.title);
  for (const auto& line : sheet.lines) {
    std::vector<std::string>& shown = lines.emplace_back();
    for (const std::string& text : line) shown.push_back(Printable(text));
  }
  std::vector<size_t> widths(sheet.columns.size(), 0);
  for (const auto& line : lines) {
    for (size_t i = 0; i < line.size(); ++i) widths[i] = std::max(widths[i], DisplayWidth(line[i]));
  }
  for (size_t n = 0; n < lines.size(); ++n) {
    for (size_t i = 0; i < lines[n].size(); ++i) {
      const bool is_severity = color && n > 0 && sheet.columns[i].title == kSeverityTitle;
      const std::optional<Severity> severity = is_severity ? sheet.severities[n - 1] : std::nullopt;
      AppendCell(lines[n][i], widths[i], sheet.columns[i].right, i + 1 == lines[n].size(),
                 severity ? ColorOf(*severity) : "", out);
    }
    out += '\n';
  }
}

}  // namespace

std::string WriteTable(const Report& report, bool color) {
  std::string out;
  AppendSheet(ContainersSheet(report), color, out);
  out += '\n';
  AppendSheet(NamespacesSheet(report), color, out);
  out += '\n' + Printable(SummaryText(report)) + '\n';
  for (const std::string& remark : Remarks(report)) out += Printable(remark) + '\n';
  out += "From " + Printable(SourceText(report)) + ".\n";
  return out;
}

}  // namespace tidemark::report
