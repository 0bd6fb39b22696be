#include "cmd/replay_requests/report_page.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <initializer_list>
#include <vector>

#include "cmd/replay_requests/chart.h"
#include "cmd/replay_requests/page_style.h"
#include "cmd/replay_requests/report_text.h"
#include "model/amount_text.h"

namespace tidemark::replay_requests {
namespace {

bool IsMemory(size_t resource) { return kReplayed[resource] == Resource::kMemory; }

std::string PresetCell(const ReplayReport& report, size_t preset) {
  return fmt::format(R"(<td class="name"><span class="key k{}"></span>{}</td>)", preset,
                     EscapeHtml(report.presets[preset]));
}

std::string Cells(std::initializer_list<std::string> texts) {
  std::string cells;
  for (const std::string& text : texts) cells += "<td>" + EscapeHtml(text) + "</td>";
  return cells;
}

/// The first `names` columns are names.
std::string Head(const std::vector<std::string_view>& titles, size_t names) {
  std::string head = R"(<div class="wide"><table><thead><tr>)";
  for (size_t i = 0; i < titles.size(); ++i) {
    head += fmt::format("<th{}>{}</th>", i < names ? R"( class="name")" : "", titles[i]);
  }
  return head + "</tr></thead><tbody>";
}
constexpr std::string_view kTableEnd = "</tbody></table></div>\n";

std::string MeansSection(const ReplayReport& report, size_t resource) {
  std::vector<std::string_view> titles = {"class",  "preset", "workloads",         "slack",
                                          "median", "bill",   "above the request", "by how much"};
  titles.emplace_back(IsMemory(resource) ? "kills per pod and day" : "times above");
  titles.emplace_back("changes");
  std::string html =
      fmt::format("<h2>Means over workloads: {}</h2>\n", TitleOf(kReplayed[resource]));
  html += Head(titles, 2);
  for (const TraceGroup& group : GroupsOf(report.traces)) {
    for (size_t p = 0; p < report.presets.size(); ++p) {
      const Means means = MeansOf(report, group, p, resource);
      html += fmt::format(R"(<tr><td class="name">{}</td>{})", EscapeHtml(group.name),
                          PresetCell(report, p));
      html += Cells({fmt::format("{}", means.workloads), SlackText(means.slack_mean),
                     SlackText(means.slack_median), SlackText(means.bill), ShareText(means.breach),
                     fmt::format("{:.2f}", means.depth),
                     IsMemory(resource) ? fmt::format("{:.3f}", means.episodes_per_pod_day)
                                        : fmt::format("{}", means.episodes),
                     fmt::format("{:.1f}", means.changes)});
      html += "</tr>\n";
    }
  }
  return html.append(kTableEnd);
}

std::string EqualRiskSection(const ReplayReport& report, Resource resource) {
  std::string html;
  for (const EqualRisk& risk : report.equal_risks) {
    if (risk.resource != resource) continue;
    if (html.empty()) {
      html = fmt::format("<h2>At equal risk: {}</h2>\n",
                         EscapeHtml(TargetText(resource, risk.target)));
      html += Head({"preset", "slack", "median", "bill", "changes", "by its own knob"}, 1);
    }
    const auto preset = static_cast<size_t>(std::ranges::find(report.presets, risk.preset) -
                                            report.presets.begin());
    html += "<tr>" + PresetCell(report, preset);
    html += risk.point ? Cells({SlackText(risk.point->slack_mean),
                                SlackText(risk.point->slack_median), SlackText(risk.point->bill),
                                fmt::format("{:.1f}", risk.point->changes), KnobText(risk)})
                       : Cells({"-", "-", "-", "-", "does not get there"});
    html += "</tr>\n";
  }
  return html.empty() ? html : html.append(kTableEnd);
}

std::string TraceTable(const ReplayReport& report, size_t trace) {
  std::string html =
      Head({"preset", "CPU: slack", "above the request", "by how much", "changes", "last request",
            "memory: slack", "kills", "per pod and day", "changes", "last request"},
           1);
  for (size_t p = 0; p < report.presets.size(); ++p) {
    const auto& [cpu, memory] = report.outcomes[trace][p];
    const auto amount = [](Resource resource, std::optional<double> request) {
      return request ? AmountText(resource, *request) : "-";
    };
    html += "<tr>" + PresetCell(report, p);
    html += Cells(
        {SlackText(cpu.Slack()), ShareText(cpu.BreachRatio()), fmt::format("{:.2f}", cpu.Depth()),
         fmt::format("{}", cpu.changes), amount(Resource::kCpu, cpu.LastRequest()),
         SlackText(memory.Slack()), fmt::format("{}", memory.episodes),
         fmt::format("{:.3f}", memory.EpisodesPerPodDay()), fmt::format("{}", memory.changes),
         amount(Resource::kMemory, memory.LastRequest())});
    html += "</tr>\n";
  }
  return html.append(kTableEnd);
}

std::string TraceSection(const ReplayReport& report, size_t trace) {
  const Trace& of = report.traces[trace];
  std::string html = fmt::format("<h3>{}{}</h3>\n", EscapeHtml(of.name),
                                 of.kind.empty() ? "" : " &#183; " + EscapeHtml(of.kind));
  if (trace < kMaxCharts) {
    html += R"(<div class="charts">)";
    for (size_t r = 0; r < kReplayed.size(); ++r) {
      html += fmt::format("<figure>{}<figcaption>{}</figcaption></figure>\n",
                          Chart(report, trace, r), TitleOf(kReplayed[r]));
    }
    html += "</div>\n";
  }
  return html + TraceTable(report, trace);
}

}  // namespace

std::string ReportPage(const ReplayReport& report) {
  std::string html =
      "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"/>"
      "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\"/>"
      "<title>Tidemark: replayed requests</title><style>";
  html.append(kPageStyle).append("</style></head><body>\n<h1>Replayed requests</h1>\n");
  html += fmt::format(
      "<p>{} trace{}, {}. Slack: what was requested above what was used, in means of use. Charts "
      "show the most that any pod used (grey) and each preset's request; nothing is requested "
      "within the warm-up (shaded).</p>\n<p>",
      report.traces.size(), report.traces.size() == 1 ? "" : "s",
      EscapeHtml(TimesText(report.options.times)));
  for (size_t p = 0; p < report.presets.size(); ++p) {
    html += fmt::format(R"(<span class="key k{}"></span>{} )", p, EscapeHtml(report.presets[p]));
  }
  html += "</p>\n";
  for (size_t r = 0; r < kReplayed.size(); ++r) {
    html += MeansSection(report, r) + EqualRiskSection(report, kReplayed[r]);
  }
  html += "<h2>Workloads</h2>\n";
  if (report.traces.size() > kMaxCharts) {
    html += fmt::format("<p>Charts of the first {} only.</p>\n", kMaxCharts);
  }
  for (size_t t = 0; t < report.traces.size(); ++t) html += TraceSection(report, t);
  return html + "</body></html>\n";
}

}  // namespace tidemark::replay_requests
