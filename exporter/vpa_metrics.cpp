#include "exporter/vpa_metrics.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>

#include "model/rounding.h"

namespace tidemark::exporter {
namespace {

struct KnownKind {
  std::string_view workload_type;
  TargetKind target;
};

// Pods without a controller are in the list so that they are spelled right; a VPA cannot have them
// as its target.
constexpr std::array<KnownKind, 15> kKinds = {{
    {"deployment", {"Deployment", "apps/v1"}},
    {"statefulset", {"StatefulSet", "apps/v1"}},
    {"daemonset", {"DaemonSet", "apps/v1"}},
    {"replicaset", {"ReplicaSet", "apps/v1"}},
    {"job", {"Job", "batch/v1"}},
    {"cronjob", {"CronJob", "batch/v1"}},
    {"replicationcontroller", {"ReplicationController", "v1"}},
    {"barepod", {"Pod", "v1"}},
    {"staticpod", {"Pod", "v1"}},
    {"deploymentconfig", {"DeploymentConfig", "apps.openshift.io/v1"}},
    {"rollout", {"Rollout", "argoproj.io/v1alpha1"}},
    {"cloneset", {"CloneSet", "apps.kruise.io/v1alpha1"}},
    {"uniteddeployment", {"UnitedDeployment", "apps.kruise.io/v1alpha1"}},
    {"broadcastjob", {"BroadcastJob", "apps.kruise.io/v1alpha1"}},
    {"advancedcronjob", {"AdvancedCronJob", "apps.kruise.io/v1alpha1"}},
}};

enum Family : size_t { kTarget, kLowerBound, kUpperBound, kUncappedTarget, kFamilyCount };

constexpr std::array<FamilyHeader, kFamilyCount> kFamilies = {{
    {"kube_customresource_verticalpodautoscaler_status_recommendation_containerrecommendations_"
     "target",
     "As tidemark_recommended_request, under the name that dashboards for VPA ask for.",
     MetricType::kGauge, ""},
    {"kube_customresource_verticalpodautoscaler_status_recommendation_containerrecommendations_"
     "lowerbound",
     "As tidemark_recommended_request_lower_bound, under the name that dashboards for VPA ask for.",
     MetricType::kGauge, ""},
    {"kube_customresource_verticalpodautoscaler_status_recommendation_containerrecommendations_"
     "upperbound",
     "As tidemark_recommended_request_upper_bound, under the name that dashboards for VPA ask for.",
     MetricType::kGauge, ""},
    {"kube_customresource_verticalpodautoscaler_status_recommendation_containerrecommendations_"
     "uncappedtarget",
     "The recommended request before floor and ceiling, under the name that dashboards for VPA ask "
     "for.",
     MetricType::kGauge, ""},
}};

class Renderer {
 public:
  BlockText Render(const NamespaceBlock& block) {
    for (const WorkloadAdvice& workload : block.workloads) AddWorkload(workload);
    return builder_.Take();
  }

 private:
  void AddWorkload(const WorkloadAdvice& workload) {
    const TargetKind target = TargetKindOf(workload.id.workload_type);
    labels_.clear();
    if (!workload.id.cluster.empty()) AppendNextLabel("cluster", workload.id.cluster, labels_);
    AppendNextLabel("namespace", workload.id.name_space, labels_);
    AppendNextLabel("verticalpodautoscaler", workload.id.workload, labels_);
    if (!target.api_version.empty()) {
      AppendNextLabel("target_api_version", target.api_version, labels_);
    }
    AppendNextLabel("target_kind", target.kind, labels_);
    // Static pods and bare pods are one kind to Kubernetes and two types to us, but a pod is
    // either: names do not meet.
    AppendNextLabel("target_name", workload.id.workload, labels_);
    const size_t workload_end = labels_.size();
    for (const ContainerAdvice& container : workload.containers) {
      if (container.container.empty()) continue;
      labels_.resize(workload_end);
      AppendNextLabel("container", container.container, labels_);
      const size_t container_end = labels_.size();
      for (const ResourceAdvice& advice : container.resources) {
        if (advice.resource != Resource::kCpu && advice.resource != Resource::kMemory) continue;
        labels_.resize(container_end);
        AddResource(container.profile, Sharing(container.profile, workload), advice);
      }
    }
  }

  /// How many containers share the pod's minimum; VPA, and so a strict profile, counts all that it
  /// ever knew.
  static size_t Sharing(const Profile* profile, const WorkloadAdvice& workload) {
    return profile != nullptr && profile->strict ? workload.containers_known
                                                 : workload.containers_in_pod;
  }

  void AddResource(const Profile* profile, size_t containers, const ResourceAdvice& advice) {
    AppendNextLabel("resource", ResourceName(advice.resource), labels_);
    AppendNextLabel("unit", UnitName(advice.resource), labels_);
    labels_ += "} ";
    Add(kTarget, advice.recommended_request);
    Add(kLowerBound, advice.lower_bound);
    Add(kUpperBound, advice.upper_bound);
    if (advice.recommended_request) {
      Add(kUncappedTarget, UncappedRequest(profile, containers, advice));
    }
  }

  void Add(Family family, const std::optional<double>& value) {
    if (value) builder_.Add(family, kFamilies[family].name, labels_, *value);
  }

  BlockTextBuilder builder_{kFamilyCount};
  std::string labels_;
};

}  // namespace

TargetKind TargetKindOf(std::string_view workload_type) {
  const auto* const found = std::ranges::find(kKinds, workload_type, &KnownKind::workload_type);
  return found == kKinds.end() ? TargetKind{workload_type, ""} : found->target;
}

double UncappedRequest(const Profile* profile, size_t containers, const ResourceAdvice& advice) {
  const double recommended = *advice.recommended_request;
  const bool capped = advice.Has(AdviceMark::kFloor) || advice.Has(AdviceMark::kCeiling) ||
                      advice.Has(AdviceMark::kPlateau) || advice.Has(AdviceMark::kNodeCap);
  if (profile == nullptr || !capped) return recommended;
  const ResourceRule& rule = profile->rule(advice.resource);
  if (advice.Has(AdviceMark::kStatic)) {
    if (!advice.original_request) return recommended;
    return RoundedUp(WholeAmount(advice.resource, *advice.original_request * rule.static_ratio),
                     rule.rounding);
  }
  // In whole amounts, cut off after each step as VPA does, so that the target and the uncapped one
  // agree where nothing was capped.
  const double per_unit = WholeAmountsPerUnit(advice.resource);
  double amount = std::round(advice.model_request.value_or(0) * per_unit);
  amount += std::trunc(amount * MarginInForce(rule, advice.Has(AdviceMark::kHours)));
  amount = std::trunc(amount * rule.expansion_factor);
  if (advice.Has(AdviceMark::kPodMinimum)) {
    const double minimum = std::round(rule.pod_minimum * per_unit);
    const double share = 1.0 / static_cast<double>(std::max<size_t>(containers, 1));
    amount = std::max(amount, std::trunc(minimum * share));
  }
  return RoundedUp(amount / per_unit, rule.rounding);
}

void VpaMetrics::Append(const Snapshot& snapshot, ExpositionWriter& writer) {
  Renderer renderer;
  const BlockTextCache::Texts texts =
      cache_.Render(snapshot, [&](const NamespaceBlock& block) { return renderer.Render(block); });
  constexpr size_t kHeaders = 2048;
  writer.Reserve(SizeOf(texts) + kHeaders);
  for (size_t i = 0; i < kFamilyCount; ++i) WriteFamily(kFamilies[i], i, texts, writer);
}

}  // namespace tidemark::exporter
