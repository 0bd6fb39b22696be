// Minutes of usage of a namespace: closed, handed on, and summed by pod.
#include <algorithm>

#include "workloads/namespace_state.h"

namespace tidemark::workloads {
namespace {

constexpr double kMaxPodAgeMs = 1000.0 * 366 * 24 * 3600 * 1000;

/// Newest sample of the resource's usage by any container of the pod; kNever without one.
int64_t LastUsageMs(const Pod& pod, Resource resource) {
  int64_t last_ms = kNever;
  for (const auto& [name, container] : pod.containers) {
    const auto& usage = container.usage.Get(resource);
    if (usage) last_ms = std::max(last_ms, usage->last_ms());
  }
  return last_ms;
}

}  // namespace

MinuteContext NamespaceState::ContextOf(const PodContainer& container, Resource resource,
                                        const UsageMinute& minute) {
  const int64_t end_ms = minute.start_ms + kMinuteMs;
  MinuteContext context;
  context.request = container.request.Get(resource).At(end_ms);
  context.limit = container.limit.Get(resource).At(end_ms);
  context.pod_age_ms = AgeMs(*container.pod, end_ms);
  if (container.signs) {
    if (resource == Resource::kCpu) {
      context.throttled_ratio = container.signs->throttled.Ratio(minute.start_ms);
    } else if (resource == Resource::kMemory) {
      context.page_cache_bytes = container.signs->page_cache.At(end_ms).value_or(0);
    }
  }
  return context;
}

/// nullopt where nothing tells when it started.
std::optional<int64_t> NamespaceState::AgeMs(const Pod& pod, int64_t time_ms) {
  const auto started_s = pod.started.At(time_ms);
  if (!started_s) return std::nullopt;
  const double age_ms = static_cast<double>(time_ms) - *started_s * 1000;
  // A start in the future, or a thousand years ago, is none.
  if (!(age_ms >= 0 && age_ms < kMaxPodAgeMs)) return std::nullopt;
  return static_cast<int64_t>(age_ms);
}

/// `increase`: of a counter since the series' last sample; below 0 it has started anew.
void NamespaceState::TellSign(uint32_t index, Role role, Sample sample, double increase) {
  Series& series = series_[index];
  if (series.container == nullptr) return;
  PodContainer& container = *series.container;
  if (increase < 0) increase = sample.value;
  switch (role) {
    case Role::kThrottledPeriods:
      // Most containers are never throttled: nothing is kept of them.
      if (increase > 0) container.Signs().throttled.AddThrottled(sample.timestamp_ms, increase);
      break;
    case Role::kCfsPeriods:
      if (increase > 0 && container.signs) {
        container.signs->throttled.AddPeriods(sample.timestamp_ms, increase);
      }
      break;
    default:
      if (sample.value < 0 || !context_.usage.LeavesOutPageCache(container.container)) return;
      series.fact = &container.Signs().page_cache;
      series.fact->Set(index, sample);
  }
}

std::array<std::optional<double>, 2> NamespaceState::LargestNode(int64_t as_of_ms) const {
  std::array<std::optional<double>, 2> largest;
  for (const auto& [name, node] : nodes_) {
    for (size_t i = 0; i < largest.size(); ++i) {
      const auto size = node.allocatable[i].At(std::max(as_of_ms, event_time_ms_));
      if (size && (!largest[i] || *size > *largest[i])) largest[i] = size;
    }
  }
  return largest;
}

ResourceSlots<ContainerLimits> NamespaceState::ContainerLimitsAt(int64_t as_of_ms) const {
  return StrictestOf(limit_ranges_, std::max(as_of_ms, event_time_ms_));
}

/// Closes the last minute of containers that have ended for good.
void NamespaceState::FlushOverdue() {
  while (!flushes_.empty() && flushes_.begin()->first <= event_time_ms_) {
    const PendingFlush flush = flushes_.begin()->second;
    flushes_.erase(flushes_.begin());
    Flush(*flush.container, flush.resource);
  }
}

void NamespaceState::Flush(PodContainer& container, Resource resource) {
  uint64_t dropped = 0;
  minutes_.clear();
  container.usage.At(resource)->Flush(minutes_, dropped);
  context_.counters.usage_minutes_dropped.fetch_add(dropped, std::memory_order_relaxed);
  GiveOut(container, resource);
}

void NamespaceState::ApplyUsage(uint32_t index, const Source& source, Sample sample,
                                WriteVerdict& verdict) {
  Series& series = series_[index];
  if (series.usage == nullptr || sample.value < 0) {
    ++verdict.accepted;  // a negative usage is legal on the wire and no usage
    return;
  }
  uint64_t dropped = 0;
  minutes_.clear();
  const UsageOutcome outcome = series.usage->Add(index, series.part, sample, minutes_, dropped);
  if (dropped > 0) {
    context_.counters.usage_minutes_dropped.fetch_add(dropped, std::memory_order_relaxed);
  }
  if (outcome == UsageOutcome::kSecondScrape) {
    verdict.Ignore(IgnoreReason::kSecondScrape);
    return;
  }
  ++verdict.accepted;
  if (outcome == UsageOutcome::kReset) {
    context_.counters.counter_resets.fetch_add(1, std::memory_order_relaxed);
  }
  if (!minutes_.empty() || dropped > 0) {
    GiveOut(*series.container, source.resource);
  } else if (series.pod->workload->demand != nullptr &&
             (series.pod->demand == nullptr ||
              series.pod->demand->state != PodDemand::State::kWaited)) {
    TakeDemand(*series.pod, source.resource, std::nullopt);
  }
}

/// Hands the minutes in minutes_ on to the estimators, and those of the pod's sum and of the
/// workload's demand that they complete. `passed_ms`: the pod is said to have passed it, whatever
/// samples tell.
void NamespaceState::GiveOut(PodContainer& container, Resource resource,
                             std::optional<int64_t> passed_ms) {
  const int64_t sum_until_ms = passed_ms.value_or(std::numeric_limits<int64_t>::max());
  WorkloadContainer& shared = *container.shared;
  Pod& pod = *container.pod;
  const bool is_summed = !minutes_.empty() && context_.usage.SumsByPod(container.container);
  if (is_summed) SumContainer(pod);
  uint64_t given = 0;
  for (const UsageMinute& minute : minutes_) {
    shared.last_usage_ms = std::max(shared.last_usage_ms, minute.start_ms);
    const MinuteContext context = ContextOf(container, resource, minute);
    // A sum that went on without a silent container does not wait for what it brings later.
    if (is_summed) pod.sums->At(resource).Add(minute, context.request);
    if (minute.start_ms < shared.past_until_ms) continue;
    context_.usage.AddUsage(container.container, container.index, resource, minute, context);
    ++given;
  }
  if (pod.sums) CloseSum(pod, resource, sum_until_ms);
  TakeDemand(pod, resource, passed_ms);
  context_.counters.usage_minutes.fetch_add(given, std::memory_order_relaxed);
  if (given == minutes_.size()) return;
  context_.counters.usage_minutes_before_past.fetch_add(minutes_.size() - given,
                                                        std::memory_order_relaxed);
}

/// The container that stands for the sum of the pod's others; made where it is not.
PodContainer& NamespaceState::SumContainer(Pod& pod) {
  if (!pod.sums) pod.sums = std::make_unique<ResourceSlots<PodSum>>();
  const auto found = pod.containers.find(kPodSum);
  return found != pod.containers.end() ? found->second : AddContainer(pod, kPodSum);
}

/// Gives out the minutes of the pod's sum that all its containers have passed. One that has fallen
/// silent, against the others, is not waited for; one that has ended is, until its last minute is
/// closed.
void NamespaceState::CloseSum(Pod& pod, Resource resource, int64_t until_ms) {
  PodSum& sum = pod.sums->At(resource);
  if (!sum.HasOpen()) return;
  const int64_t newest_ms = LastUsageMs(pod, resource);
  for (const auto& [name, container] : pod.containers) {
    const ContainerUsage* const usage = container.usage.Get(resource).get();
    if (usage == nullptr || usage->HasEnded() || usage->last_ms() == kNever) continue;
    if (!context_.usage.SumsByPod(container.container)) continue;
    const bool silent = usage->last_ms() < newest_ms - kMaxGapMs;
    if (!silent || usage->NeedsFlush()) until_ms = std::min(until_ms, usage->passed_ms());
  }
  sum_minutes_.clear();
  sum.Close(until_ms, sum_minutes_);
  GiveSum(pod, resource);
  if (sum.HasOpen()) summing_.emplace(pod.name, &pod);
}

/// Hands the minutes in sum_minutes_ on.
void NamespaceState::GiveSum(Pod& pod, Resource resource) {
  if (sum_minutes_.empty()) return;
  PodContainer& container = SumContainer(pod);
  WorkloadContainer& shared = *container.shared;
  for (const PodSum::Minute& minute : sum_minutes_) {
    shared.last_usage_ms = std::max(shared.last_usage_ms, minute.usage.start_ms);
    if (minute.usage.start_ms < shared.past_until_ms) continue;
    shared.BeginsAt(minute.usage.start_ms, resource);
    MinuteContext context;
    context.request = minute.request;
    context_.usage.AddUsage(container.container, container.index, resource, minute.usage, context);
  }
}

void NamespaceState::FlushSums(Pod& pod) {
  if (!pod.sums) return;
  pod.sums->ForEach([&](Resource resource, PodSum& sum) {
    sum_minutes_.clear();
    sum.Flush(sum_minutes_);
    GiveSum(pod, resource);
  });
}

/// Closes the sums of pods that have ended or fallen silent for good.
void NamespaceState::SettleSums() {
  const int64_t silent_before = event_time_ms_ - kMaxGapMs - kMinuteMs;
  for (auto at = summing_.begin(); at != summing_.end();) {
    Pod& pod = *at->second;
    bool open = false;
    pod.sums->ForEach([&](Resource resource, PodSum& sum) {
      if (!sum.HasOpen()) return;
      if (LastUsageMs(pod, resource) < silent_before) {
        sum_minutes_.clear();
        sum.Flush(sum_minutes_);
        GiveSum(pod, resource);
      } else {
        CloseSum(pod, resource, std::numeric_limits<int64_t>::max());
      }
      open = open || sum.HasOpen();
    });
    at = open ? std::next(at) : summing_.erase(at);
  }
}

void NamespaceState::GiveUsageForTest(std::string_view pod, std::string_view container,
                                      Resource resource, UsageMinute minute) {
  minutes_.assign(1, minute);
  GiveOut(pods_.find(pod)->second->containers.find(container)->second, resource, minute.start_ms);
  SettleDemands();
  dirty_ = true;
}

}  // namespace tidemark::workloads
