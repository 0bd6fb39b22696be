#include "workloads/namespace_restorer.h"

#include <set>

#include "model/log.h"
#include "workloads/saved_text.h"

namespace tidemark::workloads {
namespace {

bool IsKnownVersion(uint8_t version) {
  return version >= kOldestSavedNamespaceVersion && version <= kSavedNamespaceVersion;
}

std::string VersionsText() {
  return std::to_string(kOldestSavedNamespaceVersion) + " to " +
         std::to_string(kSavedNamespaceVersion);
}

}  // namespace

NamespaceState::Restorer::~Restorer() {
  if (!counts_ && state_) DropState();
}

/// Leaves nothing that the namespace's own destructor would count.
void NamespaceState::Restorer::DropState() {
  state_->flushes_.clear();
  state_->undecided_.clear();
  state_->summing_.clear();
  state_->by_hash_.clear();
  state_->series_.clear();
  state_->pods_.clear();
  state_->workloads_.clear();
  // In reverse, so that the pools give out what they would have given out.
  for (auto at = taken_instances_.rbegin(); at != taken_instances_.rend(); ++at) {
    context_.usage.RemoveInstance(*at);
    context_.instances.Release(*at);
  }
  for (auto at = taken_containers_.rbegin(); at != taken_containers_.rend(); ++at) {
    context_.usage.RemoveContainer(*at);
    context_.containers.Release(*at);
  }
}

int64_t NamespaceState::Restorer::Ms() { return RestoreMs(in_, base_ms_); }
int64_t NamespaceState::Restorer::TakenMs() { return RestoreTakenMs(in_, base_ms_); }

bool NamespaceState::Restorer::Damaged(std::string what) {
  if (what_.empty()) what_ = std::move(what);
  in_.Fail();
  return false;
}

Result<std::unique_ptr<NamespaceState>> NamespaceState::Restorer::Failure() {
  std::string of = "saved namespace";
  if (state_) of += " \"" + state_->name_ + "\"";
  return Fail(ErrorCode::kInvalidArgument,
              of + ": " + (what_.empty() ? std::string("it is cut or damaged") : what_));
}

Result<std::unique_ptr<NamespaceState>> NamespaceState::Restorer::Restore(size_t number) {
  const bool good = ReadHead(number) && ReadWorkloads() && ReadPods() && ReadReplicas() &&
                    (version_ < 5 || ReadAutoscalers()) && (version_ < 2 || ReadLabels()) &&
                    ReadSeries() && CheckReferences() && ReadUsage() && ReadFlushes() &&
                    (version_ < 2 || (ReadKills() && ReadSums())) &&
                    (version_ < 3 || ReadSigns()) && (version_ < 4 || ReadDemand()) &&
                    (version_ < 5 || ReadStarts()) && !in_.failed();
  if (!good) return Failure();
  Count();
  TakeDemand();
  DropGone();
  if (any_sourceless_) RemoveSourceless();
  state_->SettleDemands();
  return std::move(state_);
}

bool NamespaceState::Restorer::ReadHead(size_t number) {
  version_ = in_.Byte();
  if (!IsKnownVersion(version_)) {
    return Damaged("version " + std::to_string(version_) + " is not known, must be " +
                   VersionsText());
  }
  std::string cluster(in_.Text());
  std::string name(in_.Text());
  const int64_t event_time_ms = RestoreMs(in_, 0);
  if (in_.failed()) return Damaged("its name or time is cut or damaged");
  base_ms_ = event_time_ms == kNever ? 0 : event_time_ms;
  state_ = std::make_unique<NamespaceState>(std::move(cluster), std::move(name), number, context_);
  state_->event_time_ms_ = event_time_ms;
  state_->newest_sample_ms_ = Ms();
  state_->next_collection_ms_ = Ms();
  state_->samples_since_collection_ = in_.Varint();
  state_->dirty_ = true;  // no view has been made of it
  if (in_.failed() || state_->newest_sample_ms_ < event_time_ms) {
    return Damaged("its times are cut or damaged");
  }
  return ReadResources();
}

bool NamespaceState::Restorer::ReadResources() {
  const auto know = [this](uint64_t saved) { resources_known_ |= uint32_t{1} << saved; };
  const uint64_t built_in = version_ < 3 ? kFirstSavedResources : kBuiltInResourceCount;
  for (uint64_t saved = 0; saved < built_in; ++saved) {
    resources_[saved] = static_cast<Resource>(saved);
    know(saved);
  }
  if (version_ < 3) return true;
  const uint64_t count = in_.Count();
  if (count > kSavedResources - built_in) return Damaged("it has too many resources");
  std::set<std::string_view> names;
  for (uint64_t i = 0; i < count; ++i) {
    const std::string_view name = in_.Text();
    if (in_.failed() || !names.insert(name).second) {
      return Damaged("the names of its resources are cut or damaged");
    }
    const auto present = context_.sources.resources().Parse(name);
    know(built_in + i);
    if (present && IsCustom(*present)) {
      resources_[built_in + i] = present;
      continue;
    }
    LogOncePerMinute("resource_gone", LogLevel::kWarn,
                     "what was kept of a resource that no source names any more is dropped",
                     {{"resource", std::string(name)}});
  }
  return true;
}

uint32_t NamespaceState::Restorer::ResourceBits() {
  const uint64_t bits = in_.Varint();
  if ((bits & ~uint64_t{resources_known_}) == 0) return static_cast<uint32_t>(bits);
  in_.Fail();
  return 0;
}

bool NamespaceState::Restorer::ReadKeyAfter(WorkloadKey& key, bool first) {
  WorkloadKey next = {RestoreTextAfter(in_, key.first), {}};
  next.second = RestoreTextAfter(in_, key.second);
  if (in_.failed() || (!first && next <= key)) return false;
  key = std::move(next);
  return true;
}

bool NamespaceState::Restorer::ReadWorkloads() {
  constexpr size_t kLeastWorkload = 7;
  const uint64_t count = in_.Count(kLeastWorkload);
  workloads_.reserve(count);
  WorkloadKey key;
  for (uint64_t i = 0; i < count; ++i) {
    if (!ReadKeyAfter(key, i == 0)) return Damaged("workloads are out of order or cut");
    auto workload = std::make_unique<Workload>();
    workload->id = {state_->cluster_, state_->name_, key.first, key.second};
    workload->assumed = in_.Bool();
    WorkloadPlace place;
    if (!ReadContainers(*workload, place)) return false;
    workloads_.push_back(place);
    state_->workloads_.emplace_hint(state_->workloads_.end(), key, std::move(workload));
  }
  return !in_.failed() || Damaged("workloads are cut or damaged");
}

bool NamespaceState::Restorer::ReadContainers(Workload& workload, WorkloadPlace& place) {
  workload.last_sample_ms = Ms();
  if (version_ >= 2) {
    workload.pod_labels = in_.Text();
    workload.labels_from_ms = Ms();
  }
  constexpr size_t kLeastContainer = 6;
  const uint64_t count = in_.Count(kLeastContainer);
  place = {&workload, shared_.size(), count};
  std::string_view before;
  for (uint64_t i = 0; i < count; ++i) {
    std::string name = RestoreTextAfter(in_, before);
    if (in_.failed() || (i > 0 && name <= before)) {
      return Damaged("containers of a workload are out of order or cut");
    }
    WorkloadContainer restored;
    restored.last_usage_ms = Ms();
    // Until version 2 all stood there, with kNever for what is not.
    const uint32_t begun = version_ < 3 ? resources_known_ : ResourceBits();
    for (uint64_t saved = 0; saved < kSavedResources; ++saved) {
      if ((begun >> saved & 1) == 0) continue;
      const int64_t first_ms = Ms();
      if (version_ >= 3 && first_ms == kNever) in_.Fail();
      if (resources_[saved] && first_ms != kNever) {
        restored.first.At(*resources_[saved]).ms = first_ms;
      }
    }
    restored.past_until_ms = Ms();
    if (version_ >= 2) restored.last_kill_ms = Ms();
    if (in_.failed()) return Damaged("a container of a workload is cut or damaged");
    restored.index = context_.containers.Take();
    taken_containers_.push_back(restored.index);
    context_.usage.ContainerIs(restored.index, {workload.id, name, workload.pod_labels});
    if (auto kept = context_.usage.RestoreContainer(restored.index, in_); !kept) {
      return Damaged("container \"" + name + "\": " + kept.error().message);
    }
    const auto at = workload.containers.emplace_hint(workload.containers.end(), std::move(name),
                                                     std::move(restored));
    before = at->first;
    shared_.push_back({&at->first, &at->second});
  }
  return !in_.failed() || Damaged("containers of a workload are cut or damaged");
}

bool NamespaceState::Restorer::ReadPods() {
  constexpr size_t kLeastPod = 7;
  const uint64_t count = in_.Count(kLeastPod);
  pods_.reserve(count);
  const Pod* before = nullptr;
  for (uint64_t i = 0; i < count; ++i) {
    auto pod = std::make_unique<Pod>();
    pod->name = RestoreTextAfter(in_, before == nullptr ? std::string_view() : before->name);
    if (in_.failed() || (before != nullptr && pod->name <= before->name)) {
      return Damaged("pods are out of order or cut");
    }
    pods_.push_back({pod.get(), containers_.size(), kNever, kNever});
    Pod& added =
        *state_->pods_.emplace_hint(state_->pods_.end(), pod->name, std::move(pod))->second;
    if (!ReadPod(added, before)) return Damaged("pod \"" + added.name + "\" is cut or damaged");
    before = &added;
  }
  return !in_.failed() || Damaged("pods are cut or damaged");
}

bool NamespaceState::Restorer::ReadPod(Pod& pod, const Pod* before) {
  const uint8_t bits = in_.Byte();
  if ((bits & ~kSavedPodBits) != 0) return false;
  if ((bits & kSavedSameOwner) != 0) {
    if ((bits & kSavedOwner) == 0 || before == nullptr || !before->owner) return false;
    pod.owner = before->owner;
  } else if ((bits & kSavedOwner) != 0) {
    std::string kind(in_.Text());
    pod.owner = Owner{std::move(kind), std::string(in_.Text())};
  }
  if ((bits & kSavedLabelSet) != 0) {
    pod.label_set = in_.Fixed64();
    if (pod.label_set == 0 || version_ < 2) return false;
  }
  pod.first_ms = TakenMs();
  pod.last_ms = Ms();
  WorkloadPlace place;
  if ((bits & kSavedHidden) != 0) {
    auto hidden = std::make_unique<Workload>();
    hidden->id = {state_->cluster_, state_->name_, "", pod.name};
    hidden->hidden = true;
    if (!ReadContainers(*hidden, place)) return false;
    state_->hidden_.emplace_hint(state_->hidden_.end(), pod.name, std::move(hidden));
  } else {
    const uint64_t workload = in_.Varint();
    if (in_.failed() || workload >= workloads_.size()) return false;
    place = workloads_[workload];
  }
  if (in_.failed()) return false;
  place.workload->Join(pod);
  if ((bits & kSavedWaits) != 0) state_->Wait(pod);
  return ReadPodContainers(pod, place);
}

bool NamespaceState::Restorer::ReadPodContainers(Pod& pod, const WorkloadPlace& place) {
  constexpr size_t kLeastContainer = 3;
  const uint64_t count = in_.Count(kLeastContainer);
  uint64_t next = 0;
  for (uint64_t i = 0; i < count; ++i) {
    const uint64_t skipped = in_.Varint();
    const uint32_t used = ResourceBits();  // of fewer than 7 resources a byte, as before
    if (in_.failed() || next >= place.containers || skipped >= place.containers - next) {
      return false;
    }
    const SharedPlace& shared = shared_[place.first_container + next + skipped];
    if (*shared.name == kDemand) return false;  // no pod's
    next += skipped + 1;
    PodContainer& container =
        pod.containers.emplace_hint(pod.containers.end(), *shared.name, PodContainer())->second;
    container.pod = &pod;
    container.shared = shared.container;
    container.container = shared.container->index;
    container.index = context_.instances.Take();
    taken_instances_.push_back(container.index);
    if (auto kept = context_.usage.RestoreInstance(container.index, in_); !kept) {
      return Damaged("container \"" + *shared.name + "\": " + kept.error().message);
    }
    if (pod.label_set != 0) context_.usage.SetLabelSet(container.index, pod.label_set);
    for (uint64_t saved = 0; saved < kSavedResources; ++saved) {
      if ((used >> saved & 1) == 0) continue;
      // What it holds comes later, when the series are there that it refers to.
      auto usage = std::make_unique<ContainerUsage>(ContainerUsage::Kind::kCounter);
      if (const auto now = resources_[saved]) {
        container.usage.At(*now) = std::move(usage);
      } else {
        gone_[{&container, saved}] = std::move(usage);
      }
    }
    containers_.push_back({&container, static_cast<uint32_t>(pods_.size() - 1), used});
  }
  return !in_.failed();
}

bool NamespaceState::Restorer::ReadReplicas() {
  constexpr size_t kLeastReplicas = 4;
  const uint64_t count = in_.Count(kLeastReplicas);
  replicas_.reserve(count);
  WorkloadKey key;
  for (uint64_t i = 0; i < count; ++i) {
    if (!ReadKeyAfter(key, i == 0)) return Damaged("replicas are out of order or cut");
    const auto at = state_->replicas_.emplace_hint(state_->replicas_.end(), key, ReplicasFact());
    replicas_.emplace_back(&at->first, &at->second);
  }
  return !in_.failed() || Damaged("replicas are cut or damaged");
}

bool NamespaceState::Restorer::ReadAutoscalers() {
  const size_t slots = AutoscalerSlots();
  const uint64_t count = in_.Count(2 + slots);
  autoscalers_.reserve(count);
  for (uint64_t i = 0; i < count; ++i) {
    std::string name = RestoreTextAfter(in_, i == 0 ? std::string_view() : autoscalers_.back());
    if (in_.failed() || (i > 0 && name <= autoscalers_.back())) {
      return Damaged("autoscalers are out of order or cut");
    }
    auto& told = state_->autoscalers_.Add(name)->told;
    for (size_t slot = 0; slot < slots; ++slot) told[slot].since_ms = Ms();
    autoscalers_.push_back(std::move(name));
  }
  return !in_.failed() || Damaged("autoscalers are cut or damaged");
}

bool NamespaceState::Restorer::ReadLabels() {
  constexpr size_t kLeastLabels = 9;
  const uint64_t count = in_.Count(kLeastLabels);
  auto& texts = state_->label_texts_;
  for (uint64_t i = 0; i < count; ++i) {
    const uint64_t hash = in_.Fixed64();
    std::string text(in_.Text());
    if (in_.failed() || hash == 0 || (!texts.empty() && hash <= texts.rbegin()->first)) {
      return Damaged("labels of pods are out of order or cut");
    }
    texts.emplace_hint(texts.end(), hash, SharedLabels{std::move(text), 0});
  }
  return !in_.failed() || Damaged("labels of pods are cut or damaged");
}

Result<std::unique_ptr<NamespaceState>> NamespaceState::Restore(ByteReader& in,
                                                                SourceMapping sources,
                                                                size_t number,
                                                                ShardContext& context) {
  return Restorer(in, sources, context).Restore(number);
}

Result<NamespaceName> NamespaceState::SavedName(std::string_view bytes) {
  ByteReader in(bytes);
  const uint8_t version = in.Byte();
  NamespaceName name;
  name.cluster = in.Text();
  name.name_space = in.Text();
  if (in.failed() || !IsKnownVersion(version)) {
    return Fail(ErrorCode::kInvalidArgument,
                "saved namespace: it is cut, or of a version other than " + VersionsText());
  }
  return name;
}

}  // namespace tidemark::workloads
