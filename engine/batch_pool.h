#pragma once
// Batches that have been applied, for the next requests: a batch of 2,000 samples is 200 KB, which
// the allocator would take from the kernel and give back each time.

#include <cstddef>
#include <mutex>
#include <utility>
#include <vector>

#include "workloads/series_batch.h"

namespace tidemark::engine {

/// Thread-safe. Keeps at most kMaxBatches of at most kMaxItems each: 10 MB.
class BatchPool {
 public:
  static constexpr size_t kMaxBatches = 32;
  static constexpr size_t kMaxItems = 4096;

  /// An empty batch.
  workloads::SeriesBatch Take() {
    const std::scoped_lock lock(mutex_);
    if (batches_.empty()) return {};
    workloads::SeriesBatch batch = std::move(batches_.back());
    batches_.pop_back();
    return batch;
  }
  void Give(workloads::SeriesBatch batch) {
    if (batch.items.capacity() == 0 || batch.items.capacity() > kMaxItems ||
        batch.samples.capacity() > kMaxItems) {
      return;
    }
    batch.items.clear();
    batch.samples.clear();
    const std::scoped_lock lock(mutex_);
    if (batches_.size() < kMaxBatches) batches_.push_back(std::move(batch));
  }

 private:
  std::mutex mutex_;
  std::vector<workloads::SeriesBatch> batches_;
};

}  // namespace tidemark::engine
