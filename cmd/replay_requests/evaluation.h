#pragma once
// A policy on a trace: what its requests would have cost and what they would have risked. The
// definitions are those of docs/requests.md.

#include <cmath>
#include <cstdint>
#include <optional>
#include <vector>

#include "cmd/replay_requests/policy.h"
#include "cmd/replay_requests/trace.h"
#include "model/result.h"

namespace tidemark::replay_requests {

struct ReplayTimes {
  int64_t interval_ms = 60 * 60 * 1000LL;      ///< between two requests
  int64_t warm_up_ms = 48 * 60 * 60 * 1000LL;  ///< before the first
};

/// A request that differs by more from the one before is a change.
inline constexpr double kChangeRatio = 0.10;

/// Of one resource. Sums are over the evaluated samples of all pods, which are those for which
/// there was a request.
struct Outcome {
  uint64_t samples = 0;
  uint64_t unadvised = 0;  ///< samples after the warm-up for which there was no request
  uint64_t breaches = 0;   ///< samples above the request
  uint64_t episodes = 0;   ///< runs of them; of memory with limit = request each is a kill
  uint64_t changes = 0;
  double used = 0;
  double requested = 0;
  double depth_sum = 0;  ///< of (use - request) / request
  double pod_days = 0;   ///< of the evaluated samples
  /// One for each interval; kAbsent where the policy said nothing and had said nothing before.
  std::vector<double> requests{};

  /// Mean request above mean use, in means of use; absent when nothing was used.
  std::optional<double> Slack() const {
    const double slack = (requested - used) / used;
    return used > 0 && std::isfinite(slack) ? std::optional(slack) : std::nullopt;
  }
  double BreachRatio() const { return samples == 0 ? 0 : Of(breaches) / Of(samples); }
  /// Mean over the samples above the request; 0 without any.
  double Depth() const { return breaches == 0 ? 0 : depth_sum / Of(breaches); }
  double EpisodesPerPodDay() const { return pod_days > 0 ? Of(episodes) / pod_days : 0; }
  std::optional<double> MeanRequest() const;
  std::optional<double> LastRequest() const;

 private:
  static double Of(uint64_t count) { return static_cast<double>(count); }
};

/// Replays `trace`. Requests are multiplied by `factors` before they hold, and kills are of those.
/// The interval and the warm-up, at least a step each, are taken in whole steps: CheckTimes.
ByResource<Outcome> Evaluate(const Trace& trace, Policy& policy, const ReplayTimes& times,
                             const ByResource<double>& factors = {1, 1});

/// kInvalidArgument when the interval is no multiple of the trace's step, or the trace ends within
/// the warm-up; names the trace.
Result<void> CheckTimes(const Trace& trace, const ReplayTimes& times);

}  // namespace tidemark::replay_requests
