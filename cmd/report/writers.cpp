#include "cmd/report/writers.h"

namespace tidemark::report {

std::string_view ToString(Output output) {
  switch (output) {
    case Output::kTable: return "table";
    case Output::kJson: return "json";
    case Output::kCsv: return "csv";
    case Output::kMarkdown: return "markdown";
    case Output::kHtml: return "html";
  }
  return "unknown";
}

std::string Write(Output output, const Report& report, bool color) {
  switch (output) {
    case Output::kTable: return WriteTable(report, color);
    case Output::kJson: return WriteJson(report);
    case Output::kCsv: return WriteCsv(report);
    case Output::kMarkdown: return WriteMarkdown(report);
    case Output::kHtml: return WriteHtml(report);
  }
  return "";
}

}  // namespace tidemark::report
