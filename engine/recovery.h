#pragma once
// From what is on disk to the state that was: the newest good checkpoint, then the journal after
// it.

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "engine/addressing.h"
#include "engine/batch_pool.h"
#include "engine/shard.h"
#include "model/counters.h"
#include "model/result.h"
#include "storage/store.h"

namespace tidemark::engine {

class Recovery {
 public:
  struct Parts {
    storage::Store& store;
    const Addressing& addressing;
    std::span<const std::unique_ptr<Shard>> shards;
    workloads::SeriesBudget& budget;
    BatchPool& pool;
    StorageCounters& counters;
    /// Takes the cursor of back-filling, from the checkpoint and from the journal.
    std::function<void(std::string_view)> past_cursor;
  };
  /// The parts must outlive it.
  explicit Recovery(Parts parts) : parts_(std::move(parts)) {}

  /// Fills the shards, which must be empty. Answers the number of the last record. kIo or
  /// kInvalidArgument: no state can be had without losing what was acknowledged; the message says
  /// what to do. Nothing on disk is changed then.
  Result<uint64_t> Run();

 private:
  Result<uint64_t> LoadCheckpoint();
  Result<void> RestoreFrom(const storage::CheckpointInfo& checkpoint);
  Result<void> ReplayRecord(uint64_t number, std::string_view record);
  Result<void> ReplayWrite(uint64_t number, std::string_view record);
  void WaitForShards() const;

  const Parts parts_;
  WriteDecoder decoder_{parts_.addressing};
};

}  // namespace tidemark::engine
