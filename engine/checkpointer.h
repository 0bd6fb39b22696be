#pragma once
// Writes all state into the store every few minutes, while ingest goes on.
//
// Shards hand over their namespaces some at a time, between two batches. Each block says up to
// which record of the journal it goes, so the blocks of one checkpoint need not be of one moment.

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <thread>

#include "engine/commit_line.h"
#include "engine/shard.h"
#include "model/counters.h"
#include "storage/store.h"

namespace tidemark::engine {

class Checkpointer {
 public:
  struct Parts {
    storage::Store& store;
    const CommitLine& line;
    std::span<const std::unique_ptr<Shard>> shards;
    StorageCounters& counters;
    int64_t interval_ms;
    /// The checkpoint's head block, as of now.
    std::function<std::string()> head;
  };
  /// The parts must outlive it.
  explicit Checkpointer(Parts parts);
  /// Ends the thread; what is being written is finished first.
  ~Checkpointer();
  Checkpointer(const Checkpointer&) = delete;
  Checkpointer& operator=(const Checkpointer&) = delete;

  /// From now on one is written each interval, or when so much has come that replaying it would
  /// take long, by a thread of its own.
  void Start();
  /// Writes one now and trims the journal to what the two newest need; nothing when no record has
  /// come since the last. An error leaves the store with what it had. Thread-safe.
  Result<void> Write();
  /// The store has no room: the next one is written soon instead of at its time, since a trimmed
  /// journal makes room. Thread-safe, returns at once.
  void Hurry();

 private:
  void Run();
  bool IsDue(int64_t waited_ms, int64_t wait_ms) const;
  bool IsUpToDate() const;
  void Trim();
  Result<storage::CheckpointInfo> WriteBlocks(uint64_t number);

  const Parts parts_;
  std::mutex writing_;                      // one checkpoint at a time
  std::atomic<uint64_t> bytes_at_last_{0};  // of the journal, as counted
  std::mutex mutex_;                        // guards what follows
  std::condition_variable wake_;
  bool stopping_ = false;
  bool hurried_ = false;
  bool failed_ = false;  // the last one
  std::thread thread_;
};

}  // namespace tidemark::engine
