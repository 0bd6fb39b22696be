#include "exporter/forecast_metrics.h"

#include <fmt/format.h>

#include <array>
#include <optional>
#include <string>
#include <string_view>

#include "model/load_ratio.h"

namespace tidemark::exporter {
namespace {

enum Family : size_t {
  kDemand,
  kLoadRatio,
  kForecast,
  kLower,
  kUpper,
  kForecastLoadRatio,
  kHighWater,
  kHighWaterLoadRatio,
  kError,
  kCoverage,
  kModel,
  kFamilyCount
};

constexpr std::array<FamilyHeader, kFamilyCount> kFamilies = {{
    {"tidemark_demand",
     "What all pods of a workload used together in the last minute of which that is known.",
     MetricType::kGauge, ""},
    {"tidemark_load_ratio",
     "The demand of the last minute in units of what all replicas together request.",
     MetricType::kGauge, ""},
    {"tidemark_forecast_demand",
     "The demand that is expected so many seconds after the last known minute.", MetricType::kGauge,
     ""},
    {"tidemark_forecast_demand_lower_bound",
     "Lower end of the interval in which that demand is expected; absent while too few errors are "
     "known.",
     MetricType::kGauge, ""},
    {"tidemark_forecast_demand_upper_bound",
     "Upper end of the interval in which that demand is expected; absent while too few errors are "
     "known.",
     MetricType::kGauge, ""},
    {"tidemark_forecast_load_ratio",
     "The expected demand in units of what all replicas together request now.", MetricType::kGauge,
     ""},
    {"tidemark_high_water_demand",
     "The demand that a minute passes with at most the probability in the label risk.",
     MetricType::kGauge, ""},
    {"tidemark_high_water_load_ratio",
     "The high-water demand in units of what all replicas together request now.",
     MetricType::kGauge, ""},
    {"tidemark_forecast_error_ratio",
     "Mean absolute error of a model's forecasts of the last day, in units of the error of taking "
     "the last value for the next.",
     MetricType::kGauge, ""},
    {"tidemark_forecast_coverage_ratio",
     "Share of the last day's forecasts whose interval held the demand that came.",
     MetricType::kGauge, ""},
    {"tidemark_forecast_model_info",
     "Always 1; the label model says by what a horizon is forecast now.", MetricType::kGauge, ""},
}};

class Renderer {
 public:
  BlockText Render(const NamespaceBlock& block) {
    names_ = block.profiles ? &block.profiles->resources() : &built_in_;
    for (const WorkloadAdvice& workload : block.workloads) {
      if (workload.forecast) AddWorkload(workload, *workload.forecast);
    }
    return builder_.Take();
  }

 private:
  void AddWorkload(const WorkloadAdvice& workload, const WorkloadForecast& forecast) {
    labels_.clear();
    if (!workload.id.cluster.empty()) AppendNextLabel("cluster", workload.id.cluster, labels_);
    AppendNextLabel("namespace", workload.id.name_space, labels_);
    AppendNextLabel("workload_type", workload.id.workload_type, labels_);
    AppendNextLabel("workload", workload.id.workload, labels_);
    AppendNextLabel("resource", names_->NameOf(forecast.resource), labels_);
    AppendNextLabel("unit", names_->UnitOf(forecast.resource), labels_);
    const LoadBase base = LoadBaseOf(forecast, workload.replicas, workload.scaling.get());
    const auto load_ratio = [&](const std::optional<double>& demand) {
      return LoadRatio(base, demand);
    };
    Add(kDemand, forecast.demand);
    Add(kLoadRatio, load_ratio(forecast.demand));
    for (const HorizonForecast& horizon : forecast.horizons) {
      const size_t end = labels_.size();
      AppendNextLabel("horizon_seconds", fmt::format("{}", horizon.horizon_seconds), labels_);
      Add(kForecast, horizon.demand);
      Add(kLower, horizon.lower);
      Add(kUpper, horizon.upper);
      Add(kForecastLoadRatio, load_ratio(horizon.demand));
      Add(kCoverage, horizon.coverage_ratio);
      for (const ForecastScore& score : horizon.scores) {
        AddOf("model", ToString(score.model), kError, score.day_error_ratio);
      }
      AddOf("model", ToString(horizon.model), kModel, 1);
      labels_.resize(end);
    }
    AddOf("risk", fmt::format("{}", forecast.high_water_risk), kHighWater, forecast.high_water);
    Add(kHighWaterLoadRatio, load_ratio(forecast.high_water));
  }

  void Add(Family family, const std::optional<double>& value) {
    if (!value) return;
    labels_ += "} ";
    builder_.Add(family, kFamilies[family].name, labels_, *value);
    labels_.resize(labels_.size() - 2);
  }

  /// With one label more.
  void AddOf(std::string_view label, std::string_view of, Family family,
             const std::optional<double>& value) {
    if (!value) return;
    const size_t end = labels_.size();
    AppendNextLabel(label, of, labels_);
    Add(family, value);
    labels_.resize(end);
  }

  BlockTextBuilder builder_{kFamilyCount};
  const ResourceTable built_in_;
  const ResourceTable* names_ = &built_in_;
  std::string labels_;
};

}  // namespace

void ForecastMetrics::Append(const Snapshot& snapshot, ExpositionWriter& writer) {
  Renderer renderer;
  const BlockTextCache::Texts texts =
      cache_.Render(snapshot, [&](const NamespaceBlock& block) { return renderer.Render(block); });
  constexpr size_t kHeaders = 4096;
  writer.Reserve(SizeOf(texts) + kHeaders);
  for (size_t i = 0; i < kFamilyCount; ++i) WriteFamily(kFamilies[i], i, texts, writer);
}

}  // namespace tidemark::exporter
