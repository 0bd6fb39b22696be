#pragma once
// From a load to a number of replicas: the arithmetic that policies share.
//
// Loads are ratios of what the present replicas request (1: all of it); never percent. Comparisons
// have room for 1e-9 in favour of not scaling: 0.55 / 0.5 - 1 is above 0.1 in binary. Pure
// functions, O(1).

#include <cstdint>
#include <optional>

#include "model/result.h"
#include "model/scaling.h"

namespace tidemark::scaling {

/// Such a difference is none.
inline constexpr double kEdge = 1e-9;

/// What replicas to choose, and why.
struct ReplicaChoice {
  int32_t replicas = 0;
  DecisionReason reason = DecisionReason::kLoad;

  friend bool operator==(const ReplicaChoice&, const ReplicaChoice&) = default;
};

/// kInvalidArgument: not 1 <= min <= max <= kMaxReplicas.
Result<void> CheckBounds(const ReplicaBounds& bounds);

/// The least whole number of replicas that is not below `replicas`, but for kEdge, within the
/// bounds. `replicas` is not NaN.
int32_t RoundUpWithin(double replicas, const ReplicaBounds& bounds);

/// W of DEBI-HPA, max(min(W2, W3), W1), of what is known of the three. Without the forecast W2 it
/// is W1, without the mark W3 max(W1, W2); without W1 there is nothing to decide on.
struct CombinedLoad {
  double load_ratio = 0;
  ScalingMode mode = ScalingMode::kReactive;  ///< reactive: W is W1
};
std::optional<CombinedLoad> Combine(std::optional<double> load, std::optional<double> forecast,
                                    std::optional<double> high_water);

enum class Rounding : uint8_t {
  kNearest,  ///< the paper's: half a pod may be short; of two that are as near the smaller
  kUp,       ///< the target is kept
};

/// What DEBI-HPA aims at (its algorithm 2).
struct DebiAim {
  double low_ratio = 0.3;   ///< U_lo, with the least replicas
  double high_ratio = 0.7;  ///< U_hi, approached with many
  double tolerance_ratio = 0.1;
  Rounding rounding = Rounding::kUp;
};

/// U_T(n) = U_hi - (U_hi - U_lo) N_min / n; U_lo below N_min.
double DebiTarget(int32_t replicas, const ReplicaBounds& bounds, const DebiAim& aim);

/// DEBI-HPA's algorithm 2, its three garbled conditions as they must have been meant: the target
/// capacity n U_T(n) = U_hi n - B, B = (U_hi - U_lo) N_min, is a straight line, so its search over
/// n is a division. N_max counts among what is searched. `load_ratio`: W, finite and 0 or more, of
/// `replicas`, N_now, 0 or more (0: suspended, 0 are chosen); these may lie outside the bounds, and
/// are then not held to the tolerance.
ReplicaChoice DebiReplicas(double load_ratio, int32_t replicas, const ReplicaBounds& bounds,
                           const DebiAim& aim);

/// Kubernetes' HorizontalPodAutoscaler on a utilisation: ceil(N W / target), none while W / target
/// is within the tolerance (pkg/controller/podautoscaler/replica_calculator.go; without its limits
/// to how fast it grows). Arguments as above; `target_ratio` is above 0.
ReplicaChoice HpaReplicas(double load_ratio, int32_t replicas, const ReplicaBounds& bounds,
                          double target_ratio, double tolerance_ratio);

}  // namespace tidemark::scaling
