#include <fmt/format.h>

#include <string_view>

#include "cmd/replay_policies/chart.h"
#include "cmd/replay_policies/report.h"
#include "cmd/replay_policies/words.h"
#include "cmd/replay_requests/chart.h"
#include "cmd/replay_requests/page_style.h"

namespace tidemark::replay_policies {
namespace {

using replay_requests::EscapeHtml;

constexpr std::string_view kStyle = R"css(
.truth { fill: none; stroke: var(--text); stroke-width: 1; }
.band { fill: var(--soft); fill-opacity: .3; stroke: none; }
.line { fill: none; stroke-width: 1.3; stroke-opacity: .85; }
.kt { border-color: var(--text); } .kb { border-color: var(--soft); border-top-width: .8em; opacity: .4; }
.asked { font-weight: 600; } td { white-space: nowrap; }
)css";

std::string Table(const ReplayRun& run, const Summary& summary, bool is_one) {
  std::string html = R"(<div class="wide"><table><thead><tr>)";
  bool first = true;
  for (const std::string& head : FigureHeads(is_one)) {
    html += fmt::format("<th{}>{}</th>", first ? R"( class="name")" : "", EscapeHtml(head));
    first = false;
  }
  html += "</tr></thead><tbody>\n";
  size_t place = 0;
  for (const auto& row : FigureRows(run, summary, is_one)) {
    const bool asked = place < run.plan.policies.size() && run.plan.policies[place].is_asked;
    html += "<tr>";
    for (size_t c = 0; c < row.size(); ++c) {
      const std::string_view css = c > 0   ? ""
                                   : asked ? R"( class="name asked")"
                                           : R"( class="name")";
      html += fmt::format("<td{}>{}</td>", css, EscapeHtml(row[c]));
    }
    html += "</tr>\n";
    ++place;
  }
  html += "</tbody></table></div>\n";
  for (const std::string& line : ObjectiveLines(run, summary)) {
    html += fmt::format("<p>{}.</p>\n", EscapeHtml(line));
  }
  return html;
}

std::string Figure(const std::string& svg, std::string_view caption) {
  return fmt::format("<figure>{}<figcaption>{}</figcaption></figure>\n", svg, caption);
}

std::string Keys(const ReplayRun& run, const Drawing& drawing) {
  std::string html = R"(<p><span class="key kt"></span>demand )";
  if (!drawing.whole.band.empty()) {
    html += fmt::format(R"(<span class="key kb"></span>forecast, {:g} % interval, {} minutes )"
                        R"(before )",
                        100 * kBandRatio, run.plan.LeadMinutes());
  }
  for (size_t i = 0; i < drawing.policies.size(); ++i) {
    html += fmt::format(R"(<span class="key k{}"></span>{} )", i,
                        EscapeHtml(run.plan.policies[drawing.policies[i]].name));
  }
  return html + "</p>\n";
}

std::string Charts(const ReplayRun& run, const ReplayedTrace& trace) {
  const Drawing& drawing = trace.drawing;
  std::string html = Keys(run, drawing) + R"(<div class="charts">)";
  html += Figure(CapacityChart("demand and capacity of " + trace.name, drawing.whole, trace.base),
                 "demand, and what ready pods request, in pods&#39; worth");
  html += Figure(ReplicasChart("replicas of " + trace.name, drawing.whole), "replicas asked for");
  html += Figure(CapacityChart("peak of " + trace.name, drawing.peak, trace.base),
                 "the hours around the highest demand");
  html += Figure(ReplicasChart("replicas at the peak of " + trace.name, drawing.peak),
                 "replicas asked for in these hours");
  return html + "</div>\n";
}

}  // namespace

std::string ReportPage(const ReplayRun& run) {
  std::string html =
      "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"/>"
      "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\"/>"
      "<title>Tidemark: policies replayed</title><style>";
  html.append(replay_requests::kPageStyle).append(kStyle);
  html += "</style></head><body>\n<h1>Policies replayed</h1>\n<ul>\n";
  for (const std::string& line : HeaderLines(run)) {
    html += fmt::format("<li>{}</li>\n", EscapeHtml(line));
  }
  html += "</ul>\n<ul>\n";
  for (const std::string& line : NoteLines(run)) {
    html += fmt::format("<li>{}</li>\n", EscapeHtml(line));
  }
  html += "</ul>\n";
  for (const Summary& mean : MeansOf(run)) {
    html += fmt::format("<h2>{}</h2>\n", EscapeHtml(MeanLine(mean))) + Table(run, mean, false);
  }
  html += "<h2>Traces</h2>\n";
  if (run.plan.policies.size() > kMaxDrawn) {
    html +=
        fmt::format("<p>{} policies are drawn of {}.</p>\n", kMaxDrawn, run.plan.policies.size());
  }
  if (run.ReplayedCount() > kMaxCharts) {
    html += fmt::format("<p>Charts of the first {} only.</p>\n", kMaxCharts);
  }
  size_t charts = 0;
  for (size_t t = 0; t < run.traces.size(); ++t) {
    const ReplayedTrace& trace = run.traces[t];
    html += fmt::format("<h3>{}</h3>\n", EscapeHtml(TraceLine(trace)));
    if (!trace.why.empty()) continue;
    if (charts++ < kMaxCharts) html += Charts(run, trace);
    html += Table(run, Summarise(run, {t}, trace.kind), true);
  }
  return html + "</body></html>\n";
}

}  // namespace tidemark::replay_policies
