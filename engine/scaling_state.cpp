#include "engine/scaling_state.h"

#include <algorithm>
#include <cmath>
#include <span>
#include <string_view>
#include <utility>

#include "model/replicated.h"
#include "scaling/demand_forecast.h"

namespace tidemark::engine {
namespace {

using forecast::ForecastTrack;
using workloads::DemandFacts;
using workloads::DemandMinute;
using workloads::kMinuteMs;

// Why there is no decision.
constexpr std::string_view kNoBounds = "no_bounds";
constexpr std::string_view kNoReplicas = "no_replicas";
constexpr std::string_view kNoRequest = "no_request";
constexpr std::string_view kNoLimit = "no_limit";
constexpr std::string_view kDisabled = "disabled";
constexpr std::string_view kNoDemand = "no_demand";
constexpr std::string_view kStale = "stale";

/// As long as a workload that has lost its bounds is remembered.
constexpr int64_t kForgetMinutes = PolicySettings::kMaxWindowMinutes;

/// Nothing is known ahead.
class NoForecast final : public scaling::DemandForecast {
 public:
  std::optional<double> Expected(std::optional<ForecastModel> /*model*/,
                                 int32_t /*minutes*/) const override {
    return std::nullopt;
  }
  bool Quantiles(int32_t /*minutes*/, std::span<const double> /*p*/,
                 std::span<double> /*out*/) const override {
    return false;
  }
  std::optional<double> HighWater(double /*risk*/) const override { return std::nullopt; }
  const forecast::DemandHistory& History() const override { return history_; }

 private:
  forecast::DemandHistory history_;
};

/// A number of replicas as it is told: a whole one, or it is none.
std::optional<int32_t> CountOf(const std::optional<double>& told) {
  if (!told || !(*told >= 0 && *told <= kMaxReplicas) || *told != std::floor(*told)) {
    return std::nullopt;
  }
  return static_cast<int32_t>(*told);
}

bool IsAmount(double value) { return std::isfinite(value) && value > 0; }

/// What one pod counts for, where the rule names no amount.
std::optional<double> BaseOf(UtilizationBase kind, const DemandFacts& facts) {
  switch (kind) {
    case UtilizationBase::kRequest: break;
    case UtilizationBase::kLimit: return facts.limit;
    case UtilizationBase::kOriginal: return facts.original_request;
  }
  return facts.request;
}

bool IsTold(const DemandFacts& facts) { return facts.min_replicas || facts.max_replicas; }

}  // namespace

ScalingState::Terms ScalingState::TermsOf(const ScalingRule& rule, bool is_named) {
  return {.policy = rule.policy,
          .min_replicas = rule.min_replicas,
          .max_replicas = rule.max_replicas,
          .base = rule.base,
          .base_kind = rule.base_kind,
          .escape_dead_band = rule.escape_dead_band,
          .startup_ms = rule.startup_ms,
          .enabled = rule.enabled,
          .is_named = is_named};
}

ScalingState::Terms ScalingState::TermsFor(const WorkloadId& workload) const {
  const ScalingRule& rule = settings_->RuleOf(workload);
  return TermsOf(rule, &rule != &settings_->usual);
}

ScalingState::ScalingState(ScalingSettingsPtr settings)
    : settings_(std::move(settings)), usual_(TermsOf(settings_->usual, false)) {}

void ScalingState::SetSettings(ScalingSettingsPtr settings) {
  settings_ = std::move(settings);
  usual_ = TermsOf(settings_->usual, false);
}

ScalingState::Entry* ScalingState::Find(uint32_t container) const {
  return container < entries_.size() ? entries_[container].get() : nullptr;
}

ScalingState::Entry& ScalingState::At(uint32_t container) {
  if (container >= entries_.size()) entries_.resize(container + 1);
  auto& entry = entries_[container];
  if (!entry) {
    entry = std::make_unique<Entry>();
    entry->terms = usual_;
  }
  return *entry;
}

void ScalingState::WorkloadIs(uint32_t container, const WorkloadId& workload) {
  if (!HasReplicas(workload.workload_type)) {
    Remove(container);
    return;
  }
  const Terms terms = TermsFor(workload);
  Entry* const known = Find(container);
  if (!terms.is_named && (known == nullptr || !known->kept || !terms.enabled)) {
    Remove(container);
    return;
  }
  Entry& entry = At(container);
  entry.terms = terms;
  entry.changed = true;
  if (!terms.enabled) {
    entry.kept.reset();
  } else if (entry.kept && entry.kept->scaler) {
    entry.kept->scaler->Adapt(terms.policy);
  }
}

std::optional<ReplicaBounds> ScalingState::BoundsOf(const Terms& terms, const DemandFacts& facts) {
  const auto max = terms.max_replicas ? terms.max_replicas : CountOf(facts.max_replicas);
  if (!max || *max < 1) return std::nullopt;
  const auto min = terms.min_replicas ? terms.min_replicas : CountOf(facts.min_replicas);
  return ReplicaBounds{.min = std::clamp(min.value_or(1), 1, *max), .max = *max};
}

/// All but the decision; `why` says what it lacks.
WorkloadScaling ScalingState::Facts(const Terms& terms, const DemandMinute& minute,
                                    const DemandFacts& facts) {
  WorkloadScaling now;
  now.bounds = BoundsOf(terms, facts);
  now.current_replicas = CountOf(facts.replicas);
  now.demand = minute.demand;
  now.base_kind = terms.base_kind;
  const auto base = terms.base ? terms.base : BaseOf(terms.base_kind, facts);
  if (base && IsAmount(*base)) now.request = base;
  now.minute_ms = minute.start_ms;
  now.is_startup_measured = !terms.startup_ms && facts.startup_ms;
  now.startup_ms = std::clamp<int64_t>(
      terms.startup_ms.value_or(facts.startup_ms.value_or(kUsualStartupMs)), 0, kMaxStartupMs);
  now.lead_minutes = scaling::LeadMinutes(now.startup_ms);
  if (facts.ready_pods && *facts.ready_pods <= static_cast<uint32_t>(kMaxReplicas)) {
    now.ready_pods = static_cast<int32_t>(*facts.ready_pods);
  }
  now.missing_pods = minute.missing;
  now.is_censored = minute.is_censored;
  if (!now.bounds) {
    now.why = kNoBounds;
  } else if (!now.current_replicas) {
    now.why = kNoReplicas;
  } else if (!now.request && *now.current_replicas > 0) {
    // An amount that the rule names is one.
    now.why = terms.base_kind == UtilizationBase::kLimit && !terms.base ? kNoLimit : kNoRequest;
  }
  return now;
}

void ScalingState::Add(uint32_t container, Resource resource, const DemandMinute& minute,
                       const DemandFacts& facts, const ForecastTrack* track) {
  Entry* entry = Find(container);
  const Terms& terms = entry == nullptr ? usual_ : entry->terms;
  if (!terms.enabled || !std::isfinite(minute.demand) || minute.demand < 0) return;
  if (entry == nullptr || !entry->kept) {
    if (!terms.is_named && !BoundsOf(terms, facts) && !IsTold(facts)) return;
    entry = &At(container);
  } else if (minute.start_ms <= entry->kept->newest.minute_ms) {
    return;
  } else if (!terms.is_named && !IsTold(facts)) {
    // What has no scaler has never been decided on.
    const int64_t last = entry->kept->scaler ? entry->kept->scaler->last_minute() : -1;
    if (minute.start_ms / kMinuteMs - last > kForgetMinutes) {
      Remove(container);
      return;
    }
  }
  if (!entry->kept) entry->kept.emplace();
  KeptScaling& kept = *entry->kept;
  // Another resource's demand says nothing of what was learnt.
  if (std::exchange(kept.resource, resource) != resource) kept.scaler.reset();
  kept.newest = Facts(entry->terms, minute, facts);
  entry->changed = true;
  if (kept.newest.why.empty()) Decide(*entry, track);
}

void ScalingState::Decide(Entry& entry, const ForecastTrack* track) {
  KeptScaling& kept = *entry.kept;
  WorkloadScaling& now = kept.newest;
  const scaling::ScalingMinute minute{
      .minute = now.minute_ms / kMinuteMs,
      .demand = *now.demand,
      .base = now.request.value_or(1),  // without replicas nothing is measured by it
      .replicas = *now.current_replicas,
      .ready_pods = now.ready_pods >= 0 ? now.ready_pods : *now.current_replicas,
      .missing_pods = now.missing_pods,
      .is_censored = now.is_censored,
      .bounds = *now.bounds,
      .lead_minutes = now.lead_minutes};
  if (!scaling::CheckMinute(minute)) {  // a base so small that nothing can be divided by it
    now.why = kNoRequest;
    return;
  }
  if (!kept.scaler) kept.scaler.emplace(entry.terms.policy, true);
  if (track != nullptr && track->steps() == DemandSteps::kMinutes) {
    now.decision = kept.scaler->Decide(minute, scaling::TrackForecast(*track, minute.minute));
  } else {
    now.decision = kept.scaler->Decide(minute, NoForecast());
  }
}

void ScalingState::Merge(uint32_t from, uint32_t into) {
  Entry* const gone = Find(from);
  if (gone == nullptr || !gone->kept || from == into) return;
  KeptScaling kept = std::move(*gone->kept);
  gone->kept.reset();
  const Entry* const there = Find(into);
  if (there != nullptr && (there->kept || !there->terms.enabled)) return;
  Restore(into, std::move(kept));
}

void ScalingState::Remove(uint32_t container) {
  if (container < entries_.size()) entries_[container].reset();
}

void ScalingState::Apply(const Terms& terms, WorkloadScaling& now) {
  now.policy = terms.policy;
  now.base_kind = terms.base_kind;
  now.escape_dead_band = terms.escape_dead_band;
}

WorkloadScaling ScalingState::Undecided(const Terms& terms, const ToldOfScaling& told) {
  WorkloadScaling now;
  Apply(terms, now);
  DemandFacts facts;
  facts.min_replicas = told.min_replicas;
  facts.max_replicas = told.max_replicas;
  now.bounds = BoundsOf(terms, facts);
  now.request = terms.base;
  if (terms.startup_ms) now.startup_ms = *terms.startup_ms;
  now.lead_minutes = scaling::LeadMinutes(now.startup_ms);
  if (!terms.enabled) {
    now.why = kDisabled;
  } else {
    now.why = now.bounds ? kNoDemand : kNoBounds;
  }
  return now;
}

std::optional<WorkloadScaling> ScalingState::Now(uint32_t container, int64_t as_of_ms,
                                                 const ToldOfScaling& told) const {
  const Entry* const entry = Find(container);
  if (entry == nullptr) {
    if (!told.is_autoscaled) return std::nullopt;
    return Undecided(usual_, told);
  }
  if (!entry->kept) return Undecided(entry->terms, told);
  const int64_t age = as_of_ms / kMinuteMs - entry->kept->newest.minute_ms / kMinuteMs;
  if (age > ForecastTrack::kHeldMinutes) {
    WorkloadScaling now = Undecided(entry->terms, told);
    now.minute_ms = entry->kept->newest.minute_ms;
    now.why = kStale;
    return now;
  }
  WorkloadScaling now = entry->kept->newest;
  const UtilizationBase base_kind = now.base_kind;
  Apply(entry->terms, now);
  now.base_kind = base_kind;  // of the minute
  return now;
}

std::optional<WorkloadScaling> ScalingState::WithoutDemand(const WorkloadId& workload,
                                                           const ToldOfScaling& told) const {
  if (settings_->rules.empty() && !told.is_autoscaled) return std::nullopt;
  if (!HasReplicas(workload.workload_type)) return std::nullopt;
  const Terms terms = TermsFor(workload);
  if (!terms.is_named && !told.is_autoscaled) return std::nullopt;
  return Undecided(terms, told);
}

bool ScalingState::TakeChanged(uint32_t container) {
  Entry* const entry = Find(container);
  return entry != nullptr && std::exchange(entry->changed, false);
}

const WorkloadScaling* ScalingState::NewestOf(uint32_t container) const {
  const Entry* const entry = Find(container);
  return entry != nullptr && entry->kept ? &entry->kept->newest : nullptr;
}

size_t ScalingState::MemoryBytes(uint32_t container) const {
  const Entry* const entry = Find(container);
  if (entry == nullptr) return 0;
  size_t bytes = sizeof(*entry) + sizeof(entries_[container]);
  if (entry->kept && entry->kept->scaler) {
    bytes += entry->kept->scaler->MemoryBytes() - sizeof(*entry->kept->scaler);
  }
  return bytes;
}

void ScalingState::Restore(uint32_t container, KeptScaling kept) {
  Entry& entry = At(container);
  if (kept.scaler) kept.scaler->Adapt(entry.terms.policy);
  entry.kept = std::move(kept);
  entry.changed = true;
}

}  // namespace tidemark::engine
