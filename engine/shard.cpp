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

Shard::Shard(const Options& options, const workloads::SourceTable& sources,
             workloads::SeriesBudget& budget, EngineCounters& counters)
    : max_batches_(options.queue_batches),
      counters_(counters),
      history_(options),
      context_{sources, history_, budget, counters} {
  context_.refuse_late = options.refuse_late;
  context_.source_counts.resize(sources.size());
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
  for (const workloads::SeriesItem& item : batch.items) {
    workloads::NamespaceState* state = NamespaceOf(item);
    if (state == nullptr) {
      counters_.internal_errors.fetch_add(1);
      verdict.accepted += item.sample_count;
      continue;
    }
    state->Apply(item, samples.subspan(item.first_sample, item.sample_count), batch.arrival_ms,
                 verdict);
    if (touched_.empty() || touched_.back() != state) touched_.push_back(state);
  }
  for (workloads::NamespaceState* state : touched_) state->EndBatch();
  return verdict;
}

workloads::NamespaceState* Shard::NamespaceOf(const workloads::SeriesItem& item) {
  const auto found = residents_.find(item.name_space);
  if (found != residents_.end()) return found->second.state.get();
  if (!DecodeLabels(item.label_bytes, labels_)) return nullptr;
  const auto identity = workloads::Identify(context_.sources.at(item.source), labels_);
  if (!identity) return nullptr;
  Resident& resident = residents_[item.name_space];
  resident.state = std::make_unique<workloads::NamespaceState>(
      std::string(identity->cluster), std::string(identity->name_space), context_);
  return resident.state.get();
}

ShardPage Shard::Publish(int64_t now_ms) {
  const int64_t elapsed_ms =
      published_ms_ == 0 ? 0 : std::clamp<int64_t>(now_ms - published_ms_, 0, kMaxTickMs);
  published_ms_ = now_ms;
  ShardPage page;
  page.blocks.reserve(residents_.size());
  for (auto it = residents_.begin(); it != residents_.end();) {
    if (!Age(it->second, elapsed_ms)) {
      residents_.erase(it++);
      continue;
    }
    page.blocks.push_back(it->second.block);
    ++it;
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
  for (const auto& [hash, resident] : residents_) {
    if (resident.state->name() == name_space) resident.state->Explain(workload, out);
  }
}

}  // namespace tidemark::engine
