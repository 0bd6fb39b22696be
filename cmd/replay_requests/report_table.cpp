#include <fmt/format.h>

#include <utility>
#include <vector>

#include "cmd/replay_requests/report_text.h"
#include "cmd/replay_requests/text_table.h"
#include "model/amount_text.h"

namespace tidemark::replay_requests {
namespace {

bool IsMemory(size_t resource) { return kReplayed[resource] == Resource::kMemory; }

std::string Outcomes(const ReplayReport& report, size_t resource) {
  TextTable table(3);
  std::vector<std::string> head = {"TRACE", "CLASS", "PRESET", "SLACK", "BREACH", "DEPTH"};
  head.emplace_back(IsMemory(resource) ? "KILLS" : "EPISODES");
  if (IsMemory(resource)) head.emplace_back("PER POD DAY");
  for (const char* const name : {"CHANGES", "LAST REQUEST", "ORIGINAL SLACK"}) {
    head.emplace_back(name);
  }
  table.Add(std::move(head));
  for (size_t t = 0; t < report.traces.size(); ++t) {
    const Trace& trace = report.traces[t];
    for (size_t p = 0; p < report.presets.size(); ++p) {
      const Outcome& outcome = report.outcomes[t][p][resource];
      std::vector<std::string> row = {trace.name,
                                      trace.kind,
                                      report.presets[p],
                                      SlackText(outcome.Slack()),
                                      ShareText(outcome.BreachRatio()),
                                      fmt::format("{:.2f}", outcome.Depth()),
                                      fmt::format("{}", outcome.episodes)};
      if (IsMemory(resource)) row.push_back(fmt::format("{:.3f}", outcome.EpisodesPerPodDay()));
      row.push_back(fmt::format("{}", outcome.changes));
      const auto last = outcome.LastRequest();
      row.push_back(last ? AmountText(kReplayed[resource], *last) : "-");
      row.push_back(SlackText(OriginalSlack(trace, outcome, resource)));
      table.Add(std::move(row));
    }
  }
  return table.Text();
}

std::string MeansTable(const ReplayReport& report, size_t resource) {
  TextTable table(1);
  std::vector<std::string> head = {"CLASS",  "WORKLOADS", "PRESET", "SLACK",
                                   "MEDIAN", "BILL",      "BREACH", "DEPTH"};
  head.emplace_back(IsMemory(resource) ? "KILLS" : "EPISODES");
  if (IsMemory(resource)) head.emplace_back("PER POD DAY");
  head.emplace_back("CHANGES");
  table.Add(std::move(head));
  for (const TraceGroup& group : GroupsOf(report.traces)) {
    for (size_t p = 0; p < report.presets.size(); ++p) {
      const Means means = MeansOf(report, group, p, resource);
      std::vector<std::string> row = {group.name,
                                      fmt::format("{}", means.workloads),
                                      report.presets[p],
                                      SlackText(means.slack_mean),
                                      SlackText(means.slack_median),
                                      SlackText(means.bill),
                                      ShareText(means.breach),
                                      fmt::format("{:.2f}", means.depth),
                                      fmt::format("{}", means.episodes)};
      if (IsMemory(resource)) row.push_back(fmt::format("{:.3f}", means.episodes_per_pod_day));
      row.push_back(fmt::format("{:.1f}", means.changes));
      table.Add(std::move(row));
    }
  }
  return table.Text();
}

std::string EqualRisks(const ReplayReport& report, Resource resource) {
  TextTable table(1);
  table.Add({"PRESET", "SLACK", "MEDIAN", "BILL", "CHANGES", "KNOB"});
  std::string title;
  for (const EqualRisk& risk : report.equal_risks) {
    if (risk.resource != resource) continue;
    title = fmt::format("\nEach preset by its own knob at equal risk: {}\n",
                        TargetText(resource, risk.target));
    if (!risk.point) {
      table.Add({risk.preset, "-", "-", "-", "-", "does not get there"});
      continue;
    }
    table.Add({risk.preset, SlackText(risk.point->slack_mean), SlackText(risk.point->slack_median),
               SlackText(risk.point->bill), fmt::format("{:.1f}", risk.point->changes),
               KnobText(risk)});
  }
  return title.empty() ? "" : title + table.Text();
}

}  // namespace

std::string ReportTable(const ReplayReport& report) {
  std::string text =
      fmt::format("{} trace{}, {}\n", report.traces.size(), report.traces.size() == 1 ? "" : "s",
                  TimesText(report.options.times));
  for (size_t r = 0; r < kReplayed.size(); ++r) {
    text += fmt::format("\n{}\n{}\nMeans over workloads: {}\n{}", TitleOf(kReplayed[r]),
                        Outcomes(report, r), TitleOf(kReplayed[r]), MeansTable(report, r));
    text += EqualRisks(report, kReplayed[r]);
  }
  return text;
}

}  // namespace tidemark::replay_requests
