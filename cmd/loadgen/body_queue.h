#pragma once
// Bodies between the thread that encodes them and the connections that send them.

#include <condition_variable>
#include <cstdint>
#include <deque>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

namespace tidemark::loadgen {

struct Body {
  std::string bytes;
  uint64_t samples = 0;
  uint64_t samples_before = 0;  ///< of all bodies before this one: its place in the schedule
  uint64_t round = 0;           ///< from 0
};

/// A queue for each connection; all together hold at most so many bytes, and one body more.
/// Thread-safe.
class BodyQueues {
 public:
  BodyQueues(size_t queues, size_t max_bytes) : queues_(queues), max_bytes_(max_bytes) {}

  /// Waits for room; false when stopped.
  bool Push(size_t queue, Body body) {
    std::unique_lock lock(mutex_);
    if (bytes_ >= max_bytes_) {
      filled_ = true;
      changed_.notify_all();
    }
    changed_.wait(lock, [&] { return stopped_ || bytes_ < max_bytes_; });
    if (stopped_) return false;
    bytes_ += body.bytes.size();
    queues_[queue].push_back(std::move(body));
    changed_.notify_all();
    return true;
  }
  /// Nothing more will come.
  void Finish() {
    const std::scoped_lock lock(mutex_);
    finished_ = true;
    changed_.notify_all();
  }
  /// Waits for the next body; nothing when there is none any more, or when stopped.
  std::optional<Body> Pop(size_t queue) {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return stopped_ || finished_ || !queues_[queue].empty(); });
    if (stopped_ || queues_[queue].empty()) return std::nullopt;
    Body body = std::move(queues_[queue].front());
    queues_[queue].pop_front();
    const bool was_full = bytes_ >= max_bytes_;
    bytes_ -= body.bytes.size();
    if (was_full) changed_.notify_all();
    return body;
  }
  void Stop() {
    const std::scoped_lock lock(mutex_);
    stopped_ = true;
    changed_.notify_all();
  }
  /// Waits until as much is ready as may be.
  void WaitUntilFilled() {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return stopped_ || finished_ || filled_; });
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<std::deque<Body>> queues_;
  const size_t max_bytes_;
  size_t bytes_ = 0;
  bool filled_ = false;
  bool finished_ = false;
  bool stopped_ = false;
};

}  // namespace tidemark::loadgen
