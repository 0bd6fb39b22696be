// Demand of workloads: minutes of their pods handed over, waited for and summed.
//
// Which minutes a pod has, and which it lacks:
//  - It counts as a whole, with all its containers, when all of them that go on have passed the
//    minute. Of a container that has ended or fallen silent what it used until then counts for its
//    last minute; nobody waits whether another run of it begins in that minute, for each rollout
//    would delay the demand by minutes.
//  - It is missing in a minute without usage that lies between minutes with usage; after its last
//    one, for as long as it is told of otherwise (kube-state-metrics), has not completed, and not
//    for more than five minutes: then it is taken for one that serves nobody, and the demand goes
//    on without it. One that has not run for three minutes on end is not missed at all: it is in a
//    crash loop, and the others' demand is all there is.
//  - One that ends, or that nothing is told of any more, is not missing. Nor is one that has
//    shown no usage yet.
//
//  - One that comes back, or comes to the workload, is missing in the minute in which it does when
//    it is older and that minute has too little of it. Where a whole workload comes back after more
//    than five minutes (its Prometheus was down) that minute is left out: not all pods are back
//    yet.
//
// A pod whose owner is not known yet has no part in any workload: what it uses until then does not
// come into the demand (it is young, and would count for no more than the others' mean), and it is
// not missing there. A workload's demand begins with the first whole minute after the workload came
// to be, so that it does not begin with those of its pods whose owners happened to be told first.
//
// A pod that comes to another workload, as when its owner is told anew, counts there from the
// minute that is under way; so do all pods after a reload that changed what is wished.
#include <algorithm>
#include <set>
#include <utility>

#include "workloads/namespace_state.h"

namespace tidemark::workloads {
namespace {

int64_t MinuteOf(int64_t time_ms) { return time_ms - time_ms % kMinuteMs; }

int64_t MinuteAfter(int64_t time_ms) { return MinuteOf(time_ms + kMinuteMs - 1); }

/// Visits the usage of the resource by all containers of the pod that ever showed some.
template <class Visit>
void ForEachUsage(const Pod& pod, Resource resource, Visit visit) {
  for (const auto& [name, container] : pod.containers) {
    const ContainerUsage* const usage = container.usage.Get(resource).get();
    if (usage != nullptr && usage->last_ms() != kNever) visit(*usage);
  }
}

int64_t LastUsageMs(const Pod& pod, Resource resource) {
  int64_t last_ms = kNever;
  ForEachUsage(pod, resource,
               [&](const ContainerUsage& usage) { last_ms = std::max(last_ms, usage.last_ms()); });
  return last_ms;
}

/// End of the last minute that all containers of the pod that go on have passed; nullopt: none goes
/// on. One that is silent, against the pod's others, is not waited for.
std::optional<int64_t> PassedMs(const Pod& pod, Resource resource) {
  const int64_t newest_ms = LastUsageMs(pod, resource);
  std::optional<int64_t> passed_ms;
  ForEachUsage(pod, resource, [&](const ContainerUsage& usage) {
    if (usage.last_ms() < newest_ms - kMaxGapMs || !usage.GoesOn()) return;
    passed_ms = std::min(passed_ms.value_or(usage.passed_ms()), usage.passed_ms());
  });
  if (passed_ms) passed_ms = MinuteOf(*passed_ms);
  return passed_ms;
}

}  // namespace

/// Asks for what is wished and begins with it.
void NamespaceState::StartDemand(Workload& workload) {
  if (workload.hidden) return;
  const auto wish = context_.usage.DemandOf(workload.id);
  if (!wish) return;
  const int64_t begin_ms = event_time_ms_ == kNever ? kNever : MinuteAfter(event_time_ms_);
  workload.demand = std::make_unique<WorkloadDemand>(*wish, DemandSum(begin_ms),
                                                     &SharedContainer(workload, kDemand));
}

/// What is kept of its pods must go with it, or be there for others already.
void NamespaceState::StopDemand(Workload& workload) {
  if (!workload.demand) return;
  if (workload.demand->is_due) std::erase(due_demands_, &workload);
  workload.demand.reset();
}

/// After a reload. Sums of another wish are of no use: they begin anew.
void NamespaceState::AdaptDemands() {
  std::set<const Workload*> changed;
  for (const auto& [key, workload] : workloads_) {
    const auto wish = context_.usage.DemandOf(workload->id);
    if (wish == (workload->demand ? std::optional(workload->demand->wish) : std::nullopt)) continue;
    StopDemand(*workload);
    StartDemand(*workload);
    changed.insert(workload.get());
  }
  if (changed.empty()) return;
  for (const auto& [name, pod] : pods_) {
    if (changed.contains(pod->workload)) pod->demand.reset();
  }
}

/// The minutes in minutes_ are the container's.
void NamespaceState::TakeDemand(Pod& pod, Resource resource, std::optional<int64_t> passed_ms) {
  const WorkloadDemand* const demand = pod.workload->demand.get();
  if (demand == nullptr || demand->wish.resource != resource) return;
  if (!pod.demand) pod.demand = std::make_unique<PodDemand>();
  for (const UsageMinute& minute : minutes_) pod.demand->Add(minute);
  DemandSum& sum = pod.workload->demand->sum;
  const int64_t known_ms = std::max(sum.FastestMs(), sum.given_until_ms());
  const auto sampled_ms = passed_ms ? std::nullopt : PassedMs(pod, resource);
  FollowDemand(pod, passed_ms ? passed_ms : sampled_ms);
  if (sampled_ms && known_ms != kNever && *sampled_ms > known_ms + kMaxGapMs) {
    sum.LeaveOut(*sampled_ms);
  }
  // Nothing of it goes on: what has come is of a run that counted as ended long ago.
  if (pod.demand->state == PodDemand::State::kApart) pod.demand.reset();
}

/// Something of the pod has changed; `passed_ms`: up to where it has come, absent when it has
/// ended.
void NamespaceState::FollowDemand(Pod& pod, std::optional<int64_t> passed_ms) {
  WorkloadDemand& demand = *pod.workload->demand;
  PodDemand& own = *pod.demand;
  using State = PodDemand::State;
  if (!passed_ms) {
    if (own.state != State::kWaited) return;
    demand.sum.Leave(own.passed_ms);
    EndDemand(pod);
    return;
  }
  if (own.state != State::kWaited) {
    if (own.state == State::kEnded) {
      demand.ended.erase(pod.name);
    } else {
      const int64_t first_ms = own.open.empty() ? *passed_ms : own.open.front().start_ms;
      own.passed_ms = std::max(demand.sum.given_until_ms(), std::min(first_ms, *passed_ms));
      own.DropBefore(own.passed_ms);
      demand.container->BeginsAt(own.passed_ms, demand.wish.resource);
    }
    own.state = State::kWaited;
    demand.sum.Enter(own.passed_ms);
    ExpectDemand(pod, own.open.empty() ? *passed_ms : own.open.front().start_ms);
  }
  const int64_t from_ms = own.passed_ms;
  if (*passed_ms <= from_ms) return;
  HandOver(pod, *passed_ms, *passed_ms);
  ExpectDemand(pod, *passed_ms);
  if (demand.sum.Move(from_ms, *passed_ms)) DemandIsDue(*pod.workload);
}

/// The pod is there, maybe again, from this minute on.
void NamespaceState::ExpectDemand(Pod& pod, int64_t start_ms) {
  PodDemand& own = *pod.demand;
  start_ms = std::max(start_ms, own.passed_ms);
  const auto started_s = pod.started.At(start_ms);
  const double born_ms = started_s ? *started_s * 1000 : static_cast<double>(pod.first_ms);
  if (born_ms >= static_cast<double>(start_ms)) return;  // its first minute is never whole
  if (own.last_count_ms == kNever || start_ms > own.last_count_ms + kMaxGapMs) {
    own.last_count_ms = start_ms - kMinuteMs;
    own.run_since_ms = kNever;
  }
}

/// Nobody waits for the pod any more.
void NamespaceState::EndDemand(Pod& pod) {
  pod.demand->state = PodDemand::State::kEnded;
  pod.workload->demand->ended.emplace(pod.name, &pod);
  DemandIsDue(*pod.workload);
}

/// The pod counts for its workload no longer.
void NamespaceState::LeaveDemand(Pod& pod) {
  if (!pod.demand) return;
  WorkloadDemand& demand = *pod.workload->demand;
  if (pod.demand->state == PodDemand::State::kWaited) {
    if (demand.sum.Leave(pod.demand->passed_ms)) DemandIsDue(*pod.workload);
  }
  demand.ended.erase(pod.name);
  pod.demand.reset();
  // Of minutes that no pod has passed nobody knows what is lacking.
  if (demand.sum.SlowestMs() == kNever && demand.ended.empty()) demand.sum.DropOpen();
}

bool NamespaceState::IsYoung(const Pod& pod, int64_t end_ms, int64_t startup_ms) {
  const auto age_ms = AgeMs(pod, end_ms);
  return age_ms.value_or(end_ms - pod.first_ms) < startup_ms;
}

/// Gives the workload the pod's minutes up to `until_ms`. Minutes that it lacks after those that it
/// has count as missing up to `missing_until_ms`.
void NamespaceState::HandOver(Pod& pod, int64_t until_ms, int64_t missing_until_ms) {
  PodDemand& own = *pod.demand;
  WorkloadDemand& demand = *pod.workload->demand;
  if (until_ms <= own.passed_ms) return;
  ForEachUsage(pod, demand.wish.resource, [&](const ContainerUsage& usage) {
    const int64_t start_ms = MinuteOf(usage.last_ms());
    if (start_ms + kMinuteMs > until_ms) return;
    if (const auto last = usage.OpenUsage(start_ms)) own.Add({start_ms, *last});
  });
  const auto miss = [&](int64_t to_ms) {
    if (own.last_count_ms == kNever) return;
    to_ms = std::min(to_ms, own.last_count_ms + kMinuteMs + kMaxGapMs);
    int64_t start_ms = std::max(own.passed_ms, own.last_count_ms + kMinuteMs);
    for (; start_ms < to_ms; start_ms += kMinuteMs) demand.sum.AddMissing(start_ms);
  };
  for (const UsageMinute& minute : own.open) {
    if (minute.start_ms >= until_ms) break;
    miss(minute.start_ms);
    const bool is_young = IsYoung(pod, minute.start_ms + kMinuteMs, demand.wish.startup_ms);
    demand.sum.Add(minute, is_young,
                   is_young ? Headroom::kDisregard : HeadroomOf(pod, demand.wish.resource, minute));
    own.CountsIn(minute.start_ms);
  }
  miss(std::min(until_ms, missing_until_ms));
  own.DropBefore(until_ms);
  own.passed_ms = until_ms;
}

void NamespaceState::DemandIsDue(Workload& workload) {
  if (std::exchange(workload.demand->is_due, true)) return;
  due_demands_.push_back(&workload);
}

/// Once a minute: pods that have fallen silent, and workloads of which no pod goes on.
void NamespaceState::WatchDemands() {
  bool any_lags = false;
  // Forecasts are held for five minutes: who falls silent without a word must not have them
  // withdrawn.
  constexpr int64_t kPatienceMs = 3 * kMinuteMs;
  const auto lags = [](int64_t behind_ms, const DemandSum& sum) {
    return behind_ms < sum.FastestMs() - kPatienceMs;
  };
  for (const auto& [key, workload] : workloads_) {
    if (!workload->demand) continue;
    const DemandSum& sum = workload->demand->sum;
    if (sum.SlowestMs() == kNever) {
      if (sum.HasOpen() || !workload->demand->ended.empty()) DemandIsDue(*workload);
    } else if (lags(sum.SlowestMs(), sum)) {
      any_lags = true;
    }
  }
  if (!any_lags) return;
  for (const auto& [name, pod] : pods_) {
    ++demand_visits_;
    if (!pod->demand || pod->demand->state != PodDemand::State::kWaited) continue;
    WorkloadDemand& demand = *pod->workload->demand;
    if (!lags(pod->demand->passed_ms, demand.sum)) continue;
    if (!lags(LastUsageMs(*pod, demand.wish.resource), demand.sum)) continue;
    demand.sum.Leave(pod->demand->passed_ms);
    EndDemand(*pod);
  }
}

/// Closes what is due, at the end of a batch: within one, pods are at the most different times.
void NamespaceState::SettleDemands() {
  for (size_t i = 0; i < due_demands_.size(); ++i) {
    due_demands_[i]->demand->is_due = false;
    SettleDemand(*due_demands_[i]);
  }
  due_demands_.clear();
}

void NamespaceState::SettleDemand(Workload& workload) {
  WorkloadDemand& demand = *workload.demand;
  const Resource resource = demand.wish.resource;
  int64_t until_ms = demand.sum.SlowestMs();
  if (until_ms == kNever) {
    // All have ended: a minute more, in which one may go on, and no further than they came.
    if (event_time_ms_ == kNever) return;
    int64_t come_ms = demand.sum.OpenUntilMs();
    for (const auto& [name, pod] : demand.ended) {
      const int64_t last_ms = LastUsageMs(*pod, resource);
      if (last_ms != kNever) come_ms = std::max(come_ms, MinuteOf(last_ms) + kMinuteMs);
    }
    until_ms = std::min(come_ms, MinuteOf(event_time_ms_) - kMinuteMs);
  }
  for (auto at = demand.ended.begin(); at != demand.ended.end();) {
    ++demand_visits_;
    Pod& pod = *at->second;
    const bool lives = pod.LivesAt(until_ms) && !pod.CompletedAt(until_ms);
    // Without a marker what else is told of the pod tells until when it lived.
    const bool is_silent = PassedMs(pod, resource).has_value();
    const int64_t lived_until_ms = !lives || !pod.demand->IsSettled() ? kNever
                                   : is_silent ? MinuteOf(pod.last_ms + kMinuteMs)
                                               : until_ms;
    HandOver(pod, until_ms, lived_until_ms);
    const int64_t last_ms = pod.demand->last_count_ms;
    const bool is_over = (last_ms != kNever && until_ms > last_ms + kMaxGapMs) ||
                         ((!lives || last_ms == kNever) && LastUsageMs(pod, resource) < until_ms);
    if (is_over) pod.demand.reset();
    at = is_over ? demand.ended.erase(at) : std::next(at);
  }
  demand_minutes_.clear();
  demand.sum.Close(until_ms, demand_minutes_);
  WorkloadContainer& container = *demand.container;
  int64_t looked_ms = kNever;
  PodFacts of_pods;
  for (const DemandMinute& minute : demand_minutes_) {
    container.last_usage_ms = std::max(container.last_usage_ms, minute.start_ms);
    if (minute.start_ms < container.past_until_ms) continue;
    container.BeginsAt(minute.start_ms, resource);
    // What comes long after its time must not cost a look at all pods for each of its minutes.
    const int64_t end_ms = minute.start_ms + kMinuteMs;
    const int64_t look_ms =
        std::max(end_ms, demand_minutes_.back().start_ms + kMinuteMs - kMaxGapMs);
    if (look_ms != looked_ms) of_pods = LookAtPods(workload, resource, look_ms);
    looked_ms = look_ms;
    DemandFacts facts;
    facts.replicas = ReplicasOf(workload, end_ms);
    facts.request = of_pods.request;
    facts.limit = of_pods.limit;
    facts.original_request = of_pods.original_request;
    facts.ready_pods = of_pods.ready;
    facts.startup_ms = workload.startups.Usual();
    if (const auto bounds =
            autoscalers_.BoundsOf(workload.id.workload_type, workload.id.workload, end_ms)) {
      facts.min_replicas = bounds->min;
      facts.max_replicas = bounds->max;
    }
    context_.usage.AddDemand(container.index, resource, minute, facts);
  }
}

}  // namespace tidemark::workloads
