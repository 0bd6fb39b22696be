#include "engine/request_batch.h"

#include <xxhash.h>

#include <condition_variable>
#include <mutex>
#include <utility>

#include "workloads/identity.h"

namespace tidemark::engine {
namespace {

/// Hash of cluster and namespace. The first seeds the second, so that no two pairs run together.
uint64_t HashNamespace(std::string_view cluster, std::string_view name_space, uint64_t seed) {
  const uint64_t head = XXH3_64bits_withSeed(cluster.data(), cluster.size(), seed);
  return XXH3_64bits_withSeed(name_space.data(), name_space.size(), head);
}

/// Where the committing thread waits for the shards' verdicts.
class Rendezvous {
 public:
  explicit Rendezvous(size_t expected) : missing_(expected) {}

  void Arrive(const WriteVerdict& verdict) {
    const std::scoped_lock lock(mutex_);
    sum_.Merge(verdict);
    if (--missing_ == 0) all_.notify_one();  // under the lock: the waiter destroys this object
  }
  WriteVerdict Wait() {
    std::unique_lock lock(mutex_);
    all_.wait(lock, [this] { return missing_ == 0; });
    return std::move(sum_);
  }

 private:
  std::mutex mutex_;
  std::condition_variable all_;
  size_t missing_;
  WriteVerdict sum_;
};

}  // namespace

RequestBatch::RequestBatch(const Addressing& addressing,
                           std::span<const std::unique_ptr<Shard>> shards, int64_t arrival_ms,
                           EngineCounters& counters)
    : addressing_(addressing), shards_(shards), counters_(counters), batches_(shards.size()) {
  for (workloads::SeriesBatch& batch : batches_) batch.arrival_ms = arrival_ms;
}

void RequestBatch::Add(const IncomingSeries& series) {
  if (series.samples.empty()) return;
  const auto source = addressing_.sources.Find(series.labels);
  if (!source) {
    verdict_.Ignore(IgnoreReason::kNoRole, series.samples.size());
    return;
  }
  const auto identity = workloads::Identify(addressing_.sources.at(*source), series.labels);
  if (!identity) {
    verdict_.Ignore(IgnoreReason::kNoContainer, series.samples.size());
    return;
  }
  const uint64_t name_space =
      HashNamespace(identity->cluster, identity->name_space, addressing_.seed);
  workloads::SeriesBatch& batch = batches_[name_space % batches_.size()];
  const XXH128_hash_t hash =
      XXH3_128bits_withSeed(series.label_bytes.data(), series.label_bytes.size(), addressing_.seed);
  batch.items.push_back({.series = {hash.low64, hash.high64},
                         .name_space = name_space,
                         .label_bytes = series.label_bytes,
                         .first_sample = static_cast<uint32_t>(batch.samples.size()),
                         .sample_count = static_cast<uint32_t>(series.samples.size()),
                         .source = *source,
                         .from_ha_pair = series.from_ha_pair});
  batch.samples.insert(batch.samples.end(), series.samples.begin(), series.samples.end());
}

Result<WriteVerdict> RequestBatch::Commit() {
  std::vector<size_t> used;
  for (size_t i = 0; i < batches_.size(); ++i) {
    if (batches_[i].items.empty()) continue;
    if (!shards_[i]->Reserve()) {
      for (const size_t reserved : used) shards_[reserved]->CancelReservation();
      counters_.overload_refusals.fetch_add(1, std::memory_order_relaxed);
      return Fail(ErrorCode::kUnavailable,
                  "the queue of a shard is full or the daemon is stopping: nothing was taken in, "
                  "send the request again");
    }
    used.push_back(i);
  }
  if (!used.empty()) {
    Rendezvous rendezvous(used.size());
    for (const size_t i : used) {
      shards_[i]->Push(std::move(batches_[i]),
                       [&rendezvous](const WriteVerdict& verdict) { rendezvous.Arrive(verdict); });
    }
    verdict_.Merge(rendezvous.Wait());
  }
  return verdict_;
}

}  // namespace tidemark::engine
