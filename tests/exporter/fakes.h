#pragma once
// Small Snapshots and stand-ins for the engine.

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "model/backfill.h"
#include "model/ha_status.h"
#include "model/snapshot.h"
#include "model/workload_status.h"

namespace tidemark::exporter {

inline ResourceAdvice FullCpuAdvice() {
  ResourceAdvice advice;
  advice.resource = Resource::kCpu;
  advice.model_request = 0.21;
  advice.recommended_request = 0.2415;
  advice.current_request = 1;
  advice.current_limit = 2;
  advice.reclaimable = 2.2755;
  advice.confidence_days = 6.5;
  return advice;
}

/// With something in every field.
inline ResourceAdvice WholeCpuAdvice() {
  ResourceAdvice advice = FullCpuAdvice();
  advice.lower_bound = 0.12;
  advice.upper_bound = 0.5;
  advice.original_request = 1.5;
  advice.samples = 9360;
  advice.high_water = {{.risk = 0.01, .value = 0.3, .fitted = true, .confident = true},
                       {.risk = 0.0001, .value = 0.42, .fitted = true, .censored = true}};
  return advice;
}

/// The presets' profiles "shared" (oversell, applied) and "default".
inline ProfileSetPtr TwoProfiles() {
  Profile shared = PresetProfile(Preset::kOversell);
  shared.name = "shared";
  shared.effect = Effect::kApplied;
  return std::make_shared<ProfileSet>(std::vector<Profile>{shared},
                                      PresetProfile(Preset::kTidemark));
}

inline ResourceAdvice MemoryAdvice(double recommended) {
  ResourceAdvice advice;
  advice.resource = Resource::kMemory;
  advice.recommended_request = recommended;
  return advice;
}

inline std::shared_ptr<NamespaceBlock> MakeBlock(
    const std::string& cluster, const std::string& name_space,
    const std::vector<std::pair<std::string, std::string>>& workloads,
    const std::vector<ContainerAdvice>& containers, ProfileSetPtr profiles = nullptr) {
  auto block = std::make_shared<NamespaceBlock>();
  block->profiles = std::move(profiles);
  block->cluster = cluster;
  block->name_space = name_space;
  for (const auto& [type, name] : workloads) {
    WorkloadAdvice& workload = block->workloads.emplace_back();
    workload.id = {cluster, name_space, type, name};
    workload.replicas = 3;
    workload.last_sample_ms = 1700000000000;
    workload.containers = containers;
  }
  return block;
}

/// With something in every field: of cpu, at one and ten minutes.
inline WorkloadForecast WholeForecast() {
  WorkloadForecast forecast;
  forecast.steps = DemandSteps::kMinutes;
  forecast.minute_ms = 1'699'999'980'000;
  forecast.demand = 3;
  forecast.request = 0.5;
  forecast.high_water = 6;
  forecast.high_water_risk = 0.001;
  forecast.horizons = {{.horizon_seconds = 60,
                        .model = ForecastModel::kRidge30,
                        .demand = 3.3,
                        .lower = 3.1,
                        .upper = 3.75,
                        .coverage_ratio = 0.91,
                        .scores = {{.model = ForecastModel::kLastValue,
                                    .day_error_ratio = 1,
                                    .week_error_ratio = 1,
                                    .day_pinball_ratio = 1,
                                    .week_pinball_ratio = 1,
                                    .scored = 1440},
                                   {.model = ForecastModel::kRidge30,
                                    .day_error_ratio = 0.86,
                                    .week_error_ratio = 0.87,
                                    .day_pinball_ratio = 0.81,
                                    .week_pinball_ratio = 0.82,
                                    .scored = 1400},
                                   {.model = ForecastModel::kArima,
                                    .day_error_ratio = std::nullopt,
                                    .week_error_ratio = std::nullopt,
                                    .day_pinball_ratio = std::nullopt,
                                    .week_pinball_ratio = std::nullopt,
                                    .scored = 0}}},
                       {.horizon_seconds = 600,
                        .model = ForecastModel::kLastValue,
                        .demand = 4.5,
                        .lower = std::nullopt,
                        .upper = std::nullopt,
                        .coverage_ratio = std::nullopt,
                        .scores = {}}};
  return forecast;
}

inline Snapshot MakeSnapshot(std::vector<std::shared_ptr<const NamespaceBlock>> blocks) {
  Snapshot snapshot;
  snapshot.generation = 42;
  snapshot.published_ms = 1700000015000;
  snapshot.blocks = std::move(blocks);
  return snapshot;
}

class FakeSnapshotReader final : public SnapshotReader {
 public:
  explicit FakeSnapshotReader(Snapshot snapshot)
      : snapshot_(std::make_shared<Snapshot>(std::move(snapshot))) {}
  std::shared_ptr<const Snapshot> Current() const override { return snapshot_; }

 private:
  std::shared_ptr<const Snapshot> snapshot_;
};

/// Knows workload "web" of namespace "shop"; namespace "busy" is a shard that does not answer.
class FakeStateReader final : public StateReader {
 public:
  Result<std::vector<WorkloadStatus>> Explain(std::string_view name_space,
                                              std::string_view workload) const override {
    if (name_space == "busy") return Fail(ErrorCode::kUnavailable, "the shard is busy");
    if (name_space != "shop" || workload != "web") {
      return Fail(ErrorCode::kNotFound, "workload \"" + std::string(workload) + "\" is not known");
    }
    WorkloadStatus status;
    status.name_space = "shop";
    status.workload_type = "deployment";
    status.workload = "web";
    status.prerequisites = {
        {"cpu usage of container app", true, 1700000000000, ""},
        {"owner of the ReplicaSet", false, std::nullopt, "send kube_replicaset_owner"}};
    status.pods = {{"web-5c9-x", "replicaset/web-5c9", "deployment/web"},
                   {"web-5c9-y", "unknown: no kube_pod_owner yet", ""}};
    status.scaling_prerequisites = scaling_prerequisites;
    return std::vector<WorkloadStatus>{status};
  }
  Result<std::vector<WorkloadExplanation>> ExplainRequests(
      std::string_view /*name_space*/, std::string_view /*workload_type*/,
      std::string_view workload) const override {
    if (explanations.empty()) {
      return Fail(ErrorCode::kNotFound, "workload \"" + std::string(workload) + "\" is not known");
    }
    return explanations;
  }
  std::vector<WorkloadExplanation> explanations;
  std::vector<Prerequisite> scaling_prerequisites;
};

/// Shows what it was given.
struct FakeHaStatusReader final : HaStatusReader {
  std::vector<HaClusterStatus> HaClusters() const override { return clusters; }
  std::vector<HaClusterStatus> clusters;
};

/// Runs from Start to Cancel; refuses what it is told to.
struct FakeBackfill final : BackfillControl {
  Result<bool> Start(const BackfillRequest& request) override {
    last = request;
    if (refusal) return tl::unexpected(*refusal);
    if (status.state == BackfillState::kRunning) {
      return Fail(ErrorCode::kUnavailable, "a back-fill is running");
    }
    status.state = BackfillState::kRunning;
    return false;
  }
  Result<void> Cancel() override {
    if (status.state != BackfillState::kRunning) {
      return Fail(ErrorCode::kNotFound, "no back-fill is running");
    }
    status.state = BackfillState::kCancelled;
    return {};
  }
  BackfillStatus Status() const override { return status; }

  BackfillStatus status;
  BackfillRequest last;
  std::optional<Error> refusal;
};

}  // namespace tidemark::exporter
