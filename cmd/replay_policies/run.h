#pragma once
// Policies replayed over demands, with the loop closed (scaling/replay.h), and each one's knob
// turned over its whole range beside it.

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "cmd/backtest/demand.h"
#include "cmd/replay_policies/drawing.h"
#include "cmd/replay_policies/policies.h"
#include "cmd/replay_policies/shared_forecasts.h"
#include "model/forecast.h"
#include "model/result.h"
#include "model/scaling.h"
#include "scaling/replay.h"

namespace tidemark::replay_policies {

struct ReplayPlan {
  std::vector<NamedPolicy> policies;  ///< kBaseline among them
  /// What one pod requests, in the demand's unit. Of a trace whose manifest says how many pods its
  /// demand keeps busy it is what one of those costs and no more. Absent: 1.
  std::optional<double> request;
  int64_t startup_ms = kUsualStartupMs;  ///< counts as whole minutes, rounded up
  int32_t period_minutes = 1;            ///< of control
  ReplicaBounds bounds{.min = 1, .max = 50};
  int64_t warm_up_minutes = 1440;
  int32_t perfect_window_minutes = 5;
  bool trains_networks = false;
  uint64_t seed = 0;
  bool draws = false;  ///< fills ReplayedTrace::drawing

  int32_t StartupMinutes() const;
  int32_t LeadMinutes() const;  ///< how far ahead policies look, as Replay has it
  size_t Baseline() const;      ///< place of kBaseline
  /// Whether any policy reads forecasts.
  bool Forecasts() const;
  /// The candidates; none where no policy reads forecasts.
  std::vector<ForecastModel> Models() const;
};
/// Utilisation that "perfect forecast" aims at.
inline constexpr double kPerfectRatio = 0.9;

/// What became of one setting of a knob.
struct KnobOutcome {
  uint64_t pod_minutes = 0;
  uint64_t minutes_over_100 = 0;
};

/// Policies that differ in their knob alone.
struct PolicyFamily {
  PolicySettings settings;
  std::vector<double> knobs;  ///< rising
};

struct ReplayedTrace {
  std::string name;
  std::string kind;
  int64_t step_seconds = 60;
  double base = 1;          ///< what one pod counts for, in the demand's unit
  double cost_request = 1;  ///< R of the cost S = R·ΣN
  std::string why;          ///< it could not be replayed; the rest is then empty
  uint64_t minutes = 0;     ///< measured
  /// Of those, with more demand than the most replicas request: no policy can serve them.
  uint64_t minutes_over_bounds = 0;
  std::vector<scaling::ReplayOutcome> outcomes;  ///< by policy, without their minutes
  scaling::ReplayOutcome perfect;                ///< of a perfect forecast
  std::vector<std::vector<KnobOutcome>> turned;  ///< by family and knob
  Drawing drawing;
};

struct ReplayRun {
  ReplayPlan plan;
  std::vector<PolicyFamily> families;
  std::vector<size_t> family_of;  ///< by policy
  std::vector<ReplayedTrace> traces;

  size_t ReplayedCount() const;
};

/// One trace minute by minute, while it is at hand.
struct TraceMinutes {
  const ReplayPlan& plan;
  const ReplayedTrace& trace;
  const std::vector<scaling::ReplayedPolicy>& policies;  ///< the plan's, with their minutes
  const std::vector<ExpectedBand>& bands;  ///< by minute of the demand; empty: no forecasts
};

/// `minutes`, unless null, is given each trace that could be replayed; its error ends the run.
/// `told` hears which trace it is at and the share of it that is done. A demand that cannot be
/// replayed says why in the trace and does not end the run.
Result<ReplayRun> RunReplay(const ReplayPlan& plan, std::vector<backtest::Demand> demands,
                            const std::function<Result<void>(const TraceMinutes&)>& minutes,
                            const std::function<void(size_t trace, double share)>& told);

}  // namespace tidemark::replay_policies
