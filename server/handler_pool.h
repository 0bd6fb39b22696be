#pragma once
// The threads that handlers run on. They may wait (for the verdicts on a write); the threads that
// read, admit, refuse and write never do, so that overload costs nobody but those who cause it.
// Internal to server/.

#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <deque>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

#include "model/counters.h"

namespace tidemark::server {

/// Two queues, each in order of arrival. What is not bulk goes first, and bulk never takes the last
/// threads: a scrape or a health check does not stand behind a thousand writes. Nor do writes stand
/// still while pages are asked for without end: where bulk tasks wait, an eighth of the threads
/// takes them first. Thread-safe.
///
/// The queues have no bound of their own: each entry is a request of an open connection, whose body
/// is booked.
class HandlerPool {
 public:
  using Duration = std::chrono::steady_clock::duration;
  /// Told how long it has waited. Must not throw.
  using Task = std::function<void(Duration waited)>;

  explicit HandlerPool(HttpCounters& counters) : counters_(counters) {}
  /// As Stop.
  ~HandlerPool() { Stop(); }
  HandlerPool(const HandlerPool&) = delete;
  HandlerPool& operator=(const HandlerPool&) = delete;

  /// Throws std::system_error when the threads cannot be had. Once.
  void Start(unsigned threads);
  /// Runs what is queued and ends the threads. Not to be called by a task.
  void Stop();

  void Post(bool bulk, Task task);

  /// How long a bulk task that comes now would wait, about: as long as the one that is next has
  /// waited, or as all that wait will take at the pace of late, whichever is more. The first is
  /// late to tell of a crowd that comes at once, the second of a pace that has changed. 0 when none
  /// waits.
  Duration BulkDelay() const;

 private:
  struct Entry {
    Task task;
    std::chrono::steady_clock::time_point since;
  };

  void Work();
  void NotePace(std::chrono::steady_clock::time_point now);
  bool HasBulkTurn() const { return !bulk_.empty() && bulk_running_ < max_bulk_running_; }

  HttpCounters& counters_;
  mutable std::mutex mutex_;  // guards what follows
  std::condition_variable wake_;
  std::deque<Entry> prompt_;
  std::deque<Entry> bulk_;
  Duration bulk_interval_{};  // between two that are taken while others wait, smoothed
  std::chrono::steady_clock::time_point bulk_taken_;  // the last one
  bool bulk_waited_ = false;                          // others were waiting then
  size_t bulk_running_ = 0;
  size_t max_bulk_running_ = 0;
  size_t kept_for_bulk_ = 0;  // that run bulk tasks even while others wait
  bool stopping_ = false;

  std::vector<std::thread> threads_;
};

}  // namespace tidemark::server
