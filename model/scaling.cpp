#include "model/scaling.h"

#include <fmt/format.h>

#include <algorithm>

#include "model/label.h"

namespace tidemark {
namespace {

constexpr std::array<std::string_view, kScalingPolicyCount> kPolicyNames = {
    "hpa",  "arima-hpa",  "lstm-hpa", "bilstm-hpa", "evt-bilstm-hpa",
    "debi", "debi-paper", "tidemark"};

constexpr std::array<std::string_view, 12> kReasonNames = {
    "suspended", "fixed",          "within_tolerance", "at_minimum", "at_maximum",   "load",
    "risk",      "recurring_peak", "small_scale_down", "censored",   "missing_pods", "stabilized"};

/// Of a ratio in (0, most], or (0, most) where `open`.
Result<void> CheckRatio(std::string_view field, double value, double most, bool open) {
  if (value > 0 && (open ? value < most : value <= most)) return {};
  return Fail(ErrorCode::kInvalidArgument,
              fmt::format("{}: {} is out of range, allowed: above 0 {} {}", field, value,
                          open ? "and below" : "to", most));
}

bool Matches(const ScalingRule& rule, const WorkloadId& workload) {
  std::vector<LabelView> labels;  // sorted by name
  if (!workload.cluster.empty()) labels.push_back({"cluster", workload.cluster});
  labels.push_back({"namespace", workload.name_space});
  labels.push_back({"workload", workload.workload});
  labels.push_back({"workload_type", workload.workload_type});
  return rule.selector.Matches(labels);
}

}  // namespace

std::string_view ToString(ScalingPolicy policy) {
  return kPolicyNames[static_cast<size_t>(policy)];
}

std::optional<ScalingPolicy> ScalingPolicyNamed(std::string_view name) {
  for (size_t i = 0; i < kPolicyNames.size(); ++i) {
    if (kPolicyNames[i] == name) return static_cast<ScalingPolicy>(i);
  }
  return std::nullopt;
}

std::string_view ToString(ScalingMode mode) {
  return mode == ScalingMode::kPredictive ? "predictive" : "reactive";
}

std::string_view ToString(DecisionReason reason) {
  return kReasonNames[static_cast<size_t>(reason)];
}

PolicySettings UsualSettings(ScalingPolicy policy) {
  PolicySettings settings;
  settings.policy = policy;
  if (policy == ScalingPolicy::kTidemark) return settings;
  settings.window_minutes = 5;
  if (policy == ScalingPolicy::kDebiPaper) settings.high_water_risk = 0.1;
  return settings;
}

Result<void> CheckSettings(const PolicySettings& settings) {
  const auto good = [](const Result<void>& checked, const Result<void>& next) {
    return checked ? next : checked;
  };
  Result<void> checked =
      CheckRatio("target_utilization", settings.target_utilization_ratio, 100, false);
  checked =
      good(checked, CheckRatio("utilization.high", settings.utilization_high_ratio, 1, false));
  checked = good(checked, CheckRatio("utilization.low", settings.utilization_low_ratio,
                                     settings.utilization_high_ratio, false));
  if (checked && !(settings.tolerance_ratio >= 0 && settings.tolerance_ratio < 1)) {
    checked = Fail(ErrorCode::kInvalidArgument,
                   fmt::format("tolerance: {} is out of range, allowed: from 0 and below 1",
                               settings.tolerance_ratio));
  }
  checked = good(checked, CheckRatio("high_water_risk", settings.high_water_risk, 0.5, true));
  checked = good(checked, CheckRatio("slo.utilization", settings.slo_utilization_ratio, 1, false));
  checked = good(checked, CheckRatio("slo.time", settings.slo_time_ratio, 0.5, true));
  if (checked && (settings.window_minutes < 1 ||
                  settings.window_minutes > PolicySettings::kMaxWindowMinutes)) {
    checked = Fail(ErrorCode::kInvalidArgument,
                   fmt::format("window: {}m is out of range, allowed: 1m to {}m",
                               settings.window_minutes, PolicySettings::kMaxWindowMinutes));
  }
  return checked;
}

const ScalingRule& ScalingSettings::RuleOf(const WorkloadId& workload) const {
  for (const ScalingRule& rule : rules) {
    if (Matches(rule, workload)) return rule;
  }
  return usual;
}

bool ScalingSettings::GivesBounds(const WorkloadId& workload) const {
  const ScalingRule& rule = RuleOf(workload);
  return rule.enabled && rule.max_replicas.has_value();
}

std::string_view ToString(UtilizationBase base) {
  switch (base) {
    case UtilizationBase::kRequest: return "request";
    case UtilizationBase::kLimit: return "limit";
    case UtilizationBase::kOriginal: return "original";
  }
  return "unknown";
}

std::optional<ServedReplicas> ServedTarget(const WorkloadScaling& scaling) {
  if (!scaling.decision) return std::nullopt;
  ServedReplicas served = {.replicas = scaling.decision->target, .is_escaped = false};
  if (!scaling.escape_dead_band || !scaling.current_replicas) return served;
  // In whole numbers: an HPA takes a ratio of exactly 1.1 for within its tolerance.
  const int64_t current = *scaling.current_replicas;
  const int64_t target = served.replicas;
  if (target <= current || target * 10 > current * 11) return served;
  int64_t least = current * 11 / 10 + 1;
  if (scaling.bounds)
    least = std::min<int64_t>(least, std::max(scaling.bounds->max, served.replicas));
  if (least > target) served = {.replicas = static_cast<int32_t>(least), .is_escaped = true};
  return served;
}

}  // namespace tidemark
