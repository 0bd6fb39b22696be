#pragma once
// What a policy would have done on a recorded demand, with the loop closed: the replicas are its
// own, the demand is what came, whatever they were.
//
// The rule, minute by minute (never on recorded percentages: those contain somebody else's
// scaling): replicas spec[0] = clamp(ceil(D[0] / 0.5), min, max), D in pods' worth; at the end of
// minute t the policy sees W1 = D[t] / spec[t] and gives the target, its window's highest, which is
// spec[t+1]; ready[t] = the least of spec[t - startup .. t] (before the start: spec[0]). Measured
// from the end of the warm-up on. A period of control of k minutes: it decides in each k-th minute
// only, and policies look k - 1 minutes further ahead. A minute without demand is not decided on,
// and not measured.
//
// Pure functions: the same demand, forecasts and options give the same report.

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "model/result.h"
#include "model/scaling.h"
#include "scaling/demand_forecast.h"

namespace tidemark::scaling {

/// Consecutive minutes of demand, NaN for gaps. In doubles, unlike forecast::DemandSeries: recorded
/// loads are round numbers and lie on edges (a tolerance, a whole pod), which rounding would move.
struct ReplayDemand {
  int64_t first = 0;  ///< minute of values[0], since 1970
  std::vector<double> values;
};

struct ReplayOptions {
  int64_t warm_up_minutes = 1440;  ///< learnt from and scaled on, but not measured
  int32_t startup_minutes = 2;     ///< from a pod's being asked for until it serves; 0 to 30
  int32_t period_minutes = 1;      ///< of control; 1 to 60
  double base = 1;                 ///< what one pod counts for, in the demand's unit
  ReplicaBounds bounds{.min = 1, .max = 50};
  bool keep_minutes = false;  ///< fills ReplayOutcome::minutes_kept
  /// Of the first so many policies only: knobs are turned over hundreds of settings.
  size_t keep_policies = SIZE_MAX;
};

/// One minute, for drawing and CSV.
struct ReplayedMinute {
  int64_t minute = 0;
  double demand = 0;  ///< NaN: not known
  int32_t replicas = 0;
  int32_t ready = 0;
  std::optional<ReplicaDecision> decision;  ///< at its end
};

struct ReplayOutcome {
  uint64_t minutes = 0;           ///< measured
  uint64_t pod_minutes = 0;       ///< sum of replicas; cost S is request × this
  double demand = 0;              ///< sum, in pods' worth
  uint64_t minutes_over_100 = 0;  ///< demand above what ready pods request
  uint64_t minutes_over_90 = 0;   ///< above 0.9 of it
  /// Above slo_utilization_ratio of it, of the policy's settings.
  uint64_t minutes_over_slo = 0;
  double unserved = 0;            ///< sum of what is above, in pods' worth
  uint64_t scale_events = 0;      ///< changes of replicas
  uint64_t longest_over_100 = 0;  ///< minutes on end
  int32_t least_replicas = 0;
  int32_t most_replicas = 0;
  std::vector<ReplayedMinute> minutes_kept;

  double UtilizationRatio() const;
  double UnservedRatio() const;
  double PerDay(uint64_t count) const;
};

/// Forecasts of a demand as the minutes pass: one for all policies that are compared, for they do
/// not depend on what the policies do.
class ForecastSource {
 public:
  virtual ~ForecastSource() = default;
  /// As of the end of this minute; valid until the next call. Called for each minute with demand,
  /// rising.
  virtual const DemandForecast& At(int64_t minute, double demand) = 0;
};

/// Told of each policy's decision as it is made: for the test that live and replay decide alike.
struct ReplayedPolicy {
  PolicySettings settings;
  ReplayOutcome outcome;
};

/// All policies side by side over one demand. `forecasts` is asked once a minute. `told` hears the
/// share that is done, now and then; may be null. kInvalidArgument: no more demand than warm-up,
/// values that are negative or infinite, options out of range.
Result<std::vector<ReplayedPolicy>> Replay(const ReplayDemand& demand,
                                           const std::vector<PolicySettings>& policies,
                                           const ReplayOptions& options, ForecastSource& forecasts,
                                           const std::function<void(double)>& told = {});

/// The same for a policy that knows the demand of the next start-up and one more minute exactly, at
/// the utilisation `ratio`: what no forecast can beat.
Result<ReplayOutcome> ReplayPerfect(const ReplayDemand& demand, double ratio,
                                    const ReplayOptions& options, int32_t window_minutes = 5);

}  // namespace tidemark::scaling
