// How a past comes into a namespace: given out by the namespace it was built in, merged into the
// one that lives.
#include <algorithm>
#include <string>
#include <utility>

#include "model/byte_codec.h"
#include "model/log.h"
#include "workloads/namespace_state.h"

namespace tidemark::workloads {

void NamespaceState::ForEachContainer(const VisitContainer& visit) const {
  for (const auto& [key, workload] : workloads_) {
    for (const auto& [name, container] : workload->containers) {
      if (name != kDemand) visit(*workload, name, container);
    }
  }
}

void NamespaceState::ForEachDemand(const VisitContainer& visit) const {
  for (const auto& [key, workload] : workloads_) {
    const auto found = workload->containers.find(kDemand);
    if (found != workload->containers.end()) visit(*workload, kDemand, found->second);
  }
}

void NamespaceState::ForEachPodContainer(
    const std::function<void(uint32_t, uint32_t)>& visit) const {
  for (const auto& [name, pod] : pods_) {
    for (const auto& [container_name, container] : pod->containers) {
      visit(container.container, container.index);
    }
  }
}

const ResourceSlots<FirstMinute>* NamespaceState::FirstMinutes(const PastContainer& of) const {
  const auto workload = workloads_.find({std::string(of.workload_type), std::string(of.workload)});
  if (workload == workloads_.end()) return nullptr;
  const auto& containers = workload->second->containers;
  const auto container = containers.find(of.container);
  return container == containers.end() ? nullptr : &container->second.first;
}

std::optional<uint32_t> NamespaceState::DemandContainer(std::string_view workload_type,
                                                        std::string_view workload) const {
  const auto found = workloads_.find({std::string(workload_type), std::string(workload)});
  if (found == workloads_.end()) return std::nullopt;
  const auto container = found->second->containers.find(kDemand);
  if (container == found->second->containers.end()) return std::nullopt;
  return container->second.index;
}

bool NamespaceState::ReachesInto(const PastContainer& past) const {
  const ResourceSlots<FirstMinute>* const first = FirstMinutes(past);
  if (first == nullptr) return false;
  bool reaches = false;
  past.minutes.ForEach([&](Resource resource, const PastContainer::Minutes& minutes) {
    const int64_t first_ms = first->Get(resource).ms;
    reaches = reaches || (first_ms != kNever && minutes.until_ms > first_ms);
  });
  return reaches;
}

bool NamespaceState::MergePast(const PastContainer& past) {
  if (ReachesInto(past)) return false;
  int64_t until_ms = kNever;
  past.minutes.ForEach([&](Resource, const PastContainer::Minutes& minutes) {
    until_ms = std::max(until_ms, minutes.until_ms);
  });
  if (until_ms == kNever) return true;
  Workload& workload =
      WorkloadFor({std::string(past.workload_type), std::string(past.workload)}, until_ms);
  // The configuration may have changed since the past was begun: nobody asks for this any more.
  if (past.container == kDemand && !workload.demand) return true;
  WorkloadContainer& container = SharedContainer(workload, past.container);
  ByteReader history(past.history);
  if (auto merged = context_.usage.MergeSaved(container.index, history); !merged) {
    LogOncePerMinute("merge_past", LogLevel::kError, "a past could not be merged",
                     {{"workload", workload.id.workload}, {"err", merged.error().message}});
    context_.counters.internal_errors.fetch_add(1);
    return true;
  }
  past.minutes.ForEach([&](Resource resource, const PastContainer::Minutes& minutes) {
    if (minutes.from_ms != kNever) container.first.At(resource).Reaches(minutes.from_ms);
  });
  container.past_until_ms = std::max(container.past_until_ms, until_ms);
  container.last_usage_ms = std::max(container.last_usage_ms, until_ms - kMinuteMs);
  workload.last_sample_ms = std::max(workload.last_sample_ms, until_ms);
  newest_sample_ms_ = std::max(newest_sample_ms_, until_ms);
  dirty_ = true;
  return true;
}

}  // namespace tidemark::workloads
