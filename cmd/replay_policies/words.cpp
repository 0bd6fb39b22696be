#include "cmd/replay_policies/words.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>

#include "cmd/text.h"
#include "cmd/units.h"

namespace tidemark::replay_policies {
namespace {

constexpr std::string_view kFewMark = "*";

std::string MinutesText(int64_t minutes) {
  return cmd::FormatDuration(std::chrono::minutes(minutes));
}

/// "15.41 ×10.9"; without the second where the baseline has none of it.
std::string Beside(std::string text, double value, double baseline) {
  return baseline > 0 ? fmt::format("{} ×{:.3g}", text, value / baseline) : text;
}

std::string Marked(double per_day, uint64_t minutes) {
  return fmt::format("{:.2f}{}", per_day, minutes < kFewMinutes ? kFewMark : "");
}

/// Settings that differ between policies of a kind stand in their names.
std::string SettingsLine(const ReplayPlan& plan) {
  std::vector<std::string> parts;
  const auto add = [&](std::string part) {
    if (std::ranges::find(parts, part) == parts.end()) parts.push_back(std::move(part));
  };
  for (const NamedPolicy& policy : plan.policies) {
    const PolicySettings& settings = policy.settings;
    if (IsDebi(settings.policy)) {
      add(
          fmt::format("{}: U_lo {:.4g} %, U_hi {:.4g} %, tolerance {:.4g} %, window {}, high-water "
                      "risk {:g}",
                      policy.name, 100 * settings.utilization_low_ratio,
                      100 * settings.utilization_high_ratio, 100 * settings.tolerance_ratio,
                      MinutesText(settings.window_minutes), settings.high_water_risk));
    } else if (settings.policy == ScalingPolicy::kTidemark) {
      add(fmt::format(
          "{}: above {:.4g} % in no more than {:.4g} % of minutes, no scale-down by "
          "less than {:.4g} %, window {}",
          policy.name, 100 * settings.slo_utilization_ratio, 100 * settings.slo_time_ratio,
          100 * settings.tolerance_ratio, MinutesText(settings.window_minutes)));
    } else if (settings.policy == ScalingPolicy::kEvtBiLstmHpa) {
      add(fmt::format("{}: high-water risk {:g}", policy.name, settings.high_water_risk));
    }
  }
  const PolicySettings& hpa = plan.policies[plan.Baseline()].settings;
  add(fmt::format("hpa: tolerance {:.4g} %, window {}", 100 * hpa.tolerance_ratio,
                  MinutesText(hpa.window_minutes)));
  std::string line;
  for (const std::string& part : parts) line += (line.empty() ? "" : "; ") + part;
  return line;
}

std::string ForecastLine(const ReplayPlan& plan) {
  const auto models = plan.Models();
  if (models.empty()) return "forecasts: none, no policy reads any";
  std::vector<std::string_view> names;
  names.reserve(models.size());
  for (const ForecastModel model : models) names.push_back(ToString(model));
  return fmt::format("forecasts: the best by its record of {}; seed {}", cmd::Join(names),
                     plan.seed);
}

std::vector<std::string> Row(std::string name, const PolicyFigures& figures,
                             const PolicyFigures& baseline, bool is_one) {
  const double points = 100 * (figures.utilization_ratio - baseline.utilization_ratio);
  const double cost = is_one ? figures.cost : figures.cost_per_minute;
  return {
      std::move(name),
      fmt::format("{:.1f} {:+.1f}", 100 * figures.utilization_ratio, points),
      fmt::format(fmt::runtime(is_one ? "{:.6g}" : "{:.2f}"), cost),
      fmt::format("{:.3f}", figures.cost_ratio),
      Beside(Marked(figures.over_100_per_day, figures.over_100), figures.over_100_per_day,
             baseline.over_100_per_day),
      Beside(Marked(figures.over_90_per_day, figures.over_90), figures.over_90_per_day,
             baseline.over_90_per_day),
      Beside(fmt::format("{:.0f}", 1e6 * figures.unserved_ratio), figures.unserved_ratio,
             baseline.unserved_ratio),
      Beside(fmt::format("{:.0f}", figures.scale_events_per_day), figures.scale_events_per_day,
             baseline.scale_events_per_day),
  };
}

}  // namespace

std::vector<std::string> HeaderLines(const ReplayRun& run) {
  const ReplayPlan& plan = run.plan;
  uint64_t minutes = 0;
  for (const ReplayedTrace& trace : run.traces) minutes += trace.minutes;
  const size_t count = run.ReplayedCount();
  std::vector<std::string> lines;
  lines.push_back(fmt::format("{} {}, {} minutes measured, after {} of each to warm up", count,
                              count == 1 ? "trace" : "traces", minutes,
                              MinutesText(plan.warm_up_minutes)));
  std::string startup = cmd::FormatDuration(std::chrono::milliseconds(plan.startup_ms));
  if (plan.startup_ms % 60'000 != 0) {
    startup += fmt::format(" (counted as {})", MinutesText(plan.StartupMinutes()));
  }
  lines.push_back(fmt::format(
      "a pod serves {} after it is asked for; decisions each {}, {} ahead; {} to {} replicas; a "
      "pod requests {:.6g}",
      startup, MinutesText(plan.period_minutes), MinutesText(plan.LeadMinutes()), plan.bounds.min,
      plan.bounds.max, plan.request.value_or(1)));
  lines.push_back(SettingsLine(plan));
  lines.push_back(ForecastLine(plan));
  return lines;
}

std::string TraceLine(const ReplayedTrace& trace) {
  std::string line = trace.name;
  if (!trace.kind.empty()) line += fmt::format(" ({})", trace.kind);
  if (!trace.why.empty()) return line + ": not replayed: " + trace.why;
  line += fmt::format(": {} minutes measured", trace.minutes);
  if (trace.step_seconds > 60) {
    line += fmt::format(", straight lines between steps of {} s, which flatters forecasts",
                        trace.step_seconds);
  }
  if (trace.minutes_over_bounds > 0) {
    line += fmt::format(
        "; in {} of them demand is more than the most replicas request: no policy "
        "can serve it",
        trace.minutes_over_bounds);
  }
  return line;
}

std::string MeanLine(const Summary& summary) {
  if (summary.kind == "*") return fmt::format("mean over {} traces", summary.traces);
  return fmt::format("mean over {} {} {}", summary.traces, summary.traces == 1 ? "trace" : "traces",
                     summary.kind.empty() ? "without a class" : "of class " + summary.kind);
}

std::vector<std::string> FigureHeads(bool is_one) {
  return {"policy",       "utilisation %",   is_one ? "cost S" : "S a minute",
          "cost ×",       "min/day > 100 %", "min/day > 90 %",
          "unserved ppm", "scalings/day",    "cost × at equal min > 100 %"};
}

std::vector<std::vector<std::string>> FigureRows(const ReplayRun& run, const Summary& summary,
                                                 bool is_one) {
  const PolicyFigures& baseline = summary.policies[run.plan.Baseline()];
  std::vector<std::vector<std::string>> rows;
  for (size_t p = 0; p < run.plan.policies.size(); ++p) {
    const NamedPolicy& policy = run.plan.policies[p];
    auto& row = rows.emplace_back(Row(policy.name, summary.policies[p], baseline, is_one));
    const auto& equal = summary.equal[run.family_of[p]];
    row.push_back(equal ? fmt::format("{:.3f} with {}", equal->cost_ratio,
                                      KnobText(policy.settings.policy, equal->knob))
                        : "not reached");
  }
  rows.push_back(Row(std::string(kPerfectName), summary.perfect, baseline, is_one));
  rows.back().emplace_back();
  return rows;
}

std::vector<std::string> ObjectiveLines(const ReplayRun& run, const Summary& summary) {
  std::vector<std::string> lines;
  for (size_t p = 0; p < run.plan.policies.size(); ++p) {
    const auto& [name, settings, asked] = run.plan.policies[p];
    if (settings.policy != ScalingPolicy::kTidemark) continue;
    lines.push_back(fmt::format(
        "{}: objective: above {:.4g} % in no more than {:.4g} % of minutes; reached: {:.3g} %",
        name, 100 * settings.slo_utilization_ratio, 100 * settings.slo_time_ratio,
        100 * summary.policies[p].over_slo_ratio));
  }
  return lines;
}

std::vector<std::string> NoteLines(const ReplayRun& run) {
  return {
      fmt::format("×: as a multiple of {}'s; behind the utilisation: points more than that",
                  kBaseline),
      fmt::format("cost × at equal min > 100 %: the policy's own knob turned until it has no more "
                  "minutes above 100 % than {}",
                  kBaseline),
      fmt::format("{} fewer than {} minutes in all{}: may be chance", kFewMark, kFewMinutes,
                  run.ReplayedCount() > 1 ? ", of all traces that it counts" : "")};
}

}  // namespace tidemark::replay_policies
