#include "engine/shard.h"

#include <algorithm>
#include <span>
#include <string>
#include <utility>

#include "workloads/identity.h"

namespace tidemark::engine {
namespace {

using workloads::kMinuteMs;

/// As long as workloads are kept after their last sample (workloads/namespace_pods.cpp).
constexpr int64_t kNamespaceRetentionMs = 8 * 24 * 60 * kMinuteMs;
/// As long as silent series are kept in event time, likewise.
constexpr int64_t kSeriesRetentionMs = 2 * 60 * kMinuteMs;
/// The most that one tick may add to a silence: a wall clock that jumps must not take everything
/// away.
constexpr int64_t kMaxTickMs = 60 * kMinuteMs;

}  // namespace

Shard::Shard(size_t number, const ShardCommons& commons)
    : max_batches_(commons.options.queue_batches),
      addressing_(commons.addressing),
      pool_(commons.pool),
      counters_(commons.counters),
      history_(commons.options),
      context_{addressing_.sources, history_, commons.budget, counters_, commons.known, number} {
  context_.refuse_late = commons.options.refuse_late;
  context_.source_counts.resize(addressing_.sources.size());
  thread_ = std::thread([this] { Run(); });
}

Shard::~Shard() {
  {
    const std::scoped_lock lock(mutex_);
    stopping_ = true;
  }
  wake_.notify_one();
  thread_.join();
}

void Shard::Refuse() {
  const std::scoped_lock lock(mutex_);
  refusing_ = true;
}

bool Shard::Reserve() {
  const std::scoped_lock lock(mutex_);
  if (refusing_ || reserved_ >= max_batches_) return false;
  ++reserved_;
  counters_.queued_batches_now.fetch_add(1, std::memory_order_relaxed);
  return true;
}

void Shard::CancelReservation() {
  const std::scoped_lock lock(mutex_);
  --reserved_;
  counters_.queued_batches_now.fetch_sub(1, std::memory_order_relaxed);
}

void Shard::Push(workloads::SeriesBatch batch, std::function<void(const WriteVerdict&)> done) {
  {
    const std::scoped_lock lock(mutex_);
    queue_.emplace_back(Batch{std::move(batch), std::move(done)});
  }
  wake_.notify_one();
}

void Shard::Post(std::function<void(Shard&)> task) {
  {
    const std::scoped_lock lock(mutex_);
    queue_.emplace_back(std::move(task));
  }
  wake_.notify_one();
}

void Shard::Run() {
  for (;;) {
    std::unique_lock lock(mutex_);
    wake_.wait(lock, [this] { return stopping_ || !queue_.empty(); });
    if (queue_.empty()) return;  // stopping, and all is applied
    Work work = std::move(queue_.front());
    queue_.pop_front();
    lock.unlock();
    if (auto* batch = std::get_if<Batch>(&work)) {
      const WriteVerdict verdict = Apply(batch->series);
      CancelReservation();
      pool_.Give(std::move(batch->series));
      batch->done(verdict);
    } else {
      std::get<std::function<void(Shard&)>>(work)(*this);
    }
  }
}

WriteVerdict Shard::Apply(const workloads::SeriesBatch& batch) {
  WriteVerdict verdict;
  const std::span<const Sample> samples = batch.samples;
  touched_.clear();
  for (size_t i = 0; i < batch.items.size(); ++i) {
    Prefetch(batch, i);
    const workloads::SeriesItem& item = batch.items[i];
    const std::span<const Sample> of_item = samples.subspan(item.first_sample, item.sample_count);
    workloads::NamespaceState* state = KnownAt(item);
    if (state != nullptr) {
      state->ApplyKnown(item, of_item, batch.arrival_ms, verdict);
    } else {
      workloads::SeriesItem unknown = item;
      state = NamespaceOf(unknown);
      if (state == nullptr) {
        counters_.internal_errors.fetch_add(1);
        verdict.accepted += item.sample_count;
        continue;
      }
      state->Apply(unknown, of_item, batch.arrival_ms, verdict);
    }
    if (state->Touch()) touched_.push_back(state);
  }
  for (workloads::NamespaceState* state : touched_) state->EndBatch();
  return verdict;
}

/// What the next items need is far apart in memory: it is asked for early enough to be there in
/// time, in two steps, since the first holds the addresses of the second.
void Shard::Prefetch(const workloads::SeriesBatch& batch, size_t next) const {
  constexpr size_t kFar = 12;
  constexpr size_t kNear = 6;
  const auto state_of = [&](size_t ahead) -> const workloads::NamespaceState* {
    if (next + ahead >= batch.items.size()) return nullptr;
    const workloads::SeriesPlace place = batch.items[next + ahead].place;
    if (!place || place.name_space() >= residents_.size()) return nullptr;
    return residents_[place.name_space()].state.get();
  };
  if (const auto* state = state_of(kFar)) {
    state->PrefetchSeries(batch.items[next + kFar].place.series());
  }
  if (const auto* state = state_of(kNear)) {
    state->PrefetchTargets(batch.items[next + kNear].place.series());
  }
}

/// The namespace of an item that is still where its place says; null when it has to be looked for.
workloads::NamespaceState* Shard::KnownAt(const workloads::SeriesItem& item) const {
  if (!item.place || item.place.name_space() >= residents_.size()) return nullptr;
  workloads::NamespaceState* const state = residents_[item.place.name_space()].state.get();
  return state != nullptr && state->Holds(item.place.series(), item.series) ? state : nullptr;
}

/// The namespace that an item belongs to, made where needed. Completes an item whose place turned
/// out to be out of date. Null: it is no item that the engine can have been given.
workloads::NamespaceState* Shard::NamespaceOf(workloads::SeriesItem& item) {
  if (!item.place) {
    const auto found = by_name_space_.find(item.name_space);
    if (found != by_name_space_.end()) return residents_[found->second].state.get();
  }
  if (!DecodeLabels(item.label_bytes, labels_)) return nullptr;
  if (item.place) {
    const auto source = addressing_.sources.Find(labels_);
    if (!source) return nullptr;
    item.source = *source;
  }
  const auto identity = workloads::Identify(context_.sources.at(item.source), labels_);
  if (!identity) return nullptr;
  item.name_space = addressing_.HashNamespace(identity->cluster, identity->name_space);
  const auto [at, added] = by_name_space_.try_emplace(item.name_space, 0);
  if (!added) return residents_[at->second].state.get();
  if (free_residents_.empty()) {
    free_residents_.push_back(static_cast<uint32_t>(residents_.size()));
    residents_.emplace_back();
  }
  at->second = free_residents_.back();
  free_residents_.pop_back();
  Resident& resident = residents_[at->second];
  resident.name_space = item.name_space;
  resident.state = std::make_unique<workloads::NamespaceState>(
      std::string(identity->cluster), std::string(identity->name_space), at->second, context_);
  return resident.state.get();
}

ShardPage Shard::Publish(int64_t now_ms) {
  const int64_t elapsed_ms =
      published_ms_ == 0 ? 0 : std::clamp<int64_t>(now_ms - published_ms_, 0, kMaxTickMs);
  published_ms_ = now_ms;
  ShardPage page;
  page.blocks.reserve(by_name_space_.size());
  for (uint32_t i = 0; i < residents_.size(); ++i) {
    Resident& resident = residents_[i];
    if (!resident.state) continue;
    if (Age(resident, elapsed_ms)) {
      page.blocks.push_back(resident.block);
      continue;
    }
    by_name_space_.erase(resident.name_space);
    resident = Resident{};
    free_residents_.push_back(i);
  }
  page.sources = context_.source_counts;
  return page;
}

/// Brings the block of a namespace up to date; false when the namespace is to be dropped.
bool Shard::Age(Resident& resident, int64_t elapsed_ms) {
  workloads::NamespaceState& state = *resident.state;
  const int64_t before_ms = resident.silent_ms;
  resident.silent_ms = state.dirty() ? 0 : before_ms + elapsed_ms;
  const int64_t silent_ms = resident.silent_ms;
  if (silent_ms > kNamespaceRetentionMs) return false;
  if (silent_ms > kSeriesRetentionMs && context_.budget.IsScarce()) state.ForgetSeries();
  if (state.series_count() + state.workload_count() == 0) return false;
  const bool falls_silent = before_ms <= workloads::kMaxGapMs && silent_ms > workloads::kMaxGapMs;
  if (state.dirty() || falls_silent || !resident.block) {
    resident.block = Render(state, silent_ms);
  }
  return true;
}

std::shared_ptr<const NamespaceBlock> Shard::Render(workloads::NamespaceState& state,
                                                    int64_t silent_ms) const {
  auto block = std::make_shared<NamespaceBlock>();
  block->cluster = state.cluster();
  block->name_space = state.name();
  block->event_time_ms = state.event_time_ms();
  for (const workloads::WorkloadView& workload : state.View(block->event_time_ms + silent_ms)) {
    WorkloadAdvice advice = history_.Advise(workload);
    if (!advice.containers.empty()) block->workloads.push_back(std::move(advice));
  }
  return block;
}

void Shard::Explain(std::string_view name_space, std::string_view workload,
                    std::vector<WorkloadStatus>& out) const {
  for (const Resident& resident : residents_) {
    if (resident.state && resident.state->name() == name_space)
      resident.state->Explain(workload, out);
  }
}

}  // namespace tidemark::engine
