#pragma once
// The engine: shards that own all state, a way in for series and samples, and one immutable
// Snapshot a tick.

#include <cstdint>
#include <memory>
#include <string_view>
#include <vector>

#include "engine/options.h"
#include "model/clock.h"
#include "model/counters.h"
#include "model/sink.h"
#include "model/snapshot.h"
#include "model/workload_status.h"
#include "workloads/sources.h"

namespace tidemark::engine {

/// Thread-safe. The clock and the counters must outlive it.
class Engine final : public SampleSink, public SnapshotReader, public StateReader {
 public:
  /// Starts the shards and the ticks.
  Engine(Options options, const std::vector<workloads::Source>& extra_sources, const Clock& clock,
         EngineCounters& counters);
  /// As Stop.
  ~Engine() override;

  std::unique_ptr<WriteBatch> Begin() override;
  std::shared_ptr<const Snapshot> Current() const override;
  Result<std::vector<WorkloadStatus>> Explain(std::string_view name_space,
                                              std::string_view workload) const override;

  /// Publishes a Snapshot now, of all that was committed before the call; waits for it.
  void Tick();

  /// Refuses new batches, applies what is queued, ends the threads. Current() goes on to answer.
  void Stop();

 private:
  class Core;
  std::unique_ptr<Core> core_;
};

}  // namespace tidemark::engine
