#pragma once
// One way to say how many replicas a load needs.
//
// A policy sees one minute at a time and says what it would have; bounds are part of the question.
// What all policies share – pods that are missing, demand that is cut off by limits, the
// stabilisation window – is the Scaler's (scaler.h).

#include <cmath>
#include <cstdint>
#include <memory>
#include <optional>

#include "model/byte_codec.h"
#include "model/result.h"
#include "model/scaling.h"
#include "scaling/demand_forecast.h"

namespace tidemark::scaling {

/// What there is to decide on: the last covered minute.
struct PolicyInput {
  int64_t minute = 0;    ///< since 1970
  double demand = 0;     ///< of all pods, finite, 0 or more
  double base = 1;       ///< what one pod counts for, in the demand's unit; above 0
  int32_t replicas = 0;  ///< N_now, of the spec; 1 or more
  ReplicaBounds bounds{};
  int32_t lead_minutes = 3;  ///< until a pod asked for now has served a whole minute; at least 1

  /// W1.
  double LoadRatio() const { return demand / (static_cast<double>(replicas) * base); }
  /// W2 or W3: the same of what is expected; what is no demand is not known.
  std::optional<double> RatioOf(std::optional<double> expected) const {
    if (!expected) return std::nullopt;
    const double ratio = *expected / (static_cast<double>(replicas) * base);
    return std::isfinite(ratio) && ratio >= 0 ? std::optional(ratio) : std::nullopt;
  }
};

/// What a policy would have, before stabilisation.
struct PolicyAnswer {
  int32_t replicas = 0;  ///< within the bounds
  DecisionReason reason = DecisionReason::kLoad;
  ScalingMode mode = ScalingMode::kReactive;
  std::optional<double> forecast_load_ratio;    ///< W2
  std::optional<double> high_water_load_ratio;  ///< W3
  double target_utilization_ratio = 0;          ///< 0: it has none
};

/// Not thread-safe. State, if any, moves on the minutes that are given and on nothing else.
class ReplicaPolicy {
 public:
  virtual ~ReplicaPolicy() = default;
  /// Called once a minute, minutes rising.
  virtual PolicyAnswer Decide(const PolicyInput& input, const DemandForecast& forecast) = 0;
  /// The same question about another demand of the same minute (pods that are missing taken for
  /// busy): no state moves.
  virtual PolicyAnswer Consider(const PolicyInput& input, const DemandForecast& forecast) const = 0;
  /// Told after Decide, what the Scaler made of it and how many pods are ready: a policy may learn
  /// from what comes of its decisions.
  virtual void Decided(const PolicyInput& input, int32_t ready_pods) {
    static_cast<void>(input);
    static_cast<void>(ready_pods);
  }

  virtual void Save(ByteWriter& out) const { static_cast<void>(out); }
  /// What Save of the same policy wrote. An error: it is no such thing; state is as before.
  virtual Result<void> Restore(ByteReader& in) {
    static_cast<void>(in);
    return {};
  }
  virtual size_t MemoryBytes() const { return sizeof(*this); }
};

/// Never null. `settings` have passed CheckSettings.
std::unique_ptr<ReplicaPolicy> MakePolicy(const PolicySettings& settings);

}  // namespace tidemark::scaling
