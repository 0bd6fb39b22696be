#include "engine/request_batch.h"

#include <algorithm>
#include <condition_variable>
#include <mutex>
#include <string>
#include <utility>

#include "engine/journal_record.h"

namespace tidemark::engine {
namespace {

/// Where the committing thread waits for the shards' verdicts.
class Rendezvous {
 public:
  explicit Rendezvous(size_t expected) : missing_(expected) {}

  void Arrive(BatchOutcome outcome) {
    const std::scoped_lock lock(mutex_);
    verdict_.Merge(outcome.verdict);
    if (!outcome.missed.items.empty()) missed_.push_back(std::move(outcome.missed));
    if (--missing_ == 0) all_.notify_one();  // under the lock: the waiter destroys this object
  }
  void Wait(WriteVerdict& verdict, std::vector<workloads::SeriesBatch>& missed) {
    std::unique_lock lock(mutex_);
    all_.wait(lock, [this] { return missing_ == 0; });
    verdict.Merge(verdict_);
    missed = std::move(missed_);
  }

 private:
  std::mutex mutex_;
  std::condition_variable all_;
  size_t missing_;
  WriteVerdict verdict_;
  std::vector<workloads::SeriesBatch> missed_;
};

}  // namespace

RequestBatch::RequestBatch(const Engine& engine, workloads::KnownSeries::View known,
                           int64_t arrival_ms)
    : engine_(engine), known_(std::move(known)), batches_(engine.shards.size()) {
  for (workloads::SeriesBatch& batch : batches_) {
    batch = engine_.pool.Take();
    batch.arrival_ms = arrival_ms;
  }
}

RequestBatch::~RequestBatch() {
  for (workloads::SeriesBatch& batch : batches_) engine_.pool.Give(std::move(batch));
}

void RequestBatch::Find(std::span<SeriesLookUp> wanted) {
  // The table is larger than the caches near the core: its slots are asked for some hashes ahead.
  constexpr size_t kAhead = 8;
  const auto look_up = [this](SeriesLookUp& one) {
    one.token.place = known_.Find({one.token.hash_low, one.token.hash_high}).bits();
  };
  for (size_t i = 0; i < wanted.size(); ++i) {
    const workloads::SeriesHash hash = engine_.addressing.HashSeries(wanted[i].label_bytes);
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
    item.by_hash = true;
    shard = item.place.shard();
  } else {
    if (const auto why = AddressByLabels(engine_.addressing, series.labels, item)) {
      verdict_.Ignore(*why, series.samples.size());
      return;
    }
    if (!series.token) item.series = engine_.addressing.HashSeries(series.label_bytes);
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
  std::vector<workloads::SeriesBatch> missed;
  if (auto committed = CommitOnce(missed); !committed) return tl::unexpected(committed.error());
  if (!missed.empty()) {
    // Series that were given up between the look-up and the shard: with their labels they are made
    // anew. Nothing is missed then.
    for (const workloads::SeriesBatch& batch : missed) AddAgain(batch);
    if (auto committed = CommitOnce(missed); !committed) return tl::unexpected(committed.error());
  }
  return verdict_;
}

/// Writes down what stands in the batches, has it applied, and adds to the verdict.
Result<void> RequestBatch::CommitOnce(std::vector<workloads::SeriesBatch>& missed) {
  missed.clear();
  const auto used = static_cast<size_t>(
      std::count_if(batches_.begin(), batches_.end(),
                    [](const workloads::SeriesBatch& batch) { return !batch.items.empty(); }));
  if (used == 0) return {};
  if (!Reserve()) {
    engine_.counters.overload_refusals.fetch_add(1, std::memory_order_relaxed);
    return Fail(ErrorCode::kUnavailable,
                "the queue of a shard is full or the daemon is stopping: nothing was taken in, "
                "send the request again");
  }
  PrepareForJournal();
  std::string record;
  if (engine_.line.writes()) EncodeWrite(batches_, record);
  Rendezvous rendezvous(used);
  const auto committed = engine_.line.Commit(record, [&](uint64_t number) {
    for (size_t i = 0; i < batches_.size(); ++i) {
      if (batches_[i].items.empty()) continue;
      engine_.shards[i]->Push(
          std::exchange(batches_[i], {}), number,
          [&rendezvous](BatchOutcome outcome) { rendezvous.Arrive(std::move(outcome)); });
    }
  });
  if (!committed) {
    for (size_t i = 0; i < batches_.size(); ++i) {
      if (!batches_[i].items.empty()) engine_.shards[i]->CancelReservation();
    }
    GiveBackUnused();
    return committed;
  }
  rendezvous.Wait(verdict_, missed);
  return {};
}

/// A place in the queue of every shard that gets a batch, or none at all.
bool RequestBatch::Reserve() {
  for (size_t i = 0; i < batches_.size(); ++i) {
    if (batches_[i].items.empty() || engine_.shards[i]->Reserve()) continue;
    for (size_t taken = 0; taken < i; ++taken) {
      if (!batches_[taken].items.empty()) engine_.shards[taken]->CancelReservation();
    }
    return false;
  }
  return true;
}

/// Completes the items with what the journal has to know of them: which namespace, and whether a
/// series may be made. Places under the ceiling are taken before it is known whether they will be
/// used; the shards give back what was not.
void RequestBatch::PrepareForJournal() {
  for (size_t i = 0; i < batches_.size(); ++i) {
    for (workloads::SeriesItem& item : batches_[i].items) {
      if (item.by_hash) {
        item.name_space = engine_.shards[i]->directory().At(item.place.name_space());
      } else {
        item.may_create = engine_.budget.TryTake();
      }
    }
  }
}

void RequestBatch::GiveBackUnused() {
  for (const workloads::SeriesBatch& batch : batches_) engine_.budget.GiveBack(PlacesTaken(batch));
}

void RequestBatch::AddAgain(const workloads::SeriesBatch& missed) {
  std::vector<LabelView> labels;
  for (const workloads::SeriesItem& item : missed.items) {
    workloads::SeriesItem again = item;
    again.by_hash = false;
    again.place = {};
    if (!DecodeLabels(item.label_bytes, labels) ||
        AddressByLabels(engine_.addressing, labels, again)) {
      engine_.counters.internal_errors.fetch_add(1);
      verdict_.accepted += item.sample_count;
      continue;
    }
    workloads::SeriesBatch& batch = batches_[again.name_space % batches_.size()];
    batch.arrival_ms = missed.arrival_ms;
    const auto samples = std::span(missed.samples).subspan(item.first_sample, item.sample_count);
    again.first_sample = static_cast<uint32_t>(batch.samples.size());
    batch.items.push_back(again);
    batch.samples.insert(batch.samples.end(), samples.begin(), samples.end());
  }
}

}  // namespace tidemark::engine
