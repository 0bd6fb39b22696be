#include "scaling/replay.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>

#include "scaling/replica_decision.h"
#include "scaling/scaler.h"
#include "scaling/stabilisation_window.h"

namespace tidemark::scaling {
namespace {

// What the first minute's replicas are made by: nobody decided before it.
constexpr double kFirstUtilization = 0.5;

Result<void> Refuse(std::string message) {
  return Fail(ErrorCode::kInvalidArgument, std::move(message));
}

Result<void> CheckOptions(const ReplayOptions& options) {
  if (options.warm_up_minutes < 0) return Refuse("warm-up: it is below 0");
  if (options.startup_minutes < 0 || options.startup_minutes > kMaxStartupMs / 60'000) {
    return Refuse(fmt::format("startup: {}m is out of range, allowed: 0m to {}m",
                              options.startup_minutes, kMaxStartupMs / 60'000));
  }
  if (options.period_minutes < 1 || options.period_minutes > 60) {
    return Refuse(
        fmt::format("period: {}m is out of range, allowed: 1m to 60m", options.period_minutes));
  }
  if (!std::isfinite(options.base) || options.base <= 0) {
    return Refuse(fmt::format("base: {} is none, allowed: finite and above 0", options.base));
  }
  return CheckBounds(options.bounds);
}

Result<void> CheckDemand(const ReplayDemand& demand, const ReplayOptions& options) {
  if (demand.first < 0) return Refuse("demand: it begins before 1970");
  if (static_cast<int64_t>(demand.values.size()) <= options.warm_up_minutes) {
    return Refuse(
        fmt::format("demand: it is known for {} minutes, of which the first {} are the "
                    "warm-up: too short to be judged",
                    demand.values.size(), options.warm_up_minutes));
  }
  bool any = false;
  for (size_t i = 0; i < demand.values.size(); ++i) {
    const double value = demand.values[i];
    if (std::isnan(value)) continue;
    any = true;
    if (value < 0 || !std::isfinite(value / options.base)) {
      return Refuse(
          fmt::format("demand: {} in minute {} of it is none, allowed: finite and 0 or "
                      "more",
                      value, i));
    }
  }
  if (!any) return Refuse("demand: it is known of no minute");
  return {};
}

/// The replicas of one policy, and what came of them.
class Run {
 public:
  Run(double first_demand, double slo_ratio, const ReplayOptions& options)
      : options_(options),
        slo_ratio_(slo_ratio),
        spec_(static_cast<size_t>(options.startup_minutes) + 1,
              RoundUpWithin(first_demand / options.base / kFirstUtilization, options.bounds)),
        replicas_(spec_.front()),
        ready_(replicas_) {}

  int32_t replicas() const { return replicas_; }
  int32_t ready() const { return ready_; }

  /// The minute with index `at` of the demand, which is not NaN.
  void Measure(size_t at, double demand) {
    if (static_cast<int64_t>(at) < options_.warm_up_minutes) return;
    const double pods = demand / options_.base;
    if (out_.minutes == 0) {
      out_.least_replicas = out_.most_replicas = replicas_;
    } else if (replicas_ != measured_) {
      ++out_.scale_events;
    }
    measured_ = replicas_;
    ++out_.minutes;
    out_.pod_minutes += static_cast<uint64_t>(replicas_);
    out_.demand += pods;
    const bool is_short = pods > ready_;
    if (is_short) out_.unserved += pods - ready_;
    if (pods > 0.9 * ready_) ++out_.minutes_over_90;
    if (pods > slo_ratio_ * ready_) ++out_.minutes_over_slo;
    short_for_ = is_short ? short_for_ + 1 : 0;
    if (is_short) ++out_.minutes_over_100;
    out_.longest_over_100 = std::max(out_.longest_over_100, short_for_);
    out_.least_replicas = std::min(out_.least_replicas, replicas_);
    out_.most_replicas = std::max(out_.most_replicas, replicas_);
  }
  void Keep(int64_t minute, double demand, const std::optional<ReplicaDecision>& decision) {
    if (!options_.keep_minutes) return;
    out_.minutes_kept.push_back({.minute = minute,
                                 .demand = demand,
                                 .replicas = replicas_,
                                 .ready = ready_,
                                 .decision = decision});
  }
  /// The next minute has begun, with so many replicas.
  void Next(int32_t replicas) {
    replicas_ = replicas;
    spec_[next_] = replicas;
    next_ = (next_ + 1) % spec_.size();
    ready_ = *std::min_element(spec_.begin(), spec_.end());
  }
  ReplayOutcome Take() { return std::move(out_); }

 private:
  const ReplayOptions& options_;
  double slo_ratio_;
  std::vector<int32_t> spec_;  // of the last start-up and this minute, a ring
  size_t next_ = 0;            // the oldest of it
  int32_t replicas_;
  int32_t ready_;
  int32_t measured_ = 0;
  uint64_t short_for_ = 0;
  ReplayOutcome out_;
};

double FirstKnown(const ReplayDemand& demand) {
  return *std::find_if(demand.values.begin(), demand.values.end(),
                       [](double value) { return !std::isnan(value); });
}

bool IsDecidedOn(size_t at, const ReplayOptions& options) {
  return (at + 1) % static_cast<size_t>(options.period_minutes) == 0;
}

/// A pod asked for at the end of a minute serves after its start-up, and the next are asked for a
/// period later.
int32_t LeadOf(const ReplayOptions& options) {
  return LeadMinutes(options.startup_minutes * 60'000LL) + options.period_minutes - 1;
}

}  // namespace

double ReplayOutcome::UtilizationRatio() const {
  return pod_minutes == 0 ? 0 : demand / static_cast<double>(pod_minutes);
}

double ReplayOutcome::UnservedRatio() const { return demand > 0 ? unserved / demand : 0; }

double ReplayOutcome::PerDay(uint64_t count) const {
  return minutes == 0 ? 0 : static_cast<double>(count) * 1440 / static_cast<double>(minutes);
}

Result<std::vector<ReplayedPolicy>> Replay(const ReplayDemand& demand,
                                           const std::vector<PolicySettings>& policies,
                                           const ReplayOptions& options, ForecastSource& forecasts,
                                           const std::function<void(double)>& told) {
  Result<void> checked = CheckOptions(options);
  if (checked) checked = CheckDemand(demand, options);
  for (const PolicySettings& settings : policies) {
    if (checked) checked = CheckSettings(settings);
  }
  if (!checked) return tl::unexpected<Error>(checked.error());
  struct Policy {
    Scaler scaler;
    Run run;
  };
  std::vector<Policy> all;
  all.reserve(policies.size());
  for (const PolicySettings& settings : policies) {
    all.push_back({.scaler = Scaler(settings),
                   .run = Run(FirstKnown(demand), settings.slo_utilization_ratio, options)});
  }
  const size_t minutes = demand.values.size();
  const int32_t lead = LeadOf(options);
  for (size_t at = 0; at < minutes; ++at) {
    if (told && at % 256 == 0) told(static_cast<double>(at) / static_cast<double>(minutes));
    const double value = demand.values[at];
    const int64_t minute = demand.first + static_cast<int64_t>(at);
    const bool is_known = !std::isnan(value);
    const bool is_decided = is_known && IsDecidedOn(at, options);
    const DemandForecast* const forecast = is_known ? &forecasts.At(minute, value) : nullptr;
    for (size_t i = 0; i < all.size(); ++i) {
      Policy& policy = all[i];
      Run& run = policy.run;
      std::optional<ReplicaDecision> decision;
      if (is_decided) {
        decision = policy.scaler.Decide({.minute = minute,
                                         .demand = value,
                                         .base = options.base,
                                         .replicas = run.replicas(),
                                         .ready_pods = run.ready(),
                                         .bounds = options.bounds,
                                         .lead_minutes = lead},
                                        *forecast);
      }
      if (is_known) run.Measure(at, value);
      if (i < options.keep_policies) run.Keep(minute, value, decision);
      run.Next(decision ? decision->target : run.replicas());
    }
  }
  if (told) told(1);
  std::vector<ReplayedPolicy> replayed;
  for (size_t i = 0; i < all.size(); ++i) {
    replayed.push_back({.settings = policies[i], .outcome = all[i].run.Take()});
    if (replayed.back().outcome.minutes == 0) {
      return Fail(ErrorCode::kInvalidArgument,
                  "demand: after the warm-up it is known of no minute");
    }
  }
  return replayed;
}

Result<ReplayOutcome> ReplayPerfect(const ReplayDemand& demand, double ratio,
                                    const ReplayOptions& options, int32_t window_minutes) {
  Result<void> checked = CheckOptions(options);
  if (checked) checked = CheckDemand(demand, options);
  if (checked && !(ratio > 0 && ratio <= 1)) {
    checked = Refuse(fmt::format("utilisation: {} is out of range, allowed: above 0 to 1", ratio));
  }
  if (checked && (window_minutes < 1 || window_minutes > PolicySettings::kMaxWindowMinutes)) {
    checked = Refuse(fmt::format("window: {}m is out of range, allowed: 1m to {}m", window_minutes,
                                 PolicySettings::kMaxWindowMinutes));
  }
  if (!checked) return tl::unexpected<Error>(checked.error());
  Run run(FirstKnown(demand), ratio, options);
  StabilisationWindow window(window_minutes);
  const auto lead = static_cast<size_t>(LeadOf(options));
  for (size_t at = 0; at < demand.values.size(); ++at) {
    const int64_t minute = demand.first + static_cast<int64_t>(at);
    int32_t next = run.replicas();
    if (!std::isnan(demand.values[at])) run.Measure(at, demand.values[at]);
    run.Keep(minute, demand.values[at], std::nullopt);
    if (IsDecidedOn(at, options)) {
      double highest = 0;
      const size_t end = std::min(demand.values.size(), at + lead + 1);
      for (size_t ahead = at; ahead < end; ++ahead) {
        if (demand.values[ahead] > highest) highest = demand.values[ahead];  // not NaN
      }
      const int32_t wanted = RoundUpWithin(highest / options.base / ratio, options.bounds);
      next = window.Add(minute, wanted);
    }
    run.Next(next);
  }
  return run.Take();
}

}  // namespace tidemark::scaling
