// What a namespace shows: its workloads as of its event time, and why one has no recommendation
// yet.
#include <algorithm>
#include <unordered_map>
#include <utility>

#include "workloads/namespace_state.h"

namespace tidemark::workloads {
namespace {

constexpr size_t kMaxPodsShown = 100;

std::string OwnerText(const Pod& pod) {
  if (!pod.owner) return "unknown: no kube_pod_owner yet";
  if (pod.owner->kind.empty()) return "none";
  return pod.owner->kind + "/" + pod.owner->name;
}

PodStatus StatusOf(const Pod& pod) {
  PodStatus status{pod.name, OwnerText(pod), ""};
  if (!pod.workload->hidden) {
    status.workload = pod.workload->id.workload_type + "/" + pod.workload->id.workload;
  }
  return status;
}

/// Whether something came of the pod's container within the look-back: one that was renamed or
/// removed does not share the pod's minimum (kubernetes/autoscaler #6744), nor what the pod uses.
/// Of a pod that is silent as a whole those count that were there last.
bool LivesIn(const Pod& pod, const PodContainer& container, int64_t as_of_ms) {
  return container.LastSeenMs() >= std::min(as_of_ms, pod.last_ms) - kMaxGapMs;
}

/// What a pod uses as a whole (its network) stands under no name, as does a process: not one of the
/// containers that share anything.
bool IsContainer(std::string_view name) {
  return !name.empty() && name != kPodSum && name != kDemand;
}

/// At least 1.
size_t LiveContainers(const Pod& pod, int64_t as_of_ms) {
  size_t live = 0;
  for (const auto& [name, container] : pod.containers) {
    if (IsContainer(name) && LivesIn(pod, container, as_of_ms)) ++live;
  }
  return std::max<size_t>(1, live);
}

/// The same of a workload whose pods are all forgotten.
bool WasUsedLast(const Workload& workload, const WorkloadContainer& container) {
  int64_t last_ms = kNever;
  for (const auto& [name, each] : workload.containers) {
    if (name != kDemand) last_ms = std::max(last_ms, each.last_usage_ms);
  }
  return container.last_usage_ms != kNever && container.last_usage_ms >= last_ms - kMaxGapMs;
}

/// The usage that feeds requests, and its sources, for hints.
struct Needed {
  Resource resource;
  std::string_view hint;
};
constexpr std::array<Needed, 2> kNeeded = {{
    {Resource::kCpu,
     "send container_cpu_usage_seconds_total with container, pod and namespace labels; two samples "
     "over a minute apart make the first value"},
    {Resource::kMemory,
     "send container_memory_working_set_bytes with container, pod and namespace labels; the first "
     "value comes when its minute is over"},
}};

}  // namespace

struct NamespaceState::PodsOfWorkload {
  std::vector<const Pod*> pods;  // the one that speaks for the workload first
  size_t live = 0;               // alive and not completed
};

std::vector<WorkloadView> NamespaceState::View(int64_t as_of_ms) {
  dirty_ = false;
  return Peek(as_of_ms);
}

std::vector<WorkloadView> NamespaceState::Peek(int64_t as_of_ms) const {
  return ViewsOf(nullptr, as_of_ms);
}

std::vector<WorkloadView> NamespaceState::PeekAt(std::string_view workload_type,
                                                 std::string_view workload,
                                                 int64_t as_of_ms) const {
  const auto found = workloads_.find({std::string(workload_type), std::string(workload)});
  if (found == workloads_.end()) return {};
  return ViewsOf(found->second.get(), as_of_ms);
}

/// Of all exported workloads, or of `only` one.
std::vector<WorkloadView> NamespaceState::ViewsOf(const Workload* only, int64_t as_of_ms) const {
  as_of_ms = std::max(as_of_ms, event_time_ms_);
  std::unordered_map<const Workload*, PodsOfWorkload> pods_of;
  for (const auto& [name, pod] : pods_) {
    if (only != nullptr ? pod->workload != only : pod->workload->hidden) continue;
    PodsOfWorkload& pods = pods_of[pod->workload];
    pods.pods.push_back(pod.get());
    if (pod->LivesAt(as_of_ms) && !pod->CompletedAt(as_of_ms)) ++pods.live;
  }
  for (auto& [workload, pods] : pods_of) {
    // A rolling update has pods of both kinds: the newest shows what the spec says now.
    const auto rank = [as_of_ms](const Pod* pod) {
      return std::make_tuple(!pod->LivesAt(as_of_ms), pod->CompletedAt(as_of_ms), -pod->first_ms);
    };
    std::stable_sort(pods.pods.begin(), pods.pods.end(),
                     [&](const Pod* a, const Pod* b) { return rank(a) < rank(b); });
  }
  std::vector<WorkloadView> views;
  const auto add = [&](const Workload& workload) {
    const auto pods = pods_of.find(&workload);
    views.push_back(ViewOf(workload, pods == pods_of.end() ? nullptr : &pods->second, as_of_ms));
  };
  if (only != nullptr) {
    add(*only);
    return views;
  }
  views.reserve(workloads_.size());
  for (const auto& [key, workload] : workloads_) add(*workload);
  return views;
}

WorkloadView NamespaceState::ViewOf(const Workload& workload, const PodsOfWorkload* pods,
                                    int64_t as_of_ms) const {
  WorkloadView view;
  view.id = &workload.id;
  view.last_sample_ms = workload.last_sample_ms;
  view.replicas = pods == nullptr ? 0 : static_cast<double>(pods->live);
  view.replicas = ReplicasOf(workload, as_of_ms).value_or(view.replicas);
  view.ready_pods = ReadyPodsOf(workload, as_of_ms);
  view.startup_ms = workload.startups.Usual();
  if (const auto bounds =
          autoscalers_.BoundsOf(workload.id.workload_type, workload.id.workload, as_of_ms)) {
    view.min_replicas = bounds->min;
    view.max_replicas = bounds->max;
  }
  view.is_autoscaled =
      !autoscalers_.FirstOf(workload.id.workload_type, workload.id.workload, as_of_ms).empty();
  view.utilization =
      autoscalers_.UtilizationOf(workload.id.workload_type, workload.id.workload, as_of_ms);
  if (pods != nullptr) {
    view.containers_in_pod = LiveContainers(*pods->pods.front(), as_of_ms);
  }
  view.containers_known = 0;
  for (const auto& [name, container] : workload.containers) {
    if (name == kPodSum) {
      view.pod_sum = container.index;
      continue;
    }
    if (name == kDemand) {
      if (workload.demand) view.demand = container.index;
      continue;
    }
    ContainerView shown;
    shown.name = name;
    shown.container = container.index;
    if (pods == nullptr) {
      shown.in_pod = WasUsedLast(workload, container);
    } else {
      const Pod& newest = *pods->pods.front();
      const auto found = newest.containers.find(name);
      shown.in_pod = found != newest.containers.end() && LivesIn(newest, found->second, as_of_ms);
    }
    for (size_t i = 0; pods != nullptr && i < pods->pods.size(); ++i) {
      const auto found = pods->pods[i]->containers.find(name);
      if (found == pods->pods[i]->containers.end()) continue;
      bool told = false;
      const auto show = [&](const ResourceSlots<Fact>& facts,
                            ResourceSlots<std::optional<double>>& out) {
        facts.ForEach([&](Resource resource, const Fact& fact) {
          const auto value = fact.At(as_of_ms);
          if (value) out.At(resource) = value;
          told = told || value;
        });
      };
      show(found->second.request, shown.request);
      show(found->second.limit, shown.limit);
      if (const auto* const original = pods->pods[i]->OriginalAt(as_of_ms, name)) {
        shown.original_request = original->request;
        told = true;
      }
      if (told) break;
    }
    if (IsContainer(name)) ++view.containers_known;
    view.containers.push_back(std::move(shown));
  }
  view.containers_known = std::max<size_t>(1, view.containers_known);
  return view;
}

void NamespaceState::ExplainWorkload(const Workload& workload,
                                     std::vector<WorkloadStatus>& out) const {
  WorkloadStatus status;
  status.cluster = cluster_;
  status.name_space = name_;
  status.workload_type = workload.hidden ? "" : workload.id.workload_type;
  status.workload = workload.id.workload;
  std::map<Resource, int64_t> requests;
  for (const Needed& needed : kNeeded) requests[needed.resource] = kNever;
  std::map<std::pair<std::string, Resource>, int64_t> usage;
  const bool has_containers =
      std::ranges::any_of(workload.containers, [](const auto& c) { return IsContainer(c.first); });
  const auto counts = [has_containers](std::string_view name) {
    return IsContainer(name) || (!has_containers && name.empty());
  };
  for (const auto& [name, container] : workload.containers) {
    if (!counts(name)) continue;
    for (const Needed& needed : kNeeded) usage[{name, needed.resource}] = kNever;
    const bool known = container.last_usage_ms != kNever || container.last_kill_ms != kNever;
    if (known && !workload.hidden) status.has_recommendation = true;
  }
  for (const auto& [name, pod] : pods_) {
    if (pod->workload != &workload) continue;
    if (status.pods.size() < kMaxPodsShown) status.pods.push_back(StatusOf(*pod));
    for (const auto& [container_name, container] : pod->containers) {
      if (!counts(container_name)) continue;
      for (const Needed& needed : kNeeded) {
        if (const auto& seen = container.usage.Get(needed.resource)) {
          int64_t& last = usage[{container_name, needed.resource}];
          last = std::max(last, seen->last_ms());
        }
        int64_t& told = requests[needed.resource];
        told = std::max(told, container.request.Get(needed.resource).last_ms);
      }
    }
  }
  const auto add = [&status](std::string what, int64_t last_ms, std::string_view hint) {
    Prerequisite item{std::move(what), last_ms != kNever, std::nullopt, ""};
    if (item.present) {
      item.last_sample_ms = last_ms;
    } else {
      item.hint = hint;
    }
    status.prerequisites.push_back(std::move(item));
  };
  Prerequisite owner{"owner of its pods", !workload.hidden, std::nullopt, ""};
  if (workload.hidden) {
    owner.hint =
        "send kube_pod_owner, kube_replicaset_owner and kube_job_owner (kube-state-metrics)";
  }
  status.prerequisites.push_back(std::move(owner));
  for (const auto& [key, last_ms] : usage) {
    const auto& [container, resource] = key;
    std::string what = std::string(ResourceName(resource)) + " usage";
    if (!container.empty()) what += " of container " + container;
    add(std::move(what), last_ms, kNeeded[resource == Resource::kCpu ? 0 : 1].hint);
  }
  if (workload.id.workload_type != "process") {
    for (const Needed& needed : kNeeded) {
      add(std::string(ResourceName(needed.resource)) + " request", requests[needed.resource],
          "not needed for a recommendation, only to compare: kube_pod_container_resource_requests");
    }
  }
  ExplainScaling(workload, status);
  out.push_back(std::move(status));
}

void NamespaceState::Explain(std::string_view workload, std::vector<WorkloadStatus>& out) const {
  for (const auto& [key, candidate] : workloads_) {
    if (key.second == workload) ExplainWorkload(*candidate, out);
  }
  for (const auto& [pod_name, hidden] : hidden_) {
    const auto found = pods_.find(pod_name);
    if (found == pods_.end()) continue;
    const auto& owner = found->second->owner;
    const bool named =
        pod_name == workload ||
        (owner && (owner->name == workload || WithoutTemplateHash(owner->name) == workload));
    if (named && out.size() < kMaxPodsShown) ExplainWorkload(*hidden, out);
  }
}

}  // namespace tidemark::workloads
