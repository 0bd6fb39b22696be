#pragma once
// The demand of one shard's workloads and its forecasts, under the numbers of the workloads'
// containers kDemand.
//
// Lives on the shard's thread; not thread-safe, but for the places, which all shards share.

#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "forecast/forecast_track.h"
#include "model/byte_codec.h"
#include "model/forecast.h"
#include "model/resource_table.h"
#include "model/result.h"
#include "workloads/series_batch.h"

namespace tidemark::engine {

/// How many workloads have steps of a minute, and how many of five, of all shards: as many as
/// ForecastSettings::max_workloads, and kDrawnForEach times as many. Thread-safe.
class DemandPlaces {
 public:
  /// What is drawn takes a fifth of the memory and no time.
  static constexpr int64_t kDrawnForEach = 10;

  bool TryTake(DemandSteps steps, int32_t max_workloads) {
    const int64_t ceiling =
        steps == DemandSteps::kMinutes ? int64_t{max_workloads} : kDrawnForEach * max_workloads;
    std::atomic<int64_t>& taken = Of(steps);
    if (taken.fetch_add(1, std::memory_order_relaxed) < ceiling) return true;
    taken.fetch_sub(1, std::memory_order_relaxed);
    return false;
  }
  void GiveBack(DemandSteps steps) { Of(steps).fetch_sub(1, std::memory_order_relaxed); }
  /// Whether more hold one than there are, since the ceiling has come down.
  bool AreTooMany(DemandSteps steps, int32_t max_workloads) const {
    return Of(steps).load(std::memory_order_relaxed) > Ceiling(steps, max_workloads);
  }
  bool IsAnyLeft(DemandSteps steps, int32_t max_workloads) const {
    return Of(steps).load(std::memory_order_relaxed) < Ceiling(steps, max_workloads);
  }

 private:
  static int64_t Ceiling(DemandSteps steps, int32_t max_workloads) {
    return steps == DemandSteps::kMinutes ? max_workloads : kDrawnForEach * max_workloads;
  }
  std::atomic<int64_t>& Of(DemandSteps steps) {
    return steps == DemandSteps::kMinutes ? minutes_ : drawn_;
  }
  const std::atomic<int64_t>& Of(DemandSteps steps) const {
    return steps == DemandSteps::kMinutes ? minutes_ : drawn_;
  }

  std::atomic<int64_t> minutes_{0};
  std::atomic<int64_t> drawn_{0};
};

class DemandTracks {
 public:
  /// What is kept of it: all of it; or, of a past that is being built, no more than the demand
  /// itself, since a past is not forecast.
  enum class Keeps { kAll, kHistory };

  /// `places`: null where they are not counted. Must outlive this.
  DemandTracks(ForecastSettingsPtr settings, DemandPlaces* places, Keeps keeps = Keeps::kAll);
  ~DemandTracks();
  DemandTracks(const DemandTracks&) = delete;
  DemandTracks& operator=(const DemandTracks&) = delete;

  /// From now on by these; of every workload WorkloadIs must be said again.
  void SetSettings(ForecastSettingsPtr settings);
  const ForecastSettings& settings() const { return *settings_; }

  /// UsageSink::DemandOf.
  std::optional<workloads::DemandWish> WishOf(const WorkloadId& workload) const;
  /// Whose container this is; before anything else is said of it.
  void WorkloadIs(uint32_t container, const WorkloadId& workload);
  /// False: it is of another resource than that of its rule, and let be.
  bool Add(uint32_t container, Resource resource, const workloads::DemandMinute& minute);
  Result<void> Activate(uint32_t container, const forecast::FittedModel& fitted);

  void Merge(uint32_t from, uint32_t into);
  void Remove(uint32_t container);

  /// Null: nothing is known of its demand.
  const forecast::ForecastTrack* TrackOf(uint32_t container) const;
  /// Whether it has coarser steps than its rule asks for, or nothing, since all places are taken.
  bool IsSqueezed(uint32_t container) const;
  /// Whether anything of it has changed since the last call.
  bool TakeChanged(uint32_t container);

  /// Whether there is anything to save.
  bool Has(uint32_t container) const { return TrackOf(container) != nullptr; }
  /// With the name of its resource, for a slot may be another's after a restart.
  void Save(uint32_t container, const ResourceTable& names, ByteWriter& out) const;
  /// A track that Save wrote, by the rule of this container; and what is to become of it: that of a
  /// container that has nothing, or a past of one.
  /// One of a resource that is no more, or is not asked for, is empty.
  Result<forecast::ForecastTrack> Read(uint32_t container, const ResourceTable& names,
                                       ByteReader& in) const;
  void RestoreTrack(uint32_t container, forecast::ForecastTrack track);
  void MergeTrack(uint32_t container, forecast::ForecastTrack track);

 private:
  struct Entry {
    ForecastRule rule;
    std::optional<forecast::ForecastTrack> track;
    DemandSteps place = DemandSteps::kNone;  // that it holds
    bool squeezed = false;                   // a better place was wanted than there was
    bool changed = true;
  };

  Entry* Find(uint32_t container) const;
  Entry& At(uint32_t container);
  static ForecastRule RuleInForce(const Entry& entry);
  void SetPlace(Entry& entry, DemandSteps most);
  void GivePlaceBack(Entry& entry);
  void Seat(Entry& entry, DemandSteps most);
  forecast::ForecastTrack* TrackAt(Entry& entry);

  ForecastSettingsPtr settings_;
  DemandPlaces* const places_;
  const Keeps keeps_;
  std::vector<std::unique_ptr<Entry>> entries_;  // by ShardContext::containers
};

}  // namespace tidemark::engine
