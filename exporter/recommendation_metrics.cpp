#include "exporter/recommendation_metrics.h"

#include <array>
#include <mutex>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

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
constexpr std::array<Family, 6> kFamilies = {{
    {{"tidemark_recommended_request",
      "The request to set for one pod's container: model value with margin, at least the "
      "minimum.",
      MetricType::kGauge, ""},
     [](const ResourceAdvice& advice) { return advice.recommended_request; }},
    {{"tidemark_model_request",
      "What the usage histogram says that one pod's container needs, before margin and "
      "minimum.",
      MetricType::kGauge, ""},
     [](const ResourceAdvice& advice) { return advice.model_request; }},
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

/// The lines of one block, family after family; `ends` says where each ends.
struct BlockText {
  std::string text;
  std::array<size_t, kFamilies.size()> ends{};

  std::string_view Lines(size_t family) const {
    const size_t begin = family == 0 ? 0 : ends[family - 1];
    return std::string_view(text).substr(begin, ends[family] - begin);
  }
};

void AppendNextLabel(std::string_view name, std::string_view value, std::string& out) {
  out.push_back(out.empty() ? '{' : ',');
  AppendLabel(name, value, out);
}

/// Formats blocks one after another in buffers that it keeps, so that what is kept of a block has
/// its exact size.
class Renderer {
 public:
  BlockText Render(const NamespaceBlock& block) {
    for (std::string& lines : lines_) lines.clear();
    for (const WorkloadAdvice& workload : block.workloads) AddWorkload(workload);
    BlockText result;
    size_t size = 0;
    for (const std::string& lines : lines_) size += lines.size();
    result.text.reserve(size);
    for (size_t i = 0; i < lines_.size(); ++i) {
      result.text += lines_[i];
      result.ends[i] = result.text.size();
    }
    return result;
  }

 private:
  void AddWorkload(const WorkloadAdvice& workload) {
    labels_.clear();
    if (!workload.id.cluster.empty()) AppendNextLabel("cluster", workload.id.cluster, labels_);
    AppendNextLabel("namespace", workload.id.name_space, labels_);
    AppendNextLabel("workload_type", workload.id.workload_type, labels_);
    AppendNextLabel("workload", workload.id.workload, labels_);
    const size_t workload_end = labels_.size();
    for (const ContainerAdvice& container : workload.containers) {
      labels_.resize(workload_end);
      if (!container.container.empty()) AppendNextLabel("container", container.container, labels_);
      const size_t container_end = labels_.size();
      for (const ResourceAdvice& advice : container.resources) {
        labels_.resize(container_end);
        AddResource(advice);
      }
    }
  }

  void AddResource(const ResourceAdvice& advice) {
    AppendNextLabel("resource", ResourceName(advice.resource), labels_);
    AppendNextLabel("unit", UnitName(advice.resource), labels_);
    labels_ += "} ";
    for (size_t i = 0; i < kFamilies.size(); ++i) {
      const std::optional<double> value = kFamilies[i].value(advice);
      if (!value) continue;
      lines_[i].append(kFamilies[i].header.name).append(labels_);
      AppendNumber(*value, lines_[i]);
      lines_[i].push_back('\n');
    }
  }

  std::array<std::string, kFamilies.size()> lines_;
  std::string labels_;
};

struct Entry {
  // A weak owner keeps the control block, so another block can never take the place of a dead one
  // unnoticed.
  std::weak_ptr<const NamespaceBlock> owner;
  std::shared_ptr<const BlockText> text;

  bool IsOf(const std::shared_ptr<const NamespaceBlock>& block) const {
    return !owner.owner_before(block) && !block.owner_before(owner);
  }
};

using Entries = std::unordered_map<const NamespaceBlock*, Entry>;

}  // namespace

struct RecommendationMetrics::Cache {
  mutable std::mutex mutex;
  std::shared_ptr<const Entries> entries =
      std::make_shared<Entries>();  // replaced as a whole, never changed
  size_t rendered_last = 0;
};

RecommendationMetrics::RecommendationMetrics() : cache_(std::make_unique<Cache>()) {}
RecommendationMetrics::~RecommendationMetrics() = default;

void RecommendationMetrics::Append(const Snapshot& snapshot, ExpositionWriter& writer) {
  std::shared_ptr<const Entries> known;
  {
    const std::lock_guard lock(cache_->mutex);
    known = cache_->entries;
  }
  auto now = std::make_shared<Entries>();
  now->reserve(snapshot.blocks.size());
  std::vector<std::shared_ptr<const BlockText>> texts;
  texts.reserve(snapshot.blocks.size());
  size_t rendered = 0;
  size_t bytes = 4096;  // for the headers
  Renderer renderer;
  for (const std::shared_ptr<const NamespaceBlock>& block : snapshot.blocks) {
    const auto found = known->find(block.get());
    if (found != known->end() && found->second.IsOf(block)) {
      texts.push_back(found->second.text);
    } else {
      texts.push_back(std::make_shared<BlockText>(renderer.Render(*block)));
      ++rendered;
    }
    bytes += texts.back()->text.size();
    now->insert_or_assign(block.get(), Entry{block, texts.back()});
  }
  {
    const std::lock_guard lock(cache_->mutex);
    cache_->entries = std::move(now);
    cache_->rendered_last = rendered;
  }
  writer.Reserve(bytes);
  for (size_t i = 0; i < kFamilies.size(); ++i) {
    bool begun = false;
    for (const std::shared_ptr<const BlockText>& text : texts) {
      const std::string_view lines = text->Lines(i);
      if (lines.empty()) continue;
      if (!begun) writer.BeginFamily(kFamilies[i].header);
      begun = true;
      writer.Lines(lines);
    }
  }
}

size_t RecommendationMetrics::RenderedLastForTest() const {
  const std::lock_guard lock(cache_->mutex);
  return cache_->rendered_last;
}

}  // namespace tidemark::exporter
