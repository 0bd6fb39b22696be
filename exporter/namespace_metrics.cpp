#include "exporter/namespace_metrics.h"

#include <array>
#include <optional>
#include <string>

#include "model/request_sums.h"

namespace tidemark::exporter {
namespace {

enum Family : size_t { kCurrent, kRecommended, kReclaimable, kContainers, kSavings, kFamilyCount };

constexpr std::array<FamilyHeader, kFamilyCount> kFamilies = {{
    {"tidemark_namespace_current_request",
     "What the containers of a namespace request now, per pod times replicas, as far as a "
     "recommendation is known too.",
     MetricType::kGauge, ""},
    {"tidemark_namespace_recommended_request",
     "What the same containers should request, per pod times replicas.", MetricType::kGauge, ""},
    {"tidemark_namespace_reclaimable",
     "What the same containers request above the recommendation; negative where they need more.",
     MetricType::kGauge, ""},
    {"tidemark_namespace_containers",
     "Containers of workloads by how their present request is: under, fitting, over or far_over "
     "what is recommended, absent, or unknown while nothing is recommended. The sums leave the "
     "last two out.",
     MetricType::kGauge, ""},
    {"tidemark_namespace_savings_per_month",
     "What tidemark_namespace_reclaimable costs in a month of 730 hours, by the configured prices; "
     "negative where more is needed.",
     MetricType::kGauge, ""},
}};

class Renderer {
 public:
  Renderer(const Prices& prices, const ResourceTable& resources)
      : prices_(prices), resources_(resources) {}

  BlockText Render(const NamespaceBlock& block) {
    AllRequestSums sums;
    for (const WorkloadAdvice& workload : block.workloads) sums.Add(workload);
    labels_.clear();
    if (!block.cluster.empty()) AppendNextLabel("cluster", block.cluster, labels_);
    AppendNextLabel("namespace", block.name_space, labels_);
    const size_t end = labels_.size();
    std::optional<double> savings;
    for (const Resource resource : resources_.all()) {
      labels_.resize(end);
      AddResource(resource, sums.Of(resource));
      if (sums.Of(resource).known > 0) {
        AddKnown(MonthlyCost(prices_, resource, sums.Of(resource).reclaimable), savings);
      }
    }
    if (savings) {
      labels_.resize(end);
      AppendNextLabel("currency", prices_.currency, labels_);
      labels_ += "} ";
      Add(kSavings, *savings);
    }
    return builder_.Take();
  }

 private:
  void AddResource(Resource resource, const RequestSums& sums) {
    if (sums.Containers() == 0) return;
    AppendNextLabel("resource", resources_.NameOf(resource), labels_);
    AppendNextLabel("unit", resources_.UnitOf(resource), labels_);
    const size_t end = labels_.size();
    labels_ += "} ";
    if (sums.known > 0) {
      Add(kCurrent, sums.current);
      Add(kRecommended, sums.recommended);
      Add(kReclaimable, sums.reclaimable);
    }
    for (size_t i = 0; i < kRequestFitCount; ++i) {
      labels_.resize(end);
      AppendNextLabel("request", ToString(static_cast<RequestFit>(i)), labels_);
      labels_ += "} ";
      Add(kContainers, static_cast<double>(sums.fits[i]));
    }
  }

  void Add(Family family, double value) {
    builder_.Add(family, kFamilies[family].name, labels_, value);
  }

  const Prices& prices_;
  const ResourceTable& resources_;
  BlockTextBuilder builder_{kFamilyCount};
  std::string labels_;
};

}  // namespace

void NamespaceMetrics::Append(const Snapshot& snapshot, const Prices& prices,
                              ExpositionWriter& writer) {
  // One page at a time: another with other prices in between would find the wrong texts.
  const std::scoped_lock lock(mutex_);
  if (rendered_with_ != prices) cache_.Clear();
  rendered_with_ = prices;
  Renderer renderer(prices, *snapshot.resources);
  const BlockTextCache::Texts texts =
      cache_.Render(snapshot, [&](const NamespaceBlock& block) { return renderer.Render(block); });
  constexpr size_t kHeaders = 2048;
  writer.Reserve(SizeOf(texts) + kHeaders);
  for (size_t i = 0; i < kFamilyCount; ++i) WriteFamily(kFamilies[i], i, texts, writer);
}

}  // namespace tidemark::exporter
