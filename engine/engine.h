#pragma once
// The engine: shards that own all state, a way in for series and samples, and one immutable
// Snapshot a tick.

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "engine/options.h"
#include "model/clock.h"
#include "model/counters.h"
#include "model/past.h"
#include "model/result.h"
#include "model/sink.h"
#include "model/snapshot.h"
#include "model/workload_status.h"
#include "storage/store.h"
#include "workloads/sources.h"

namespace tidemark::engine {

/// What makes state outlive the process; without it all of it is in memory only.
struct Durability {
  storage::Store* store = nullptr;
  StorageCounters* counters = nullptr;
};

/// Thread-safe. The clock, the counters and the store must outlive it.
class Engine final : public SampleSink, public SnapshotReader, public StateReader, public PastSink {
 public:
  /// Starts the shards. With a store, Recover has to come before anything else; without one the
  /// ticks begin at once.
  /// `training`: counts the fits of forecast models; null: none are trained.
  Engine(Options options, const std::vector<workloads::Source>& extra_sources, const Clock& clock,
         EngineCounters& counters, Durability durability = {},
         TrainingCounters* training = nullptr);
  /// As Stop, but without a last checkpoint.
  ~Engine() override;

  /// Fills the engine from the store, publishes, and begins with ticks and checkpoints. kIo or
  /// kInvalidArgument: what the store has cannot be read without losing something; the message says
  /// what to do. A store that is read-only is only read: no ticks, no checkpoints.
  Result<void> Recover();

  std::unique_ptr<WriteBatch> Begin() override;
  std::shared_ptr<const Snapshot> Current() const override;
  Result<std::vector<WorkloadStatus>> Explain(std::string_view name_space,
                                              std::string_view workload) const override;
  Result<std::vector<WorkloadExplanation>> ExplainRequests(
      std::string_view name_space, std::string_view workload_type,
      std::string_view workload) const override;

  /// From now on requests are estimated by these profiles, which must have the resources of those
  /// before: every shard changes over between two batches, and publishes. What was learnt under the
  /// profiles before goes on where it can (docs/recommendations.md). Returns when a checkpoint
  /// holds the change: so long as writing one takes. Where it cannot be written, another is tried
  /// soon.
  void SetProfiles(ProfileSetPtr profiles);

  /// The same with the profiles in force.
  void SetForecast(ForecastSettingsPtr forecast);

  /// The same: replicas are decided by these rules from the next minute of demand on.
  void SetScaling(ScalingSettingsPtr scaling);

  /// Publishes a Snapshot now, of all that was committed before the call; waits for it.
  void Tick();

  std::vector<PastMetric> PastMetrics() const override;
  /// What says how things are now, beside the past: for whoever has no live stream.
  std::vector<PastMetric> PresentMetrics() const;
  Result<std::unique_ptr<Past>> OpenPast(const std::vector<NamespaceName>& of,
                                         int64_t end_ms) override;
  std::vector<NamespaceName> LiveNamespaces() const override;
  std::string PastCursor() const override;
  Result<void> SetPastCursor(std::string_view cursor) override;

  /// Writes a checkpoint now. An error leaves those that are there.
  Result<void> Checkpoint();

  /// All state as lines of JSON, in order: one for each namespace, and for each resource of each
  /// container of each workload (docs/storage.md).
  void Dump(const std::function<void(std::string_view)>& line) const;

  /// Refuses new batches, applies what is queued, writes a last checkpoint, ends the threads.
  /// Current() goes on to answer.
  void Stop();

 private:
  class Core;
  std::unique_ptr<Core> core_;
};

}  // namespace tidemark::engine
