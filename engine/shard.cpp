#include "engine/shard.h"

#include <span>
#include <string>
#include <utility>

#include "workloads/identity.h"

namespace tidemark::engine {
namespace {

/// As long as workloads are kept after their last sample (workloads/namespace_pods.cpp).
constexpr int64_t kNamespaceRetentionMs = 8 * 24 * 60 * workloads::kMinuteMs;

}  // namespace

Shard::Shard(const Options& options, const workloads::SourceTable& sources,
             workloads::SeriesBudget& budget, EngineCounters& counters)
    : max_batches_(options.queue_batches),
      counters_(counters),
      history_(options),
      context_{sources, history_, budget, counters} {
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
  for (const workloads::SeriesItem& item : batch.items) {
    workloads::NamespaceState* state = NamespaceOf(item);
    if (state == nullptr) {
      counters_.internal_errors.fetch_add(1);
      verdict.accepted += item.sample_count;
      continue;
    }
    state->Apply(item, samples.subspan(item.first_sample, item.sample_count), batch.arrival_ms,
                 verdict);
  }
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
  ShardPage page;
  page.sources = context_.source_counts;
  page.blocks.reserve(residents_.size());
  for (auto it = residents_.begin(); it != residents_.end();) {
    workloads::NamespaceState& state = *it->second.state;
    const int64_t event_time_ms = state.event_time_ms();
    const bool silent =
        event_time_ms != workloads::kNever && event_time_ms < now_ms - kNamespaceRetentionMs;
    if (silent || state.series_count() + state.workload_count() == 0) {
      residents_.erase(it++);
      continue;
    }
    if (state.dirty() || !it->second.block) {
      auto block = std::make_shared<NamespaceBlock>();
      block->cluster = state.cluster();
      block->name_space = state.name();
      block->event_time_ms = event_time_ms;
      for (const workloads::WorkloadView& workload : state.View()) {
        WorkloadAdvice advice = history_.Advise(workload);
        if (!advice.containers.empty()) block->workloads.push_back(std::move(advice));
      }
      it->second.block = std::move(block);
    }
    page.blocks.push_back(it->second.block);
    ++it;
  }
  return page;
}

void Shard::Explain(std::string_view name_space, std::string_view workload,
                    std::vector<WorkloadStatus>& out) const {
  for (const auto& [hash, resident] : residents_) {
    if (resident.state->name() == name_space) resident.state->Explain(workload, out);
  }
}

}  // namespace tidemark::engine
