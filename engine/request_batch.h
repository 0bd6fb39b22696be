#pragma once
// One request on its way to the shards.

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "engine/addressing.h"
#include "engine/batch_pool.h"
#include "engine/commit_line.h"
#include "engine/shard.h"
#include "model/sink.h"
#include "workloads/series_batch.h"

namespace tidemark::engine {

class RequestBatch final : public WriteBatch {
 public:
  /// What all requests use.
  struct Engine {
    const Addressing& addressing;
    std::span<const std::unique_ptr<Shard>> shards;
    BatchPool& pool;
    workloads::SeriesBudget& budget;
    CommitLine& line;
    EngineCounters& counters;
  };
  /// What `engine` refers to must outlive it.
  RequestBatch(const Engine& engine, workloads::KnownSeries::View known, int64_t arrival_ms);
  ~RequestBatch() override;

  void Find(std::span<SeriesLookUp> wanted) override;
  void Add(const IncomingSeries& series) override;
  Result<WriteVerdict> Commit() override;

 private:
  Result<void> CommitOnce(std::vector<workloads::SeriesBatch>& missed);
  bool Reserve();
  void PrepareForJournal();
  void GiveBackUnused();
  void AddAgain(const workloads::SeriesBatch& missed);

  const Engine engine_;
  const workloads::KnownSeries::View known_;
  std::vector<workloads::SeriesBatch> batches_;  // one for each shard
  WriteVerdict verdict_;                         // of what needs no shard
};

}  // namespace tidemark::engine
