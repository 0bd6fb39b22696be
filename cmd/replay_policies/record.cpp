#include "cmd/replay_policies/record.h"

#include "cmd/replay_policies/words.h"

namespace tidemark::replay_policies {
namespace {

using Amount = std::optional<double>;

/// Where a record comes from; absent parts leave their fields empty.
struct Parts {
  std::string trace;
  std::string kind;
  std::string policy;
  const PolicyFigures* figures = nullptr;
  const ReplayedTrace* replayed = nullptr;
  const scaling::ReplayOutcome* outcome = nullptr;
  const PolicySettings* settings = nullptr;
  const std::optional<EqualMinutes>* equal = nullptr;
};

Record Make(const Parts& parts) {
  const PolicyFigures& figures = *parts.figures;
  const auto of_trace = [&](auto value) {
    return parts.replayed != nullptr ? Amount(static_cast<double>(value)) : Amount();
  };
  const auto count = [&](uint64_t scaling::ReplayOutcome::*member) -> FieldValue {
    return parts.outcome != nullptr ? FieldValue(parts.outcome->*member) : FieldValue(Amount());
  };
  const auto extreme = [&](int32_t scaling::ReplayOutcome::*member) -> FieldValue {
    return parts.outcome != nullptr ? FieldValue(static_cast<uint64_t>(parts.outcome->*member))
                                    : FieldValue(Amount());
  };
  const bool has_objective =
      parts.settings != nullptr && parts.settings->policy == ScalingPolicy::kTidemark;
  const bool has_equal = parts.equal != nullptr && parts.equal->has_value();
  Record record = {
      {"trace", parts.trace},
      {"class", parts.kind},
      {"policy", parts.policy},
      {"utilization_ratio", Amount(figures.utilization_ratio)},
      {"cost_ratio", Amount(figures.cost_ratio)},
      {"pod_minutes", count(&scaling::ReplayOutcome::pod_minutes)},
      {"minutes_over_100_per_day", Amount(figures.over_100_per_day)},
      {"minutes_over_90_per_day", Amount(figures.over_90_per_day)},
      {"unserved_ratio", Amount(figures.unserved_ratio)},
      {"scale_events_per_day", Amount(figures.scale_events_per_day)},
      {"minutes", count(&scaling::ReplayOutcome::minutes)},
      {"minutes_over_100", FieldValue(figures.over_100)},
      {"minutes_over_90", FieldValue(figures.over_90)},
      {"longest_minutes_over_100", count(&scaling::ReplayOutcome::longest_over_100)},
      {"request", of_trace(parts.replayed != nullptr ? parts.replayed->cost_request : 0)},
      {"cost", parts.replayed != nullptr ? Amount(figures.cost) : Amount()},
      {"cost_per_minute", Amount(figures.cost_per_minute)},
      {"replicas_min", extreme(&scaling::ReplayOutcome::least_replicas)},
      {"replicas_mean", Amount(figures.mean_replicas)},
      {"replicas_max", extreme(&scaling::ReplayOutcome::most_replicas)},
      {"slo_utilization_ratio",
       has_objective ? Amount(parts.settings->slo_utilization_ratio) : Amount()},
      {"slo_time_ratio", has_objective ? Amount(parts.settings->slo_time_ratio) : Amount()},
      {"slo_reached_ratio", has_objective ? Amount(figures.over_slo_ratio) : Amount()},
      {"knob",
       parts.settings != nullptr ? std::string(KnobName(parts.settings->policy)) : std::string()},
      {"knob_setting", parts.settings != nullptr ? Amount(KnobOf(*parts.settings)) : Amount()},
      {"equal_minutes_cost_ratio", has_equal ? Amount((*parts.equal)->cost_ratio) : Amount()},
      {"equal_minutes_knob_setting", has_equal ? Amount((*parts.equal)->knob) : Amount()},
      {"equal_minutes_over_100_per_day",
       has_equal ? Amount((*parts.equal)->over_100_per_day) : Amount()},
      {"step_seconds", of_trace(parts.replayed != nullptr ? parts.replayed->step_seconds : 0)},
  };
  return record;
}

}  // namespace

Record PolicyRecord(const ReplayRun& run, const ReplayedTrace& trace, const Summary& summary,
                    size_t policy) {
  const NamedPolicy& named = run.plan.policies[policy];
  return Make({.trace = trace.name,
               .kind = trace.kind,
               .policy = named.name,
               .figures = &summary.policies[policy],
               .replayed = &trace,
               .outcome = &trace.outcomes[policy],
               .settings = &named.settings,
               .equal = &summary.equal[run.family_of[policy]]});
}

Record PerfectRecord(const ReplayedTrace& trace, const Summary& summary) {
  return Make({.trace = trace.name,
               .kind = trace.kind,
               .policy = std::string(kPerfectName),
               .figures = &summary.perfect,
               .replayed = &trace,
               .outcome = &trace.perfect});
}

Record MeanRecord(const ReplayRun& run, const Summary& summary, size_t policy) {
  const NamedPolicy& named = run.plan.policies[policy];
  return Make({.trace = "*",
               .kind = summary.kind,
               .policy = named.name,
               .figures = &summary.policies[policy],
               .settings = &named.settings,
               .equal = &summary.equal[run.family_of[policy]]});
}

Record MeanPerfectRecord(const Summary& summary) {
  return Make({.trace = "*",
               .kind = summary.kind,
               .policy = std::string(kPerfectName),
               .figures = &summary.perfect});
}

}  // namespace tidemark::replay_policies
