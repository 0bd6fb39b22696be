#include "exporter/scaling_metrics.h"

#include <array>
#include <optional>
#include <string>
#include <string_view>

namespace tidemark::exporter {
namespace {

enum Family : size_t {
  kTarget,
  kCurrent,
  kMinimum,
  kMaximum,
  kTargetUtilization,
  kMode,
  kPolicy,
  kScalePoint,
  kAutoscalerTarget,
  kPreservingTarget,
  kFamilyCount
};

constexpr std::array<FamilyHeader, kFamilyCount> kFamilies = {{
    {"tidemark_target_replicas",
     "How many replicas the workload should have now; absent while that cannot be said.",
     MetricType::kGauge, ""},
    {"tidemark_current_replicas", "How many replicas the workload's spec asks for.",
     MetricType::kGauge, ""},
    {"tidemark_min_replicas", "The target is never less.", MetricType::kGauge, ""},
    {"tidemark_max_replicas", "The target is never more.", MetricType::kGauge, ""},
    {"tidemark_target_utilization_ratio",
     "The load ratio that the policy aims at with the present replicas; absent where it has none.",
     MetricType::kGauge, ""},
    {"tidemark_scaling_mode",
     "Always 1; the label mode says whether the target goes by a forecast (predictive) or by the "
     "load of the last minute (reactive).",
     MetricType::kGauge, ""},
    {"tidemark_scaling_policy_info",
     "Always 1; the label policy says what decides, escape_dead_band whether a target may be "
     "raised "
     "so that an HPA with the usual tolerance follows it.",
     MetricType::kGauge, ""},
    {"tidemark_autoscaler_scale_point",
     "Load of a pod at which the workload's HorizontalPodAutoscaler, which keeps to a utilisation "
     "of requests, scales: by the original, current and recommended requests.",
     MetricType::kGauge, ""},
    {"tidemark_autoscaler_target_utilization_ratio",
     "Utilisation of requests that the workload's HorizontalPodAutoscaler keeps to.",
     MetricType::kGauge, ""},
    {"tidemark_autoscaler_preserving_target_ratio",
     "Utilisation that, with the recommended requests, keeps the scale point where its owner meant "
     "it; outside 0.3 to 0.9 set an AverageValue.",
     MetricType::kGauge, ""},
}};

class Renderer {
 public:
  BlockText Render(const NamespaceBlock& block) {
    for (const WorkloadAdvice& workload : block.workloads) {
      if (workload.scaling) AddWorkload(workload.id, *workload.scaling);
    }
    return builder_.Take();
  }

 private:
  void AddWorkload(const WorkloadId& id, const WorkloadScaling& scaling) {
    labels_.clear();
    if (!id.cluster.empty()) AppendNextLabel("cluster", id.cluster, labels_);
    AppendNextLabel("namespace", id.name_space, labels_);
    AppendNextLabel("workload_type", id.workload_type, labels_);
    AppendNextLabel("workload", id.workload, labels_);
    if (scaling.current_replicas) Add(kCurrent, *scaling.current_replicas);
    if (scaling.bounds) {
      Add(kMinimum, scaling.bounds->min);
      Add(kMaximum, scaling.bounds->max);
    }
    // Where scaling is turned off nothing decides.
    if (scaling.why != "disabled") AddPolicy(scaling);
    for (const AutoscalerUtilization& target : scaling.utilization_targets) AddTarget(target);
    if (!scaling.decision) return;
    const ReplicaDecision& decision = *scaling.decision;
    Add(kTarget, ServedTarget(scaling)->replicas);
    if (decision.target_utilization_ratio > 0) {
      Add(kTargetUtilization, decision.target_utilization_ratio);
    }
    AddOf("mode", ToString(decision.mode), kMode);
  }

  void AddPolicy(const WorkloadScaling& scaling) {
    const size_t end = labels_.size();
    AppendNextLabel("policy", ToString(scaling.policy.policy), labels_);
    if (scaling.escape_dead_band) AppendNextLabel("escape_dead_band", "true", labels_);
    Add(kPolicy, 1);
    labels_.resize(end);
  }

  void AddTarget(const AutoscalerUtilization& target) {
    const size_t end = labels_.size();
    AppendNextLabel("resource", ResourceName(target.resource), labels_);
    Add(kAutoscalerTarget, target.target_utilization_ratio);
    if (target.preserving_target_ratio) Add(kPreservingTarget, *target.preserving_target_ratio);
    AppendNextLabel("unit", UnitName(target.resource), labels_);
    const auto add = [this](std::string_view requests, const std::optional<double>& load) {
      const size_t of_all = labels_.size();
      if (!load) return;
      AppendNextLabel("requests", requests, labels_);
      Add(kScalePoint, *load);
      labels_.resize(of_all);
    };
    add("original", target.scale_point_before);
    add("current", target.scale_point_now);
    add("recommended", target.scale_point_after);
    labels_.resize(end);
  }

  void Add(Family family, double value) {
    labels_ += "} ";
    builder_.Add(family, kFamilies[family].name, labels_, value);
    labels_.resize(labels_.size() - 2);
  }

  /// 1, with one label more.
  void AddOf(std::string_view label, std::string_view of, Family family) {
    const size_t end = labels_.size();
    AppendNextLabel(label, of, labels_);
    Add(family, 1);
    labels_.resize(end);
  }

  BlockTextBuilder builder_{kFamilyCount};
  std::string labels_;
};

}  // namespace

void ScalingMetrics::Append(const Snapshot& snapshot, ExpositionWriter& writer) {
  Renderer renderer;
  const BlockTextCache::Texts texts =
      cache_.Render(snapshot, [&](const NamespaceBlock& block) { return renderer.Render(block); });
  constexpr size_t kHeaders = 2048;
  writer.Reserve(SizeOf(texts) + kHeaders);
  for (size_t i = 0; i < kFamilyCount; ++i) WriteFamily(kFamilies[i], i, texts, writer);
}

}  // namespace tidemark::exporter
