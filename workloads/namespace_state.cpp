// Series and samples of a namespace: verdicts, and what a sample changes.
#include "workloads/namespace_state.h"

#include <xxhash.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <utility>

namespace tidemark::workloads {
namespace {

bool SameValue(double a, double b) {
  return std::bit_cast<uint64_t>(a) == std::bit_cast<uint64_t>(b);
}

ContainerUsage::PartKey KeyOfPart(const Source& source, LabelsView labels) {
  ContainerUsage::PartKey key;
  for (const std::string& name : source.part_labels) {
    std::string_view value = FindLabel(labels, name);
    if (name == "cpu") {
      if (value == "total") value = {};
      key.is_one_core = !value.empty();
    }
    if (name == "id" && !value.empty()) key.run = XXH3_64bits(value.data(), value.size()) | 1;
    key.hash = XXH3_64bits_withSeed(value.data(), value.size(), key.hash + 1);
  }
  return key;
}

uint64_t HashOf(std::string_view text) {
  return text.empty() ? 0 : XXH3_64bits(text.data(), text.size()) | 1;
}

/// Which pod, or which cgroup, a series of kills tells of. A reason other than memory is marked.
ContainerUsage::PartKey KeyOfKill(Role role, LabelsView labels) {
  ContainerUsage::PartKey key;
  key.hash = HashOf(FindLabel(labels, role == Role::kOomEvents ? "id" : "uid"));
  key.is_one_core = role == Role::kTerminatedReason && FindLabel(labels, "reason") != "OOMKilled";
  return key;
}

}  // namespace

NamespaceState::NamespaceState(std::string cluster, std::string name, size_t number,
                               ShardContext& context)
    : cluster_(std::move(cluster)), name_(std::move(name)), number_(number), context_(context) {
  context_.counters.namespaces_now.fetch_add(1);
}

NamespaceState::~NamespaceState() {
  ForgetSeries();
  for (auto& [key, workload] : workloads_) DropContainers(*workload);
  context_.counters.workloads_now.fetch_sub(static_cast<int64_t>(workloads_.size()));
  context_.counters.namespaces_now.fetch_sub(1);
}

void NamespaceState::Apply(const SeriesItem& item, std::span<const Sample> samples,
                           int64_t arrival_ms, WriteVerdict& verdict) {
  uint32_t index = kNoSeries;
  const auto found = by_hash_.find(item.series);
  if (found != by_hash_.end()) {
    index = *found;
    if (item.may_create) context_.budget.GiveBack(1);
    if (IsYetToBind(series_[index])) {
      BindLate(index, item, samples.front().timestamp_ms);
    } else if (IsUnnamed(series_[index]) && DecodeLabels(item.label_bytes, labels_)) {
      BindRequest(index, labels_);
    }
  } else {
    // The end of a series that was never seen makes nothing; it is what a sender says after our
    // restart.
    const bool only_ends = std::all_of(samples.begin(), samples.end(), [](const Sample& sample) {
      return IsStaleMarker(sample.value);
    });
    if (only_ends) {
      if (item.may_create) context_.budget.GiveBack(1);
      verdict.accepted += samples.size();
      return;
    }
    // Decided at arrival: shards that ran for the last place would be a race, and a journal could
    // not be replayed to the same end.
    if (!item.may_create) {
      verdict.Reject(RejectReason::kSeriesLimit, samples.size());
      if (verdict.first_rejected.empty() && DecodeLabels(item.label_bytes, labels_)) {
        verdict.first_rejected = FormatLabels(labels_) + ": over the limit of " +
                                 std::to_string(context_.budget.max_series()) + " series";
      }
      return;
    }
    index = AddSeries(item, std::min(samples.front().timestamp_ms, arrival_ms));
  }
  if (item.vetted) {
    context_.known.Insert(item.series, SeriesPlace(context_.shard, number_, index));
  }
  ApplyAt(index, item, samples, arrival_ms, verdict);
}

void NamespaceState::ApplyKnown(const SeriesItem& item, std::span<const Sample> samples,
                                int64_t arrival_ms, WriteVerdict& verdict) {
  ApplyAt(item.place.series(), item, samples, arrival_ms, verdict);
}

bool NamespaceState::ApplyByHash(const SeriesItem& item, std::span<const Sample> samples,
                                 int64_t arrival_ms, WriteVerdict& verdict) {
  const auto found = by_hash_.find(item.series);
  if (found == by_hash_.end()) return false;
  const uint32_t index = *found;
  if (item.vetted && !IsYetToBind(series_[index]) && !IsUnnamed(series_[index])) {
    context_.known.Insert(item.series, SeriesPlace(context_.shard, number_, index));
  }
  ApplyAt(index, item, samples, arrival_ms, verdict);
  return true;
}

void NamespaceState::PrefetchSeries(uint32_t index) const {
  if (index >= series_.size()) return;
  const auto* const begin = reinterpret_cast<const char*>(&series_[index]);
  __builtin_prefetch(begin, 1);
  __builtin_prefetch(begin + sizeof(Series) - 1, 1);
}

void NamespaceState::PrefetchTargets(uint32_t index) const {
  if (index >= series_.size()) return;
  const Series& series = series_[index];
  if (series.pod != nullptr) __builtin_prefetch(&series.pod->last_ms, 1);
  if (series.fact != nullptr) __builtin_prefetch(series.fact, 1);
  if (series.usage == nullptr) return;
  constexpr size_t kLine = 64;
  const auto* const begin = reinterpret_cast<const char*>(series.usage);
  for (size_t at = 0; at < sizeof(ContainerUsage); at += kLine) __builtin_prefetch(begin + at, 1);
}

void NamespaceState::ApplyAt(uint32_t index, const SeriesItem& item,
                             std::span<const Sample> samples, int64_t arrival_ms,
                             WriteVerdict& verdict) {
  dirty_ = true;
  for (const Sample& sample : samples) {
    ApplySample(index, sample, item, verdict);
    newest_sample_ms_ = std::max(newest_sample_ms_, std::min(sample.timestamp_ms, arrival_ms));
  }
  samples_since_collection_ += samples.size();
}

void NamespaceState::ForgetSeries() {
  flushes_.clear();
  for (uint32_t i = 0; i < series_.size(); ++i) {
    if (series_[i].in_use) RemoveSeries(i);
  }
  series_.clear();
  series_.shrink_to_fit();
  free_series_.clear();
  free_series_.shrink_to_fit();
}

uint32_t NamespaceState::AddSeries(const SeriesItem& item, int64_t first_ms) {
  uint32_t index = 0;
  if (free_series_.empty()) {
    index = static_cast<uint32_t>(series_.size());
    series_.emplace_back();
  } else {
    index = free_series_.back();
    free_series_.pop_back();
    series_[index] = Series{};
  }
  Series& series = series_[index];
  series.hash = item.series;
  by_hash_.insert(index);
  series.source = item.source;
  series.role = context_.sources.at(item.source).role;
  series.in_use = true;
  ++context_.source_counts[item.source].series;
  context_.counters.series_now.fetch_add(1, std::memory_order_relaxed);
  context_.counters.series_created.fetch_add(1, std::memory_order_relaxed);
  if (DecodeLabels(item.label_bytes, labels_)) {
    Bind(index, context_.sources.at(item.source), labels_, first_ms);
  } else {
    context_.counters.internal_errors.fetch_add(
        1);  // the sink was given other than canonical bytes
  }
  return index;
}

/// Whether the series was taken in by a version that did not know what it tells: it is to be bound
/// as soon as somebody sends its labels, and till then must not be known by its hash alone.
bool NamespaceState::IsYetToBind(const Series& series) {
  if (series.role == Role::kNodeAllocatable || series.role == Role::kLimitRange ||
      TellsOfAutoscalers(series.role)) {
    return !series.object;
  }
  return series.pod == nullptr &&
         (TellsOfKills(series.role) || IsSign(series.role) || series.role == Role::kPodLabels ||
          series.role == Role::kOriginalRequest || series.role == Role::kPodStartTime ||
          series.role == Role::kPodReady || series.role == Role::kPodReadyTime);
}

void NamespaceState::BindLate(uint32_t index, const SeriesItem& item, int64_t first_ms) {
  if (!DecodeLabels(item.label_bytes, labels_)) return;
  Bind(index, context_.sources.at(item.source), labels_, first_ms);
  const Series& series = series_[index];
  if (series.stale && series.pod != nullptr) --series.pod->live_series;
}

/// Whether it is a request or limit of a resource that has, or had when the series came, no name:
/// the configuration may have named it since.
bool NamespaceState::IsUnnamed(const Series& series) {
  return (series.role == Role::kRequest || series.role == Role::kLimit) &&
         series.container != nullptr && series.fact == nullptr;
}

/// The container of a series of a request or limit is known: finds the resource's.
void NamespaceState::BindRequest(uint32_t index, LabelsView labels) {
  const auto resource = context_.sources.resources().ParseRequested(FindLabel(labels, "resource"));
  if (!resource) return;
  Series& series = series_[index];
  const bool is_request = series.role == Role::kRequest;
  series.fact = is_request ? &series.container->request.At(*resource)
                           : &series.container->limit.At(*resource);
  if (is_request && *resource == Resource::kMemory) {
    series.part.hash = HashOf(FindLabel(labels, "uid"));
  }
}

/// Finds what the series tells of. Whatever it may be, it is then reached without any text.
void NamespaceState::Bind(uint32_t index, const Source& source, LabelsView labels,
                          int64_t first_ms) {
  const auto identity = Identify(source, labels);
  if (!identity) return;
  if (identity->from_exported) context_.counters.exported_label_series.fetch_add(1);
  Series& series = series_[index];
  const auto bind_pod = [&](Pod& pod) -> Pod& {
    series.pod = &pod;
    ++pod.series;
    ++pod.live_series;
    return pod;
  };
  switch (source.role) {
    case Role::kUsageCounter:
    case Role::kUsageGauge: {
      Pod& pod =
          bind_pod(source.workload_type.empty() ? PodNamed(identity->pod, first_ms)
                                                : DirectPod(source, identity->workload, first_ms));
      series.container = &ContainerNamed(pod, identity->container);
      series.part = KeyOfPart(source, labels);
      auto& usage = series.container->usage.At(source.resource);
      if (!usage) {
        usage = std::make_unique<ContainerUsage>(source.role == Role::kUsageCounter
                                                     ? ContainerUsage::Kind::kCounter
                                                     : ContainerUsage::Kind::kLevel);
      }
      series.usage = usage.get();
      series.container->shared->BeginsAt(first_ms, source.resource);
      break;
    }
    case Role::kRequest:
    case Role::kLimit: {
      Pod& pod = bind_pod(PodNamed(identity->pod, first_ms));
      series.container = &ContainerNamed(pod, identity->container);
      BindRequest(index, labels);
      break;
    }
    case Role::kRestarts:
    case Role::kTerminatedReason:
    case Role::kTerminatedTime:
    case Role::kOomEvents: {
      // Also of a container without any usage yet: it may be killed before it shows some.
      Pod& pod = bind_pod(PodNamed(identity->pod, first_ms));
      series.container = &ContainerNamed(pod, identity->container);
      series.part = KeyOfKill(source.role, labels);
      break;
    }
    case Role::kPageCache:
    case Role::kThrottledPeriods:
    case Role::kCfsPeriods: {
      Pod& pod = bind_pod(PodNamed(identity->pod, first_ms));
      series.container = &ContainerNamed(pod, identity->container);
      break;
    }
    case Role::kPodStartTime:
      series.fact = &bind_pod(PodNamed(identity->pod, first_ms)).started;
      break;
    case Role::kPodReady:
    case Role::kPodReadyTime: bind_pod(PodNamed(identity->pod, first_ms)); break;
    case Role::kAutoscalerInfo:
    case Role::kAutoscalerMin:
    case Role::kAutoscalerMax: {
      const bool is_info = source.role == Role::kAutoscalerInfo;
      series.object = std::make_unique<WorkloadKey>(identity->workload,
                                                    is_info ? TargetFrom(labels) : std::string());
      series.fact = autoscalers_.Bind(identity->workload, SlotOf(series));
      break;
    }
    case Role::kAutoscalerTarget: {
      series.object = std::make_unique<WorkloadKey>(identity->workload, "");
      const auto slot = TargetSlotFrom(labels);
      if (!slot) break;
      series.object->second = FindLabel(labels, "metric_name");
      series.fact = autoscalers_.Bind(identity->workload, *slot);
      break;
    }
    case Role::kLimitRange: {
      series.object = std::make_unique<WorkloadKey>("", identity->workload);
      LimitRangeFacts& range = limit_ranges_[std::string(identity->workload)];
      ++range.references;
      if (const auto slot = LimitRangeSlotFrom(labels)) series.fact = &range.told[*slot];
      break;
    }
    case Role::kNodeAllocatable: {
      series.object = std::make_unique<WorkloadKey>("", identity->workload);
      NodeFacts& node = nodes_[std::string(identity->workload)];
      ++node.references;
      const auto resource = ParseResource(FindLabel(labels, "resource"));
      if (resource && static_cast<size_t>(*resource) < node.allocatable.size()) {
        series.fact = &node.allocatable[static_cast<size_t>(*resource)];
      }
      break;
    }
    case Role::kPodOwner:
      BindOwner(index, bind_pod(PodNamed(identity->pod, first_ms)), labels);
      break;
    case Role::kPodPhase: {
      Pod& pod = bind_pod(PodNamed(identity->pod, first_ms));
      const std::string_view phase = FindLabel(labels, "phase");
      if (phase == "Succeeded" || phase == "Failed") series.fact = &pod.completed;
      break;
    }
    case Role::kPodLabels:
      BindLabels(index, bind_pod(PodNamed(identity->pod, first_ms)), labels);
      break;
    case Role::kOriginalRequest:
      BindOriginal(index, bind_pod(PodNamed(identity->pod, first_ms)), labels);
      break;
    case Role::kReplicaSetOwner:
    case Role::kJobOwner: {
      series.object = std::make_unique<WorkloadKey>("", identity->workload);
      Owner owner = OwnerFrom(labels);
      if (source.role == Role::kReplicaSetOwner) {
        owners_.SetReplicaSetOwner(identity->workload, std::move(owner), index);
      } else {
        owners_.SetJobOwner(identity->workload, std::move(owner), index);
      }
      ResolveWaitingFor(identity->workload);
      break;
    }
    case Role::kReplicas: {
      series.object = std::make_unique<WorkloadKey>(source.workload_type, identity->workload);
      ReplicasFact& replicas = replicas_[*series.object];
      ++replicas.references;
      series.fact = &replicas.fact;
      break;
    }
    default: break;  // followed for its verdicts and for the status of its source
  }
}

void NamespaceState::RemoveSeries(uint32_t index) {
  by_hash_.erase(by_hash_.find(series_[index].hash));  // while the hash still stands there
  context_.known.Erase(series_[index].hash);
  Series series = std::exchange(series_[index], Series{});
  const Role role = series.role;
  if (series.container != nullptr) {
    series.container->usage.ForEach([&](Resource resource, auto& usage) {
      if (!usage) return;
      usage->Forget(index);
      Flush(*series.container, resource);
    });
  }
  if (series.fact != nullptr) series.fact->End(index);
  if (TellsOfKills(role) && series.container != nullptr && series.container->kills) {
    KillWatch::Outcome outcome;
    series.container->kills->Forget(index, outcome);
    TakeOutcome(*series.pod, *series.container, outcome);
  }
  if (series.object) {
    if (role == Role::kReplicaSetOwner) owners_.ForgetReplicaSet(series.object->second, index);
    if (role == Role::kJobOwner) owners_.ForgetJob(series.object->second, index);
    if (role == Role::kReplicas) {
      const auto replicas = replicas_.find(*series.object);
      if (--replicas->second.references == 0) replicas_.erase(replicas);
    }
    if (TellsOfAutoscalers(role) && series.fact != nullptr) {
      autoscalers_.Release(series.object->first);
    }
    if (role == Role::kLimitRange) {
      const auto range = limit_ranges_.find(series.object->second);
      if (--range->second.references == 0) limit_ranges_.erase(range);
    }
    if (role == Role::kNodeAllocatable) {
      const auto node = nodes_.find(series.object->second);
      if (--node->second.references == 0) nodes_.erase(node);
    }
  }
  free_series_.push_back(index);
  if (series.source != kNoSource) --context_.source_counts[series.source].series;
  context_.budget.GiveBack(1);
  context_.counters.series_now.fetch_sub(1, std::memory_order_relaxed);
  context_.counters.series_collected.fetch_add(1, std::memory_order_relaxed);
  if (series.pod != nullptr) {
    Pod& pod = *series.pod;
    if (!series.stale) --pod.live_series;
    if (pod.owner_series == index) pod.owner_series = kNoSeries;
    if (pod.label_series == index) pod.label_series = kNoSeries;
    pod.readiness.End(index, series.last_ms);
    if (role == Role::kPodLabels) ForgetLabels(series.part.run);
    std::erase_if(pod.originals, [index](const auto& said) { return said.first == index; });
    if (--pod.series == 0) RemovePod(pod);
  }
}

void NamespaceState::ApplySample(uint32_t index, Sample sample, const SeriesItem& item,
                                 WriteVerdict& verdict) {
  Series& series = series_[index];
  const bool stale = IsStaleMarker(sample.value);
  if (sample.timestamp_ms < series.last_ms) {
    JudgeLate(item, verdict);
    return;
  }
  if (sample.timestamp_ms == series.last_ms) {
    if (SameValue(sample.value, series.last_value) && stale == series.stale) {
      verdict.Ignore(IgnoreReason::kDuplicate);
      return;
    }
    if (stale) {  // a number and a marker at one time: the number wins, in either order
      ++verdict.accepted;
      return;
    }
    if (!series.stale) {
      if (item.from_ha_pair) {
        verdict.Ignore(IgnoreReason::kHaCopy);
      } else {
        Reject(RejectReason::kDuplicateTimestamp, item,
               "another value for a timestamp already taken in", verdict);
      }
      return;
    }
  }
  const bool was_stale = series.stale;
  const bool is_first = series.last_ms == kNever;
  const int64_t gap_ms = is_first ? 0 : sample.timestamp_ms - series.last_ms;
  const double before = series.last_value;
  series.last_ms = sample.timestamp_ms;
  series.stale = stale;
  series.last_value = sample.value;
  const Source& source = context_.sources.at(series.source);
  SourceCount& count = context_.source_counts[series.source];
  count.last_ms = std::max(count.last_ms, sample.timestamp_ms);
  if (Pod* pod = series.pod) {
    if (stale && !was_stale) --pod->live_series;
    if (!stale && was_stale) ++pod->live_series;
    pod->last_ms = std::max(pod->last_ms, sample.timestamp_ms);
    pod->workload->last_sample_ms = std::max(pod->workload->last_sample_ms, sample.timestamp_ms);
  }
  if (stale) {
    ++verdict.accepted;
    ApplyStale(index);
    return;
  }
  if (!std::isfinite(sample.value)) {
    ++verdict.accepted;  // legal in the protocol, kept out of every estimate
    context_.counters.nonfinite_samples.fetch_add(1, std::memory_order_relaxed);
    // That a time was told matters, whatever it is.
    if (source.role == Role::kTerminatedTime) TellKills(index, sample);
    return;
  }
  sample.value *= source.scale;
  if (source.role == Role::kUsageCounter || source.role == Role::kUsageGauge) {
    ApplyUsage(index, source, sample, verdict);
    return;
  }
  ++verdict.accepted;
  if (TellsOfKills(source.role)) {
    TellKills(index, sample);
    return;
  }
  if (IsSign(source.role)) {
    const bool goes_on = !is_first && !was_stale && gap_ms <= kMaxGapMs && std::isfinite(before);
    const double increase = goes_on ? sample.value - before * source.scale : 0;
    TellSign(index, source.role, sample, increase);
    return;
  }
  if (source.role == Role::kPodReady || source.role == Role::kPodReadyTime) {
    TellReadiness(index, sample, is_first ? kNever : sample.timestamp_ms - gap_ms);
    return;
  }
  if (source.role == Role::kPodOwner) AdoptOwner(index, sample.timestamp_ms);
  if (source.role == Role::kPodLabels && series.pod != nullptr) {
    AdoptLabels(index, sample.timestamp_ms);
  }
  if (series.fact == nullptr || sample.value < 0) return;  // no request or count is negative
  if (TellsOfAutoscalers(source.role)) {
    autoscalers_.Tell(series.object->first, SlotOf(series), index, sample, series.object->second);
    return;
  }
  if (source.role == Role::kPodPhase && sample.value <= 0) {
    series.fact->End(index);  // the other end phase may hold: it must not be overwritten
  } else {
    series.fact->Set(index, sample);
  }
  if (source.role == Role::kRequest &&
      series.fact == series.container->request.Find(Resource::kMemory)) {
    series.container->Kills().SetRequest(series.part.hash, sample);
  }
}

/// A sample older than the newest of its series. What an HA pair's new leader sends goes on from
/// where the old one's ended; the rest of its copy is nobody's fault, whatever the policy.
void NamespaceState::JudgeLate(const SeriesItem& item, WriteVerdict& verdict) {
  if (item.from_ha_pair) {
    verdict.Ignore(IgnoreReason::kHaCopy);
  } else if (context_.refuse_late) {
    Reject(RejectReason::kLate, item, "older than the newest sample of the series", verdict);
  } else {
    verdict.Ignore(IgnoreReason::kLate);
  }
}

void NamespaceState::Reject(RejectReason reason, const SeriesItem& item, std::string_view why,
                            WriteVerdict& verdict) {
  verdict.Reject(reason);
  if (!verdict.first_rejected.empty() || !DecodeLabels(item.label_bytes, labels_)) return;
  verdict.first_rejected = FormatLabels(labels_).append(": ").append(why);
}

void NamespaceState::ApplyStale(uint32_t index) {
  Series& series = series_[index];
  if (series.fact != nullptr) series.fact->End(index);
  if (series.role == Role::kPodReady && series.pod != nullptr) {
    series.pod->readiness.End(index, series.last_ms);
  }
  if (series.container == nullptr) return;
  if (IsSign(series.role)) return;
  if (TellsOfKills(series.role)) {
    if (!series.container->kills) return;
    KillWatch::Outcome outcome;
    series.container->kills->End(index, series.last_ms, outcome);
    TakeOutcome(*series.pod, *series.container, outcome);
    return;
  }
  series.container->usage.ForEach([&](Resource resource, auto& usage) {
    if (!usage) return;
    uint64_t dropped = 0;
    minutes_.clear();
    usage->End(index, minutes_, dropped);
    context_.counters.usage_minutes_dropped.fetch_add(dropped, std::memory_order_relaxed);
    GiveOut(*series.container, resource);
    if (usage->NeedsFlush()) {
      flushes_.emplace(usage->last_ms() + kMaxGapMs, PendingFlush{series.container, resource});
    }
  });
}

}  // namespace tidemark::workloads
