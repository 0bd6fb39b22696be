#pragma once
// How many replicas one workload should have, minute by minute: THE decision, live and in replay.
//
// Around a policy it does what all of them need:
//  - no replicas (suspended): 0, as the HPA does with a scale of 0; minimum = maximum: that many;
//  - missing pods (no usage in the minute) count as the HPA counts them: with 0 where more replicas
//    would be asked for, with their whole request where fewer would; a change of direction by that
//    is no change (kubernetes pkg/controller/podautoscaler/replica_calculator.go);
//  - demand that is cut off by the pods' own limits is not known: half as many again, each minute,
//    until it is not;
//  - the stabilisation window: the highest recommendation of the last minutes.
//
// State moves on the minutes that are given, in order, and on nothing else: the same minutes give
// the same decisions. Not thread-safe.

#include <cstdint>
#include <memory>
#include <optional>

#include "model/byte_codec.h"
#include "model/result.h"
#include "model/scaling.h"
#include "scaling/demand_forecast.h"
#include "scaling/policy.h"
#include "scaling/stabilisation_window.h"

namespace tidemark::scaling {

/// What is known of one minute.
struct ScalingMinute {
  int64_t minute = 0;         ///< since 1970
  double demand = 0;          ///< of the pods whose usage is known
  double base = 1;            ///< what one pod counts for
  int32_t replicas = 0;       ///< of the spec
  int32_t ready_pods = 0;     ///< that serve; `replicas` where that is not told
  uint32_t missing_pods = 0;  ///< that live and whose usage is not known
  bool is_censored = false;   ///< pods sit at their limit
  ReplicaBounds bounds{};
  int32_t lead_minutes = 3;
};

/// Whether it can be decided on. kInvalidArgument, naming the field: demand not finite or below 0,
/// base not finite or not above 0, replicas below 0 or above kMaxReplicas, no bounds (CheckBounds),
/// a lead below 1, a minute before 1970.
Result<void> CheckMinute(const ScalingMinute& minute);

/// How far ahead a policy has to look: a pod asked for at the end of a minute serves after its
/// start-up; one minute more passes until its first whole minute has been seen. Start-up 2 minutes:
/// 3, as golden/forecast's replay counts (demand of the next three minutes).
int32_t LeadMinutes(int64_t startup_ms);

class Scaler {
 public:
  /// `seeds_window`: live, the first decision, and one after a gap, takes the present replicas for
  /// the recommendation of the minutes before: nobody knows yet whether fewer would do. In replay
  /// the window begins empty (golden/forecast/README.md).
  explicit Scaler(const PolicySettings& settings, bool seeds_window = false);
  ~Scaler();
  Scaler(Scaler&&) noexcept;
  Scaler& operator=(Scaler&&) noexcept;

  /// Another window keeps what fits; another policy begins anew, but for the window.
  void Adapt(const PolicySettings& settings);
  const PolicySettings& settings() const { return settings_; }

  /// Minutes rise; one that is not later than the newest gives the decision of the newest again.
  /// What does not pass CheckMinute is not decided on and moves nothing: the newest decision again,
  /// before the first the present replicas (reason missing_pods). A caller that serves decisions
  /// looks first.
  ReplicaDecision Decide(const ScalingMinute& minute, const DemandForecast& forecast);
  /// The newest decision; nothing before the first.
  const std::optional<ReplicaDecision>& last() const { return last_; }
  int64_t last_minute() const { return last_minute_; }

  size_t MemoryBytes() const;
  void Save(ByteWriter& out) const;
  /// What Save wrote, adapted to `settings`. kInvalidArgument: it is no such thing.
  static Result<Scaler> Restore(ByteReader& in, const PolicySettings& settings,
                                bool seeds_window = false);

 private:
  ReplicaDecision Held(const ScalingMinute& minute) const;

  PolicySettings settings_;
  bool seeds_window_;
  std::unique_ptr<ReplicaPolicy> policy_;
  StabilisationWindow window_;
  std::optional<ReplicaDecision> last_;
  int64_t last_minute_ = -1;
};

}  // namespace tidemark::scaling
