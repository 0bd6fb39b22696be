#pragma once
// One request on its way to the shards.

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "engine/addressing.h"
#include "engine/batch_pool.h"
#include "engine/shard.h"
#include "model/sink.h"
#include "workloads/sources.h"

namespace tidemark::engine {

class RequestBatch final : public WriteBatch {
 public:
  RequestBatch(const Addressing& addressing, workloads::KnownSeries::View known,
               std::span<const std::unique_ptr<Shard>> shards, BatchPool& pool, int64_t arrival_ms,
               EngineCounters& counters);
  ~RequestBatch() override;

  void Find(std::span<SeriesLookUp> wanted) override;
  void Add(const IncomingSeries& series) override;
  Result<WriteVerdict> Commit() override;

 private:
  const Addressing& addressing_;
  const workloads::KnownSeries::View known_;
  std::span<const std::unique_ptr<Shard>> shards_;
  BatchPool& pool_;
  EngineCounters& counters_;
  std::vector<workloads::SeriesBatch> batches_;  // one for each shard
  WriteVerdict verdict_;                         // of what needs no shard
};

}  // namespace tidemark::engine
