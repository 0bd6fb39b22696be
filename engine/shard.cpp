#include "engine/shard.h"

#include <algorithm>
#include <chrono>
#include <span>
#include <string>
#include <utility>

#include "engine/advisor.h"
#include "engine/checkpoint_block.h"
#include "engine/forecast_page.h"
#include "engine/scaling_page.h"
#include "model/byte_codec.h"
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

std::optional<double> RecommendedOf(const WorkloadAdvice& workload, std::string_view container,
                                    Resource resource) {
  for (const ContainerAdvice& each : workload.containers) {
    if (each.container != container) continue;
    for (const ResourceAdvice& advice : each.resources) {
      if (advice.resource == resource) return advice.recommended_request;
    }
  }
  return std::nullopt;
}

std::optional<double> RecommendedOf(const WorkloadExplanation& workload, std::string_view container,
                                    Resource resource) {
  for (const ContainerExplanation& each : workload.containers) {
    if (each.container != container) continue;
    for (const ResourceExplanation& explained : each.resources) {
      if (explained.advice.resource == resource) return explained.advice.recommended_request;
    }
  }
  return std::nullopt;
}

}  // namespace

Shard::Shard(size_t number, const ShardCommons& commons)
    : max_batches_(commons.options.queue_batches),
      addressing_(commons.addressing),
      pool_(commons.pool),
      counters_(commons.counters),
      history_(commons.options.profiles, commons.options.forecast, &commons.demand_places,
               DemandTracks::Keeps::kAll, commons.options.scaling),
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
  {
    const std::scoped_lock lock(mutex_);
    --reserved_;
    counters_.queued_batches_now.fetch_sub(1, std::memory_order_relaxed);
  }
  room_.notify_one();
}

void Shard::ReserveForReplay() {
  std::unique_lock lock(mutex_);
  room_.wait(lock, [this] { return reserved_ < max_batches_; });
  ++reserved_;
  counters_.queued_batches_now.fetch_add(1, std::memory_order_relaxed);
}

void Shard::Push(workloads::SeriesBatch batch, uint64_t number, BatchDone done) {
  Queue({std::move(batch), number, false, std::move(done)});
}

void Shard::Replay(workloads::SeriesBatch batch, uint64_t number, BatchDone done) {
  Queue({std::move(batch), number, true, std::move(done)});
}

void Shard::Queue(Batch batch) {
  {
    const std::scoped_lock lock(mutex_);
    queue_.emplace_back(std::move(batch));
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
      BatchOutcome outcome = Apply(*batch);
      CancelReservation();
      pool_.Give(std::move(batch->series));
      batch->done(std::move(outcome));
    } else {
      std::get<std::function<void(Shard&)>>(work)(*this);
    }
  }
}

BatchOutcome Shard::Apply(const Batch& work) {
  const workloads::SeriesBatch& batch = work.series;
  BatchOutcome outcome;
  const std::span<const Sample> samples = batch.samples;
  touched_.clear();
  last_number_ = std::max(last_number_, work.number);
  for (size_t i = 0; i < batch.items.size(); ++i) {
    Prefetch(batch, i);
    const workloads::SeriesItem& item = batch.items[i];
    const std::span<const Sample> of_item = samples.subspan(item.first_sample, item.sample_count);
    if (work.replayed && Holds(item.name_space, work.number)) {
      if (item.may_create) context_.budget.GiveBack(1);
      continue;
    }
    workloads::NamespaceState* state = nullptr;
    if (item.by_hash) {
      state = ApplyByHash(item, of_item, batch.arrival_ms, outcome);
      if (state == nullptr) continue;
    } else {
      state = NamespaceOf(item);
      if (state == nullptr) {
        if (item.may_create) context_.budget.GiveBack(1);
        counters_.internal_errors.fetch_add(1);
        outcome.verdict.accepted += item.sample_count;
        continue;
      }
      state->Apply(item, of_item, batch.arrival_ms, outcome.verdict);
    }
    if (state->Touch()) touched_.push_back(state);
  }
  for (workloads::NamespaceState* state : touched_) state->EndBatch();
  return outcome;
}

/// The namespace that took the item; null, and the item among the missed, when there is none.
workloads::NamespaceState* Shard::ApplyByHash(const workloads::SeriesItem& item,
                                              std::span<const Sample> samples, int64_t arrival_ms,
                                              BatchOutcome& outcome) {
  if (workloads::NamespaceState* const state = KnownAt(item)) {
    state->ApplyKnown(item, samples, arrival_ms, outcome.verdict);
    return state;
  }
  workloads::NamespaceState* const state = Find(item.name_space);
  if (state != nullptr && state->ApplyByHash(item, samples, arrival_ms, outcome.verdict)) {
    return state;
  }
  workloads::SeriesItem missed = item;
  missed.first_sample = static_cast<uint32_t>(outcome.missed.samples.size());
  outcome.missed.arrival_ms = arrival_ms;
  outcome.missed.items.push_back(missed);
  outcome.missed.samples.insert(outcome.missed.samples.end(), samples.begin(), samples.end());
  return nullptr;
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
/// A place that another namespace has taken since does not count, though it may hold a series of
/// that hash: a replay, which knows no places, looks into the item's own.
workloads::NamespaceState* Shard::KnownAt(const workloads::SeriesItem& item) const {
  if (!item.place || item.place.name_space() >= residents_.size()) return nullptr;
  const Resident& resident = residents_[item.place.name_space()];
  const bool fits = resident.state != nullptr && resident.name_space == item.name_space &&
                    resident.state->Holds(item.place.series(), item.series);
  return fits ? resident.state.get() : nullptr;
}

workloads::NamespaceState* Shard::Find(uint64_t name_space) const {
  const auto found = by_name_space_.find(name_space);
  return found == by_name_space_.end() ? nullptr : residents_[found->second].state.get();
}

/// The namespace that an item with labels belongs to, made where needed. Null: it is no item that
/// the engine can have been given.
workloads::NamespaceState* Shard::NamespaceOf(const workloads::SeriesItem& item) {
  if (workloads::NamespaceState* const state = Find(item.name_space)) return state;
  if (!DecodeLabels(item.label_bytes, labels_)) return nullptr;
  const auto identity = workloads::Identify(context_.sources.at(item.source), labels_);
  if (!identity) return nullptr;
  return &FindOrMake(item.name_space, identity->cluster, identity->name_space);
}

workloads::NamespaceState& Shard::FindOrMake(uint64_t name_space, std::string_view cluster,
                                             std::string_view name) {
  if (workloads::NamespaceState* const state = Find(name_space)) return *state;
  const uint32_t place = TakePlace(name_space);
  residents_[place].state = std::make_unique<workloads::NamespaceState>(
      std::string(cluster), std::string(name), place, context_);
  return *residents_[place].state;
}

uint32_t Shard::TakePlace(uint64_t name_space) {
  if (free_residents_.empty()) {
    free_residents_.push_back(static_cast<uint32_t>(residents_.size()));
    residents_.emplace_back();
  }
  const uint32_t place = free_residents_.back();
  free_residents_.pop_back();
  residents_[place].name_space = name_space;
  by_name_space_[name_space] = place;
  directory_.Set(place, name_space);
  return place;
}

void Shard::Drop(uint32_t place) {
  by_name_space_.erase(residents_[place].name_space);
  residents_[place] = Resident{};
  free_residents_.push_back(place);
}

ShardPage Shard::Publish(int64_t now_ms) {
  const int64_t elapsed_ms =
      published_ms_ == 0 ? 0 : std::clamp<int64_t>(now_ms - published_ms_, 0, kMaxTickMs);
  published_ms_ = now_ms;
  ShardPage page;
  page.blocks.reserve(by_name_space_.size());
  for (Resident& resident : residents_) {
    if (!resident.state) continue;
    Refresh(resident, elapsed_ms, page.due);
    page.blocks.push_back(resident.block);
    page.due_fits.insert(page.due_fits.end(), resident.due_fits.begin(), resident.due_fits.end());
    const NodeSize largest =
        resident.state->LargestNode(resident.state->event_time_ms() + resident.silent_ms);
    if (largest[0] || largest[1]) RaiseSize(largest, page.nodes[resident.state->cluster()]);
  }
  page.sources = context_.source_counts;
  return page;
}

void Shard::Refresh(Resident& resident, int64_t elapsed_ms, std::vector<AgeingRecord>& due) {
  workloads::NamespaceState& state = *resident.state;
  const int64_t before_ms = resident.silent_ms;
  resident.silent_ms = state.dirty() ? 0 : before_ms + elapsed_ms;
  const int64_t silent_ms = resident.silent_ms;
  const bool empty = state.series_count() + state.workload_count() == 0;
  if (silent_ms > kNamespaceRetentionMs || empty) {
    due.push_back({resident.name_space, Ageing::kDrop, state.event_time_ms()});
  } else if (silent_ms > kSeriesRetentionMs && state.series_count() > 0 &&
             context_.budget.IsScarce()) {
    due.push_back({resident.name_space, Ageing::kForgetSeries, state.event_time_ms()});
  }
  const bool falls_silent = before_ms <= workloads::kMaxGapMs && silent_ms > workloads::kMaxGapMs;
  if (state.dirty() || falls_silent || !resident.block) {
    Render(resident);
  }
}

void Shard::Age(const AgeingRecord& ageing, uint64_t number) {
  last_number_ = std::max(last_number_, number);
  const auto found = by_name_space_.find(ageing.name_space);
  if (found == by_name_space_.end() || (number != 0 && Holds(ageing.name_space, number))) return;
  workloads::NamespaceState& state = *residents_[found->second].state;
  if (state.event_time_ms() != ageing.event_time_ms) return;
  if (ageing.what == Ageing::kDrop) {
    Drop(found->second);
  } else {
    state.ForgetSeries();
  }
}

bool Shard::Save(size_t& next, uint64_t number, size_t bytes,
                 std::vector<std::string>& blocks) const {
  size_t written = 0;
  for (; next < residents_.size(); ++next) {
    const Resident& resident = residents_[next];
    if (!resident.state) continue;
    if (written >= bytes) return true;
    std::string& block = blocks.emplace_back();
    EncodeNamespaceHead(
        {resident.name_space, std::max(number, last_number_), resident.silent_ms, {}}, block);
    ByteWriter writer(block);
    resident.state->Save(writer);
    written += block.size();
  }
  return false;
}

Result<void> Shard::Restore(const SavedNamespace& saved, std::span<const uint16_t> sources) {
  const auto fail = [&](std::string_view why) {
    return Fail(ErrorCode::kInvalidArgument,
                "a namespace of a checkpoint cannot be read: " + std::string(why));
  };
  if (Find(saved.name_space) != nullptr) return fail("it is there twice");
  const uint32_t place = TakePlace(saved.name_space);
  ByteReader reader(saved.state);
  auto state = workloads::NamespaceState::Restore(reader, sources, place, context_);
  if (!state) {
    Drop(place);
    return fail(state.error().message);
  }
  Resident& resident = residents_[place];
  resident.state = std::move(*state);
  resident.silent_ms = saved.silent_ms;
  resident.restored_number = saved.applied_number;
  if (!reader.AtEnd() || addressing_.HashNamespace(resident.state->cluster(),
                                                   resident.state->name()) != saved.name_space) {
    Drop(place);
    return fail("its name or length does not fit");
  }
  return {};
}

bool Shard::Holds(uint64_t name_space, uint64_t number) const {
  const auto found = by_name_space_.find(name_space);
  return found != by_name_space_.end() && number <= residents_[found->second].restored_number;
}

void Shard::Clear() {
  for (uint32_t place = 0; place < residents_.size(); ++place) {
    if (residents_[place].state) Drop(place);
  }
  last_number_ = 0;
}

void Shard::Render(Resident& resident) {
  workloads::NamespaceState& state = *resident.state;
  auto block = std::make_shared<NamespaceBlock>();
  block->cluster = state.cluster();
  block->name_space = state.name();
  block->event_time_ms = state.event_time_ms();
  block->profiles = history_.profiles();
  block->container_limits = state.ContainerLimitsAt(block->event_time_ms + resident.silent_ms);
  const auto views = state.View(block->event_time_ms + resident.silent_ms);
  const NamespaceBlock* const before = resident.block.get();
  block->workloads =
      Advisor(history_, views, block->event_time_ms, LargestNode(state), counters_).Advise(before);
  AddWhatFollowsLoad(resident, views, before, *block);
  resident.block = std::move(block);
}

/// Forecasts and replicas. Workloads of `block` stand in the order of their views, but not every
/// view has one.
void Shard::AddWhatFollowsLoad(Resident& resident, std::span<const workloads::WorkloadView> views,
                               const NamespaceBlock* before, NamespaceBlock& block) {
  const int64_t as_of_ms = block.event_time_ms + resident.silent_ms;
  resident.due_fits.clear();
  size_t last = 0;
  auto advice = block.workloads.begin();
  for (const workloads::WorkloadView& view : views) {
    if (advice == block.workloads.end()) break;
    if (advice->id != *view.id) continue;
    // Sorted by type and name, as the views are.
    std::shared_ptr<const WorkloadForecast> forecast;
    std::shared_ptr<const WorkloadScaling> scaling;
    if (before != nullptr) {
      const auto& earlier = before->workloads;
      while (last < earlier.size() && earlier[last].id < *view.id) ++last;
      if (last < earlier.size() && earlier[last].id == *view.id) {
        forecast = earlier[last].forecast;
        scaling = earlier[last].scaling;
      }
    }
    advice->forecast = ShowForecast(history_.demand(), view, as_of_ms, forecast);
    const auto recommended = [&advice](std::string_view container, Resource resource) {
      return RecommendedOf(*advice, container, resource);
    };
    advice->scaling = ShowScaling(history_.scaling(), view, as_of_ms, recommended, scaling);
    CollectDue(history_.demand(), view, resident.name_space, as_of_ms, resident.due_fits);
    ++advice;
  }
}

std::optional<forecast::TrainingTask> Shard::TaskOf(const forecast::TrainingWish& wish) const {
  const workloads::NamespaceState* const state = Find(wish.owner);
  if (state == nullptr) return std::nullopt;
  const auto [type, name] = WorkloadOfWish(wish.workload);
  const auto container = state->DemandContainer(type, name);
  const forecast::ForecastTrack* const track =
      container ? history_.demand().TrackOf(*container) : nullptr;
  if (track == nullptr) return std::nullopt;
  forecast::TrainingTask task;
  task.wish = wish;
  task.horizons = forecast::Horizons(history_.demand().settings().horizons_minutes);
  task.history = track->Series();
  task.weights = track->Weights(wish.model);
  return task;
}

Result<void> Shard::Activate(const ModelRecord& model, uint64_t number) {
  Reached(number);
  if (number != 0 && Holds(model.name_space, number)) return {};
  const workloads::NamespaceState* const state = Find(model.name_space);
  const auto container =
      state == nullptr ? std::nullopt : state->DemandContainer(model.workload_type, model.workload);
  if (!container) {
    return Fail(ErrorCode::kNotFound, "a trained model is of a workload that is no more");
  }
  return history_.demand().Activate(*container, model.fitted);
}

const NodeSize& Shard::LargestNode(const workloads::NamespaceState& state) const {
  static const NodeSize kNotKnown;
  const auto found = nodes_->find(state.cluster());
  return found == nodes_->end() ? kNotKnown : found->second;
}

void Shard::SetNodes(const std::shared_ptr<const NodeSizes>& nodes) {
  const auto before = std::exchange(nodes_, nodes);
  const auto of = [](const NodeSizes& sizes, const std::string& cluster) {
    const auto found = sizes.find(cluster);
    return found == sizes.end() ? NodeSize() : found->second;
  };
  for (Resident& resident : residents_) {
    if (!resident.state) continue;
    const std::string& cluster = resident.state->cluster();
    if (of(*before, cluster) != of(*nodes, cluster)) resident.block.reset();
  }
}

void Shard::SetRules(const ProfileSetPtr& profiles, const ForecastSettingsPtr& forecast,
                     const ScalingSettingsPtr& scaling) {
  history_.SetRules(profiles, forecast, scaling);
  for (Resident& resident : residents_) {
    if (!resident.state) continue;
    resident.state->TellContainers();
    resident.block.reset();  // shown anew by the next page
  }
}

void Shard::RestartAsVpa(int64_t now_ms, uint64_t number) {
  const estimators::Time now{std::chrono::milliseconds(now_ms)};
  for (Resident& resident : residents_) {
    if (!resident.state || number <= resident.restored_number) continue;
    resident.state->ForEachPodContainer([&](uint32_t container, uint32_t instance) {
      history_.ForgetRunningPeaks(container, instance, now);
    });
    resident.state->ForEachContainer([&](const auto& /*workload*/, auto /*name*/,
                                         const workloads::WorkloadContainer& container) {
      history_.GoThroughCheckpoint(container.index);
    });
    resident.block.reset();
  }
  Reached(number);
}

void Shard::ExplainRequests(std::string_view name_space, std::string_view workload_type,
                            std::string_view workload, std::vector<WorkloadExplanation>& out) {
  for (const Resident& resident : residents_) {
    if (!resident.state || resident.state->name() != name_space) continue;
    workloads::NamespaceState& state = *resident.state;
    // Looking takes nothing away from what the next page has to show. Samples wait meanwhile, so it
    // looks at the whole of a large namespace only for the sake of a level that reads all of it.
    const int64_t as_of_ms = state.event_time_ms() + resident.silent_ms;
    auto views = state.PeekAt(workload_type, workload, as_of_ms);
    const bool reads_all = std::ranges::any_of(views, [this](const auto& view) {
      return std::ranges::any_of(view.containers, [this](const auto& container) {
        return history_.ProfileOf(container.container)->level == Level::kNamespace;
      });
    });
    if (reads_all) views = state.Peek(as_of_ms);
    for (size_t i = 0; i < views.size(); ++i) {
      if (views[i].id->workload_type != workload_type || views[i].id->workload != workload)
        continue;
      out.push_back(Advisor(history_, views, state.event_time_ms(), LargestNode(state), counters_)
                        .Explain(i));
      out.back().forecast = ExplainForecast(history_.demand(), views[i], as_of_ms);
      const auto recommended = [&explained = out.back()](std::string_view container,
                                                         Resource resource) {
        return RecommendedOf(explained, container, resource);
      };
      out.back().scaling = ExplainScaling(history_.scaling(), views[i], as_of_ms, recommended);
    }
  }
}

void Shard::Explain(std::string_view name_space, std::string_view workload,
                    std::vector<WorkloadStatus>& out) const {
  for (const Resident& resident : residents_) {
    if (resident.state && resident.state->name() == name_space)
      resident.state->Explain(workload, out);
  }
}

}  // namespace tidemark::engine
