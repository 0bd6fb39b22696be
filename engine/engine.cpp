#include "engine/engine.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <future>
#include <mutex>
#include <thread>
#include <tuple>
#include <utility>

#include "engine/request_batch.h"
#include "engine/shard.h"

namespace tidemark::engine {
namespace {

Options WithDefaults(Options options) {
  if (options.shards == 0) options.shards = std::max(1U, std::thread::hardware_concurrency());
  return options;
}

}  // namespace

class Engine::Core {
 public:
  Core(Options options, const std::vector<workloads::Source>& extra_sources, const Clock& clock,
       EngineCounters& counters)
      : options_(WithDefaults(options)),
        sources_(extra_sources),
        addressing_(sources_),
        clock_(clock),
        counters_(counters),
        budget_(options_.max_series) {
    for (size_t i = 0; i < options_.shards; ++i) {
      shards_.push_back(std::make_unique<Shard>(
          i, ShardCommons{options_, addressing_, known_, pool_, budget_, counters_}));
    }
    auto empty = std::make_shared<Snapshot>();
    empty->published_ms = ToUnixMs(clock_.Now());
    empty->sources = Sources({});
    snapshot_ = std::move(empty);
    ticker_ = std::thread([this] { RunTicks(); });
  }

  ~Core() { Stop(); }

  void Stop() {
    {
      const std::scoped_lock lock(stop_mutex_);
      if (stopping_) return;
      stopping_ = true;
    }
    wake_.notify_one();
    ticker_.join();
    for (const auto& shard : shards_) shard->Refuse();
  }

  std::unique_ptr<WriteBatch> Begin() {
    return std::make_unique<RequestBatch>(addressing_, known_.Look(), shards_, pool_,
                                          ToUnixMs(clock_.Now()), counters_);
  }

  std::shared_ptr<const Snapshot> Current() const {
    // Guards the copy of one pointer (std::atomic<std::shared_ptr> of GCC 12 is a spin lock that
    // TSan distrusts).
    const std::scoped_lock lock(snapshot_mutex_);
    return snapshot_;
  }

  Result<std::vector<WorkloadStatus>> Explain(std::string_view name_space,
                                              std::string_view workload) const {
    std::vector<WorkloadStatus> all;
    for (auto& answer : OnEveryShard<std::vector<WorkloadStatus>>([&](Shard& shard) {
           std::vector<WorkloadStatus> found;
           shard.Explain(name_space, workload, found);
           return found;
         })) {
      std::move(answer.begin(), answer.end(), std::back_inserter(all));
    }
    if (all.empty()) {
      return Fail(ErrorCode::kNotFound, "no workload or pod \"" + std::string(workload) +
                                            "\" in namespace \"" + std::string(name_space) + "\"");
    }
    std::stable_sort(all.begin(), all.end(), [](const WorkloadStatus& a, const WorkloadStatus& b) {
      return std::tie(a.cluster, a.workload_type) < std::tie(b.cluster, b.workload_type);
    });
    return all;
  }

  void Tick() {
    const std::scoped_lock one_at_a_time(tick_mutex_);
    const auto began = std::chrono::steady_clock::now();
    const int64_t now_ms = ToUnixMs(clock_.Now());
    auto pages = OnEveryShard<ShardPage>([now_ms](Shard& shard) { return shard.Publish(now_ms); });
    auto snapshot = std::make_shared<Snapshot>();
    snapshot->generation = Current()->generation + 1;
    snapshot->published_ms = now_ms;
    snapshot->sources = Sources(pages);
    for (ShardPage& page : pages) {
      std::move(page.blocks.begin(), page.blocks.end(), std::back_inserter(snapshot->blocks));
    }
    std::sort(snapshot->blocks.begin(), snapshot->blocks.end(), [](const auto& a, const auto& b) {
      return std::tie(a->cluster, a->name_space) < std::tie(b->cluster, b->name_space);
    });
    {
      const std::scoped_lock lock(snapshot_mutex_);
      snapshot_ = std::move(snapshot);
    }
    const auto took = std::chrono::steady_clock::now() - began;
    counters_.ticks.fetch_add(1);
    counters_.last_tick_ms = now_ms;
    counters_.last_tick_duration_us_now =
        std::chrono::duration_cast<std::chrono::microseconds>(took).count();
  }

 private:
  /// Asks all shards at once and waits for their answers, in the order of the shards.
  template <class Answer, class Question>
  std::vector<Answer> OnEveryShard(Question question) const {
    std::vector<std::promise<Answer>> promises(shards_.size());
    for (size_t i = 0; i < shards_.size(); ++i) {
      shards_[i]->Post(
          [&promises, i, &question](Shard& shard) { promises[i].set_value(question(shard)); });
    }
    std::vector<Answer> answers;
    answers.reserve(promises.size());
    for (auto& promise : promises) answers.push_back(promise.get_future().get());
    return answers;
  }

  std::vector<SourceStatus> Sources(const std::vector<ShardPage>& pages) const {
    std::vector<SourceStatus> statuses;
    for (size_t i = 0; i < sources_.size(); ++i) {
      const workloads::Source& source = sources_.at(static_cast<uint16_t>(i));
      SourceStatus status{std::string(ToString(source.role)), source.metric, 0, std::nullopt};
      for (const ShardPage& page : pages) {
        status.series += page.sources[i].series;
        const int64_t last_ms = page.sources[i].last_ms;
        if (last_ms != workloads::kNever && last_ms > status.last_sample_ms.value_or(last_ms - 1)) {
          status.last_sample_ms = last_ms;
        }
      }
      statuses.push_back(std::move(status));
    }
    return statuses;
  }

  void RunTicks() {
    std::unique_lock lock(stop_mutex_);
    const auto interval = std::chrono::milliseconds(options_.eval_interval_ms);
    while (!wake_.wait_for(lock, interval, [this] { return stopping_; })) {
      lock.unlock();
      Tick();
      lock.lock();
    }
  }

  const Options options_;
  const workloads::SourceTable sources_;
  const Addressing addressing_;
  const Clock& clock_;
  EngineCounters& counters_;
  workloads::SeriesBudget budget_;
  workloads::KnownSeries known_;
  BatchPool pool_;
  std::vector<std::unique_ptr<Shard>> shards_;

  mutable std::mutex snapshot_mutex_;
  std::shared_ptr<const Snapshot> snapshot_;
  std::mutex tick_mutex_;

  std::mutex stop_mutex_;
  std::condition_variable wake_;
  bool stopping_ = false;
  std::thread ticker_;
};

Engine::Engine(Options options, const std::vector<workloads::Source>& extra_sources,
               const Clock& clock, EngineCounters& counters)
    : core_(std::make_unique<Core>(options, extra_sources, clock, counters)) {}
Engine::~Engine() = default;

std::unique_ptr<WriteBatch> Engine::Begin() { return core_->Begin(); }
std::shared_ptr<const Snapshot> Engine::Current() const { return core_->Current(); }
Result<std::vector<WorkloadStatus>> Engine::Explain(std::string_view name_space,
                                                    std::string_view workload) const {
  return core_->Explain(name_space, workload);
}
void Engine::Tick() { core_->Tick(); }
void Engine::Stop() { core_->Stop(); }

}  // namespace tidemark::engine
