#pragma once
// The usage history of one shard's containers: closed minutes and kills come in from workloads/,
// tracks of each container and resource keep them as the container's profile says.
//
// Lives on the shard's thread; not thread-safe.

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "engine/demand_tracks.h"
#include "engine/kill_log.h"
#include "engine/layout_pool.h"
#include "engine/scaling_state.h"
#include "engine/usage_signs.h"
#include "engine/usage_track.h"
#include "estimators/confidence.h"
#include "estimators/decay_cache.h"
#include "estimators/decaying_histogram.h"
#include "estimators/memory_peak_window.h"
#include "model/profile.h"
#include "model/resource_slots.h"
#include "model/scaling.h"
#include "workloads/series_batch.h"

namespace tidemark::engine {

class RequestHistory final : public workloads::UsageSink {
 public:
  /// `places`: as DemandTracks. Of a past that is being built no replicas are decided.
  explicit RequestHistory(ProfileSetPtr profiles,
                          ForecastSettingsPtr forecast = std::make_shared<const ForecastSettings>(),
                          DemandPlaces* places = nullptr,
                          DemandTracks::Keeps keeps = DemandTracks::Keeps::kAll,
                          ScalingSettingsPtr scaling = std::make_shared<const ScalingSettings>());

  /// The profiles and settings become these. Of every container ContainerIs must be said again
  /// before anything else is.
  void SetRules(ProfileSetPtr profiles, ForecastSettingsPtr forecast, ScalingSettingsPtr scaling);
  const ProfileSetPtr& profiles() const { return profiles_; }

  void ContainerIs(uint32_t container, const ProfileSubject& subject) override;
  bool SumsByPod(uint32_t container) const override;
  bool LeavesOutPageCache(uint32_t container) const override;
  void AddUsage(uint32_t container, uint32_t instance, Resource resource,
                workloads::UsageMinute minute, const workloads::MinuteContext& context) override;
  void AddKill(uint32_t container, uint32_t instance, const workloads::Kill& kill) override;
  std::optional<workloads::DemandWish> DemandOf(const WorkloadId& workload) const override;
  void AddDemand(uint32_t container, Resource resource, const workloads::DemandMinute& minute,
                 const workloads::DemandFacts& facts) override;
  void SetLabelSet(uint32_t instance, uint64_t labels) override;
  void MergeContainer(uint32_t from, uint32_t into) override;
  void RemoveContainer(uint32_t container) override;
  void RemoveInstance(uint32_t instance) override;
  void Collect(uint32_t container, int64_t event_time_ms) override;
  /// Time has come to here, though no sample of the container says so yet.
  void CloseHours(uint32_t container, estimators::Time time);

  // Every bit of it survives. What was saved by another rule than that of the container's profile
  // goes on with the present one, as when a profile is changed while the daemon runs.
  void SaveContainer(uint32_t container, ByteWriter& out) const override;
  void SaveInstance(uint32_t instance, ByteWriter& out) const override;
  Result<void> RestoreContainer(uint32_t container, ByteReader& in) override;
  Result<void> RestoreInstance(uint32_t instance, ByteReader& in) override;
  Result<void> MergeSaved(uint32_t container, ByteReader& in) override;

  // What VPA forgets when its recommender is restarted at `now`, of containers with a strict
  // profile only: first of all containers of pods the running peak of their intervals, then
  // whatever its checkpoints round away.
  void ForgetRunningPeaks(uint32_t container, uint32_t instance, estimators::Time now);
  void GoThroughCheckpoint(uint32_t container);

  /// Never null.
  const Profile* ProfileOf(uint32_t container) const;
  const DemandTracks& demand() const { return demand_; }
  DemandTracks& demand() { return demand_; }
  const ScalingState& scaling() const { return scaling_; }
  ScalingState& scaling() { return scaling_; }
  /// Null when nothing is known of it.
  const UsageTrack* TrackOf(uint32_t container, Resource resource) const;
  /// Null without any.
  const KillLog* KillsOf(uint32_t container) const;
  /// Null without any.
  const UsageSigns* SignsOf(uint32_t container) const;
  /// Whether its pods are runs of a Job or CronJob.
  bool IsJob(uint32_t container) const;
  /// Whether anything of the container has changed since the last call.
  bool TakeChanged(uint32_t container);

 private:
  struct Container {
    const Profile* profile = nullptr;
    ResourceSlots<std::unique_ptr<UsageTrack>> tracks;
    std::unique_ptr<KillLog> kills;
    std::unique_ptr<UsageSigns> signs;
    bool is_job = false;  // its pods are runs
    bool changed = true;
    std::optional<forecast::ForecastTrack> demand;  // only while it is being read, as the next
    std::optional<KeptScaling> scaling;
  };
  /// A container of one pod.
  struct Instance {
    ResourceSlots<std::unique_ptr<estimators::MemoryPeakWindow>> windows;
    uint64_t labels = 0;
    estimators::Time last_sample{};  // strict, every minute: VPA takes none that is not later
    bool has_sample = false;
  };

  Container& At(uint32_t container);
  Instance& InstanceAt(uint32_t instance);
  UsageTrack& TrackAt(Container& container, Resource resource);
  estimators::MemoryPeakWindow& WindowAt(Instance& instance, Resource resource,
                                         const Profile& profile, estimators::Time time);
  SamplingKind KindOf(const Container& container, Resource resource) const {
    return SamplingKind::Of(*container.profile, resource, container.is_job);
  }
  static std::optional<double> CountedUsage(Container& container, Resource resource,
                                            workloads::UsageMinute minute,
                                            const workloads::MinuteContext& context);
  bool AddMinute(const Profile& profile, SampleKind samples, Instance& instance, Resource resource,
                 History& history, estimators::Time time, double usage,
                 std::optional<double> request);
  static Result<void> MergeTracks(Container& from, Container& into);
  Result<Container> ReadContainer(ByteReader& in, uint32_t container);

  const DemandTracks::Keeps keeps_;
  ProfileSetPtr profiles_;
  ProfileSetPtr profiles_before_;  // until all containers know theirs
  DemandTracks demand_;
  ScalingState scaling_;
  LayoutPool layouts_;
  estimators::DecayCache decay_;
  std::vector<std::unique_ptr<Container>> containers_;  // by ShardContext::containers
  std::vector<std::unique_ptr<Instance>> instances_;    // by ShardContext::instances
};

}  // namespace tidemark::engine
