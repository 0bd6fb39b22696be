#pragma once
// One request on its way to the shards.

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "engine/shard.h"
#include "model/sink.h"
#include "workloads/sources.h"

namespace tidemark::engine {

/// What turns label sets into addresses; the seeds are of this process, so that a peer cannot aim
/// at one bucket or shard.
struct Addressing {
  const workloads::SourceTable& sources;
  uint64_t seed;
};

class RequestBatch final : public WriteBatch {
 public:
  RequestBatch(const Addressing& addressing, std::span<const std::unique_ptr<Shard>> shards,
               int64_t arrival_ms, EngineCounters& counters);

  void Add(const IncomingSeries& series) override;
  Result<WriteVerdict> Commit() override;

 private:
  const Addressing& addressing_;
  std::span<const std::unique_ptr<Shard>> shards_;
  EngineCounters& counters_;
  std::vector<workloads::SeriesBatch> batches_;  // one for each shard
  WriteVerdict verdict_;                         // of what needs no shard
};

}  // namespace tidemark::engine
