#include "server/handler_pool.h"

#include <algorithm>
#include <utility>

namespace tidemark::server {
namespace {

/// A pause of the whole machine must not look like the pace.
constexpr auto kMaxInterval = std::chrono::seconds(1);
constexpr int kSmoothing = 16;

}  // namespace

void HandlerPool::Start(unsigned threads) {
  {
    const std::scoped_lock lock(mutex_);
    const unsigned kept_free = threads > 1 ? std::max(1U, threads / 8) : 0;
    max_bulk_running_ = threads - kept_free;
    kept_for_bulk_ = kept_free;
  }
  for (unsigned i = 0; i < threads; ++i) threads_.emplace_back([this] { Work(); });
}

void HandlerPool::Stop() {
  {
    const std::scoped_lock lock(mutex_);
    stopping_ = true;
  }
  wake_.notify_all();
  for (std::thread& thread : threads_) thread.join();
  threads_.clear();
}

void HandlerPool::Post(bool bulk, Task task) {
  {
    const std::scoped_lock lock(mutex_);
    (bulk ? bulk_ : prompt_).push_back({std::move(task), std::chrono::steady_clock::now()});
  }
  ++counters_.queued_requests_now;
  wake_.notify_one();
}

HandlerPool::Duration HandlerPool::BulkDelay() const {
  const std::scoped_lock lock(mutex_);
  if (bulk_.empty()) return Duration::zero();
  return std::max(std::chrono::steady_clock::now() - bulk_.front().since,
                  bulk_interval_ * static_cast<int64_t>(bulk_.size()));
}

/// A bulk task has just been taken from the queue.
void HandlerPool::NotePace(std::chrono::steady_clock::time_point now) {
  if (bulk_waited_) {
    const Duration interval = std::min<Duration>(now - bulk_taken_, kMaxInterval);
    bulk_interval_ += (interval - bulk_interval_) / kSmoothing;
  }
  bulk_taken_ = now;
  bulk_waited_ = !bulk_.empty();
}

void HandlerPool::Work() {
  std::unique_lock lock(mutex_);
  for (;;) {
    wake_.wait(lock, [this] { return stopping_ || !prompt_.empty() || HasBulkTurn(); });
    const bool bulk = HasBulkTurn() && (prompt_.empty() || bulk_running_ < kept_for_bulk_);
    if (!bulk && prompt_.empty()) {
      // Stopping. What still waits belongs to the threads that run bulk tasks now: each looks again
      // when it has ended its own.
      return;
    }
    std::deque<Entry>& queue = bulk ? bulk_ : prompt_;
    Entry entry = std::move(queue.front());
    queue.pop_front();
    const auto now = std::chrono::steady_clock::now();
    if (bulk) {
      ++bulk_running_;
      NotePace(now);
    }
    lock.unlock();
    --counters_.queued_requests_now;
    entry.task(now - entry.since);
    entry.task = nullptr;  // what it holds goes before this thread counts as free
    lock.lock();
    if (bulk && bulk_running_-- == max_bulk_running_ && !bulk_.empty()) wake_.notify_one();
  }
}

}  // namespace tidemark::server
