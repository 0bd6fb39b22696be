#include <fmt/format.h>

#include "cmd/replay_policies/report.h"
#include "cmd/replay_policies/words.h"
#include "cmd/replay_requests/text_table.h"

namespace tidemark::replay_policies {
namespace {

std::string Section(const ReplayRun& run, const Summary& summary, const std::string& title,
                    bool is_one) {
  replay_requests::TextTable table(1);
  table.Add(FigureHeads(is_one));
  for (auto& row : FigureRows(run, summary, is_one)) table.Add(std::move(row));
  std::string text = title + "\n  ";
  for (const char c : table.Text()) {
    text += c;
    if (c == '\n') text += "  ";
  }
  text.resize(text.size() - 2);
  for (const std::string& line : ObjectiveLines(run, summary)) text += "  " + line + '\n';
  return text + '\n';
}

}  // namespace

std::string ReportTable(const ReplayRun& run) {
  std::string text;
  for (const std::string& line : HeaderLines(run)) text += line + '\n';
  text += '\n';
  for (size_t t = 0; t < run.traces.size(); ++t) {
    const ReplayedTrace& trace = run.traces[t];
    if (!trace.why.empty()) {
      text += TraceLine(trace) + "\n\n";
      continue;
    }
    text += Section(run, Summarise(run, {t}, trace.kind), TraceLine(trace), true);
  }
  for (const Summary& mean : MeansOf(run)) text += Section(run, mean, MeanLine(mean), false);
  for (const std::string& line : NoteLines(run)) text += line + '\n';
  return text;
}

}  // namespace tidemark::replay_policies
