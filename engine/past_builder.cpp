#include "engine/past_builder.h"

#include <algorithm>
#include <limits>
#include <span>
#include <utility>

#include "engine/journal_record.h"
#include "model/byte_codec.h"
#include "workloads/identity.h"

namespace tidemark::engine {
namespace {

/// What a series, and the histograms and high-water marks of a container, take, about.
constexpr uint64_t kBytesPerSeries = 500;
constexpr uint64_t kBytesPerContainer = 6000;

}  // namespace

/// A history that takes of each container only the minutes before what is known of it already, and
/// remembers which those were.
class PastBuilder::CutHistory final : public workloads::UsageSink {
 public:
  using Minutes = ResourceSlots<workloads::PastContainer::Minutes>;

  CutHistory(ProfileSetPtr profiles, ForecastSettingsPtr forecast, const Addressing& addressing,
             int64_t end_ms, PastEnds ends)
      : history_(std::move(profiles), std::move(forecast), nullptr, DemandTracks::Keeps::kHistory),
        addressing_(addressing),
        end_ms_(end_ms),
        ends_(std::move(ends)) {}

  void ContainerIs(uint32_t container, const ProfileSubject& subject) override {
    const WorkloadId& workload = subject.workload;
    history_.ContainerIs(container, subject);
    Kept& kept = KeptOf(container);
    if (kept.known) return;
    kept = Kept{};
    kept.known = true;
    if (workload.workload_type.empty()) return;  // nobody knows yet whose it is
    const auto known =
        ends_.find({addressing_.HashNamespace(workload.cluster, workload.name_space),
                    workload.workload_type, workload.workload, std::string(subject.container)});
    if (known == ends_.end()) return;
    kept.ends = known->second;
  }

  void AddUsage(uint32_t container, uint32_t instance, Resource resource,
                workloads::UsageMinute minute, const workloads::MinuteContext& context) override {
    Kept& kept = KeptOf(container);
    if (minute.start_ms + workloads::kMinuteMs > EndOf(kept, resource)) return;
    Extend(kept.minutes.At(resource), {minute.start_ms, minute.start_ms + workloads::kMinuteMs, 1});
    history_.AddUsage(container, instance, resource, minute, context);
  }

  void AddKill(uint32_t container, uint32_t instance, const workloads::Kill& kill) override {
    Kept& kept = KeptOf(container);
    if (kill.time_ms >= EndOf(kept, Resource::kMemory)) return;
    const int64_t start_ms = kill.time_ms - kill.time_ms % workloads::kMinuteMs;
    Extend(kept.kills, {start_ms, start_ms + workloads::kMinuteMs, 1});
    history_.AddKill(container, instance, kill);
  }

  /// The minutes of a pod from before its owner was known. Where they reach beyond the end of their
  /// workload's past they are lost: they cannot be taken apart any more.
  void MergeContainer(uint32_t from, uint32_t into) override {
    const Kept gone = KeptOf(from);  // a copy: the next line may move it
    const Minutes told = gone.Told();
    Kept& target = KeptOf(into);
    bool reaches_beyond = false;
    told.ForEach([&](Resource resource, const auto& minutes) {
      reaches_beyond =
          reaches_beyond || (minutes.count > 0 && minutes.until_ms > EndOf(target, resource));
    });
    if (reaches_beyond) return;
    history_.MergeContainer(from, into);
    gone.minutes.ForEach([&](Resource resource, const auto& minutes) {
      if (minutes.count > 0) Extend(target.minutes.At(resource), minutes);
    });
    Extend(target.kills, gone.kills);
  }

  void RemoveContainer(uint32_t container) override {
    KeptOf(container) = Kept{};
    history_.RemoveContainer(container);
  }
  void RemoveInstance(uint32_t instance) override { history_.RemoveInstance(instance); }
  bool SumsByPod(uint32_t container) const override { return history_.SumsByPod(container); }
  std::optional<workloads::DemandWish> DemandOf(const WorkloadId& workload) const override {
    return history_.DemandOf(workload);
  }
  void AddDemand(uint32_t container, Resource resource, const workloads::DemandMinute& minute,
                 const workloads::DemandFacts& facts) override {
    Kept& kept = KeptOf(container);
    const int64_t end_ms = minute.start_ms + workloads::kMinuteMs;
    if (end_ms > EndOf(kept, resource)) return;
    Extend(kept.minutes.At(resource), {minute.start_ms, end_ms, 1});
    history_.AddDemand(container, resource, minute, facts);
  }
  void SetLabelSet(uint32_t instance, uint64_t labels) override {
    history_.SetLabelSet(instance, labels);
  }

  void SaveContainer(uint32_t container, ByteWriter& out) const override {
    history_.SaveContainer(container, out);
  }
  void SaveInstance(uint32_t instance, ByteWriter& out) const override {
    history_.SaveInstance(instance, out);
  }
  Result<void> RestoreContainer(uint32_t container, ByteReader& in) override {
    return history_.RestoreContainer(container, in);
  }
  Result<void> RestoreInstance(uint32_t instance, ByteReader& in) override {
    return history_.RestoreInstance(instance, in);
  }
  Result<void> MergeSaved(uint32_t container, ByteReader& in) override {
    return history_.MergeSaved(container, in);
  }

  /// What the past reaches over.
  Minutes MinutesOf(uint32_t container) { return KeptOf(container).Told(); }

 private:
  struct Kept {
    ResourceSlots<workloads::FirstMinute> ends;  // of what is known of it already
    Minutes minutes;
    workloads::PastContainer::Minutes kills{};  // those in which it was killed
    bool known = false;

    /// With the minutes of kills as far as they go beyond those of usage of memory; a container of
    /// which nothing but kills is known has one minute.
    Minutes Told() const {
      Minutes told = minutes;
      if (kills.count == 0) return told;
      auto& memory = told.At(Resource::kMemory);
      const uint64_t count = std::max<uint64_t>(memory.count, 1);
      Extend(memory, kills);
      memory.count = count;
      return told;
    }
  };
  static void Extend(workloads::PastContainer::Minutes& minutes,
                     const workloads::PastContainer::Minutes& by) {
    if (by.count == 0) return;
    minutes.from_ms = minutes.count == 0 ? by.from_ms : std::min(minutes.from_ms, by.from_ms);
    minutes.until_ms = std::max(minutes.until_ms, by.until_ms);
    minutes.count += by.count;
  }
  /// Where the past of the resource has to end: nothing of a container that is not known may count.
  int64_t EndOf(const Kept& kept, Resource resource) const {
    if (!kept.known) return 0;
    const int64_t first_ms = kept.ends.Get(resource).ms;
    return first_ms == workloads::kNever ? end_ms_ : std::min(end_ms_, first_ms);
  }
  Kept& KeptOf(uint32_t container) {
    if (container >= kept_.size()) kept_.resize(container + 1);
    return kept_[container];
  }

  RequestHistory history_;
  const Addressing& addressing_;
  const int64_t end_ms_;
  const PastEnds ends_;
  std::vector<Kept> kept_;  // by container
};

PastBuilder::PastBuilder(ProfileSetPtr profiles, ForecastSettingsPtr forecast, int64_t max_series,
                         const Addressing& addressing, const std::vector<NamespaceName>& of,
                         int64_t end_ms, PastEnds ends, Commit commit)
    : addressing_(addressing),
      end_ms_(end_ms - end_ms % workloads::kMinuteMs),
      commit_(std::move(commit)),
      budget_(max_series),
      history_(std::make_unique<CutHistory>(std::move(profiles), std::move(forecast), addressing,
                                            end_ms_, std::move(ends))),
      context_{addressing.sources, *history_, budget_, counters_, known_, 0} {
  context_.source_counts.resize(addressing.sources.size());
  for (const NamespaceName& name : of) {
    Resident& resident = namespaces_[addressing.HashNamespace(name.cluster, name.name_space)];
    resident.name = name;
    resident.state =
        std::make_unique<workloads::NamespaceState>(name.cluster, name.name_space, 0, context_);
  }
}

PastBuilder::~PastBuilder() = default;

void PastBuilder::Add(const IncomingSeries& series) {
  workloads::SeriesItem item;
  if (series.samples.empty()) return;
  const auto samples = static_cast<uint32_t>(
      std::count_if(series.samples.begin(), series.samples.end(),
                    [this](const Sample& sample) { return sample.timestamp_ms < end_ms_; }));
  verdict_.Ignore(IgnoreReason::kLate, series.samples.size() - samples);
  if (samples == 0) return;
  if (AddressByLabels(addressing_, series.labels, item)) {
    verdict_.Ignore(IgnoreReason::kNoRole, samples);
    return;
  }
  if (!namespaces_.contains(item.name_space)) {
    verdict_.Ignore(IgnoreReason::kNoContainer, samples);
    return;
  }
  item.series = addressing_.HashSeries(series.label_bytes);
  item.label_bytes = series.label_bytes;
  item.first_sample = static_cast<uint32_t>(samples_.size());
  item.sample_count = samples;
  slice_.push_back(item);
  for (const Sample& sample : series.samples) {
    if (sample.timestamp_ms < end_ms_) samples_.push_back(sample);
  }
}

WriteVerdict PastBuilder::ApplySlice() {
  WriteVerdict verdict = std::exchange(verdict_, {});
  std::vector<workloads::NamespaceState*> touched;
  for (workloads::SeriesItem& item : slice_) {
    workloads::NamespaceState& state = *namespaces_.at(item.name_space).state;
    item.may_create = budget_.TryTake();
    state.Apply(item, std::span(samples_).subspan(item.first_sample, item.sample_count),
                std::numeric_limits<int64_t>::max(), verdict);
    if (state.Touch()) touched.push_back(&state);
  }
  for (workloads::NamespaceState* const state : touched) state->EndBatch();
  slice_.clear();
  samples_.clear();
  return verdict;
}

uint64_t PastBuilder::MemoryBytes() const {
  return static_cast<uint64_t>(std::max<int64_t>(0, counters_.series_now.load())) *
             kBytesPerSeries +
         static_cast<uint64_t>(std::max<int64_t>(0, counters_.containers_now.load())) *
             kBytesPerContainer;
}

std::shared_ptr<const PastRecord> PastBuilder::Record(std::string_view cursor) {
  std::vector<PastRecord::Namespace> namespaces;
  std::vector<std::vector<std::string>> histories;
  for (auto& [hash, resident] : namespaces_) {
    resident.state->ForgetSeries();  // closes what is open
    PastRecord::Namespace& one = namespaces.emplace_back();
    one.hash = hash;
    one.cluster = resident.name.cluster;
    one.name = resident.name.name_space;
    std::vector<std::string>& bytes = histories.emplace_back();
    const auto add = [&](const workloads::Workload& workload, std::string_view name,
                         const workloads::WorkloadContainer& container) {
      workloads::PastContainer past;
      past.minutes = history_->MinutesOf(container.index);
      bool any = false;
      past.minutes.ForEach(
          [&any](Resource, const auto& minutes) { any = any || minutes.count > 0; });
      if (!any) return;
      past.workload_type = workload.id.workload_type;
      past.workload = workload.id.workload;
      past.container = name;
      ByteWriter writer(bytes.emplace_back());
      history_->SaveContainer(container.index, writer);
      one.containers.push_back(std::move(past));
    };
    resident.state->ForEachContainer(add);
    resident.state->ForEachDemand(add);
    for (size_t i = 0; i < bytes.size(); ++i) one.containers[i].history = bytes[i];
  }
  std::string record;
  const ResourceTable& resources = addressing_.sources.resources();
  PastRecord::Encode(namespaces, cursor, resources, record);
  auto decoded = PastRecord::Decode(std::move(record), resources);
  return decoded ? *decoded : nullptr;
}

Result<PastOutcome> PastBuilder::Merge(std::string_view cursor) {
  if (!record_) record_ = Record(cursor);
  if (!record_) return Fail(ErrorCode::kInternal, "a past cannot be written down");
  return commit_(record_);
}

}  // namespace tidemark::engine
