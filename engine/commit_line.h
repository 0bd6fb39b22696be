#pragma once
// The line in which everything waits that changes state: it is given its number, written into the
// journal, and handed to the shards, all in one order.
//
// Group commit: whoever stands first writes for all who stand in line with him, with one wait for
// the disk.

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <functional>
#include <mutex>
#include <string_view>

#include "model/result.h"
#include "storage/store.h"

namespace tidemark::engine {

/// Thread-safe. The store must outlive it.
class CommitLine {
 public:
  /// Without a store nothing is written, and `push` is called at once. `refused` is called, on any
  /// thread, whenever the store has not taken a group.
  explicit CommitLine(
      storage::Store* store, std::function<void()> refused = [] {});

  /// Appends the record and, once it is durable, calls `push` with its number: in the order of the
  /// numbers, one at a time. Blocks until then. An error of the store is passed on as kIo: `push`
  /// was not called.
  Result<void> Commit(std::string_view record, const std::function<void(uint64_t)>& push);

  /// True when records are written, so that somebody has to encode them.
  bool writes() const { return store_ != nullptr; }
  /// All records up to this number have been pushed.
  uint64_t last_pushed() const { return last_pushed_.load(std::memory_order_acquire); }
  /// After recovery: where the numbers go on.
  void StartAfter(uint64_t number) { last_pushed_.store(number, std::memory_order_release); }

 private:
  struct Waiter {
    std::string_view record;
    const std::function<void(uint64_t)>* push;
    Result<void> outcome{};
    bool done = false;
    std::condition_variable wake{};
  };
  void CommitGroup(std::deque<Waiter*>& group);

  storage::Store* const store_;
  const std::function<void()> refused_;
  std::atomic<uint64_t> last_pushed_{0};
  std::mutex mutex_;  // guards what follows
  std::deque<Waiter*> line_;
  bool writing_ = false;
};

}  // namespace tidemark::engine
