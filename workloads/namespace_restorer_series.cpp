// Series of a saved namespace, and what refers to them.
#include <set>

#include "workloads/namespace_restorer.h"
#include "workloads/saved_text.h"

namespace tidemark::workloads {
namespace {

/// What role the source of a series must have that is bound like this. kNone: any.
bool Fits(SavedKind kind, const Source& source) {
  switch (kind) {
    case SavedKind::kUnbound: return true;
    case SavedKind::kAutoscaler: return TellsOfAutoscalers(source.role);
    case SavedKind::kUsage:
      return source.role == Role::kUsageCounter || source.role == Role::kUsageGauge;
    case SavedKind::kRequest: return source.role == Role::kRequest;
    case SavedKind::kLimit: return source.role == Role::kLimit;
    case SavedKind::kPodOwner: return source.role == Role::kPodOwner;
    case SavedKind::kPhase:
    case SavedKind::kEndPhase: return source.role == Role::kPodPhase;
    case SavedKind::kReplicaSetOwner: return source.role == Role::kReplicaSetOwner;
    case SavedKind::kJobOwner: return source.role == Role::kJobOwner;
    case SavedKind::kReplicas: return source.role == Role::kReplicas;
    case SavedKind::kKills: return TellsOfKills(source.role);
    case SavedKind::kPodLabels: return source.role == Role::kPodLabels;
    case SavedKind::kOriginal: return source.role == Role::kOriginalRequest;
    case SavedKind::kSign:
      return IsSign(source.role) || source.role == Role::kPodStartTime ||
             source.role == Role::kPodReady || source.role == Role::kPodReadyTime;
    case SavedKind::kNode:
      return source.role == Role::kNodeAllocatable || source.role == Role::kLimitRange;
  }
  return false;
}

/// The role of a series whose source is gone, as far as its removal asks for it.
Role RoleOf(SavedKind kind) {
  switch (kind) {
    case SavedKind::kReplicaSetOwner: return Role::kReplicaSetOwner;
    case SavedKind::kJobOwner: return Role::kJobOwner;
    case SavedKind::kReplicas: return Role::kReplicas;
    case SavedKind::kPodLabels: return Role::kPodLabels;
    default: return Role::kNone;
  }
}

Role RoleOf(SavedKills told) {
  switch (told) {
    case SavedKills::kRestarts: return Role::kRestarts;
    case SavedKills::kReason:
    case SavedKills::kOtherReason: return Role::kTerminatedReason;
    case SavedKills::kTerminated: return Role::kTerminatedTime;
    case SavedKills::kOomEvents: return Role::kOomEvents;
  }
  return Role::kNone;
}

Role RoleOf(SavedSign sign) {
  switch (sign) {
    case SavedSign::kPageCache: return Role::kPageCache;
    case SavedSign::kThrottledPeriods: return Role::kThrottledPeriods;
    case SavedSign::kCfsPeriods: return Role::kCfsPeriods;
    case SavedSign::kPodStart: return Role::kPodStartTime;
    case SavedSign::kPodReady: return Role::kPodReady;
    case SavedSign::kPodReadyTime: return Role::kPodReadyTime;
  }
  return Role::kNone;
}

Role RoleOf(AutoscalerSlot slot) {
  switch (slot) {
    case AutoscalerSlot::kInfo: return Role::kAutoscalerInfo;
    case AutoscalerSlot::kMin: return Role::kAutoscalerMin;
    case AutoscalerSlot::kMax: return Role::kAutoscalerMax;
    case AutoscalerSlot::kCpuTarget:
    case AutoscalerSlot::kMemoryTarget: return Role::kAutoscalerTarget;
  }
  return Role::kNone;
}

Role RoleOf(KillWatch::Kind kind) {
  switch (kind) {
    case KillWatch::Kind::kRestarts: return Role::kRestarts;
    case KillWatch::Kind::kReason: return Role::kTerminatedReason;
    case KillWatch::Kind::kTerminated: return Role::kTerminatedTime;
    case KillWatch::Kind::kOomEvents: return Role::kOomEvents;
  }
  return Role::kNone;
}

}  // namespace

bool NamespaceState::Restorer::ReadSeries() {
  const uint64_t free = in_.Count();
  state_->free_series_.reserve(free);
  for (uint64_t i = 0; i < free; ++i) {
    state_->free_series_.push_back(static_cast<uint32_t>(in_.Varint()));
  }
  constexpr size_t kLeastSeries = 19;  // nothing but the head, the hash, source and time
  const uint64_t used = in_.Count(kLeastSeries);
  const uint64_t all = free + used;
  if (in_.failed() || all >= kNoSeries)
    return Damaged("the number of its series is cut or damaged");
  std::vector<bool> is_free(all);
  for (const uint32_t place : state_->free_series_) {
    if (place >= all || is_free[place]) return Damaged("a free place of a series is none");
    is_free[place] = true;
  }
  if (used > 0 && state_->event_time_ms_ == kNever) return Damaged("it has series and no time");
  state_->series_.resize(all);
  state_->by_hash_.reserve(used);
  for (uint32_t i = 0; i < all; ++i) {
    if (!is_free[i] && !ReadOneSeries(i)) {
      return Damaged("series " + std::to_string(i) + " is cut or damaged");
    }
  }
  return true;
}

bool NamespaceState::Restorer::ReadOneSeries(uint32_t index) {
  Series& series = state_->series_[index];
  const uint8_t head = in_.Byte();
  const uint8_t kind_bits = head & kSavedKindBits;
  static_assert(static_cast<uint8_t>(SavedKind::kNode) == kSavedKindBits);
  const auto kind = static_cast<SavedKind>(kind_bits);
  series.in_use = true;
  series.hash.low = in_.Fixed64();
  series.hash.high = in_.Fixed64();
  const uint64_t source = in_.Varint();
  if (in_.failed() || source >= sources_.size()) return false;
  series.source = sources_[source];
  if (series.source == kNoSource) {
    series.role = RoleOf(kind);
    any_sourceless_ = true;
  } else if (series.source >= context_.sources.size()) {
    return false;
  } else {
    const Source& now = context_.sources.at(series.source);
    if (!Fits(kind, now)) return false;
    series.role = now.role;
  }
  series.last_ms = TakenMs();
  series.stale = (head & kSavedStale) != 0;
  if (series.stale) {
    if ((head & kSavedInteger) != 0) return false;
    series.last_value = StaleMarker();
  } else if ((head & kSavedInteger) != 0) {
    const uint64_t value = in_.Varint();
    if (value >= static_cast<uint64_t>(kSavedIntegerEnd)) return false;
    series.last_value = static_cast<double>(value);
  } else {
    series.last_value = in_.Double();
    if (IsStaleMarker(series.last_value)) return false;
  }
  if (in_.failed() || !state_->by_hash_.insert(index).second) return false;
  Fact fact;
  const bool has_fact =
      (head & kSavedHolds) != 0 &&
      (kind == SavedKind::kRequest || kind == SavedKind::kLimit || kind == SavedKind::kEndPhase ||
       kind == SavedKind::kReplicas || kind == SavedKind::kOriginal || kind == SavedKind::kSign ||
       kind == SavedKind::kNode || kind == SavedKind::kAutoscaler);
  if (has_fact) {
    const bool same = (head & kSavedSame) != 0;
    fact.last_ms = same ? series.last_ms : TakenMs();
    fact.value = same ? series.last_value : in_.Double();
    fact.series = index;
  } else if ((head & kSavedSame) != 0) {
    return false;
  }
  if (!ReadBinding(kind, head, index)) return false;
  if (series.pod != nullptr) {
    ++series.pod->series;
    if (!series.stale) ++series.pod->live_series;
    PodPlace& place = pods_[static_cast<size_t>(pod_before_)];
    place.newest_ms = std::max(place.newest_ms, series.last_ms);
    if (series.source != kNoSource) {
      place.newest_kept_ms = std::max(place.newest_kept_ms, series.last_ms);
    }
  }
  if (!has_fact) return !in_.failed();
  const bool of_container = kind == SavedKind::kRequest || kind == SavedKind::kLimit;
  if (of_container && fact_is_gone_) return !in_.failed();
  if (series.fact == nullptr || series.fact->series != kNoSeries) return false;
  *series.fact = fact;
  return !in_.failed();
}

bool NamespaceState::Restorer::ReadPodOf(Series& series) {
  int64_t pod = 0;
  if (__builtin_add_overflow(pod_before_, in_.Signed(), &pod) || in_.failed() || pod < 0 ||
      pod >= static_cast<int64_t>(pods_.size())) {
    return false;
  }
  pod_before_ = pod;
  series.pod = pods_[static_cast<size_t>(pod)].pod;
  return true;
}

bool NamespaceState::Restorer::ReadBinding(SavedKind kind, uint8_t head, uint32_t index) {
  Series& series = state_->series_[index];
  const bool holds = (head & kSavedHolds) != 0;
  switch (kind) {
    case SavedKind::kUnbound: return !holds;
    case SavedKind::kUsage: return !holds && ReadPodOf(series) && ReadUsageBinding(series);
    case SavedKind::kRequest:
    case SavedKind::kLimit: return ReadPodOf(series) && ReadRequestBinding(kind, series);
    case SavedKind::kPodOwner: return ReadPodOf(series) && ReadPodOwner(head, index, series);
    case SavedKind::kPhase: return !holds && ReadPodOf(series);
    case SavedKind::kEndPhase:
      if (!ReadPodOf(series)) return false;
      series.fact = &series.pod->completed;
      return true;
    case SavedKind::kReplicaSetOwner:
    case SavedKind::kJobOwner: return ReadLink(kind, head, index, series);
    case SavedKind::kReplicas: {
      const uint64_t replicas = in_.Varint();
      if (in_.failed() || replicas >= replicas_.size()) return false;
      const auto& [key, told] = replicas_[replicas];
      series.object = std::make_unique<WorkloadKey>(*key);
      series.fact = &told->fact;
      ++told->references;
      return true;
    }
    case SavedKind::kKills:
      return !holds && version_ >= 2 && ReadPodOf(series) && ReadKillsBinding(series);
    case SavedKind::kPodLabels:
      return version_ >= 2 && ReadPodOf(series) && ReadLabelsBinding(holds, index, series);
    case SavedKind::kOriginal:
      return version_ >= 2 && ReadPodOf(series) && ReadOriginalBinding(index, series);
    case SavedKind::kSign:
      return version_ >= 3 && ReadPodOf(series) && ReadSignBinding(holds, series);
    case SavedKind::kNode: return version_ >= 3 && ReadNodeBinding(series);
    case SavedKind::kAutoscaler: return version_ >= 5 && ReadAutoscalerBinding(holds, series);
  }
  return false;
}

std::unique_ptr<ContainerUsage>* NamespaceState::Restorer::UsageOf(const ContainerPlace& place,
                                                                   uint64_t saved) {
  if ((place.used >> saved & 1) == 0) return nullptr;
  if (const auto now = resources_[saved]) return place.container->usage.Find(*now);
  const auto found = gone_.find({place.container, saved});
  return found == gone_.end() ? nullptr : &found->second;
}

const NamespaceState::Restorer::ContainerPlace* NamespaceState::Restorer::PlaceInPod(
    const Series& series, uint64_t in_pod) const {
  if (in_pod >= series.pod->containers.size()) return nullptr;
  return &containers_[pods_[static_cast<size_t>(pod_before_)].first_container + in_pod];
}

bool NamespaceState::Restorer::ReadUsageBinding(Series& series) {
  const uint64_t bits = in_.Varint();
  series.part.hash = in_.Fixed64();
  if ((bits & 1) != 0) series.part.run = in_.Fixed64();
  series.part.is_one_core = (bits & 2) != 0;
  const uint64_t saved = (bits >> 2) % Resources();
  const ContainerPlace* const place = PlaceInPod(series, (bits >> 2) / Resources());
  if (in_.failed() || place == nullptr) return false;
  series.container = place->container;
  const auto* const usage = UsageOf(*place, saved);
  if (usage == nullptr) return false;
  series.usage = usage->get();
  return series.source == kNoSource ||
         resources_[saved] == context_.sources.at(series.source).resource;
}

bool NamespaceState::Restorer::ReadRequestBinding(SavedKind kind, Series& series) {
  const uint64_t bits = in_.Varint();
  const uint64_t slots = Resources() + 1;
  const uint64_t saved = bits % slots;
  const ContainerPlace* const place = PlaceInPod(series, bits / slots);
  if (in_.failed() || place == nullptr) return false;
  series.container = place->container;
  fact_is_gone_ = false;
  if (saved == Resources()) return true;
  if ((resources_known_ >> saved & 1) == 0) return false;
  const auto resource = resources_[saved];
  fact_is_gone_ = !resource;
  if (!resource) return true;
  auto& facts = kind == SavedKind::kRequest ? series.container->request : series.container->limit;
  series.fact = &facts.At(*resource);
  if (version_ >= 2 && resource == Resource::kMemory && kind == SavedKind::kRequest) {
    series.part.hash = in_.Fixed64();
  }
  return true;
}

bool NamespaceState::Restorer::ReadKillsBinding(Series& series) {
  const uint64_t bits = in_.Varint();
  const uint64_t in_pod = bits / kSavedKillsSlots;
  const auto told = static_cast<SavedKills>(bits % kSavedKillsSlots);
  series.part.hash = in_.Fixed64();
  const ContainerPlace* const place = PlaceInPod(series, in_pod);
  if (in_.failed() || place == nullptr) return false;
  series.container = place->container;
  series.part.is_one_core = told == SavedKills::kOtherReason;
  const Role role = RoleOf(told);
  if (series.source == kNoSource) series.role = role;
  return series.role == role;
}

bool NamespaceState::Restorer::ReadLabelsBinding(bool holds, uint32_t index, Series& series) {
  series.part.hash = in_.Fixed64();
  series.part.run = in_.Fixed64();
  if (in_.failed()) return false;
  if (series.part.run != 0) {
    const auto text = state_->label_texts_.find(series.part.run);
    if (text == state_->label_texts_.end()) return false;
    ++text->second.series;
  }
  if (!holds) return true;
  if (series.pod->label_series != kNoSeries || series.pod->label_set != series.part.hash) {
    return false;
  }
  series.pod->label_series = index;
  return true;
}

bool NamespaceState::Restorer::ReadOriginalBinding(uint32_t index, Series& series) {
  if (!in_.Bool()) return !in_.failed();
  auto requests = RestoreOriginalRequests(in_);
  if (!requests) return false;
  series.pod->originals.emplace_back(index, std::move(*requests));
  series.fact = &series.pod->original;
  return true;
}

bool NamespaceState::Restorer::ReadSignBinding(bool holds, Series& series) {
  const uint64_t bits = in_.Varint();
  const uint64_t slots = version_ < 5 ? kFirstSavedSignSlots : kSavedSignSlots;
  const uint64_t in_pod = bits / slots;
  const auto sign = static_cast<SavedSign>(bits % slots);
  if (in_.failed()) return false;
  const Role role = RoleOf(sign);
  if (series.source == kNoSource) series.role = role;
  if (series.role != role) return false;
  if (sign == SavedSign::kPodStart) {
    series.fact = &series.pod->started;
    return in_pod == 0;
  }
  if (sign == SavedSign::kPodReady || sign == SavedSign::kPodReadyTime) {
    return in_pod == 0 && !holds;
  }
  if (in_pod >= series.pod->containers.size()) return false;
  const size_t first = pods_[static_cast<size_t>(pod_before_)].first_container;
  series.container = containers_[first + in_pod].container;
  if (sign == SavedSign::kPageCache && holds) {
    series.fact = &series.container->Signs().page_cache;
  }
  return true;
}

bool NamespaceState::Restorer::ReadNodeBinding(Series& series) {
  series.object = std::make_unique<WorkloadKey>("", std::string(in_.Text()));
  const uint64_t slot = in_.Varint();
  if (in_.failed()) return false;
  const bool is_limit = version_ >= 6 && slot >= kSavedFirstLimitSlot;
  const Role role = is_limit ? Role::kLimitRange : Role::kNodeAllocatable;
  if (series.source == kNoSource) series.role = role;
  if (series.role != role) return false;
  if (is_limit) {
    const uint64_t told = slot - kSavedFirstLimitSlot;
    if (told > kLimitRangeSlots) return false;
    LimitRangeFacts& range = state_->limit_ranges_[series.object->second];
    ++range.references;
    if (told != kLimitRangeSlots) series.fact = &range.told[told];
    return true;
  }
  if (slot > kSavedNoNodeSlot) return false;
  NodeFacts& node = state_->nodes_[series.object->second];
  ++node.references;
  if (slot != kSavedNoNodeSlot) series.fact = &node.allocatable[slot];
  return true;
}

bool NamespaceState::Restorer::ReadAutoscalerBinding(bool holds, Series& series) {
  const uint64_t bits = in_.Varint();
  const uint64_t of = bits / AutoscalerSlots();
  const auto slot = static_cast<AutoscalerSlot>(bits % AutoscalerSlots());
  std::string target;
  if (slot == AutoscalerSlot::kInfo) target = in_.Text();
  if (in_.failed() || of >= autoscalers_.size()) return false;
  const Role role = RoleOf(slot);
  if (series.source == kNoSource) series.role = role;
  if (series.role != role) return false;
  const std::string& name = autoscalers_[of];
  series.fact = state_->autoscalers_.Bind(name, slot);
  if (holds && slot == AutoscalerSlot::kInfo) state_->autoscalers_.SetTarget(name, target);
  if (slot == AutoscalerSlot::kCpuTarget) target = ResourceName(Resource::kCpu);
  if (slot == AutoscalerSlot::kMemoryTarget) target = ResourceName(Resource::kMemory);
  series.object = std::make_unique<WorkloadKey>(name, std::move(target));
  return true;
}

bool NamespaceState::Restorer::ReadSigns() {
  for (const ContainerPlace& place : containers_) {
    if (!in_.Bool()) continue;
    if (!place.container->Signs().throttled.Restore(in_, base_ms_)) {
      return Damaged("the throttling of pod \"" + pods_[place.pod].pod->name +
                     "\" is cut or damaged");
    }
  }
  return !in_.failed() || Damaged("the signs of containers are cut or damaged");
}

bool NamespaceState::Restorer::ReadSums() {
  for (const PodPlace& place : pods_) {
    if (!in_.Bool()) continue;
    Pod& pod = *place.pod;
    pod.sums = std::make_unique<ResourceSlots<PodSum>>();
    const uint32_t summed = version_ < 3 ? resources_known_ : ResourceBits();
    for (uint64_t saved = 0; saved < kSavedResources; ++saved) {
      if ((summed >> saved & 1) == 0) continue;
      auto restored = PodSum::Restore(in_, base_ms_);
      if (!restored || !pod.containers.contains(kPodSum)) {
        return Damaged("the sum of pod \"" + pod.name + "\" is cut or damaged");
      }
      if (!resources_[saved]) continue;
      if (restored->HasOpen()) state_->summing_.emplace(pod.name, &pod);
      pod.sums->At(*resources_[saved]) = std::move(*restored);
    }
  }
  return !in_.failed() || Damaged("sums of pods are cut or damaged");
}

bool NamespaceState::Restorer::ReadKills() {
  for (const ContainerPlace& place : containers_) {
    if (!in_.Bool()) continue;
    const KillWatch::Tells tells = [&](uint32_t index, KillWatch::Kind kind, uint64_t key) {
      if (index >= state_->series_.size()) return false;
      const Series& series = state_->series_[index];
      return series.container == place.container && series.part.hash == key &&
             series.role == RoleOf(kind) && !series.part.is_one_core;
    };
    auto watch = KillWatch::Restore(in_, base_ms_, tells);
    Pod& pod = *pods_[place.pod].pod;
    if (!watch) return Damaged("restarts of pod \"" + pod.name + "\" are cut or damaged");
    place.container->kills = std::make_unique<KillWatch>(std::move(*watch));
    if (!place.container->kills->IsSettled()) state_->undecided_.emplace(pod.name, &pod);
  }
  return !in_.failed() || Damaged("restarts are cut or damaged");
}

bool NamespaceState::Restorer::ReadPodOwner(uint8_t head, uint32_t index, Series& series) {
  const uint8_t bits = in_.Byte();
  const bool holds = (head & kSavedHolds) != 0;
  if ((bits & ~kSavedObjectBits) != 0) return false;
  const bool is_pods = (bits & kSavedPodsObject) != 0;
  if ((bits & kSavedObject) == 0) return !is_pods && !holds;
  if (is_pods) {
    if (!series.pod->owner) return false;
    series.object = std::make_unique<WorkloadKey>(series.pod->owner->kind, series.pod->owner->name);
  } else {
    std::string kind(in_.Text());
    series.object = std::make_unique<WorkloadKey>(std::move(kind), std::string(in_.Text()));
  }
  if (!holds) return true;
  if (!is_pods || series.pod->owner_series != kNoSeries) return false;
  series.pod->owner_series = index;
  return true;
}

bool NamespaceState::Restorer::ReadLink(SavedKind kind, uint8_t head, uint32_t index,
                                        Series& series) {
  series.object = std::make_unique<WorkloadKey>("", std::string(in_.Text()));
  if ((head & kSavedHolds) == 0) return true;
  Owner owner;
  owner.kind = in_.Text();
  owner.name = in_.Text();
  if (in_.failed()) return false;
  const std::string& name = series.object->second;
  return kind == SavedKind::kReplicaSetOwner
             ? state_->owners_.AddReplicaSetOwner(name, std::move(owner), index)
             : state_->owners_.AddJobOwner(name, std::move(owner), index);
}

/// A pod and the replicas of a spec live as long as a series tells of them.
bool NamespaceState::Restorer::CheckReferences() {
  for (const PodPlace& place : pods_) {
    if (place.pod->series == 0) return Damaged("pod \"" + place.pod->name + "\" has no series");
  }
  for (const auto& [key, told] : replicas_) {
    if (told->references == 0) return Damaged("replicas of \"" + key->second + "\" have no series");
  }
  for (const auto& [name, autoscaler] : state_->autoscalers_.all()) {
    if (autoscaler.references == 0) return Damaged("autoscaler \"" + name + "\" has no series");
  }
  for (const auto& [hash, labels] : state_->label_texts_) {
    if (labels.series == 0) return Damaged("labels of pods have no series");
  }
  return true;
}

bool NamespaceState::Restorer::ReadUsage() {
  ContainerUsage::Leader leader;
  const ContainerUsage* usage_at_hand = nullptr;
  const ContainerUsage::LeaderOf leader_of = [&](uint32_t index) -> const ContainerUsage::Leader* {
    if (index >= state_->series_.size()) return nullptr;
    const Series& series = state_->series_[index];
    if (series.usage != usage_at_hand) return nullptr;
    leader = {series.part, series.last_ms, series.last_value};
    return &leader;
  };
  for (const ContainerPlace& place : containers_) {
    for (uint64_t saved = 0; saved < kSavedResources; ++saved) {
      const auto* const usage = UsageOf(place, saved);
      if (usage == nullptr) continue;
      usage_at_hand = usage->get();
      const auto restored = ContainerUsage::Restore(in_, base_ms_, leader_of);
      if (!restored) {
        return Damaged("usage of pod \"" + pods_[place.pod].pod->name + "\" is cut or damaged");
      }
      **usage = std::move(*restored);  // where it stands: series point there
    }
  }
  return true;
}

bool NamespaceState::Restorer::ReadFlushes() {
  constexpr size_t kLeastFlush = 2;
  const uint64_t count = in_.Count(kLeastFlush);
  int64_t before_ms = 0;
  for (uint64_t i = 0; i < count; ++i) {
    const int64_t due_ms = TakenMs();
    const uint64_t bits = in_.Varint();
    const uint64_t ordinal = bits / Resources();
    if (in_.failed() || due_ms < before_ms || ordinal >= containers_.size()) {
      return Damaged("last minutes are cut, damaged or out of order");
    }
    before_ms = due_ms;
    const ContainerPlace& place = containers_[ordinal];
    const uint64_t saved = bits % Resources();
    const auto* const usage = UsageOf(place, saved);
    const PodPlace& pod = pods_[place.pod];
    // The pod must outlive the entry: a series of its own is as new as what is to be closed.
    if (usage == nullptr || (*usage)->last_ms() < due_ms - kMaxGapMs ||
        pod.newest_ms < due_ms - kMaxGapMs) {
      return Damaged("a last minute belongs to no usage");
    }
    if (pod.newest_kept_ms < due_ms - kMaxGapMs) continue;  // closed when its series are removed
    if (!resources_[saved]) continue;
    state_->flushes_.emplace_hint(state_->flushes_.end(), due_ms,
                                  PendingFlush{place.container, *resources_[saved]});
  }
  return !in_.failed() || Damaged("last minutes are cut or damaged");
}

bool NamespaceState::Restorer::ReadDemand() {
  for (const WorkloadPlace& place : workloads_) {
    if (!in_.Bool()) continue;
    const uint64_t saved = in_.Varint();
    DemandWish wish;
    wish.startup_ms = in_.Signed();
    auto sum = DemandSum::Restore(in_, base_ms_, version_ >= 5);
    if (!sum || saved >= kSavedResources || (resources_known_ >> saved & 1) == 0) {
      return Damaged("the demand of \"" + place.workload->id.workload + "\" is cut or damaged");
    }
    const auto resource = resources_[saved];
    wish.resource = resource.value_or(wish.resource);
    demands_.emplace(place.workload,
                     SavedDemand{resource ? std::optional(wish) : std::nullopt, std::move(*sum)});
  }
  for (const PodPlace& place : pods_) {
    if (!ReadPodDemand(place)) {
      return Damaged("what pod \"" + place.pod->name + "\" has for the demand is cut or damaged");
    }
  }
  return !in_.failed() || Damaged("demand is cut or damaged");
}

bool NamespaceState::Restorer::ReadPodDemand(const PodPlace& place) {
  PodDemand demand;
  const uint8_t state = in_.Byte();
  demand.state = static_cast<PodDemand::State>(state);
  if (state > static_cast<uint8_t>(PodDemand::State::kEnded)) return false;
  if (demand.state == PodDemand::State::kApart) return !in_.failed();
  const auto of = demands_.find(place.pod->workload);
  if (of == demands_.end() || !demand.Restore(in_, base_ms_)) return false;
  pod_demands_.emplace_back(place.pod, std::move(demand));
  return true;
}

bool NamespaceState::Restorer::ReadStarts() {
  for (const WorkloadPlace& place : workloads_) {
    auto startups = StartupTimes::Restore(in_, base_ms_);
    if (!startups) {
      return Damaged("start-up times of \"" + place.workload->id.workload +
                     "\" are cut or damaged");
    }
    place.workload->startups = std::move(*startups);
  }
  for (const PodPlace& place : pods_) {
    if (!ReadReadiness(*place.pod)) {
      return Damaged("the readiness of pod \"" + place.pod->name + "\" is cut or damaged");
    }
  }
  return !in_.failed() || Damaged("start-up times are cut or damaged");
}

bool NamespaceState::Restorer::ReadReadiness(Pod& pod) {
  const uint8_t bits = in_.Byte();
  if (bits == 0) return !in_.failed();
  using State = PodReadiness::State;
  const unsigned now = bits >> kSavedNowShift & kSavedReadinessState;
  const unsigned before = bits >> kSavedBeforeShift & kSavedReadinessState;
  constexpr auto kLast = static_cast<unsigned>(State::kReady);
  if ((bits & ~kSavedReadinessBits) != 0 || (bits & kSavedReadiness) == 0 || now > kLast ||
      before > kLast) {
    return false;
  }
  PodReadiness& readiness = pod.readiness;
  readiness.now = static_cast<State>(now);
  readiness.before = static_cast<State>(before);
  readiness.changed_ms = Ms();
  const uint64_t series = in_.Varint();
  const uint64_t told_ready_s = in_.Varint();
  const uint64_t counted_start_s = in_.Varint();
  const bool has_state = readiness.now != State::kUnknown || readiness.before != State::kUnknown;
  if (has_state && readiness.changed_ms == kNever) return false;
  constexpr uint64_t kEnd = uint64_t{1} << 32;
  if (in_.failed() || series > state_->series_.size() || told_ready_s >= kEnd ||
      counted_start_s >= kEnd || (series == 0) != (readiness.now == State::kUnknown)) {
    return false;
  }
  readiness.told_ready_s = static_cast<uint32_t>(told_ready_s);
  readiness.counted_start_s = static_cast<uint32_t>(counted_start_s);
  if (series == 0) return true;
  readiness.series = static_cast<uint32_t>(series - 1);
  const Series& said = state_->series_[readiness.series];
  return said.in_use && said.pod == &pod && said.role == Role::kPodReady && !said.stale;
}

/// As far as it is what is wished now.
void NamespaceState::Restorer::TakeDemand() {
  for (const WorkloadPlace& place : workloads_) {
    state_->StartDemand(*place.workload);
    const auto saved = demands_.find(place.workload);
    if (!place.workload->demand || saved == demands_.end()) continue;
    if (saved->second.wish != place.workload->demand->wish) {
      demands_.erase(saved);
    } else {
      place.workload->demand->sum = std::move(saved->second.sum);
    }
  }
  for (auto& [pod, demand] : pod_demands_) {
    Workload& workload = *pod->workload;
    if (!workload.demand || !demands_.contains(&workload)) continue;
    pod->demand = std::make_unique<PodDemand>(std::move(demand));
    if (pod->demand->state == PodDemand::State::kWaited) {
      workload.demand->sum.Enter(pod->demand->passed_ms);
    } else {
      workload.demand->ended.emplace(pod->name, pod);
    }
  }
}

void NamespaceState::Restorer::Count() {
  counts_ = true;
  const auto add = [](std::atomic<int64_t>& now, size_t count) {
    now.fetch_add(static_cast<int64_t>(count), std::memory_order_relaxed);
  };
  const size_t series = state_->by_hash_.size();
  add(context_.counters.series_now, series);
  add(context_.counters.pods_now, pods_.size());
  add(context_.counters.workloads_now, state_->workloads_.size());
  add(context_.counters.containers_now,
      static_cast<size_t>(std::ranges::count_if(
          shared_, [](const SharedPlace& shared) { return *shared.name != kDemand; })));
  context_.budget.Take(static_cast<int64_t>(series));
  for (const Series& one : state_->series_) {
    if (!one.in_use || one.source == kNoSource) continue;
    SourceCount& count = context_.source_counts[one.source];
    ++count.series;
    count.last_ms = std::max(count.last_ms, one.last_ms);
  }
}

/// Usage of resources that are gone was there for what refers to it.
void NamespaceState::Restorer::DropGone() {
  if (gone_.empty()) return;
  std::set<const ContainerUsage*> dropped;
  for (const auto& [of, usage] : gone_) dropped.insert(usage.get());
  for (Series& series : state_->series_) {
    if (dropped.contains(series.usage)) series.usage = nullptr;
  }
  gone_.clear();
}

void NamespaceState::Restorer::RemoveSourceless() {
  for (uint32_t i = 0; i < state_->series_.size(); ++i) {
    if (state_->series_[i].in_use && state_->series_[i].source == kNoSource) {
      state_->RemoveSeries(i);
    }
  }
  if (state_->by_hash_.empty()) state_->ForgetSeries();  // nor their places
}

}  // namespace tidemark::workloads
