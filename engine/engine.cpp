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

#include "engine/checkpoint_block.h"
#include "engine/checkpointer.h"
#include "engine/commit_line.h"
#include "engine/forecast_page.h"
#include "engine/past_builder.h"
#include "engine/past_query.h"
#include "engine/recovery.h"
#include "engine/request_batch.h"
#include "engine/shard.h"
#include "engine/state_dump.h"
#include "forecast/trainer.h"
#include "model/log.h"

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
       EngineCounters& counters, Durability durability, TrainingCounters* training)
      : options_(WithDefaults(options)),
        sources_(extra_sources, options_.profiles->resources()),
        durability_(durability),
        addressing_(sources_,
                    durability.store == nullptr ? nullptr : &durability.store->identity()),
        clock_(clock),
        counters_(counters),
        training_counters_(training),
        budget_(options_.max_series),
        line_(durability.store, [this] { MakeRoom(); }) {
    for (size_t i = 0; i < options_.shards; ++i) {
      shards_.push_back(std::make_unique<Shard>(
          i,
          ShardCommons{options_, addressing_, known_, pool_, budget_, counters_, demand_places_}));
    }
    auto empty = std::make_shared<Snapshot>();
    empty->published_ms = ToUnixMs(clock_.Now());
    empty->sources = Sources({});
    empty->resources = resources_;
    snapshot_ = std::move(empty);
    if (durability_.store == nullptr) {
      StartTraining();
      StartTicks();
    }
  }

  ~Core() {
    EndTicks();
    checkpointer_.reset();
  }

  Result<void> Recover() {
    storage::Store& store = *durability_.store;
    const auto last =
        Recovery({.store = store,
                  .addressing = addressing_,
                  .shards = shards_,
                  .budget = budget_,
                  .pool = pool_,
                  .counters = *durability_.counters,
                  .past_cursor = [this](std::string_view cursor) { KeepPastCursor(cursor); }})
            .Run();
    if (!last) return tl::unexpected(last.error());
    line_.StartAfter(*last);
    if (store.options().read_only) return {};
    if (auto restarted = SayRestart(*last); !restarted) return restarted;
    checkpointer_ = std::make_unique<Checkpointer>(
        Checkpointer::Parts{.store = store,
                            .line = line_,
                            .shards = shards_,
                            .counters = *durability_.counters,
                            .interval_ms = options_.checkpoint_interval_ms,
                            .head = [this] { return CheckpointHeadNow(); }});
    checkpointer_->Start();
    StartTraining();
    Tick();
    StartTicks();
    return {};
  }

  /// Strict profiles lose what VPA loses at a restart. It is said in the journal, so that the same
  /// is lost at the same place when that is read again.
  Result<void> SayRestart(uint64_t last) {
    if (last == 0 || !options_.profiles->HasStrict()) return {};
    const int64_t now_ms = ToUnixMs(clock_.Now());
    std::string record;
    EncodeRestart(now_ms, record);
    return line_.Commit(record, [&](uint64_t number) {
      for (const auto& shard : shards_) {
        shard->Post([now_ms, number](Shard& self) { self.RestartAsVpa(now_ms, number); });
      }
    });
  }

  Result<void> Checkpoint() {
    if (!checkpointer_) return Fail(ErrorCode::kInvalidArgument, "nothing is kept on disk");
    return checkpointer_->Write();
  }

  void Stop() {
    if (!EndTicks()) return;
    for (const auto& shard : shards_) shard->Refuse();
    // What it does not hold the journal has: a failure costs time at the next start, nothing else.
    if (checkpointer_ && checkpointer_->Write()) Log(LogLevel::kInfo, "state written");
    checkpointer_.reset();
  }

  std::unique_ptr<WriteBatch> Begin() {
    return std::make_unique<RequestBatch>(
        RequestBatch::Engine{addressing_, shards_, pool_, budget_, line_, counters_}, known_.Look(),
        ToUnixMs(clock_.Now()));
  }

  std::vector<PastMetric> PastMetrics() const { return engine::PastMetrics(sources_, *Profiles()); }

  std::vector<PastMetric> PresentMetrics() const {
    return engine::PresentMetrics(sources_, *Profiles());
  }

  Result<std::unique_ptr<Past>> OpenPast(const std::vector<NamespaceName>& of, int64_t end_ms) {
    PastEnds ends;
    for (auto& found : OnEveryShard<PastEnds>(
             [&](Shard& shard) { return FindPastEnds(shard, addressing_, of); })) {
      ends.merge(found);
    }
    return std::make_unique<PastBuilder>(
        Profiles(), Forecast(), options_.max_series, addressing_, of, end_ms, std::move(ends),
        [this](const std::shared_ptr<const PastRecord>& past) { return CommitPast(past); });
  }

  std::string PastCursor() const {
    const std::scoped_lock lock(cursor_mutex_);
    return past_cursor_;
  }

  Result<void> SetPastCursor(std::string_view cursor) {
    std::string record;
    EncodePastCursor(cursor, record);
    return line_.Commit(record, [&](uint64_t) { KeepPastCursor(cursor); });
  }

  void Dump(const std::function<void(std::string_view)>& line) const {
    for (const auto& lines : OnEveryShard<std::vector<std::string>>(DumpShard)) {
      for (const std::string& one : lines) line(one);
    }
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

  Result<std::vector<WorkloadExplanation>> ExplainRequests(std::string_view name_space,
                                                           std::string_view workload_type,
                                                           std::string_view workload) const {
    std::vector<WorkloadExplanation> all;
    for (auto& answer : OnEveryShard<std::vector<WorkloadExplanation>>([&](Shard& shard) {
           std::vector<WorkloadExplanation> found;
           shard.ExplainRequests(name_space, workload_type, workload, found);
           return found;
         })) {
      std::move(answer.begin(), answer.end(), std::back_inserter(all));
    }
    if (all.empty()) {
      return Fail(ErrorCode::kNotFound, "no " + std::string(workload_type) + " \"" +
                                            std::string(workload) + "\" in namespace \"" +
                                            std::string(name_space) + "\"");
    }
    std::ranges::stable_sort(all, {},
                             [](const WorkloadExplanation& each) { return each.id.cluster; });
    return all;
  }

  ProfileSetPtr Profiles() const {
    const std::scoped_lock lock(profiles_mutex_);
    return profiles_;
  }

  ForecastSettingsPtr Forecast() const {
    const std::scoped_lock lock(profiles_mutex_);
    return forecast_;
  }

  /// What is null stays.
  void SetRules(ProfileSetPtr profiles, ForecastSettingsPtr forecast, ScalingSettingsPtr scaling) {
    {
      const std::scoped_lock lock(profiles_mutex_);
      if (!profiles) profiles = profiles_;
      if (!forecast) forecast = forecast_;
      if (!scaling) scaling = scaling_;
      profiles_ = profiles;
      forecast_ = forecast;
      scaling_ = scaling;
      OnEveryShard<bool>([&](Shard& shard) {
        shard.SetRules(profiles, forecast, scaling);
        return true;
      });
    }
    if (trainer_) trainer_->SetBudget(forecast->training_budget_ratio);
    Tick();
    // What the journal holds from before was estimated by other profiles: a checkpoint makes sure
    // that it is not read again by the new ones, which would lose the history that still answers.
    // Only then may the change count as done.
    if (checkpointer_ && !checkpointer_->Write()) checkpointer_->Hurry();
  }

  void Tick() {
    const std::scoped_lock one_at_a_time(tick_mutex_);
    const auto began = std::chrono::steady_clock::now();
    const int64_t now_ms = ToUnixMs(clock_.Now());
    auto pages = Pages(now_ms);
    auto snapshot = std::make_shared<Snapshot>();
    snapshot->generation = Current()->generation + 1;
    snapshot->published_ms = now_ms;
    snapshot->sources = Sources(pages);
    snapshot->resources = resources_;
    std::vector<forecast::TrainingWish> wishes;
    for (ShardPage& page : pages) {
      std::move(page.blocks.begin(), page.blocks.end(), std::back_inserter(snapshot->blocks));
      std::move(page.due_fits.begin(), page.due_fits.end(), std::back_inserter(wishes));
    }
    std::sort(snapshot->blocks.begin(), snapshot->blocks.end(), [](const auto& a, const auto& b) {
      return std::tie(a->cluster, a->name_space) < std::tie(b->cluster, b->name_space);
    });
    {
      const std::scoped_lock lock(snapshot_mutex_);
      snapshot_ = std::move(snapshot);
    }
    if (trainer_) trainer_->SetWishes(std::move(wishes));
    const auto took = std::chrono::steady_clock::now() - began;
    counters_.ticks.fetch_add(1);
    counters_.last_tick_ms = now_ms;
    counters_.last_tick_duration_us_now =
        std::chrono::duration_cast<std::chrono::microseconds>(took).count();
  }

 private:
  void StartTicks() {
    ticker_ = std::thread([this] { RunTicks(); });
  }

  /// False when they were ended before.
  bool EndTicks() {
    {
      const std::scoped_lock lock(stop_mutex_);
      if (stopping_) return false;
      stopping_ = true;
    }
    wake_.notify_one();
    if (ticker_.joinable()) ticker_.join();
    trainer_.reset();  // takes models into use as long as it runs
    return true;
  }

  void StartTraining() {
    if (training_counters_ == nullptr) return;
    trainer_ = std::make_unique<forecast::Trainer>(
        forecast::Trainer::Options{.budget_ratio = Forecast()->training_budget_ratio},
        *training_counters_, [this](const forecast::TrainingWish& wish) { return TaskOf(wish); },
        [this](forecast::TrainingResult result) { Activate(result); });
  }

  /// On the trainer's thread, as the next.
  std::optional<forecast::TrainingTask> TaskOf(const forecast::TrainingWish& wish) {
    std::promise<std::optional<forecast::TrainingTask>> promise;
    shards_[wish.owner % shards_.size()]->Post(
        [&](Shard& shard) { promise.set_value(shard.TaskOf(wish)); });
    return promise.get_future().get();
  }

  void Activate(const forecast::TrainingResult& result) {
    const auto [type, name] = WorkloadOfWish(result.wish.workload);
    const ModelRecord model{.name_space = result.wish.owner,
                            .workload_type = type,
                            .workload = name,
                            .fitted = {.model = result.wish.model,
                                       .weights = result.weights,
                                       .trained_minute = result.trained_minute,
                                       .seconds = result.seconds,
                                       .report = result.report}};
    std::string record;
    EncodeModel(model, record);
    std::promise<Result<void>> promise;
    Result<void> activated = line_.Commit(record, [&](uint64_t number) {
      shards_[model.name_space % shards_.size()]->Post(
          [&, number](Shard& shard) { promise.set_value(shard.Activate(model, number)); });
    });
    if (activated) activated = promise.get_future().get();
    if (activated) {
      training_counters_->activated.fetch_add(1);
      return;
    }
    training_counters_->activations_lost.fetch_add(1);
    LogOncePerMinute("activate", LogLevel::kWarn, "a trained model is not taken into use",
                     {{"workload", result.wish.workload}, {"err", activated.error().message}});
  }

  /// What the shards show, after they have given up what is due.
  std::vector<ShardPage> Pages(int64_t now_ms) {
    const auto publish = [now_ms](Shard& shard) { return shard.Publish(now_ms); };
    auto pages = OnEveryShard<ShardPage>(publish);
    bool any = false;
    for (const ShardPage& page : pages) {
      for (const AgeingRecord& due : page.due) any = Age(due) || any;
    }
    if (any) pages = OnEveryShard<ShardPage>(publish);
    auto nodes = std::make_shared<NodeSizes>();
    for (const ShardPage& page : pages) {
      for (const auto& [cluster, size] : page.nodes) RaiseSize(size, (*nodes)[cluster]);
    }
    if (*nodes == *nodes_) return pages;
    // Rare: what is shown so far was held to other nodes.
    nodes_ = std::move(nodes);
    OnEveryShard<bool>([this](Shard& shard) {
      shard.SetNodes(nodes_);
      return true;
    });
    return OnEveryShard<ShardPage>(publish);
  }

  bool Age(const AgeingRecord& due) {
    std::string record;
    EncodeAgeing(due, record);
    const auto committed = line_.Commit(record, [&](uint64_t number) {
      shards_[due.name_space % shards_.size()]->Post(
          [due, number](Shard& shard) { shard.Age(due, number); });
    });
    return committed.has_value();
  }

  Result<PastOutcome> CommitPast(const std::shared_ptr<const PastRecord>& past) {
    const size_t count = past->namespaces().size();
    const auto ask = [&](auto question) {
      std::vector<std::promise<PastOutcome>> promises(count);
      for (size_t i = 0; i < count; ++i) {
        const PastRecord::Namespace& one = past->namespaces()[i];
        shards_[one.hash % shards_.size()]->Post([&promises, &one, i, question](Shard& shard) {
          promises[i].set_value(question(one, shard));
        });
      }
      return Sum(promises);
    };
    const PastOutcome before = ask([](const PastRecord::Namespace& one, Shard& shard) {
      return PastOutcome{.overtaken = IsOvertaken(one, shard)};
    });
    if (before.overtaken) return before;
    std::vector<std::promise<PastOutcome>> merged(count);
    const auto committed = line_.Commit(past->bytes(), [&](uint64_t number) {
      for (size_t i = 0; i < count; ++i) {
        const PastRecord::Namespace& one = past->namespaces()[i];
        shards_[one.hash % shards_.size()]->Post([&merged, &one, i, past, number](Shard& shard) {
          merged[i].set_value(past->Merge(one, shard, number));
        });
      }
      KeepPastCursor(past->cursor());
    });
    if (!committed) return tl::unexpected(committed.error());
    return Sum(merged);
  }

  /// Of all answers, for which it waits.
  static PastOutcome Sum(std::vector<std::promise<PastOutcome>>& parts) {
    PastOutcome sum;
    for (auto& promise : parts) {
      const PastOutcome part = promise.get_future().get();
      sum.containers += part.containers;
      sum.minutes += part.minutes;
      sum.overtaken = sum.overtaken || part.overtaken;
    }
    return sum;
  }

  /// The checkpointer comes with recovery; nothing is appended before.
  void MakeRoom() {
    if (checkpointer_) checkpointer_->Hurry();
  }

  void KeepPastCursor(std::string_view cursor) {
    const std::scoped_lock lock(cursor_mutex_);
    past_cursor_ = cursor;
  }

  std::string CheckpointHeadNow() const {
    CheckpointHead head;
    for (size_t i = 0; i < sources_.size(); ++i) {
      head.sources.push_back(
          Fingerprint(sources_.at(static_cast<uint16_t>(i)), sources_.resources()));
    }
    head.past_cursor = PastCursor();
    std::string block;
    EncodeHead(head, block);
    return block;
  }

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
  const ResourceTablePtr resources_ = std::make_shared<const ResourceTable>(sources_.resources());
  const Durability durability_;
  const Addressing addressing_;
  const Clock& clock_;
  EngineCounters& counters_;
  TrainingCounters* const training_counters_;
  workloads::SeriesBudget budget_;
  workloads::KnownSeries known_;
  BatchPool pool_;
  CommitLine line_;
  mutable std::mutex cursor_mutex_;
  std::string past_cursor_;
  mutable std::mutex profiles_mutex_;
  ProfileSetPtr profiles_ = options_.profiles;
  ForecastSettingsPtr forecast_ = options_.forecast;
  ScalingSettingsPtr scaling_ = options_.scaling;
  DemandPlaces demand_places_;
  std::vector<std::unique_ptr<Shard>> shards_;
  std::unique_ptr<Checkpointer> checkpointer_;
  std::unique_ptr<forecast::Trainer> trainer_;

  std::shared_ptr<const NodeSizes> nodes_ = std::make_shared<NodeSizes>();  // of the last tick
  mutable std::mutex snapshot_mutex_;
  std::shared_ptr<const Snapshot> snapshot_;
  std::mutex tick_mutex_;

  std::mutex stop_mutex_;
  std::condition_variable wake_;
  bool stopping_ = false;
  std::thread ticker_;
};

Engine::Engine(Options options, const std::vector<workloads::Source>& extra_sources,
               const Clock& clock, EngineCounters& counters, Durability durability,
               TrainingCounters* training)
    : core_(std::make_unique<Core>(options, extra_sources, clock, counters, durability, training)) {
}
Engine::~Engine() = default;

std::unique_ptr<WriteBatch> Engine::Begin() { return core_->Begin(); }
std::shared_ptr<const Snapshot> Engine::Current() const { return core_->Current(); }
Result<std::vector<WorkloadStatus>> Engine::Explain(std::string_view name_space,
                                                    std::string_view workload) const {
  return core_->Explain(name_space, workload);
}
Result<std::vector<WorkloadExplanation>> Engine::ExplainRequests(std::string_view name_space,
                                                                 std::string_view workload_type,
                                                                 std::string_view workload) const {
  return core_->ExplainRequests(name_space, workload_type, workload);
}
void Engine::SetProfiles(ProfileSetPtr profiles) {
  core_->SetRules(std::move(profiles), nullptr, nullptr);
}
void Engine::SetForecast(ForecastSettingsPtr forecast) {
  core_->SetRules(nullptr, std::move(forecast), nullptr);
}
void Engine::SetScaling(ScalingSettingsPtr scaling) {
  core_->SetRules(nullptr, nullptr, std::move(scaling));
}
Result<void> Engine::Recover() { return core_->Recover(); }
std::vector<PastMetric> Engine::PastMetrics() const { return core_->PastMetrics(); }
std::vector<PastMetric> Engine::PresentMetrics() const { return core_->PresentMetrics(); }
Result<std::unique_ptr<Past>> Engine::OpenPast(const std::vector<NamespaceName>& of,
                                               int64_t end_ms) {
  return core_->OpenPast(of, end_ms);
}
std::vector<NamespaceName> Engine::LiveNamespaces() const {
  std::vector<NamespaceName> names;
  for (const auto& block : core_->Current()->blocks) {
    names.push_back({block->cluster, block->name_space});
  }
  return names;
}
std::string Engine::PastCursor() const { return core_->PastCursor(); }
Result<void> Engine::SetPastCursor(std::string_view cursor) { return core_->SetPastCursor(cursor); }
Result<void> Engine::Checkpoint() { return core_->Checkpoint(); }
void Engine::Dump(const std::function<void(std::string_view)>& line) const { core_->Dump(line); }
void Engine::Tick() { core_->Tick(); }
void Engine::Stop() { core_->Stop(); }

}  // namespace tidemark::engine
