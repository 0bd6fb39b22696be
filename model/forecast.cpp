#include "model/forecast.h"

#include <array>

#include "model/label.h"

namespace tidemark {
namespace {

constexpr std::array<std::string_view, kForecastModelCount> kNames = {
    "last_value", "day_rise", "seasonal_day", "seasonal_week", "holt_winters",
    "ridge_30",   "ridge_60", "arima",        "lstm",          "bilstm"};

DemandSteps UsualSteps(std::string_view workload_type) {
  if (workload_type == "job" || workload_type == "cronjob") return DemandSteps::kNone;
  if (workload_type == "daemonset" || workload_type == "process" || workload_type == "staticpod") {
    return DemandSteps::kFiveMinutes;
  }
  return DemandSteps::kMinutes;
}

}  // namespace

std::string_view ToString(ForecastModel model) { return kNames[static_cast<size_t>(model)]; }

std::string_view ToString(DemandSteps steps) {
  switch (steps) {
    case DemandSteps::kNone: return "none";
    case DemandSteps::kFiveMinutes: return "five_minutes";
    case DemandSteps::kMinutes: return "minutes";
  }
  return "unknown";
}

std::optional<ForecastModel> ForecastModelNamed(std::string_view name) {
  for (size_t i = 0; i < kNames.size(); ++i) {
    if (kNames[i] == name) return static_cast<ForecastModel>(i);
  }
  return std::nullopt;
}

const ForecastRule* ForecastSettings::FindRule(const WorkloadId& workload) const {
  std::vector<LabelView> labels;  // sorted by name
  if (!workload.cluster.empty()) labels.push_back({"cluster", workload.cluster});
  labels.push_back({"namespace", workload.name_space});
  labels.push_back({"workload", workload.workload});
  labels.push_back({"workload_type", workload.workload_type});
  for (const ForecastRule& rule : rules) {
    if (rule.selector.Matches(labels)) return &rule;
  }
  return nullptr;
}

ForecastRule ForecastSettings::RuleOf(const WorkloadId& workload) const {
  if (const ForecastRule* const rule = FindRule(workload); rule != nullptr) return *rule;
  ForecastRule usual;
  usual.steps = UsualSteps(workload.workload_type);
  return usual;
}

}  // namespace tidemark
