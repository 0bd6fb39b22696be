#include "engine/request_batch.h"

#include <algorithm>
#include <condition_variable>
#include <mutex>
#include <utility>

#include "workloads/identity.h"

namespace tidemark::engine {
namespace {

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

RequestBatch::RequestBatch(const Addressing& addressing, workloads::KnownSeries::View known,
                           std::span<const std::unique_ptr<Shard>> shards, BatchPool& pool,
                           int64_t arrival_ms, EngineCounters& counters)
    : addressing_(addressing),
      known_(std::move(known)),
      shards_(shards),
      pool_(pool),
      counters_(counters),
      batches_(shards.size()) {
  for (workloads::SeriesBatch& batch : batches_) {
    batch = pool.Take();
    batch.arrival_ms = arrival_ms;
  }
}

RequestBatch::~RequestBatch() {
  for (workloads::SeriesBatch& batch : batches_) pool_.Give(std::move(batch));
}

void RequestBatch::Find(std::span<SeriesLookUp> wanted) {
  // The table is larger than the caches near the core: its slots are asked for some hashes ahead.
  constexpr size_t kAhead = 8;
  const auto look_up = [this](SeriesLookUp& one) {
    one.token.place = known_.Find({one.token.hash_low, one.token.hash_high}).bits();
  };
  for (size_t i = 0; i < wanted.size(); ++i) {
    const workloads::SeriesHash hash = addressing_.HashSeries(wanted[i].label_bytes);
    wanted[i].token = {hash.low, hash.high, 0};
    known_.Prefetch(hash);
    if (i >= kAhead) look_up(wanted[i - kAhead]);
  }
  for (SeriesLookUp& one : wanted.last(std::min(kAhead, wanted.size()))) look_up(one);
}

void RequestBatch::Add(const IncomingSeries& series) {
  if (series.samples.empty()) return;
  workloads::SeriesItem item;
  item.label_bytes = series.label_bytes;
  item.sample_count = static_cast<uint32_t>(series.samples.size());
  item.from_ha_pair = series.from_ha_pair;
  item.vetted = series.vetted;
  if (series.token) {
    item.series = {series.token->hash_low, series.token->hash_high};
    item.place = workloads::SeriesPlace(series.token->place);
  }
  size_t shard = 0;
  if (item.place) {
    shard = item.place.shard();
  } else {
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
    item.source = *source;
    item.name_space = addressing_.HashNamespace(identity->cluster, identity->name_space);
    if (!series.token) item.series = addressing_.HashSeries(series.label_bytes);
    shard = item.name_space % batches_.size();
  }
  workloads::SeriesBatch& batch = batches_[shard];
  item.first_sample = static_cast<uint32_t>(batch.samples.size());
  batch.items.push_back(item);
  if (series.samples.size() == 1) {
    batch.samples.push_back(series.samples.front());
  } else {
    batch.samples.insert(batch.samples.end(), series.samples.begin(), series.samples.end());
  }
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
