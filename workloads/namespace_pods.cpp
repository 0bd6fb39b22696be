// Pods, owners and workloads of a namespace: how they come, move and go.
#include <algorithm>
#include <set>
#include <utility>

#include "workloads/namespace_state.h"

namespace tidemark::workloads {
namespace {

/// How long a pod waits for the links to its owner before the fallback rule.
constexpr int64_t kOwnerWaitMs = 5 * kMinuteMs;
/// Series that fell silent are forgotten after this; until then a resend of their samples is known
/// as late. A sender that catches up after an outage runs ahead with some series by up to its two
/// hours of log.
constexpr int64_t kSeriesRetentionMs = 2 * 60 * kMinuteMs;
/// Workloads are collected this long after their last sample, as VPA's aggregates (8 windows of a
/// day).
constexpr int64_t kWorkloadRetentionMs = 8 * 24 * 60 * kMinuteMs;
constexpr int64_t kCollectionIntervalMs = 5 * kMinuteMs;
constexpr int64_t kCollectionDelayMs = 60 * kMinuteMs;
constexpr size_t kSeriesPerSample = 64;  ///< that a collection may look at for each sample applied

}  // namespace

Pod& NamespaceState::PodNamed(std::string_view label, int64_t first_ms) {
  // No pod's name has a slash (RFC 1123). Whoever sends one must not meet the pods that stand for
  // processes.
  std::string escaped;
  if (label.find('/') != std::string_view::npos) escaped = "//" + std::string(label);
  const std::string_view name = escaped.empty() ? label : escaped;
  const auto found = pods_.find(name);
  if (found != pods_.end()) return *found->second;
  auto pod = std::make_unique<Pod>();
  pod->name = name;
  pod->first_ms = first_ms;
  auto& hidden = hidden_[pod->name];
  hidden = std::make_unique<Workload>();
  hidden->id = {cluster_, name_, "", pod->name};
  hidden->hidden = true;
  hidden->Join(*pod);
  Pod& added = *pods_.emplace(pod->name, std::move(pod)).first->second;
  Wait(added);
  context_.counters.pods_now.fetch_add(1, std::memory_order_relaxed);
  return added;
}

Pod& NamespaceState::DirectPod(const Source& source, std::string_view workload, int64_t first_ms) {
  const std::string name = source.workload_type + "/" + std::string(workload);
  const auto found = pods_.find(name);
  if (found != pods_.end()) return *found->second;
  auto pod = std::make_unique<Pod>();
  pod->name = name;
  pod->first_ms = first_ms;
  Workload& to = WorkloadFor({source.workload_type, std::string(workload)}, first_ms);
  to.Join(*pod);
  context_.counters.pods_now.fetch_add(1, std::memory_order_relaxed);
  return *pods_.emplace(name, std::move(pod)).first->second;
}

PodContainer& NamespaceState::ContainerNamed(Pod& pod, std::string_view label) {
  // No container's name has a slash either: none must meet kPodSum or kDemand.
  std::string escaped;
  if (label.starts_with('/')) escaped = "//" + std::string(label);
  const std::string_view name = escaped.empty() ? label : escaped;
  const auto found = pod.containers.find(name);
  return found != pod.containers.end() ? found->second : AddContainer(pod, name);
}

PodContainer& NamespaceState::AddContainer(Pod& pod, std::string_view name) {
  PodContainer& container = pod.containers[std::string(name)];
  container.index = context_.instances.Take();
  container.shared = &SharedContainer(*pod.workload, name);
  container.container = container.shared->index;
  container.pod = &pod;
  if (pod.label_set != 0) context_.usage.SetLabelSet(container.index, pod.label_set);
  return container;
}

Workload& NamespaceState::WorkloadFor(const ResolvedOwner& owner, int64_t now_ms) {
  auto& workload = workloads_[{owner.workload_type, owner.workload}];
  if (!workload) {
    workload = std::make_unique<Workload>();
    workload->id = {cluster_, name_, owner.workload_type, owner.workload};
    workload->assumed = owner.assumed;
    workload->last_sample_ms = now_ms;
    context_.counters.workloads_now.fetch_add(1, std::memory_order_relaxed);
    StartDemand(*workload);
  }
  workload->assumed = workload->assumed && owner.assumed;
  return *workload;
}

WorkloadContainer& NamespaceState::SharedContainer(Workload& workload, std::string_view name) {
  const auto found = workload.containers.find(name);
  if (found != workload.containers.end()) return found->second;
  WorkloadContainer& container = workload.containers[std::string(name)];
  container.index = context_.containers.Take();
  context_.usage.ContainerIs(container.index, {workload.id, name, workload.pod_labels});
  CountContainer(name, 1);
  return container;
}

/// The demand of a workload is nothing that runs.
void NamespaceState::CountContainer(std::string_view name, int64_t by) {
  if (name == kDemand) return;
  context_.counters.containers_now.fetch_add(by, std::memory_order_relaxed);
}

void NamespaceState::Wait(Pod& pod) {
  waiting_[{pod.owner ? pod.owner->name : std::string(), pod.name}] = &pod;
}

void NamespaceState::StopWaiting(const Pod& pod) {
  waiting_.erase({pod.owner ? pod.owner->name : std::string(), pod.name});
}

void NamespaceState::BindOwner(uint32_t index, Pod& pod, LabelsView labels) {
  // Of several owners only the controller decides (kube_pod_owner has a series for each).
  if (FindLabel(labels, "owner_is_controller") == "false") return;
  Owner owner = OwnerFrom(labels);
  series_[index].object = std::make_unique<WorkloadKey>(owner.kind, owner.name);
  SetOwner(index, pod, std::move(owner));
}

/// An owner that was said before, and then another, counts again once the other has ended or fallen
/// silent.
void NamespaceState::AdoptOwner(uint32_t index, int64_t time_ms) {
  const Series& series = series_[index];
  if (series.pod == nullptr || series.object == nullptr) return;
  Pod& pod = *series.pod;
  if (pod.owner_series == index) return;
  if (pod.owner_series != kNoSeries) {
    const Series& now = series_[pod.owner_series];
    if (!now.stale && now.last_ms >= time_ms - kMaxGapMs) return;
  }
  SetOwner(index, pod, {series.object->first, series.object->second});
}

void NamespaceState::SetOwner(uint32_t index, Pod& pod, Owner owner) {
  pod.owner_series = index;
  if (pod.owner == owner) return;
  StopWaiting(pod);
  pod.owner = std::move(owner);
  Wait(pod);
  ResolvePod(pod, false);
}

void NamespaceState::ResolvePod(Pod& pod, bool waited) {
  if (!pod.owner) return;
  const auto resolved = owners_.Resolve(*pod.owner, pod.name, waited);
  if (!resolved) return;
  Workload& to = WorkloadFor(*resolved, pod.first_ms);
  if (&to != pod.workload) MovePod(pod, to);
  if (!resolved->assumed) StopWaiting(pod);
}

void NamespaceState::ResolveWaitingFor(std::string_view owner_name) {
  std::vector<Pod*> pods;
  for (auto it = waiting_.lower_bound({std::string(owner_name), std::string()});
       it != waiting_.end() && it->first.first == owner_name; ++it) {
    pods.push_back(it->second);
  }
  for (Pod* pod : pods) ResolvePod(*pod, false);
}

/// The fallback for pods that have waited long enough.
void NamespaceState::ResolveOverdue() {
  std::vector<Pod*> pods;
  for (const auto& [key, pod] : waiting_) {
    if (pod->owner && pod->workload->hidden && event_time_ms_ - pod->first_ms >= kOwnerWaitMs) {
      pods.push_back(pod);
    }
  }
  for (Pod* pod : pods) ResolvePod(*pod, true);
}

void NamespaceState::MovePod(Pod& pod, Workload& to) {
  Workload& from = *pod.workload;
  LeaveDemand(pod);
  SpreadLabels(pod, from, to);
  for (auto& [name, container] : pod.containers) {
    WorkloadContainer& shared = SharedContainer(to, name);
    // A past may reach over what the pod used before anybody knew whose it is. Its minutes cannot
    // be taken apart any more: they are left to the past rather than counted twice.
    if (from.hidden && !shared.PastReachesOver(*container.shared)) {
      context_.usage.MergeContainer(container.container, shared.index);
      shared.TakeOver(*container.shared);
    }
    container.shared = &shared;
    container.container = shared.index;
  }
  to.last_sample_ms = std::max(to.last_sample_ms, from.last_sample_ms);
  from.Leave(pod);
  to.Join(pod);
  if (to.demand) {
    minutes_.clear();
    TakeDemand(pod, to.demand->wish.resource, std::nullopt);
  }
  if (from.hidden) {
    DropContainers(from);
    hidden_.erase(pod.name);
  } else if (from.assumed && from.pods.empty()) {
    // The fallback had guessed another name or type: what it gathered belongs to the true owner.
    if (from.labels_from_ms != kNever) SetWorkloadLabels(to, from.labels_from_ms, from.pod_labels);
    for (auto& [name, container] : from.containers) {
      if (name == kDemand && !to.demand) continue;
      WorkloadContainer& shared = SharedContainer(to, name);
      context_.usage.MergeContainer(container.index, shared.index);
      shared.TakeOver(container);
    }
    to.startups.TakeOver(from.startups);
    DropContainers(from);
    workloads_.erase({from.id.workload_type, from.id.workload});
    context_.counters.workloads_now.fetch_sub(1, std::memory_order_relaxed);
  }
}

void NamespaceState::DropContainers(Workload& workload) {
  StopDemand(workload);
  for (auto& [name, container] : workload.containers) {
    context_.usage.RemoveContainer(container.index);
    context_.containers.Release(container.index);
    CountContainer(name, -1);
  }
  workload.containers.clear();
}

void NamespaceState::RemovePod(Pod& pod) {
  StopWaiting(pod);
  undecided_.erase(pod.name);
  FlushSums(pod);
  summing_.erase(pod.name);
  LeaveDemand(pod);
  for (auto& [name, container] : pod.containers) {
    context_.usage.RemoveInstance(container.index);
    context_.instances.Release(container.index);
  }
  pod.workload->Leave(pod);
  if (pod.workload->hidden) {
    DropContainers(*pod.workload);
    hidden_.erase(pod.name);
  }
  context_.counters.pods_now.fetch_sub(1, std::memory_order_relaxed);
  pods_.erase(pods_.find(pod.name));
}

void NamespaceState::EndBatch() {
  touched_ = false;
  AdvanceTime();
  SettleDemands();
}

void NamespaceState::AdvanceTime() {
  const int64_t time_ms = newest_sample_ms_;
  if (time_ms <= event_time_ms_) return;
  const bool first = event_time_ms_ == kNever;
  const bool new_minute = !first && time_ms / kMinuteMs != event_time_ms_ / kMinuteMs;
  event_time_ms_ = time_ms;
  if (!undecided_.empty()) SettleKills();
  if (new_minute) {
    FlushOverdue();
    if (!summing_.empty()) SettleSums();
    ResolveOverdue();
  }
  if (new_minute || first) WatchDemands();  // a past may come in one batch
  if (first) {
    next_collection_ms_ = time_ms + kCollectionIntervalMs;
  } else if (time_ms >= next_collection_ms_) {
    // It walks all series ever held at once: a few samples that leap through time must not pay for
    // it again and again.
    const bool worth_it = samples_since_collection_ >= series_.size() / kSeriesPerSample;
    if (!worth_it && time_ms < next_collection_ms_ + kCollectionDelayMs) return;
    next_collection_ms_ = time_ms + kCollectionIntervalMs;
    samples_since_collection_ = 0;
    CollectGarbage();
  }
}

void NamespaceState::CollectGarbage() {
  const int64_t silent_before = event_time_ms_ - kSeriesRetentionMs;
  for (uint32_t i = 0; i < series_.size(); ++i) {
    if (series_[i].in_use && series_[i].last_ms < silent_before) RemoveSeries(i);
  }
  if (by_hash_.empty()) {
    series_.clear();
    series_.shrink_to_fit();
    free_series_.clear();
    free_series_.shrink_to_fit();
  }
  const int64_t unused_before = event_time_ms_ - kWorkloadRetentionMs;
  std::set<uint32_t> used;
  for (const auto& [name, pod] : pods_) {
    for (const auto& [container_name, container] : pod->containers)
      used.insert(container.container);
  }
  for (auto it = workloads_.begin(); it != workloads_.end();) {
    Workload& workload = *it->second;
    if (workload.pods.empty() && workload.last_sample_ms < unused_before) {
      DropContainers(workload);
      it = workloads_.erase(it);
      context_.counters.workloads_now.fetch_sub(1, std::memory_order_relaxed);
      continue;
    }
    for (auto c = workload.containers.begin(); c != workload.containers.end();) {
      WorkloadContainer& container = c->second;
      if (std::max(container.last_usage_ms, container.last_kill_ms) >= unused_before ||
          used.contains(container.index) ||
          (workload.demand && workload.demand->container == &container)) {
        context_.usage.Collect(container.index, event_time_ms_);
        ++c;
        continue;
      }
      context_.usage.RemoveContainer(container.index);
      context_.containers.Release(container.index);
      CountContainer(c->first, -1);
      c = workload.containers.erase(c);
    }
    ++it;
  }
  for (const auto& [pod, hidden] : hidden_) {
    for (const auto& [name, container] : hidden->containers) {
      context_.usage.Collect(container.index, event_time_ms_);
    }
  }
}

}  // namespace tidemark::workloads
