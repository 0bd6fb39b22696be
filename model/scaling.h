#pragma once
// How many replicas a workload should have: by which policy, within which bounds, and why.
//
// Demand is what all pods of a workload use in a minute together, in the resource's unit. A load
// ratio W is a demand divided by what the present replicas request (replicas × request of one pod):
// ratios only, percent nowhere. Plain values; thread-safe.

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "model/forecast.h"
#include "model/resource.h"
#include "model/result.h"
#include "model/selector.h"
#include "model/workload_id.h"

namespace tidemark {

/// What decides. The numbers are kept in saved state: they stay.
enum class ScalingPolicy : uint8_t {
  kHpa = 0,           ///< the stock formula of Kubernetes' HorizontalPodAutoscaler
  kArimaHpa = 1,      ///< the same, on ARIMA's forecast where that is higher
  kLstmHpa = 2,       ///< on an LSTM's
  kBiLstmHpa = 3,     ///< on a BiLSTM's
  kEvtBiLstmHpa = 4,  ///< on a BiLSTM's, capped at the high-water mark
  kDebi = 5,          ///< DEBI-HPA with a useful mark (risk 0.001), rounded up
  kDebiPaper = 6,     ///< DEBI-HPA as its paper has it (risk 0.1, nearest)
  kTidemark = 7,      ///< by the risk of being short that an objective allows
};
inline constexpr size_t kScalingPolicyCount = 8;

/// As the configuration and metrics write them: hpa, arima-hpa, lstm-hpa, bilstm-hpa,
/// evt-bilstm-hpa, debi, debi-paper, tidemark.
std::string_view ToString(ScalingPolicy policy);
std::optional<ScalingPolicy> ScalingPolicyNamed(std::string_view name);

/// What a policy goes by. Each reads what concerns it.
struct PolicySettings {
  ScalingPolicy policy = ScalingPolicy::kTidemark;
  /// hpa and its predictive kin: the utilisation aimed at, above 0.
  double target_utilization_ratio = 0.5;
  /// debi: U_lo and U_hi, the target at N_min and the one approached with many replicas; 0 < low
  /// <= high <= 1.
  double utilization_low_ratio = 0.3;
  double utilization_high_ratio = 0.7;
  /// No change while |W / target - 1| is at most this; tidemark: no scale-down by less. In [0, 1).
  double tolerance_ratio = 0.1;
  /// evt-bilstm-hpa, debi: risk of the high-water mark W3; in (0, 0.5).
  double high_water_risk = 0.001;
  /// tidemark: the objective. Utilisation of the ready pods is to be above `slo_utilization_ratio`,
  /// in (0, 1], in no more than `slo_time_ratio`, in (0, 0.5), of all minutes.
  double slo_utilization_ratio = 0.9;
  double slo_time_ratio = 0.02;
  /// Stabilisation: the highest recommendation of the last so many minutes counts, the present one
  /// among them; from 1 to kMaxWindowMinutes.
  int32_t window_minutes = 3;

  static constexpr int32_t kMaxWindowMinutes = 60;

  friend bool operator==(const PolicySettings&, const PolicySettings&) = default;
};

/// With what is usual for the policy: debi-paper has risk 0.1; all but tidemark a window of five
/// minutes (Kubernetes' down-scale stabilisation).
PolicySettings UsualSettings(ScalingPolicy policy);
/// kInvalidArgument, naming the field as the configuration does (e.g. `slo.time`), what it is and
/// what is allowed.
Result<void> CheckSettings(const PolicySettings& settings);

/// 1 <= min <= max.
struct ReplicaBounds {
  int32_t min = 1;
  int32_t max = 1;

  friend bool operator==(const ReplicaBounds&, const ReplicaBounds&) = default;
};
/// More than that is no number of replicas.
inline constexpr int32_t kMaxReplicas = 100'000;

/// What utilisation is measured against: what one pod counts for.
enum class UtilizationBase : uint8_t {
  kRequest = 0,   ///< what it requests now
  kLimit = 1,     ///< its limit
  kOriginal = 2,  ///< what its owner wrote before a correction, where known; else its request
};
std::string_view ToString(UtilizationBase base);  ///< request, limit, original

/// How which workloads are scaled; the first rule that matches applies.
struct ScalingRule {
  Selector selector;    ///< over cluster, namespace, workload_type and workload
  bool enabled = true;  ///< false: no target is given
  PolicySettings policy;
  /// In place of those of its HorizontalPodAutoscaler.
  std::optional<int32_t> min_replicas;
  std::optional<int32_t> max_replicas;
  /// What one pod counts for, in the resource's unit, in place of what `base_kind` says; above 0.
  std::optional<double> base;
  UtilizationBase base_kind = UtilizationBase::kRequest;
  /// An HPA without a tolerance of its own leaves replicas as they are while the target is within a
  /// tenth of them. With this, a target above them that it would not follow is served as the least
  /// that it does follow (ServedTarget).
  bool escape_dead_band = false;
  /// From the start of a pod until it serves, in place of what is measured; 0 to kMaxStartupMs.
  std::optional<int64_t> startup_ms;
};
inline constexpr int64_t kMaxStartupMs = 30 * 60'000;
/// Where a start was never seen.
inline constexpr int64_t kUsualStartupMs = 2 * 60'000;

struct ScalingSettings {
  /// Where none matches, `usual` applies.
  std::vector<ScalingRule> rules;
  ScalingRule usual;

  /// Of `rules` the first that matches, else `usual`. Never fails.
  const ScalingRule& RuleOf(const WorkloadId& workload) const;
  /// Whether any rule gives bounds to this workload, so that its replicas are decided without a
  /// HorizontalPodAutoscaler.
  bool GivesBounds(const WorkloadId& workload) const;
};
using ScalingSettingsPtr = std::shared_ptr<const ScalingSettings>;

/// What a decision went by.
enum class ScalingMode : uint8_t { kReactive = 0, kPredictive = 1 };
std::string_view ToString(ScalingMode mode);  ///< reactive, predictive

/// Why the target is what it is. The numbers are kept in saved state: they stay.
enum class DecisionReason : uint8_t {
  kSuspended = 0,        ///< there are no replicas (scaled to 0): none are asked for
  kFixed = 1,            ///< minimum and maximum are the same
  kWithinTolerance = 2,  ///< the load is as it should be
  kAtMinimum = 3,        ///< less would do, the minimum holds
  kAtMaximum = 4,        ///< more is needed, the maximum holds
  kLoad = 5,             ///< what the load, or its forecast, needs
  kRisk = 6,             ///< tidemark: what keeps the risk of being short to the objective
  kRecurringPeak = 7,    ///< tidemark: a peak that came at this time before
  kSmallScaleDown = 8,   ///< tidemark: the decrease is too small to be worth it
  kCensored = 9,         ///< pods sit at their limit: demand is not known, half as much again
  kMissingPods = 10,     ///< without usage of all pods: no change of direction
  kStabilized = 11,      ///< a higher recommendation of the last minutes holds
};
/// As the API writes them: suspended, fixed, within_tolerance, at_minimum, at_maximum, load, risk,
/// recurring_peak, small_scale_down, censored, missing_pods, stabilized.
std::string_view ToString(DecisionReason reason);

/// One decision.
struct ReplicaDecision {
  int32_t target = 0;       ///< after the stabilisation window; what to set
  int32_t recommended = 0;  ///< before it
  DecisionReason reason = DecisionReason::kLoad;
  ScalingMode mode = ScalingMode::kReactive;
  double load_ratio = 0;                        ///< W1
  std::optional<double> forecast_load_ratio;    ///< W2; of tidemark the demand that is planned for
  std::optional<double> high_water_load_ratio;  ///< W3, where the policy reads it
  /// What the policy aims at with the present replicas; 0 where it has none.
  double target_utilization_ratio = 0;
};

/// What a HorizontalPodAutoscaler scales a workload on: utilisation of its pods' requests, of which
/// changed requests move the point at which it scales. Loads are in the resource's unit, of one
/// pod.
struct AutoscalerUtilization {
  std::string autoscaler;               ///< its name
  Resource resource = Resource::kCpu;   ///< whose utilisation; any of it may have
  double target_utilization_ratio = 0;  ///< of the request; above 0
  /// Where the original requests are known: the load at which it scaled with them.
  std::optional<double> scale_point_before;
  /// At which it scales with the requests that pods have now.
  std::optional<double> scale_point_now;
  /// At which it would with those that are recommended.
  std::optional<double> scale_point_after;
  /// The target utilisation that, with the recommended requests, keeps the scale point as its owner
  /// meant it (`scale_point_before`, else `scale_point_now`); not clipped to anything: above 1
  /// means that an AverageValue is the only way.
  std::optional<double> preserving_target_ratio;

  friend bool operator==(const AutoscalerUtilization&, const AutoscalerUtilization&) = default;
};

/// What is shown of one workload.
struct WorkloadScaling {
  PolicySettings policy;
  /// Absent: no decision stands, and `why` says why.
  std::optional<ReplicaDecision> decision;
  std::optional<ReplicaBounds> bounds;
  std::optional<int32_t> current_replicas;  ///< of the spec
  std::optional<double> demand;             ///< of the minute decided on, in the resource's unit
  std::optional<double> request;            ///< what one pod counts for
  int64_t minute_ms = 0;                    ///< start of that minute
  int64_t startup_ms = kUsualStartupMs;
  bool is_startup_measured = false;
  int32_t lead_minutes = 0;   ///< how far ahead the policy looks
  int32_t ready_pods = -1;    ///< -1: not known
  uint32_t missing_pods = 0;  ///< without usage in that minute
  bool is_censored = false;
  UtilizationBase base_kind = UtilizationBase::kRequest;  ///< what `request` is
  bool escape_dead_band = false;                          ///< as its rule has it
  /// One for each resource whose utilisation its HorizontalPodAutoscalers look at.
  std::vector<AutoscalerUtilization> utilization_targets;
  /// Why there is no decision: disabled, no_bounds, no_replicas, no_request, no_limit, no_demand,
  /// stale; else empty.
  std::string_view why;
};

/// A target as it is given to a HorizontalPodAutoscaler.
struct ServedReplicas {
  int32_t replicas = 0;
  bool is_escaped = false;  ///< more than the decision, to get out of the HPA's dead band

  friend bool operator==(const ServedReplicas&, const ServedReplicas&) = default;
};

/// What every face gives as the target: the decision's; with `escape_dead_band` and a target above
/// the present replicas by at most a tenth of them, the least that an HPA of the usual tolerance
/// (0.1) follows: floor(1.1 × current) + 1, but not above the maximum. (Below 10 replicas a step of
/// one is always more than a tenth.) nullopt without a decision.
std::optional<ServedReplicas> ServedTarget(const WorkloadScaling& scaling);

}  // namespace tidemark
