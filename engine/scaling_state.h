#pragma once
// How many replicas one shard's workloads should have: a Scaler for each workload that has bounds,
// under the number of the workload's container kDemand.
//
// A decision is made for each minute of demand as it is closed, of what is told of the workload
// then; a minute of which too little is known is not decided on, and has no decision. Bounds are
// those of the workload's rule, else those of its HorizontalPodAutoscaler, each on its own; a
// minimum that nobody tells, or of 0, is 1, and one above the maximum is the maximum. A workload
// without bounds keeps no state; one that loses them keeps it for an hour, since who tells them may
// be restarted. What has no replicas to be set (model/replicated.h) is not decided on, whatever
// rules say.
//
// Lives on the shard's thread; not thread-safe. About 600 bytes a workload with bounds and what its
// policy keeps (Scaler::MemoryBytes); nothing for others, but for those that a rule names.

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "forecast/forecast_track.h"
#include "model/byte_codec.h"
#include "model/resource.h"
#include "model/resource_table.h"
#include "model/result.h"
#include "model/scaling.h"
#include "model/workload_id.h"
#include "scaling/scaler.h"
#include "workloads/series_batch.h"

namespace tidemark::engine {

/// What is told of who scales a workload, at the time of a look.
struct ToldOfScaling {
  bool is_autoscaled = false;                         ///< by a HorizontalPodAutoscaler
  std::optional<double> min_replicas = std::nullopt;  ///< of it
  std::optional<double> max_replicas = std::nullopt;
};

/// What one workload keeps over a restart.
struct KeptScaling {
  Resource resource = Resource::kCpu;  ///< of its demand
  WorkloadScaling newest;              ///< of the newest minute; without `policy`
  std::optional<scaling::Scaler> scaler;
};

class ScalingState {
 public:
  explicit ScalingState(ScalingSettingsPtr settings);

  /// From now on by these; of every workload WorkloadIs must be said again.
  void SetSettings(ScalingSettingsPtr settings);
  const ScalingSettings& settings() const { return *settings_; }

  /// Whose container this is; before anything else is said of it. Where its rule has changed, what
  /// was decided stands until the next minute; where replicas are decided no longer, all is
  /// dropped.
  void WorkloadIs(uint32_t container, const WorkloadId& workload);
  /// A minute of demand that is closed; minutes rise. `track`: where this minute stands in it
  /// already; null, or without steps of a minute: there is no forecast, and the demand of the
  /// minute is all that is gone by.
  void Add(uint32_t container, Resource resource, const workloads::DemandMinute& minute,
           const workloads::DemandFacts& facts, const forecast::ForecastTrack* track);

  /// What was decided of `from` goes on in `into`, where that has nothing of its own.
  void Merge(uint32_t from, uint32_t into);
  void Remove(uint32_t container);

  /// What is to be shown as of this time; absent: neither an autoscaler nor a rule says anything of
  /// its replicas. A decision stands for five minutes after the newest minute of demand, as
  /// forecasts do, and is then withdrawn. `told`: what is said of it now, for while no minute is.
  std::optional<WorkloadScaling> Now(uint32_t container, int64_t as_of_ms,
                                     const ToldOfScaling& told = {}) const;
  /// The same of a workload whose demand is not kept.
  std::optional<WorkloadScaling> WithoutDemand(const WorkloadId& workload,
                                               const ToldOfScaling& told = {}) const;
  /// Whether what Now says, its age aside, has changed since the last call.
  bool TakeChanged(uint32_t container);
  /// Of the newest minute, decided or not; null without any.
  const WorkloadScaling* NewestOf(uint32_t container) const;
  /// Of one workload; 0 where nothing is kept.
  size_t MemoryBytes(uint32_t container) const;

  /// Whether there is anything to save.
  bool Has(uint32_t container) const { return NewestOf(container) != nullptr; }
  /// With the name of the resource, for a slot may be another's after a restart.
  void Save(uint32_t container, const ResourceTable& names, ByteWriter& out) const;
  /// What Save wrote, by the rule of this container; empty where its resource is no more, or its
  /// replicas are not decided any more. kInvalidArgument: it is no such thing.
  Result<std::optional<KeptScaling>> Read(uint32_t container, const ResourceTable& names,
                                          ByteReader& in) const;
  void Restore(uint32_t container, KeptScaling kept);

 private:
  /// Of a ScalingRule what is needed of it, without its selector.
  struct Terms {
    PolicySettings policy;
    std::optional<int32_t> min_replicas;
    std::optional<int32_t> max_replicas;
    std::optional<double> base;
    UtilizationBase base_kind = UtilizationBase::kRequest;
    bool escape_dead_band = false;
    std::optional<int64_t> startup_ms;
    bool enabled = true;
    bool is_named = false;  // by a rule of the configuration
  };
  struct Entry {
    Terms terms;
    std::optional<KeptScaling> kept;
    bool changed = true;
  };

  static Terms TermsOf(const ScalingRule& rule, bool is_named);
  Terms TermsFor(const WorkloadId& workload) const;
  Entry* Find(uint32_t container) const;
  Entry& At(uint32_t container);
  static std::optional<ReplicaBounds> BoundsOf(const Terms& terms,
                                               const workloads::DemandFacts& facts);
  static WorkloadScaling Facts(const Terms& terms, const workloads::DemandMinute& minute,
                               const workloads::DemandFacts& facts);
  static void Decide(Entry& entry, const forecast::ForecastTrack* track);
  /// What a rule says of any workload, decided on or not.
  static void Apply(const Terms& terms, WorkloadScaling& now);
  static WorkloadScaling Undecided(const Terms& terms, const ToldOfScaling& told);

  ScalingSettingsPtr settings_;
  Terms usual_;
  std::vector<std::unique_ptr<Entry>> entries_;  // by ShardContext::containers
};

}  // namespace tidemark::engine
