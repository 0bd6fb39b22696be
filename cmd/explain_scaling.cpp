#include "cmd/explain_scaling.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <iterator>
#include <optional>
#include <tuple>
#include <utility>

#include "cmd/text.h"
#include "cmd/units.h"
#include "model/forecast.h"
#include "model/replicated.h"

namespace tidemark::cmd {
namespace {

std::string Minutes(int32_t minutes) { return FormatDuration(std::chrono::minutes(minutes)); }

bool ReadsUtilizations(ScalingPolicy policy) {
  return policy == ScalingPolicy::kDebi || policy == ScalingPolicy::kDebiPaper;
}
bool ReadsRisk(ScalingPolicy policy) {
  return ReadsUtilizations(policy) || policy == ScalingPolicy::kEvtBiLstmHpa;
}
bool ReadsObjective(ScalingPolicy policy) { return policy == ScalingPolicy::kTidemark; }
bool ReadsTarget(ScalingPolicy policy) {
  return !ReadsObjective(policy) && !ReadsUtilizations(policy);
}

std::string BoundsInWords(const ScalingRule& rule) {
  if (rule.min_replicas && rule.max_replicas) {
    return fmt::format("{} to {} replicas", *rule.min_replicas, *rule.max_replicas);
  }
  if (rule.min_replicas) {
    return fmt::format("{} replicas to its HorizontalPodAutoscaler's maximum", *rule.min_replicas);
  }
  if (rule.max_replicas) {
    return fmt::format("its HorizontalPodAutoscaler's minimum, or 1, to {} replicas",
                       *rule.max_replicas);
  }
  return "as many replicas as its HorizontalPodAutoscaler allows; without one there is no target";
}

std::optional<ForecastModel> ModelOf(ScalingPolicy policy) {
  switch (policy) {
    case ScalingPolicy::kArimaHpa: return ForecastModel::kArima;
    case ScalingPolicy::kLstmHpa: return ForecastModel::kLstm;
    case ScalingPolicy::kBiLstmHpa:
    case ScalingPolicy::kEvtBiLstmHpa: return ForecastModel::kBiLstm;
    case ScalingPolicy::kHpa:
    case ScalingPolicy::kDebi:
    case ScalingPolicy::kDebiPaper:
    case ScalingPolicy::kTidemark: break;
  }
  return std::nullopt;
}

/// What is in the way of a target, or of a forecast in it; empty: nothing.
std::string Obstacle(const Config& config, const ScalingRule& rule, const WorkloadId& workload) {
  if (!rule.enabled) return "there is no target: the rule turns it off";
  if (!HasReplicas(workload.workload_type)) {
    return fmt::format("there is no target: a {} has no number of replicas that could be set",
                       workload.workload_type);
  }
  const ForecastSettings& forecast = *config.engine.forecast;
  const ForecastRule* const found = forecast.FindRule(workload);
  const std::string by = found == nullptr ? std::string("as is usual for its type")
                                          : fmt::format("by rule {} of forecast.workloads",
                                                        found - forecast.rules.data() + 1);
  const ForecastRule kept = forecast.RuleOf(workload);
  if (kept.steps == DemandSteps::kNone) {
    return fmt::format("there is no target: its demand is not kept, {}", by);
  }
  if (rule.policy.policy == ScalingPolicy::kHpa) return "";
  constexpr std::string_view kWithout = "the target goes by the load of the last minute alone";
  if (kept.steps == DemandSteps::kFiveMinutes) {
    return fmt::format("{}: its demand is kept in steps of five minutes and not forecast, {}",
                       kWithout, by);
  }
  const auto model = ModelOf(rule.policy.policy);
  const bool is_there =
      !model || kept.always == model || std::ranges::find(kept.models, *model) != kept.models.end();
  return is_there ? ""
                  : fmt::format("{}: its forecast has no {} among its models, {}", kWithout,
                                ToString(*model), by);
}

/// Labels, operators and values, in an order that does not depend on how they are written.
auto SortedParts(const Selector& selector) {
  std::vector<std::tuple<std::string_view, std::string_view, std::string_view>> parts;
  for (const Selector::Part& part : selector.Parts()) {
    parts.emplace_back(part.label, part.op, part.value);
  }
  std::ranges::sort(parts);
  return parts;
}

/// A capital that is no class of characters such as \S.
bool HasUpperCase(std::string_view value) {
  for (size_t i = 0; i < value.size(); ++i) {
    if (value[i] == '\\') {
      ++i;
    } else if (value[i] >= 'A' && value[i] <= 'Z') {
      return true;
    }
  }
  return false;
}

template <class Rule>
void WarnOfSelectors(std::string_view section, const std::vector<Rule>& rules,
                     std::vector<std::string>& out) {
  for (size_t i = 0; i < rules.size(); ++i) {
    const std::string name = fmt::format("{}.workloads[{}]", section, i);
    const auto parts = SortedParts(rules[i].selector);
    for (size_t before = 0; before < i; ++before) {
      const auto others = SortedParts(rules[before].selector);
      // Fewer of the same conditions take all that more take.
      if (!std::ranges::includes(parts, others)) continue;
      out.push_back(fmt::format("{}: it never applies, since {}.workloads[{}] {} comes before it",
                                name, section, before, OneLine(rules[before].selector.text())));
      break;
    }
    for (const auto& [label, op, value] : parts) {
      if (label != "workload_type" || !HasUpperCase(value)) continue;
      out.push_back(
          fmt::format("{}.selector: workload_type{}\"{}\": types are in lower case, as "
                      "in deployment",
                      name, op, OneLine(value)));
    }
  }
}

void WarnOfUnread(const std::vector<ScalingRule>& rules, std::vector<std::string>& out) {
  for (size_t i = 0; i < rules.size(); ++i) {
    const PolicySettings& given = rules[i].policy;
    const PolicySettings usual = UsualSettings(given.policy);
    const auto warn = [&](std::string_view key, bool differs, bool is_read) {
      if (!differs || is_read) return;
      out.push_back(fmt::format("scaling.workloads[{}].{}: policy {} does not read it", i, key,
                                ToString(given.policy)));
    };
    warn("target_utilization", given.target_utilization_ratio != usual.target_utilization_ratio,
         ReadsTarget(given.policy));
    warn("utilization",
         given.utilization_low_ratio != usual.utilization_low_ratio ||
             given.utilization_high_ratio != usual.utilization_high_ratio,
         ReadsUtilizations(given.policy));
    warn("high_water_risk", given.high_water_risk != usual.high_water_risk,
         ReadsRisk(given.policy));
    warn("slo",
         given.slo_utilization_ratio != usual.slo_utilization_ratio ||
             given.slo_time_ratio != usual.slo_time_ratio,
         ReadsObjective(given.policy));
  }
}

std::string BaseInWords(const ScalingRule& rule) {
  if (rule.base) return FormatQuantity(*rule.base, QuantityStyle::kDecimal);
  switch (rule.base_kind) {
    case UtilizationBase::kRequest: break;
    case UtilizationBase::kLimit: return "its limit";
    case UtilizationBase::kOriginal: return "its original request";
  }
  return "its request";
}

}  // namespace

std::string PolicyInWords(const PolicySettings& policy) {
  std::string out(ToString(policy.policy));
  const auto add = [&out](const std::string& text) { out.append(", ").append(text); };
  if (ReadsTarget(policy.policy)) {
    add(fmt::format("utilisation of {}", policy.target_utilization_ratio));
  }
  if (ReadsUtilizations(policy.policy)) {
    add(fmt::format("utilisation of {} to {}", policy.utilization_low_ratio,
                    policy.utilization_high_ratio));
  }
  if (ReadsObjective(policy.policy)) {
    add(fmt::format("utilisation above {} in at most {} of the time", policy.slo_utilization_ratio,
                    policy.slo_time_ratio));
  }
  if (ReadsRisk(policy.policy)) add(fmt::format("high-water risk {}", policy.high_water_risk));
  add(fmt::format("tolerance {}", policy.tolerance_ratio));
  add(fmt::format("window {}", Minutes(policy.window_minutes)));
  return out;
}

std::string ScalingLines(const Config& config, const WorkloadId& workload) {
  const ScalingSettings& settings = *config.engine.scaling;
  const ScalingRule& rule = settings.RuleOf(workload);
  std::string out = "scaling: ";
  if (&rule == &settings.usual) {
    out.append("no rule matches: ");
  } else {
    fmt::format_to(std::back_inserter(out), "rule {} {}: ", &rule - settings.rules.data() + 1,
                   OneLine(rule.selector.text()));
  }
  fmt::format_to(std::back_inserter(out), "{}; {}; one pod counts for {}; start-up {}{}\n",
                 PolicyInWords(rule.policy), BoundsInWords(rule), BaseInWords(rule),
                 rule.startup_ms ? FormatDuration(std::chrono::milliseconds(*rule.startup_ms))
                                 : std::string("as measured"),
                 rule.escape_dead_band ? "; targets leave an HPA's dead band" : "");
  if (const std::string obstacle = Obstacle(config, rule, workload); !obstacle.empty()) {
    fmt::format_to(std::back_inserter(out), "  {}\n", OneLine(obstacle));
  }
  return out;
}

std::vector<std::string> RuleWarnings(const Config& config) {
  std::vector<std::string> out;
  WarnOfSelectors("forecast", config.engine.forecast->rules, out);
  WarnOfSelectors("scaling", config.engine.scaling->rules, out);
  WarnOfUnread(config.engine.scaling->rules, out);
  return out;
}

}  // namespace tidemark::cmd
