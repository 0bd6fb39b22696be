#include "exporter/recommendation_metrics.h"

#include <fmt/format.h>

#include <array>
#include <optional>
#include <string>
#include <string_view>

namespace tidemark::exporter {
namespace {

/// A family and the value it shows.
struct Family {
  FamilyHeader header;
  std::optional<double> (*value)(const ResourceAdvice&);
};

// The unit is in a label, as kube-state-metrics has it, so only the last family has one in its
// name. Days there are a count of days with samples behind them, and a name that users hold on to;
// promtool would rather see seconds.
constexpr std::array<Family, 9> kFamilies = {{
    {{"tidemark_recommended_request",
      "The request to set for one pod's container: model value with margin and expansion, within "
      "minimum, floor and ceiling.",
      MetricType::kGauge, ""},
     [](const ResourceAdvice& advice) { return advice.recommended_request; }},
    {{"tidemark_recommended_request_lower_bound",
      "A present request below this is wrong with some confidence.", MetricType::kGauge, ""},
     [](const ResourceAdvice& advice) { return advice.lower_bound; }},
    {{"tidemark_recommended_request_upper_bound",
      "A present request above this is wrong with some confidence; absent while too little is "
      "known.",
      MetricType::kGauge, ""},
     [](const ResourceAdvice& advice) { return advice.upper_bound; }},
    {{"tidemark_model_request",
      "What the usage histogram (or kills for memory) says that one pod's container needs, before "
      "margin, expansion and bounds.",
      MetricType::kGauge, ""},
     [](const ResourceAdvice& advice) { return advice.model_request; }},
    {{"tidemark_original_request",
      "The request that the workload's owner wrote, before any correction, where the stream says "
      "it.",
      MetricType::kGauge, ""},
     [](const ResourceAdvice& advice) { return advice.original_request; }},
    {{"tidemark_current_request", "The request that the workload's newest pod has now.",
      MetricType::kGauge, ""},
     [](const ResourceAdvice& advice) { return advice.current_request; }},
    {{"tidemark_current_limit", "The limit that the workload's newest pod has now.",
      MetricType::kGauge, ""},
     [](const ResourceAdvice& advice) { return advice.current_limit; }},
    {{"tidemark_reclaimable",
      "What all replicas together request above the recommendation; negative where they need more.",
      MetricType::kGauge, ""},
     [](const ResourceAdvice& advice) { return advice.reclaimable; }},
    {{"tidemark_recommendation_confidence_days",
      "How many days of samples are behind the recommendation.", MetricType::kGauge, "days"},
     [](const ResourceAdvice& advice) {
       return advice.model_request ? std::optional<double>(advice.confidence_days) : std::nullopt;
     }},
}};

constexpr FamilyHeader kProfileInfo = {
    "tidemark_recommendation_profile_info",
    "Always 1; the labels say by which profile a container's requests are worked out, and whether "
    "right-sizing applies them by itself.",
    MetricType::kGauge, ""};
constexpr size_t kProfileFamily = kFamilies.size();

constexpr FamilyHeader kHighWaterMark = {
    "tidemark_high_water_mark",
    "The level that usage of one pod's container passes in a minute with at most the probability "
    "in the label risk.",
    MetricType::kGauge, ""};
constexpr size_t kHighWaterFamily = kProfileFamily + 1;
constexpr FamilyHeader kClassInfo = {"tidemark_workload_profile_info",
                                     "Always 1; the label class says what a workload's pods live "
                                     "on most: compute, memory, balanced, "
                                     "or idle where they hardly use any CPU.",
                                     MetricType::kGauge, ""};
constexpr size_t kClassFamily = kHighWaterFamily + 1;

class Renderer {
 public:
  BlockText Render(const NamespaceBlock& block) {
    names_ = block.profiles ? &block.profiles->resources() : &built_in_;
    for (const WorkloadAdvice& workload : block.workloads) AddWorkload(workload);
    return builder_.Take();
  }

 private:
  void AddWorkload(const WorkloadAdvice& workload) {
    labels_.clear();
    if (!workload.id.cluster.empty()) AppendNextLabel("cluster", workload.id.cluster, labels_);
    AppendNextLabel("namespace", workload.id.name_space, labels_);
    AppendNextLabel("workload_type", workload.id.workload_type, labels_);
    AppendNextLabel("workload", workload.id.workload, labels_);
    const size_t workload_end = labels_.size();
    if (workload.workload_class != WorkloadClass::kUnknown) {
      AppendNextLabel("class", ToString(workload.workload_class), labels_);
      labels_ += "} ";
      builder_.Add(kClassFamily, kClassInfo.name, labels_, 1);
    }
    for (const ContainerAdvice& container : workload.containers) {
      labels_.resize(workload_end);
      if (!container.container.empty()) AppendNextLabel("container", container.container, labels_);
      const size_t container_end = labels_.size();
      for (const ResourceAdvice& advice : container.resources) {
        labels_.resize(container_end);
        AddResource(advice);
      }
      labels_.resize(container_end);
      if (container.profile != nullptr) AddProfile(*container.profile);
    }
  }

  void AddResource(const ResourceAdvice& advice) {
    AppendNextLabel("resource", names_->NameOf(advice.resource), labels_);
    AppendNextLabel("unit", names_->UnitOf(advice.resource), labels_);
    const size_t resource_end = labels_.size();
    for (const HighWaterMark& mark : advice.high_water) {
      AppendNextLabel("risk", fmt::format("{}", mark.risk), labels_);  // 0.0001, not 1e-04
      labels_ += "} ";
      builder_.Add(kHighWaterFamily, kHighWaterMark.name, labels_, mark.value);
      labels_.resize(resource_end);
    }
    labels_ += "} ";
    for (size_t i = 0; i < kFamilies.size(); ++i) {
      const std::optional<double> value = kFamilies[i].value(advice);
      if (value) builder_.Add(i, kFamilies[i].header.name, labels_, *value);
    }
  }

  void AddProfile(const Profile& profile) {
    AppendNextLabel("profile", profile.name, labels_);
    AppendNextLabel("preset", ToString(profile.preset), labels_);
    AppendNextLabel("effect", ToString(profile.effect), labels_);
    labels_ += "} ";
    builder_.Add(kProfileFamily, kProfileInfo.name, labels_, 1);
  }

  BlockTextBuilder builder_{kClassFamily + 1};
  const ResourceTable built_in_;
  const ResourceTable* names_ = &built_in_;
  std::string labels_;
};

}  // namespace

void RecommendationMetrics::Append(const Snapshot& snapshot, ExpositionWriter& writer) {
  Renderer renderer;
  const BlockTextCache::Texts texts =
      cache_.Render(snapshot, [&](const NamespaceBlock& block) { return renderer.Render(block); });
  constexpr size_t kHeaders = 4096;
  writer.Reserve(SizeOf(texts) + kHeaders);
  for (size_t i = 0; i < kFamilies.size(); ++i) {
    WriteFamily(kFamilies[i].header, i, texts, writer);
  }
  WriteFamily(kProfileInfo, kProfileFamily, texts, writer);
  WriteFamily(kHighWaterMark, kHighWaterFamily, texts, writer);
  WriteFamily(kClassInfo, kClassFamily, texts, writer);
}

}  // namespace tidemark::exporter
