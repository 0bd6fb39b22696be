// Kills for memory: from the series that tell them to the container's history.
#include <algorithm>

#include "workloads/namespace_state.h"

namespace tidemark::workloads {

/// What one sample of a series of kills says.
void NamespaceState::TellKills(uint32_t index, Sample sample) {
  const Series& series = series_[index];
  if (series.container == nullptr) return;
  KillWatch& watch = series.container->Kills();
  const uint64_t key = series.part.hash;
  KillWatch::Outcome outcome;
  switch (series.role) {
    case Role::kRestarts: watch.SetRestarts(key, index, sample, event_time_ms_, outcome); break;
    case Role::kTerminatedReason:
      if (series.part.is_one_core) {
        watch.SetOtherReason(key, sample, outcome);
      } else {
        watch.SetReason(key, index, sample, outcome);
      }
      break;
    case Role::kTerminatedTime: watch.SetTerminated(key, index, sample, outcome); break;
    case Role::kOomEvents: watch.SetOomEvents(key, index, sample, outcome); break;
    default: return;
  }
  TakeOutcome(*series.pod, *series.container, outcome);
}

void NamespaceState::TakeOutcome(Pod& pod, PodContainer& container,
                                 const KillWatch::Outcome& outcome) {
  EngineCounters& counters = context_.counters;
  for (const Kill& kill : outcome.kills) GiveKill(container, kill);
  if (outcome.no_kills > 0) counters.restarts_without_kill.fetch_add(outcome.no_kills);
  if (outcome.repeated > 0) counters.oom_kills_repeated.fetch_add(outcome.repeated);
  if (!container.kills->IsSettled()) undecided_.emplace(pod.name, &pod);
}

/// Hands a kill on to the estimators.
void NamespaceState::GiveKill(PodContainer& container, const Kill& kill) {
  WorkloadContainer& shared = *container.shared;
  if (kill.time_ms < shared.past_until_ms) {  // the past that was merged has it
    context_.counters.oom_kills_repeated.fetch_add(1, std::memory_order_relaxed);
    return;
  }
  shared.last_kill_ms = std::max(shared.last_kill_ms, kill.time_ms);
  context_.usage.AddKill(container.container, container.index, kill);
  context_.counters.oom_kills.fetch_add(1, std::memory_order_relaxed);
}

/// Decides the restarts that have waited long enough, pod by pod in the order of their names.
void NamespaceState::SettleKills() {
  for (auto at = undecided_.begin(); at != undecided_.end();) {
    Pod& pod = *at->second;
    bool settled = true;
    for (auto& [name, container] : pod.containers) {
      if (!container.kills || container.kills->IsSettled()) continue;
      KillWatch::Outcome outcome;
      container.kills->Settle(event_time_ms_, outcome);
      TakeOutcome(pod, container, outcome);
      settled = settled && container.kills->IsSettled();
    }
    at = settled ? undecided_.erase(at) : std::next(at);
  }
}

void NamespaceState::GiveKillForTest(std::string_view pod, std::string_view container,
                                     const Kill& kill) {
  PodContainer& of = pods_.find(pod)->second->containers.find(container)->second;
  Kill told = kill;
  if (!told.requested_bytes && of.kills) {
    told.requested_bytes = of.kills->RequestBefore(0, told.time_ms);
  }
  GiveKill(of, told);
  dirty_ = true;
}

}  // namespace tidemark::workloads
