#include "cmd/report_autoscalers.h"

#include <algorithm>
#include <cctype>
#include <string_view>
#include <utility>
#include <vector>

namespace tidemark::cmd {
namespace {

std::string ValueOf(const std::vector<std::pair<std::string, std::string>>& labels,
                    std::string_view name) {
  const auto found =
      std::ranges::find_if(labels, [name](const auto& label) { return label.first == name; });
  return found == labels.end() ? "" : found->second;
}

std::string LowerCase(std::string text) {
  std::ranges::transform(text, text.begin(),
                         [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return text;
}

}  // namespace

void AutoscalerReader::Take(PastKind kind, const backfill::AnswerSeries& series) {
  std::string cluster = ValueOf(series.labels, "cluster");
  if (cluster.empty()) cluster = ValueOf(external_labels_, "cluster");
  std::string name_space = ValueOf(series.labels, "exported_namespace");
  if (name_space.empty()) name_space = ValueOf(series.labels, "namespace");
  const std::string name = ValueOf(series.labels, "horizontalpodautoscaler");
  if (name.empty()) return;
  const Key key(cluster, name_space, name);
  report::Autoscaler& scaler = by_name_[key];
  scaler.name = name;
  if (kind == PastKind::kAutoscaler) {
    scaled_[key] = {LowerCase(ValueOf(series.labels, "scaletargetref_kind")),
                    ValueOf(series.labels, "scaletargetref_name")};
    return;
  }
  const std::string metric = ValueOf(series.labels, "metric_name");
  const std::string type = ValueOf(series.labels, "metric_target_type");
  const std::string target = type.empty() ? metric : metric + " " + type;
  if (!metric.empty() && std::ranges::find(scaler.targets, target) == scaler.targets.end()) {
    scaler.targets.push_back(target);
    std::ranges::sort(scaler.targets);
  }
  scaler.by_request = scaler.by_request || type == "utilization";
}

report::Autoscalers AutoscalerReader::Finish() {
  report::Autoscalers out;
  for (const auto& [key, workload] : scaled_) {
    const auto& [cluster, name_space, name] = key;
    out[{cluster, name_space, workload.first, workload.second}] = by_name_[key];
  }
  return out;
}

}  // namespace tidemark::cmd
