#include <string>
#include <string_view>

#include "cmd/report/cells.h"
#include "cmd/report/display_text.h"
#include "cmd/report/writers.h"

namespace tidemark::report {
namespace {

// Nothing is fetched: no fonts, no images, no scripts; a policy says so to the browser, too.
constexpr std::string_view kHead = R"(<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">
<title>Resource requests</title>
<style>
:root { color-scheme: light dark; --line: #8886; --soft: #8881; --critical: #c62828; --warning: #9a6700; --ok: #1a7f37; }
@media (prefers-color-scheme: dark) { :root { --critical: #ff8a80; --warning: #e3b341; --ok: #56d364; } }
body { font: 14px/1.45 system-ui, sans-serif; margin: 2rem; }
table { border-collapse: collapse; margin: 1rem 0; display: block; overflow-x: auto; }
th, td { padding: .3rem .6rem; border-bottom: 1px solid var(--line); text-align: left; white-space: nowrap; }
td.why { white-space: normal; min-width: 24rem; }
th { background: var(--soft); }
.right { text-align: right; font-variant-numeric: tabular-nums; }
.critical { color: var(--critical); font-weight: 600; }
.warning { color: var(--warning); font-weight: 600; }
.ok { color: var(--ok); }
.unknown { opacity: .7; }
</style>
</head>
<body>
<h1>Resource requests</h1>
)";

std::string Escaped(std::string_view text) {
  std::string out;
  for (const char c : Printable(text)) {
    switch (c) {
      case '&': out += "&amp;"; break;
      case '<': out += "&lt;"; break;
      case '>': out += "&gt;"; break;
      case '"': out += "&quot;"; break;
      case '\'': out += "&#39;"; break;
      default: out += c;
    }
  }
  return out;
}

/// The reasons of a row, one per resource.
std::string WhyText(const Row& row) {
  std::string out;
  for (const Cell& cell : row.cells) {
    if (cell.reason.empty()) continue;
    if (!out.empty()) out += "<br>";
    out += Escaped(cell.reason);
  }
  return out;
}

/// `rows`: with a last column of reasons; null: without.
void AppendSheet(const Sheet& sheet, const std::vector<Row>* rows, std::string& out) {
  out += "<table>\n<thead><tr>";
  for (const Column& column : sheet.columns) {
    out += column.right ? "<th class=\"right\">" : "<th>";
    out += Escaped(column.title) + "</th>";
  }
  if (rows != nullptr) out += "<th>WHY</th>";
  out += "</tr></thead>\n<tbody>\n";
  for (size_t n = 0; n < sheet.lines.size(); ++n) {
    out += "<tr>";
    for (size_t i = 0; i < sheet.columns.size(); ++i) {
      const Column& column = sheet.columns[i];
      std::string_view kind = column.right ? "right" : "";
      if (column.title == kSeverityTitle && sheet.severities[n]) {
        kind = ToString(*sheet.severities[n]);
      }
      out += kind.empty() ? "<td>" : "<td class=\"" + std::string(kind) + "\">";
      out += Escaped(sheet.lines[n][i]) + "</td>";
    }
    if (rows != nullptr) out += "<td class=\"why\">" + WhyText((*rows)[n]) + "</td>";
    out += "</tr>\n";
  }
  out += "</tbody>\n</table>\n";
}

}  // namespace

std::string WriteHtml(const Report& report) {
  std::string out(kHead);
  out += "<p>" + Escaped(SummaryText(report)) + ".</p>\n";
  AppendSheet(ContainersSheet(report), &report.rows, out);
  out += "<h2>Namespaces</h2>\n";
  AppendSheet(NamespacesSheet(report), nullptr, out);
  out += "<ul>\n";
  for (const std::string& remark : Remarks(report)) out += "<li>" + Escaped(remark) + "</li>\n";
  for (const std::string& warning : report.warnings) {
    out += "<li class=\"warning\">" + Escaped(warning) + "</li>\n";
  }
  out += "<li>From " + Escaped(SourceText(report)) + ".</li>\n</ul>\n</body>\n</html>\n";
  return out;
}

}  // namespace tidemark::report
