// The whole of a namespace as bytes. Read by namespace_restorer.cpp, in the same order:
//
//   version, cluster, name, times, names of the resources that are not built in
//   workloads, by type and name, each with its containers and what the engine keeps of them
//   pods, by name, each with its owner, its own hidden workload, its containers
//   replicas of specs, by type and name
//   autoscalers, by name
//   labels of pods, by hash
//   free places of series; then the series by place, each with what it is bound to
//   usage of the pods' containers, part by part
//   last minutes to be closed, in order
//   what is told of the restarts of the pods' containers
//   sums of pods
//   signs of the pods' containers
//   demand of workloads, then what each pod has for it
//   start-up times of workloads, then the readiness of each pod
//
// Pods, workloads and containers are named once; whatever points at one gives its ordinal. Facts
// are written with the series that says them.
#include <algorithm>
#include <bit>
#include <boost/unordered/unordered_flat_map.hpp>
#include <cmath>

#include "workloads/namespace_state.h"
#include "workloads/saved_series.h"
#include "workloads/saved_text.h"

namespace tidemark::workloads {

class NamespaceState::Saver {
 public:
  Saver(const NamespaceState& state, ByteWriter& out)
      : state_(state),
        out_(out),
        base_ms_(state.event_time_ms_ == kNever ? 0 : state.event_time_ms_) {}

  void Save() {
    SaveHead();
    SaveWorkloads();
    SavePods();
    SaveReplicas();
    SaveAutoscalers();
    SaveLabels();
    SaveSeries();
    SaveUsage();
    SaveFlushes();
    SaveKills();
    SaveSums();
    SaveSigns();
    SaveDemand();
    SaveStarts();
  }

 private:
  struct ContainerPlace {
    uint32_t ordinal = 0;  // of all pods
    uint32_t in_pod = 0;
  };

  void Ms(int64_t time_ms) { SaveMs(out_, time_ms, base_ms_); }
  void SaveHead();
  void SaveWorkloads();
  template <class Slots, class Is>
  static uint64_t BitsOf(const Slots& slots, Is is);
  void SaveContainers(const Workload& workload);
  void SavePods();
  void SavePod(const Pod& pod, const Pod* before);
  void SavePodContainers(const Pod& pod);
  void SaveReplicas();
  void SaveAutoscalers();
  void SaveLabels();
  void SaveSeries();
  void SaveOneSeries(uint32_t index, const Series& series);
  SavedKind KindOf(const Series& series) const;
  static SavedKills ToldBy(const Series& series);
  const Owner* LinkOf(uint32_t index, const Series& series) const;
  void SaveBinding(SavedKind kind, uint32_t index, const Series& series);
  void SaveUsage();
  void SaveFlushes();
  void SaveKills();
  void SaveSums();
  static SavedSign SignOf(const Series& series);
  void SaveSigns();
  void SaveDemand();
  void SaveStarts();
  void SaveReadiness(const PodReadiness& readiness);

  const NamespaceState& state_;
  ByteWriter& out_;
  const int64_t base_ms_;
  boost::unordered_flat_map<const Workload*, uint32_t> workloads_;
  boost::unordered_flat_map<const WorkloadContainer*, uint32_t> shared_;
  boost::unordered_flat_map<const Pod*, uint32_t> pods_;
  boost::unordered_flat_map<const PodContainer*, ContainerPlace> containers_;
  boost::unordered_flat_map<const Fact*, uint32_t> replicas_;
  std::map<std::string_view, uint32_t> autoscalers_;
  uint32_t pod_before_ = 0;  // of the series before
};

void NamespaceState::Saver::SaveHead() {
  out_.Byte(kSavedNamespaceVersion);
  out_.Text(state_.cluster_);
  out_.Text(state_.name_);
  SaveMs(out_, state_.event_time_ms_, 0);
  Ms(state_.newest_sample_ms_);
  Ms(state_.next_collection_ms_);
  out_.Varint(state_.samples_since_collection_);
  const auto& custom = state_.context_.sources.resources().custom();
  out_.Varint(custom.size());
  for (const CustomResource& resource : custom) out_.Text(resource.name);
}

/// A bit for each resource of which `is` says that there is something.
template <class Slots, class Is>
uint64_t NamespaceState::Saver::BitsOf(const Slots& slots, Is is) {
  uint64_t bits = 0;
  slots.ForEach([&](Resource resource, const auto& slot) {
    if (is(slot)) bits |= uint64_t{1} << static_cast<unsigned>(resource);
  });
  return bits;
}

void NamespaceState::Saver::SaveWorkloads() {
  out_.Varint(state_.workloads_.size());
  workloads_.reserve(state_.workloads_.size());
  std::string_view type_before;
  std::string_view name_before;
  for (const auto& [key, workload] : state_.workloads_) {
    SaveTextAfter(out_, type_before, key.first);
    SaveTextAfter(out_, name_before, key.second);
    type_before = key.first;
    name_before = key.second;
    out_.Bool(workload->assumed);
    workloads_.emplace(workload.get(), static_cast<uint32_t>(workloads_.size()));
    SaveContainers(*workload);
  }
}

void NamespaceState::Saver::SaveContainers(const Workload& workload) {
  Ms(workload.last_sample_ms);
  out_.Text(workload.pod_labels);
  Ms(workload.labels_from_ms);
  out_.Varint(workload.containers.size());
  std::string_view before;
  uint32_t ordinal = 0;
  for (const auto& [name, container] : workload.containers) {
    SaveTextAfter(out_, before, name);
    before = name;
    Ms(container.last_usage_ms);
    out_.Varint(BitsOf(container.first, [](FirstMinute first) { return first.ms != kNever; }));
    container.first.ForEach([this](Resource, FirstMinute first) {
      if (first.ms != kNever) Ms(first.ms);
    });
    Ms(container.past_until_ms);
    Ms(container.last_kill_ms);
    state_.context_.usage.SaveContainer(container.index, out_);
    shared_.emplace(&container, ordinal++);
  }
}

void NamespaceState::Saver::SavePods() {
  out_.Varint(state_.pods_.size());
  pods_.reserve(state_.pods_.size());
  containers_.reserve(state_.pods_.size());
  const Pod* before = nullptr;
  for (const auto& [name, pod] : state_.pods_) {
    pods_.emplace(pod.get(), static_cast<uint32_t>(pods_.size()));
    SavePod(*pod, before);
    before = pod.get();
  }
}

void NamespaceState::Saver::SavePod(const Pod& pod, const Pod* before) {
  SaveTextAfter(out_, before == nullptr ? std::string_view() : before->name, pod.name);
  const bool waits =
      state_.waiting_.contains({pod.owner ? pod.owner->name : std::string(), pod.name});
  const bool same_owner = before != nullptr && pod.owner && before->owner == pod.owner;
  uint8_t bits = 0;
  if (pod.workload->hidden) bits |= kSavedHidden;
  if (waits) bits |= kSavedWaits;
  if (pod.owner) bits |= kSavedOwner;
  if (same_owner) bits |= kSavedSameOwner;
  if (pod.label_set != 0) bits |= kSavedLabelSet;
  out_.Byte(bits);
  if (pod.owner && !same_owner) {
    out_.Text(pod.owner->kind);
    out_.Text(pod.owner->name);
  }
  if (pod.label_set != 0) out_.Fixed64(pod.label_set);
  Ms(pod.first_ms);
  Ms(pod.last_ms);
  if (pod.workload->hidden) {
    SaveContainers(*pod.workload);
  } else {
    out_.Varint(workloads_.at(pod.workload));
  }
  SavePodContainers(pod);
}

void NamespaceState::Saver::SavePodContainers(const Pod& pod) {
  out_.Varint(pod.containers.size());
  uint32_t in_pod = 0;
  uint32_t next_shared = 0;  // both are sorted by name
  for (const auto& [name, container] : pod.containers) {
    const uint32_t shared = shared_.at(container.shared);
    out_.Varint(shared - next_shared);
    next_shared = shared + 1;
    out_.Varint(BitsOf(container.usage, [](const auto& usage) { return usage != nullptr; }));
    state_.context_.usage.SaveInstance(container.index, out_);
    containers_.emplace(&container,
                        ContainerPlace{static_cast<uint32_t>(containers_.size()), in_pod++});
  }
}

void NamespaceState::Saver::SaveReplicas() {
  out_.Varint(state_.replicas_.size());
  std::string_view type_before;
  std::string_view name_before;
  for (const auto& [key, replicas] : state_.replicas_) {
    SaveTextAfter(out_, type_before, key.first);
    SaveTextAfter(out_, name_before, key.second);
    type_before = key.first;
    name_before = key.second;
    replicas_.emplace(&replicas.fact, static_cast<uint32_t>(replicas_.size()));
  }
}

void NamespaceState::Saver::SaveAutoscalers() {
  out_.Varint(state_.autoscalers_.all().size());
  std::string_view before;
  for (const auto& [name, autoscaler] : state_.autoscalers_.all()) {
    SaveTextAfter(out_, before, name);
    before = name;
    for (const LastingFact& told : autoscaler.told) Ms(told.since_ms);
    autoscalers_.emplace(name, static_cast<uint32_t>(autoscalers_.size()));
  }
}

void NamespaceState::Saver::SaveLabels() {
  out_.Varint(state_.label_texts_.size());
  for (const auto& [hash, shared] : state_.label_texts_) {
    out_.Fixed64(hash);
    out_.Text(shared.text);
  }
}

void NamespaceState::Saver::SaveSeries() {
  out_.Varint(state_.free_series_.size());
  for (const uint32_t place : state_.free_series_) out_.Varint(place);
  out_.Varint(state_.series_.size() - state_.free_series_.size());
  for (uint32_t i = 0; i < state_.series_.size(); ++i) {
    if (state_.series_[i].in_use) SaveOneSeries(i, state_.series_[i]);
  }
}

SavedKind NamespaceState::Saver::KindOf(const Series& series) const {
  switch (series.role) {
    case Role::kUsageCounter:
    case Role::kUsageGauge:
      if (series.usage != nullptr) return SavedKind::kUsage;
      break;
    case Role::kRequest:
      if (series.container != nullptr) return SavedKind::kRequest;
      break;
    case Role::kLimit:
      if (series.container != nullptr) return SavedKind::kLimit;
      break;
    case Role::kPodOwner:
      if (series.pod != nullptr) return SavedKind::kPodOwner;
      break;
    case Role::kPodPhase:
      if (series.pod != nullptr) {
        return series.fact == nullptr ? SavedKind::kPhase : SavedKind::kEndPhase;
      }
      break;
    case Role::kReplicaSetOwner:
      if (series.object) return SavedKind::kReplicaSetOwner;
      break;
    case Role::kJobOwner:
      if (series.object) return SavedKind::kJobOwner;
      break;
    case Role::kReplicas:
      if (series.object) return SavedKind::kReplicas;
      break;
    case Role::kRestarts:
    case Role::kTerminatedReason:
    case Role::kTerminatedTime:
    case Role::kOomEvents:
      if (series.container != nullptr) return SavedKind::kKills;
      break;
    case Role::kPodLabels:
      if (series.pod != nullptr) return SavedKind::kPodLabels;
      break;
    case Role::kOriginalRequest:
      if (series.pod != nullptr) return SavedKind::kOriginal;
      break;
    case Role::kPageCache:
    case Role::kThrottledPeriods:
    case Role::kCfsPeriods:
      if (series.container != nullptr) return SavedKind::kSign;
      break;
    case Role::kAutoscalerInfo:
    case Role::kAutoscalerMin:
    case Role::kAutoscalerMax:
    case Role::kAutoscalerTarget:
      // Without a fact it is of a target that nobody minds.
      if (series.object && series.fact != nullptr) return SavedKind::kAutoscaler;
      break;
    case Role::kPodReady:
    case Role::kPodReadyTime:
    case Role::kPodStartTime:
      if (series.pod != nullptr) return SavedKind::kSign;
      break;
    case Role::kNodeAllocatable:
    case Role::kLimitRange:
      if (series.object) return SavedKind::kNode;
      break;
    default: break;
  }
  return SavedKind::kUnbound;
}

/// What a series of kills tells.
SavedKills NamespaceState::Saver::ToldBy(const Series& series) {
  switch (series.role) {
    case Role::kRestarts: return SavedKills::kRestarts;
    case Role::kTerminatedReason:
      return series.part.is_one_core ? SavedKills::kOtherReason : SavedKills::kReason;
    case Role::kTerminatedTime: return SavedKills::kTerminated;
    default: return SavedKills::kOomEvents;
  }
}

SavedSign NamespaceState::Saver::SignOf(const Series& series) {
  switch (series.role) {
    case Role::kPageCache: return SavedSign::kPageCache;
    case Role::kThrottledPeriods: return SavedSign::kThrottledPeriods;
    case Role::kCfsPeriods: return SavedSign::kCfsPeriods;
    case Role::kPodReady: return SavedSign::kPodReady;
    case Role::kPodReadyTime: return SavedSign::kPodReadyTime;
    default: return SavedSign::kPodStart;
  }
}

/// The link to an owner that holds because this series says it.
const Owner* NamespaceState::Saver::LinkOf(uint32_t index, const Series& series) const {
  if (!series.object) return nullptr;
  if (series.role == Role::kReplicaSetOwner) {
    return state_.owners_.ReplicaSetOwnerBy(series.object->second, index);
  }
  if (series.role == Role::kJobOwner) {
    return state_.owners_.JobOwnerBy(series.object->second, index);
  }
  return nullptr;
}

void NamespaceState::Saver::SaveOneSeries(uint32_t index, const Series& series) {
  const SavedKind kind = KindOf(series);
  const Fact* const fact = series.fact;
  const Owner* const link = LinkOf(index, series);
  const bool says_fact = fact != nullptr && fact->series == index;
  const bool says_of_pod = (kind == SavedKind::kPodOwner && series.pod->owner_series == index) ||
                           (kind == SavedKind::kPodLabels && series.pod->label_series == index);
  const bool same =
      says_fact && fact->last_ms == series.last_ms &&
      std::bit_cast<uint64_t>(fact->value) == std::bit_cast<uint64_t>(series.last_value);
  const bool is_integer =
      !series.stale && series.last_value >= 0 && series.last_value < kSavedIntegerEnd &&
      !std::signbit(series.last_value) && std::floor(series.last_value) == series.last_value;
  auto head = static_cast<uint8_t>(kind);
  if (series.stale) head |= kSavedStale;
  if (is_integer) head |= kSavedInteger;
  if (says_fact || says_of_pod || link != nullptr) head |= kSavedHolds;
  if (same) head |= kSavedSame;
  out_.Byte(head);
  out_.Fixed64(series.hash.low);
  out_.Fixed64(series.hash.high);
  out_.Varint(series.source);
  Ms(series.last_ms);
  if (is_integer) {
    out_.Varint(static_cast<uint64_t>(series.last_value));
  } else if (!series.stale) {
    out_.Double(series.last_value);
  }
  if (says_fact && !same) {
    Ms(fact->last_ms);
    out_.Double(fact->value);
  }
  SaveBinding(kind, index, series);
}

void NamespaceState::Saver::SaveBinding(SavedKind kind, uint32_t index, const Series& series) {
  if (series.pod != nullptr) {
    const uint32_t pod = pods_.at(series.pod);
    out_.Signed(static_cast<int64_t>(pod) - pod_before_);
    pod_before_ = pod;
  }
  switch (kind) {
    case SavedKind::kUsage: {
      const auto resource =
          static_cast<uint64_t>(state_.context_.sources.at(series.source).resource);
      const ContainerUsage::PartKey& part = series.part;
      const uint64_t in_pod = containers_.at(series.container).in_pod;
      out_.Varint((in_pod * kSavedResources + resource) << 2 | (part.is_one_core ? 2 : 0) |
                  (part.run != 0 ? 1 : 0));
      out_.Fixed64(part.hash);
      if (part.run != 0) out_.Fixed64(part.run);
      break;
    }
    case SavedKind::kRequest:
    case SavedKind::kLimit: {
      const auto& facts =
          kind == SavedKind::kRequest ? series.container->request : series.container->limit;
      uint64_t slot = kSavedNoResource;
      facts.ForEach([&](Resource resource, const Fact& fact) {
        if (&fact == series.fact) slot = static_cast<uint64_t>(resource);
      });
      out_.Varint(containers_.at(series.container).in_pod * kSavedFactSlots + slot);
      // Which pod asks for memory, by its uid.
      if (slot == static_cast<uint64_t>(Resource::kMemory) && kind == SavedKind::kRequest) {
        out_.Fixed64(series.part.hash);
      }
      break;
    }
    case SavedKind::kKills: {
      const uint64_t told = static_cast<uint64_t>(ToldBy(series));
      out_.Varint(containers_.at(series.container).in_pod * kSavedKillsSlots + told);
      out_.Fixed64(series.part.hash);
      break;
    }
    case SavedKind::kPodLabels:
      out_.Fixed64(series.part.hash);
      out_.Fixed64(series.part.run);
      break;
    case SavedKind::kOriginal: {
      const auto& all = series.pod->originals;
      const auto said = std::find_if(all.begin(), all.end(),
                                     [index](const auto& one) { return one.first == index; });
      out_.Bool(said != all.end());
      if (said != all.end()) SaveOriginalRequests(said->second, out_);
      break;
    }
    case SavedKind::kPodOwner: {
      if (!series.object) {
        out_.Byte(0);
        break;
      }
      const auto& owner = series.pod->owner;
      const bool is_pods =
          owner && owner->kind == series.object->first && owner->name == series.object->second;
      out_.Byte(kSavedObject | (is_pods ? kSavedPodsObject : 0));
      if (is_pods) break;
      out_.Text(series.object->first);
      out_.Text(series.object->second);
      break;
    }
    case SavedKind::kReplicaSetOwner:
    case SavedKind::kJobOwner: {
      out_.Text(series.object->second);
      if (const Owner* const link = LinkOf(index, series)) {
        out_.Text(link->kind);
        out_.Text(link->name);
      }
      break;
    }
    case SavedKind::kSign: {
      const SavedSign sign = SignOf(series);
      const uint64_t in_pod =
          series.container == nullptr ? 0 : containers_.at(series.container).in_pod;
      out_.Varint(in_pod * kSavedSignSlots + static_cast<uint64_t>(sign));
      break;
    }
    case SavedKind::kNode: {
      if (series.role == Role::kLimitRange) {
        const auto& told = state_.limit_ranges_.find(series.object->second)->second.told;
        out_.Text(series.object->second);
        out_.Varint(kSavedFirstLimitSlot +
                    (series.fact == nullptr ? kLimitRangeSlots
                                            : static_cast<uint64_t>(series.fact - told.data())));
        break;
      }
      const auto& facts = state_.nodes_.find(series.object->second)->second.allocatable;
      out_.Text(series.object->second);
      out_.Varint(series.fact == nullptr ? kSavedNoNodeSlot
                                         : static_cast<uint64_t>(series.fact - facts.data()));
      break;
    }
    case SavedKind::kAutoscaler: {
      const AutoscalerSlot slot = SlotOf(series);
      out_.Varint(autoscalers_.at(series.object->first) * kAutoscalerSlots +
                  static_cast<uint64_t>(slot));
      if (slot == AutoscalerSlot::kInfo) out_.Text(series.object->second);
      break;
    }
    case SavedKind::kReplicas: out_.Varint(replicas_.at(series.fact)); break;
    case SavedKind::kUnbound:
    case SavedKind::kPhase:
    case SavedKind::kEndPhase: break;
  }
}

void NamespaceState::Saver::SaveUsage() {
  ContainerUsage::Leader leader;
  const ContainerUsage::LeaderOf leader_of = [&](uint32_t index) {
    const Series& series = state_.series_[index];
    leader = {series.part, series.last_ms, series.last_value};
    return &leader;
  };
  for (const auto& [name, pod] : state_.pods_) {
    for (const auto& [container_name, container] : pod->containers) {
      container.usage.ForEach([&](Resource, const auto& usage) {
        if (usage) usage->Save(out_, base_ms_, leader_of);
      });
    }
  }
}

void NamespaceState::Saver::SaveFlushes() {
  out_.Varint(state_.flushes_.size());
  for (const auto& [due_ms, flush] : state_.flushes_) {
    Ms(due_ms);
    out_.Varint(containers_.at(flush.container).ordinal * kSavedResources +
                static_cast<uint64_t>(flush.resource));
  }
}

void NamespaceState::Saver::SaveKills() {
  for (const auto& [name, pod] : state_.pods_) {
    for (const auto& [container_name, container] : pod->containers) {
      out_.Bool(container.kills != nullptr);
      if (container.kills) container.kills->Save(out_, base_ms_);
    }
  }
}

void NamespaceState::Saver::SaveSums() {
  for (const auto& [name, pod] : state_.pods_) {
    out_.Bool(pod->sums != nullptr);
    if (!pod->sums) continue;
    out_.Varint(BitsOf(*pod->sums, [](const PodSum&) { return true; }));
    pod->sums->ForEach([this](Resource, const PodSum& sum) { sum.Save(out_, base_ms_); });
  }
}

void NamespaceState::Saver::SaveSigns() {
  for (const auto& [name, pod] : state_.pods_) {
    for (const auto& [container_name, container] : pod->containers) {
      out_.Bool(container.signs != nullptr);
      if (container.signs) container.signs->throttled.Save(out_, base_ms_);
    }
  }
}

/// What is wished is saved too: sums of another wish are dropped.
void NamespaceState::Saver::SaveDemand() {
  for (const auto& [key, workload] : state_.workloads_) {
    out_.Bool(workload->demand != nullptr);
    if (!workload->demand) continue;
    out_.Varint(static_cast<uint64_t>(workload->demand->wish.resource));
    out_.Signed(workload->demand->wish.startup_ms);
    workload->demand->sum.Save(out_, base_ms_);
  }
  for (const auto& [name, pod] : state_.pods_) {
    if (pod->demand) {
      pod->demand->Save(out_, base_ms_);
    } else {
      out_.Byte(static_cast<uint8_t>(PodDemand::State::kApart));
    }
  }
}

void NamespaceState::Saver::SaveStarts() {
  for (const auto& [key, workload] : state_.workloads_) workload->startups.Save(out_, base_ms_);
  for (const auto& [name, pod] : state_.pods_) SaveReadiness(pod->readiness);
}

void NamespaceState::Saver::SaveReadiness(const PodReadiness& readiness) {
  if (readiness == PodReadiness{}) {
    out_.Byte(0);
    return;
  }
  const auto now = static_cast<unsigned>(readiness.now);
  const auto before = static_cast<unsigned>(readiness.before);
  out_.Byte(
      static_cast<uint8_t>(kSavedReadiness | now << kSavedNowShift | before << kSavedBeforeShift));
  Ms(readiness.changed_ms);
  out_.Varint(readiness.series == kNoSeries ? 0 : uint64_t{readiness.series} + 1);
  out_.Varint(readiness.told_ready_s);
  out_.Varint(readiness.counted_start_s);
}

void NamespaceState::Save(ByteWriter& out) const { Saver(*this, out).Save(); }

}  // namespace tidemark::workloads
