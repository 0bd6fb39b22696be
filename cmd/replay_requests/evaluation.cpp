#include "cmd/replay_requests/evaluation.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>

#include "cmd/text.h"
#include "cmd/units.h"

namespace tidemark::replay_requests {
namespace {

constexpr double kDayMs = 24 * 60 * 60 * 1000.0;
constexpr auto kMemory = static_cast<size_t>(Resource::kMemory);

/// The smallest whole number of steps that is at least so long.
size_t StepsIn(const Trace& trace, int64_t time_ms) {
  return static_cast<size_t>((time_ms + trace.step_ms - 1) / trace.step_ms);
}

class Evaluation {
 public:
  Evaluation(const Trace& trace, Policy& policy, const ByResource<double>& factors)
      : trace_(trace), policy_(policy), factors_(factors) {
    for (auto& above : above_) above.assign(trace.pods.size(), false);
  }

  void Ask(size_t step) {
    const Requests said = policy_.Ask(trace_.TimeOf(step));
    for (size_t r = 0; r < kReplayed.size(); ++r) {
      // A policy that falls silent takes nothing back.
      if (said[r] && std::isfinite(*said[r])) {
        const double request = *said[r] * factors_[r];
        if (IsThere(request_[r]) && IsChange(request_[r], request)) ++outcomes_[r].changes;
        request_[r] = request;
      }
      outcomes_[r].requests.push_back(request_[r]);
    }
  }

  void Judge(size_t step) {
    killed_.clear();
    for (size_t p = 0; p < trace_.pods.size(); ++p) {
      for (size_t r = 0; r < kReplayed.size(); ++r) {
        const double use = trace_.pods[p].samples[r][step];
        const bool begins = JudgeSample(use, r, p);
        if (begins && r == kMemory) killed_.push_back(p);
      }
    }
  }

  /// Of the step that was judged last, once the policy has seen it.
  void TellKills(size_t step) {
    for (const size_t pod : killed_) {
      policy_.SeeKill(pod, trace_.TimeOf(step), request_[kMemory]);
    }
  }

  ByResource<Outcome> Finish() {
    for (Outcome& outcome : outcomes_) {
      outcome.pod_days =
          static_cast<double>(outcome.samples) * static_cast<double>(trace_.step_ms) / kDayMs;
    }
    return std::move(outcomes_);
  }

 private:
  static bool IsChange(double before, double now) {
    return before > 0 ? std::abs(now / before - 1) > kChangeRatio : now > 0;
  }

  /// True when an episode begins.
  bool JudgeSample(double use, size_t resource, size_t pod) {
    Outcome& outcome = outcomes_[resource];
    const double request = request_[resource];
    const bool was_above = above_[resource][pod];
    above_[resource][pod] = false;
    if (!IsThere(use)) return false;
    if (!IsThere(request)) {
      ++outcome.unadvised;
      return false;
    }
    ++outcome.samples;
    outcome.used += use;
    outcome.requested += request;
    if (!(use > request)) return false;
    ++outcome.breaches;
    // Above no request at all no ratio says how far.
    if (request > 0) outcome.depth_sum += (use - request) / request;
    above_[resource][pod] = true;
    if (was_above) return false;
    ++outcome.episodes;
    return true;
  }

  const Trace& trace_;
  Policy& policy_;
  const ByResource<double>& factors_;
  ByResource<Outcome> outcomes_;
  ByResource<double> request_{kAbsent, kAbsent};
  ByResource<std::vector<bool>> above_;  // by pod
  std::vector<size_t> killed_;
};

}  // namespace

std::optional<double> Outcome::MeanRequest() const {
  double sum = 0;
  size_t count = 0;
  for (const double request : requests) {
    if (!IsThere(request)) continue;
    sum += request;
    ++count;
  }
  return count == 0 ? std::nullopt : std::optional(sum / static_cast<double>(count));
}

std::optional<double> Outcome::LastRequest() const {
  return requests.empty() || !IsThere(requests.back()) ? std::nullopt
                                                       : std::optional(requests.back());
}

ByResource<Outcome> Evaluate(const Trace& trace, Policy& policy, const ReplayTimes& times,
                             const ByResource<double>& factors) {
  const size_t warm_up = StepsIn(trace, times.warm_up_ms);
  const size_t interval = std::max<size_t>(1, StepsIn(trace, times.interval_ms));
  Evaluation evaluation(trace, policy, factors);
  for (size_t step = 0; step < trace.steps; ++step) {
    const bool evaluated = step >= warm_up;
    if (evaluated && (step - warm_up) % interval == 0) evaluation.Ask(step);
    policy.See(trace, step);
    if (!evaluated) continue;
    evaluation.Judge(step);
    evaluation.TellKills(step);
  }
  return evaluation.Finish();
}

Result<void> CheckTimes(const Trace& trace, const ReplayTimes& times) {
  const auto text = [](int64_t ms) { return cmd::FormatDuration(std::chrono::milliseconds(ms)); };
  if (times.interval_ms % trace.step_ms != 0) {
    return Fail(ErrorCode::kInvalidArgument,
                fmt::format("{}: an interval of {} is not made of its steps of {}, allowed: "
                            "multiples of the step",
                            cmd::Shown(trace.name), text(times.interval_ms), text(trace.step_ms)));
  }
  if (StepsIn(trace, times.warm_up_ms) >= trace.steps) {
    return Fail(
        ErrorCode::kInvalidArgument,
        fmt::format("{}: it is over after {}, within the warm-up of {}, allowed: a "
                    "shorter warm-up",
                    cmd::Shown(trace.name), text(static_cast<int64_t>(trace.steps) * trace.step_ms),
                    text(times.warm_up_ms)));
  }
  return {};
}

}  // namespace tidemark::replay_requests
