// What the number of a workload's replicas is decided by beside its demand: replicas and bounds,
// which pods are ready, how long they take to be, what one of them requests, and whether they could
// have used more.
#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <tuple>

#include "workloads/namespace_state.h"

namespace tidemark::workloads {
namespace {

/// Usage from this share of the limit on is held back by it.
constexpr double kAtLimitRatio = 0.95;
/// A container that is throttled in more than this share of its CFS periods is held back.
constexpr double kThrottledRatio = 0.25;
/// A pod that is ready and was never seen unready has become so in sight only within this time of
/// its start: had it taken longer, a scrape would have found it unready.
constexpr int64_t kUnseenStartMs = kMinuteMs;
/// What is told of one thing by several series has all come by then.
constexpr int64_t kToldTogetherMs = kMinuteMs;

/// Of all containers; absent when none has one. A container without a request, as an injected
/// sidecar often is, asks for nothing.
std::optional<double> RequestOf(const Pod& pod, Resource resource, int64_t time_ms) {
  double sum = 0;
  for (const auto& [name, container] : pod.containers) {
    sum += container.request.Get(resource).At(time_ms).value_or(0);
  }
  return sum > 0 && std::isfinite(sum) ? std::optional(sum) : std::nullopt;
}

/// Of all containers; absent when one that requests the resource has none: then it may use whatever
/// its node has.
std::optional<double> LimitOf(const Pod& pod, Resource resource, int64_t time_ms) {
  double sum = 0;
  for (const auto& [name, container] : pod.containers) {
    const auto limit = container.limit.Get(resource).At(time_ms);
    if (!limit && container.request.Get(resource).At(time_ms).value_or(0) > 0) return std::nullopt;
    sum += limit.value_or(0);
  }
  return sum > 0 && std::isfinite(sum) ? std::optional(sum) : std::nullopt;
}

/// What the owner wrote for all containers; of one of which that is not known, its request.
std::optional<double> OriginalRequestOf(const Pod& pod, Resource resource, int64_t time_ms) {
  double sum = 0;
  for (const auto& [name, container] : pod.containers) {
    const OriginalRequest* const original = pod.OriginalAt(time_ms, name);
    const auto written = original == nullptr ? std::nullopt : original->request.Get(resource);
    sum += written ? *written : container.request.Get(resource).At(time_ms).value_or(0);
  }
  return sum > 0 && std::isfinite(sum) ? std::optional(sum) : std::nullopt;
}

}  // namespace

/// Of a series that tells of an autoscaler what is kept.
AutoscalerSlot NamespaceState::SlotOf(const Series& series) {
  switch (series.role) {
    case Role::kAutoscalerInfo: return AutoscalerSlot::kInfo;
    case Role::kAutoscalerMin: return AutoscalerSlot::kMin;
    case Role::kAutoscalerMax: return AutoscalerSlot::kMax;
    default: break;
  }
  return series.object->second == ResourceName(Resource::kMemory) ? AutoscalerSlot::kMemoryTarget
                                                                  : AutoscalerSlot::kCpuTarget;
}

int64_t NamespaceState::LastReadinessMs(const Pod& pod) const {
  const uint32_t series = pod.readiness.series;
  return series == kNoSeries ? kNever : series_[series].last_ms;
}

PodReadiness::State NamespaceState::ReadinessAt(const Pod& pod, int64_t time_ms) const {
  return pod.readiness.At(time_ms, LastReadinessMs(pod));
}

/// `previous_ms`: of the series' sample before; kNever without one.
void NamespaceState::TellReadiness(uint32_t index, Sample sample, int64_t previous_ms) {
  const Series& series = series_[index];
  if (series.pod == nullptr) return;
  Pod& pod = *series.pod;
  PodReadiness& readiness = pod.readiness;
  if (series.role == Role::kPodReadyTime) {
    const bool is_time = sample.value >= 1 && sample.value < std::numeric_limits<uint32_t>::max();
    if (is_time) readiness.told_ready_s = static_cast<uint32_t>(sample.value);
    return;
  }
  if (sample.value < 0) return;
  const bool is_ready = sample.value > 0;
  const int64_t last_ms = readiness.series == index ? previous_ms : LastReadinessMs(pod);
  // It may be ready again later: that is no start, so this is the time to count the one it was.
  if (!is_ready && readiness.now == PodReadiness::State::kReady) {
    CountStart(pod, last_ms, last_ms);
  }
  readiness.Say(index, sample.timestamp_ms, is_ready, last_ms);
}

/// Counts the pod's start, once, when it was ready at that time. What was told after `settled_ms`
/// may not be all: when the pod became ready, kube-state-metrics may tell more exactly than the
/// first sample that finds it so.
void NamespaceState::CountStart(Pod& pod, int64_t time_ms, int64_t settled_ms) {
  if (pod.workload->hidden) return;
  PodReadiness& readiness = pod.readiness;
  const auto started_s = pod.started.At(time_ms);
  constexpr double kLatest = std::numeric_limits<uint32_t>::max();
  if (!started_s || !(*started_s >= 1 && *started_s < kLatest)) return;
  const auto start_s = static_cast<uint32_t>(*started_s);
  const auto start_ms = static_cast<int64_t>(*started_s * 1000);
  if (start_s == readiness.counted_start_s || start_ms > time_ms) return;
  StartupTimes& startups = pod.workload->startups;
  const int64_t told_ms = int64_t{readiness.told_ready_s} * 1000;
  if (readiness.told_ready_s >= start_s && told_ms <= time_ms) {
    if (told_ms > settled_ms) return;
    readiness.counted_start_s = start_s;
    if (pod.first_ms <= told_ms + kMaxGapMs) {
      startups.Add(start_ms, told_ms - start_ms);
    } else {
      startups.Hear(told_ms - start_ms);
    }
    return;
  }
  if (ReadinessAt(pod, time_ms) != PodReadiness::State::kReady) return;
  const int64_t ready_ms = readiness.changed_ms;
  if (ready_ms > settled_ms) return;
  readiness.counted_start_s = start_s;
  const int64_t took_ms = ready_ms - start_ms;
  const bool was_seen =
      readiness.before == PodReadiness::State::kUnready || took_ms <= kUnseenStartMs;
  if (took_ms >= 0 && was_seen) startups.Add(start_ms, took_ms);
}

/// Whether the pod could have used more in the minute. A container that is throttled holds its pod
/// back when it may use at least half of what the pod does: a small sidecar that is always
/// throttled says nothing of the load.
Headroom NamespaceState::HeadroomOf(const Pod& pod, Resource resource, UsageMinute minute) const {
  const int64_t end_ms = minute.start_ms + kMinuteMs;
  if (ReadinessAt(pod, end_ms) == PodReadiness::State::kUnready) return Headroom::kDisregard;
  double limit = 0;
  double throttled_limit = 0;
  bool all_known = true;
  bool is_throttled = false;  // one of which the limit is not known
  size_t containers = 0;
  for (const auto& [name, container] : pod.containers) {
    const ContainerUsage* const usage = container.usage.Get(resource).get();
    if (usage == nullptr || usage->last_ms() < minute.start_ms) continue;
    ++containers;
    const auto own = container.limit.Get(resource).At(end_ms);
    all_known = all_known && own && *own > 0;
    limit += own.value_or(0);
    if (resource != Resource::kCpu || !container.signs) continue;
    if (!(container.signs->throttled.Ratio(minute.start_ms) > kThrottledRatio)) continue;
    throttled_limit += own.value_or(0);
    is_throttled = is_throttled || !own;
  }
  if (throttled_limit > 0 && throttled_limit * 2 >= minute.usage) return Headroom::kNone;
  if (is_throttled && containers == 1) return Headroom::kNone;
  if (containers == 0 || !all_known) return Headroom::kUnknown;
  return minute.usage >= kAtLimitRatio * limit ? Headroom::kNone : Headroom::kSome;
}

std::optional<double> NamespaceState::ReplicasOf(const Workload& workload, int64_t time_ms) const {
  const auto found = replicas_.find({workload.id.workload_type, workload.id.workload});
  const auto told = found == replicas_.end() ? std::nullopt : found->second.fact.At(time_ms);
  return told && std::isfinite(*told) ? told : std::nullopt;
}

/// nullopt: nobody says of any pod whether it is.
std::optional<uint32_t> NamespaceState::ReadyPodsOf(const Workload& workload,
                                                    int64_t time_ms) const {
  std::optional<uint32_t> ready;
  for (const Pod* const pod : workload.pods) {
    const PodReadiness::State state = ReadinessAt(*pod, time_ms);
    if (state == PodReadiness::State::kUnknown) continue;
    ready = ready.value_or(0) + (state == PodReadiness::State::kReady ? 1 : 0);
  }
  return ready;
}

/// One pass over the workload's own pods; counts their starts as well.
NamespaceState::PodFacts NamespaceState::LookAtPods(Workload& workload, Resource resource,
                                                    int64_t time_ms) {
  fact_visits_ += workload.pods.size();
  PodFacts facts;
  facts.ready = ReadyPodsOf(workload, time_ms);
  const Pod* newest = nullptr;
  const auto rank = [time_ms](const Pod& pod) {
    return std::make_tuple(pod.first_ms > time_ms - kToldTogetherMs, -pod.first_ms,
                           std::string_view(pod.name));
  };
  for (Pod* const pod : workload.pods) {
    CountStart(*pod, time_ms, time_ms - kToldTogetherMs);
    if (newest != nullptr && !(rank(*pod) < rank(*newest))) continue;
    if (!pod->LivesAt(time_ms) || pod->CompletedAt(time_ms)) continue;
    const auto request = RequestOf(*pod, resource, time_ms);
    if (!request) continue;
    facts.request = request;
    newest = pod;
  }
  if (newest != nullptr) {
    facts.limit = LimitOf(*newest, resource, time_ms);
    facts.original_request = OriginalRequestOf(*newest, resource, time_ms);
  }
  return facts;
}

/// What a target of replicas needs, and whether it came.
void NamespaceState::ExplainScaling(const Workload& workload, WorkloadStatus& status) const {
  if (workload.hidden || !workload.demand) return;
  const int64_t now_ms = event_time_ms_;
  const auto add = [&status](std::string what, bool present, int64_t last_ms,
                             std::string_view hint) {
    Prerequisite item{std::move(what), present, std::nullopt, ""};
    if (present && last_ms != kNever) item.last_sample_ms = last_ms;
    if (!present) item.hint = hint;
    status.scaling_prerequisites.push_back(std::move(item));
  };
  const std::string& type = workload.id.workload_type;
  const std::string& name = workload.id.workload;

  const auto replicas = replicas_.find({type, name});
  const bool has_replicas = ReplicasOf(workload, now_ms).has_value();
  add("replicas", has_replicas, has_replicas ? replicas->second.fact.last_ms : kNever,
      "send kube_deployment_spec_replicas, kube_statefulset_replicas or their kin of "
      "kube-state-metrics; for other types name the metric in `sources` with the role replicas");

  const std::string_view scaler = autoscalers_.FirstOf(type, name, now_ms);
  const auto bounds = autoscalers_.BoundsOf(type, name, now_ms);
  add("bounds", bounds.has_value(), bounds ? bounds->last_ms : kNever,
      scaler.empty()
          ? "no HorizontalPodAutoscaler that scales it is known: send "
            "kube_horizontalpodautoscaler_info and …_spec_min_replicas, …_spec_max_replicas "
            "(kube-state-metrics), or give max_replicas in `scaling`"
          : "a HorizontalPodAutoscaler scales it, but its maximum is not known: send "
            "kube_horizontalpodautoscaler_spec_max_replicas (kube-state-metrics), or give "
            "max_replicas in `scaling`");

  const Resource resource = workload.demand->wish.resource;
  int64_t requested_ms = kNever;
  for (const Pod* const pod : workload.pods) {
    if (!pod->LivesAt(now_ms) || !RequestOf(*pod, resource, now_ms)) continue;
    for (const auto& [container, of] : pod->containers) {
      requested_ms = std::max(requested_ms, of.request.Get(resource).last_ms);
    }
  }
  add("request of a pod", requested_ms != kNever, requested_ms,
      "its pods must request the resource: send kube_pod_container_resource_requests "
      "(kube-state-metrics), or give base in `scaling`");

  add("start-up time", workload.startups.Usual().has_value(), kNever,
      "not needed, two minutes are taken until a start is seen: kube_pod_start_time, "
      "kube_pod_status_ready and kube_pod_status_ready_time (kube-state-metrics)");
}

}  // namespace tidemark::workloads
