#include "cmd/replay_policies/run.h"

#include <algorithm>
#include <cmath>
#include <memory>
#include <string_view>
#include <utility>

#include "scaling/replay_forecasts.h"
#include "scaling/scaler.h"

namespace tidemark::replay_policies {
namespace {

constexpr int64_t kMinuteMs = 60'000;

std::vector<PolicySettings> SettingsOf(const ReplayPlan& plan) {
  std::vector<PolicySettings> settings;
  for (const NamedPolicy& policy : plan.policies) settings.push_back(policy.settings);
  return settings;
}

/// Policies without their knob: those that are alike are one family.
void FindFamilies(ReplayRun& run) {
  std::vector<PolicySettings> without_knob;
  for (const NamedPolicy& policy : run.plan.policies) {
    const PolicySettings plain = WithKnob(policy.settings, 0);
    const auto found = std::ranges::find(without_knob, plain);
    const auto family = static_cast<size_t>(found - without_knob.begin());
    if (found == without_knob.end()) {
      without_knob.push_back(plain);
      run.families.push_back({policy.settings, {}});
    }
    std::vector<double>& knobs = run.families[family].knobs;
    for (const double knob : KnobRange(policy.settings)) knobs.push_back(knob);
    run.family_of.push_back(family);
  }
  for (PolicyFamily& family : run.families) {
    std::ranges::sort(family.knobs);
    family.knobs.erase(std::unique(family.knobs.begin(), family.knobs.end()), family.knobs.end());
  }
}

/// Those asked for, then those beside them; the baseline always.
std::vector<size_t> Drawn(const ReplayPlan& plan) {
  std::vector<size_t> drawn;
  const size_t baseline = plan.Baseline();
  for (const bool asked : {true, false}) {
    for (size_t i = 0; i < plan.policies.size(); ++i) {
      if (i == baseline || plan.policies[i].is_asked != asked) continue;
      if (drawn.size() + 1 < kMaxDrawn) drawn.push_back(i);
    }
  }
  drawn.push_back(baseline);
  std::ranges::sort(drawn);
  return drawn;
}

std::unique_ptr<scaling::ForecastSource> Forecasts(const ReplayPlan& plan) {
  if (!plan.Forecasts()) return std::make_unique<scaling::NoForecasts>();
  scaling::ReplayForecastOptions options;
  options.rule.models = plan.Models();
  options.seed = plan.seed;
  options.train_networks = plan.trains_networks;
  // Beside the daemon's usual horizons the one that is asked for.
  std::vector<int32_t>& horizons = options.settings.horizons_minutes;
  const int32_t lead = std::min(plan.LeadMinutes(), kMaxForecastHorizonMinutes);
  if (std::ranges::find(horizons, lead) == horizons.end()) {
    horizons.push_back(lead);
    std::ranges::sort(horizons);
  }
  return std::make_unique<scaling::TrackForecasts>(options);
}

class Replayer {
 public:
  Replayer(ReplayRun& run, const std::function<Result<void>(const TraceMinutes&)>& minutes,
           const std::function<void(size_t, double)>& told)
      : run_(run), minutes_(minutes), told_(told), settings_(SettingsOf(run.plan)) {
    for (const PolicyFamily& family : run.families) {
      for (const double knob : family.knobs) {
        settings_.push_back(WithKnob(family.settings, knob));
      }
    }
  }

  Result<ReplayedTrace> Replay(const backtest::Demand& demand) {
    const ReplayPlan& plan = run_.plan;
    ReplayedTrace trace;
    trace.name = demand.name;
    trace.kind = demand.kind;
    trace.step_seconds = demand.step_seconds;
    trace.cost_request = plan.request.value_or(1);
    trace.base = demand.pods_per_unit ? 1 / *demand.pods_per_unit : trace.cost_request;
    const bool keeps = plan.draws || minutes_ != nullptr;
    scaling::ReplayOptions options;
    options.warm_up_minutes = plan.warm_up_minutes;
    options.startup_minutes = plan.StartupMinutes();
    options.period_minutes = plan.period_minutes;
    options.base = trace.base;
    options.bounds = plan.bounds;
    options.keep_minutes = keeps;
    options.keep_policies = plan.policies.size();
    const auto source = Forecasts(plan);
    SharedForecasts forecasts(*source, demand.minutes.first, demand.minutes.values.size(),
                              keeps && plan.Forecasts() ? plan.LeadMinutes() : 0);
    const scaling::ReplayDemand series{demand.minutes.first, demand.minutes.values};
    auto replayed = scaling::Replay(series, settings_, options, forecasts,
                                    [&](double share) { told_(run_.traces.size(), share); });
    if (!replayed) {
      trace.why = replayed.error().message;
      return trace;
    }
    options.keep_minutes = false;
    auto perfect =
        scaling::ReplayPerfect(series, kPerfectRatio, options, plan.perfect_window_minutes);
    if (!perfect) {
      trace.why = perfect.error().message;
      return trace;
    }
    trace.perfect = *std::move(perfect);
    trace.minutes = trace.perfect.minutes;
    CountOverBounds(series, trace);
    TakeTurned(*replayed, trace);
    replayed->resize(plan.policies.size());
    const std::vector<ExpectedBand> bands = forecasts.TakeBands();
    if (plan.draws) {
      trace.drawing =
          Draw(*replayed, Drawn(plan), bands, demand.minutes.first + plan.warm_up_minutes,
               plan.LeadMinutes(), trace.base);
    }
    if (minutes_ != nullptr) {
      if (auto good = minutes_({plan, trace, *replayed, bands}); !good) {
        return tl::unexpected(good.error());
      }
    }
    for (scaling::ReplayedPolicy& policy : *replayed) {
      policy.outcome.minutes_kept = {};
      trace.outcomes.push_back(std::move(policy.outcome));
    }
    return trace;
  }

 private:
  void CountOverBounds(const scaling::ReplayDemand& demand, ReplayedTrace& trace) const {
    const double most = trace.base * run_.plan.bounds.max;
    for (auto i = static_cast<size_t>(run_.plan.warm_up_minutes); i < demand.values.size(); ++i) {
      if (demand.values[i] > most) ++trace.minutes_over_bounds;
    }
  }

  void TakeTurned(const std::vector<scaling::ReplayedPolicy>& replayed,
                  ReplayedTrace& trace) const {
    size_t at = run_.plan.policies.size();
    for (const PolicyFamily& family : run_.families) {
      std::vector<KnobOutcome>& turned = trace.turned.emplace_back();
      for (size_t k = 0; k < family.knobs.size(); ++k, ++at) {
        const scaling::ReplayOutcome& outcome = replayed[at].outcome;
        turned.push_back({outcome.pod_minutes, outcome.minutes_over_100});
      }
    }
  }

  ReplayRun& run_;
  const std::function<Result<void>(const TraceMinutes&)>& minutes_;
  const std::function<void(size_t, double)>& told_;
  std::vector<PolicySettings> settings_;  // the plan's, then by family and knob
};

}  // namespace

int32_t ReplayPlan::StartupMinutes() const {
  return static_cast<int32_t>((startup_ms + kMinuteMs - 1) / kMinuteMs);
}

int32_t ReplayPlan::LeadMinutes() const {
  return scaling::LeadMinutes(startup_ms) + period_minutes - 1;
}

size_t ReplayPlan::Baseline() const {
  const auto found = std::ranges::find(policies, kBaseline, &NamedPolicy::name);
  return static_cast<size_t>(found - policies.begin());
}

bool ReplayPlan::Forecasts() const {
  return std::ranges::any_of(policies, [](const NamedPolicy& policy) {
    return policy.settings.policy != ScalingPolicy::kHpa;
  });
}

std::vector<ForecastModel> ReplayPlan::Models() const {
  std::vector<ForecastModel> models;
  if (!Forecasts()) return models;
  models = ForecastRule().models;
  for (const ForecastModel model : scaling::ModelsFor(SettingsOf(*this))) models.push_back(model);
  // Its paper has a BiLSTM; without it DEBI goes by the best of what there is.
  const bool has_debi = std::ranges::any_of(
      policies, [](const NamedPolicy& policy) { return IsDebi(policy.settings.policy); });
  if (trains_networks && has_debi) models.push_back(ForecastModel::kBiLstm);
  std::ranges::sort(models);
  models.erase(std::unique(models.begin(), models.end()), models.end());
  return models;
}

size_t ReplayRun::ReplayedCount() const {
  return static_cast<size_t>(
      std::ranges::count_if(traces, [](const ReplayedTrace& trace) { return trace.why.empty(); }));
}

Result<ReplayRun> RunReplay(const ReplayPlan& plan, std::vector<backtest::Demand> demands,
                            const std::function<Result<void>(const TraceMinutes&)>& minutes,
                            const std::function<void(size_t trace, double share)>& told) {
  ReplayRun run;
  run.plan = plan;
  FindFamilies(run);
  Replayer replayer(run, minutes, told);
  for (backtest::Demand& demand : demands) {
    told(run.traces.size(), 0);
    auto trace = replayer.Replay(demand);
    if (!trace) return tl::unexpected(trace.error());
    run.traces.push_back(*std::move(trace));
    demand = {};
  }
  return run;
}

}  // namespace tidemark::replay_policies
