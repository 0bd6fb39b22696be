#include "cmd/replay_policies/summary.h"

#include <algorithm>
#include <utility>

namespace tidemark::replay_policies {
namespace {

constexpr double kMinutesPerDay = 1440;
/// Sums of the same numbers in another order are not more.
constexpr double kRounding = 1e-9;

double Ratio(double part, double whole) { return whole > 0 ? part / whole : 0; }

void Add(const ReplayedTrace& trace, const scaling::ReplayOutcome& outcome,
         const scaling::ReplayOutcome& baseline, PolicyFigures& sums) {
  const auto minutes = static_cast<double>(outcome.minutes);
  const double cost = trace.cost_request * static_cast<double>(outcome.pod_minutes);
  sums.utilization_ratio += outcome.UtilizationRatio();
  sums.cost += cost;
  sums.cost_per_minute += Ratio(cost, minutes);
  sums.cost_ratio +=
      Ratio(static_cast<double>(outcome.pod_minutes), static_cast<double>(baseline.pod_minutes));
  sums.over_100_per_day += outcome.PerDay(outcome.minutes_over_100);
  sums.over_90_per_day += outcome.PerDay(outcome.minutes_over_90);
  sums.over_slo_ratio += Ratio(static_cast<double>(outcome.minutes_over_slo), minutes);
  sums.unserved_ratio += outcome.UnservedRatio();
  sums.scale_events_per_day += outcome.PerDay(outcome.scale_events);
  sums.mean_replicas += Ratio(static_cast<double>(outcome.pod_minutes), minutes);
  sums.over_100 += outcome.minutes_over_100;
  sums.over_90 += outcome.minutes_over_90;
}

void Divide(size_t traces, PolicyFigures& sums) {
  const auto count = static_cast<double>(traces);
  for (double* figure :
       {&sums.utilization_ratio, &sums.cost, &sums.cost_per_minute, &sums.cost_ratio,
        &sums.over_100_per_day, &sums.over_90_per_day, &sums.over_slo_ratio, &sums.unserved_ratio,
        &sums.scale_events_per_day, &sums.mean_replicas}) {
    *figure /= count;
  }
}

std::optional<EqualMinutes> CheapestAtEqual(const ReplayRun& run, const std::vector<size_t>& traces,
                                            size_t family, double allowed_per_day) {
  const size_t baseline = run.plan.Baseline();
  std::optional<EqualMinutes> best;
  for (size_t k = 0; k < run.families[family].knobs.size(); ++k) {
    EqualMinutes at{run.families[family].knobs[k], 0, 0};
    for (const size_t t : traces) {
      const ReplayedTrace& trace = run.traces[t];
      const KnobOutcome& turned = trace.turned[family][k];
      at.cost_ratio += Ratio(static_cast<double>(turned.pod_minutes),
                             static_cast<double>(trace.outcomes[baseline].pod_minutes));
      at.over_100_per_day += Ratio(kMinutesPerDay * static_cast<double>(turned.minutes_over_100),
                                   static_cast<double>(trace.minutes));
    }
    at.cost_ratio /= static_cast<double>(traces.size());
    at.over_100_per_day /= static_cast<double>(traces.size());
    if (at.over_100_per_day > allowed_per_day + kRounding) continue;
    if (!best || at.cost_ratio < best->cost_ratio) best = at;
  }
  return best;
}

}  // namespace

Summary Summarise(const ReplayRun& run, const std::vector<size_t>& traces, std::string kind) {
  Summary summary;
  summary.kind = std::move(kind);
  summary.traces = traces.size();
  const size_t baseline = run.plan.Baseline();
  for (size_t p = 0; p < run.plan.policies.size(); ++p) {
    PolicyFigures& figures = summary.policies.emplace_back();
    for (const size_t t : traces) {
      const ReplayedTrace& trace = run.traces[t];
      Add(trace, trace.outcomes[p], trace.outcomes[baseline], figures);
    }
    Divide(traces.size(), figures);
  }
  for (const size_t t : traces) {
    const ReplayedTrace& trace = run.traces[t];
    Add(trace, trace.perfect, trace.outcomes[baseline], summary.perfect);
  }
  Divide(traces.size(), summary.perfect);
  for (size_t family = 0; family < run.families.size(); ++family) {
    summary.equal.push_back(
        CheapestAtEqual(run, traces, family, summary.policies[baseline].over_100_per_day));
  }
  return summary;
}

std::vector<Summary> MeansOf(const ReplayRun& run) {
  std::vector<std::pair<std::string, std::vector<size_t>>> classes;
  std::vector<size_t> all;
  for (size_t t = 0; t < run.traces.size(); ++t) {
    if (!run.traces[t].why.empty()) continue;
    all.push_back(t);
    auto found = std::ranges::find(classes, run.traces[t].kind,
                                   &std::pair<std::string, std::vector<size_t>>::first);
    if (found == classes.end()) found = classes.insert(found, {run.traces[t].kind, {}});
    found->second.push_back(t);
  }
  std::vector<Summary> means;
  if (all.size() < 2) return means;
  if (classes.size() > 1) {
    for (auto& [kind, traces] : classes) means.push_back(Summarise(run, traces, kind));
  }
  means.push_back(Summarise(run, all, "*"));
  return means;
}

}  // namespace tidemark::replay_policies
