#include "model/scaling_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <iterator>
#include <optional>
#include <string_view>
#include <utility>

#include "model/amount_text.h"
#include "model/quantity.h"
#include "model/rfc3339.h"

namespace tidemark {
namespace {

std::string Counted(int64_t count, std::string_view what) {
  return fmt::format("{} {}{}", count, what, count == 1 ? "" : "s");
}

std::string Percent(double ratio) {
  const double percent = ratio * 100;
  return percent < 1000 ? fmt::format("{:.3g} %", percent) : fmt::format("{:.0f} %", percent);
}

/// One decision with what it went by, in the resource's unit.
class Sentence {
 public:
  Sentence(const WorkloadScaling& scaling, const ReplicaDecision& decision, Resource resource)
      : scaling_(scaling), decision_(decision), resource_(resource) {}

  std::string Text() const {
    return Head().append(": ").append(Reason()).append(Escape()).append(".");
  }

 private:
  std::string Head() const {
    const auto served = ServedTarget(scaling_);
    std::string head = Counted(served ? served->replicas : decision_.target, "replica");
    if (!scaling_.current_replicas) return head;
    if (*scaling_.current_replicas == decision_.target) return head.append(", as now");
    return head.append(fmt::format(" ({} now)", *scaling_.current_replicas));
  }

  std::string Reason() const {
    switch (decision_.reason) {
      case DecisionReason::kSuspended:
        return "the workload is scaled to 0, and stays so until somebody scales it up";
      case DecisionReason::kFixed: return "minimum and maximum are the same";
      case DecisionReason::kWithinTolerance: return WithinTolerance();
      case DecisionReason::kAtMinimum:
        return fmt::format("fewer would do for {}, but that is the minimum", Demand());
      case DecisionReason::kAtMaximum:
        return fmt::format("{} and needs more, but that is the maximum", Outlook());
      case DecisionReason::kLoad: return Outlook() + Outcome();
      case DecisionReason::kRisk: return Outlook() + Outcome() + Objective();
      case DecisionReason::kRecurringPeak:
        return Outlook() + ", as it has at this time before" + Outcome() + Objective();
      case DecisionReason::kSmallScaleDown:
        return fmt::format("fewer would do for {}, but not by enough: the tolerance is {}",
                           Demand(), Percent(scaling_.policy.tolerance_ratio));
      case DecisionReason::kCensored:
        return fmt::format(
            "pods sit at their limit or are throttled, so that demand is more than the {} that is "
            "seen; half as many again each minute until it is known{}",
            scaling_.demand ? AmountText(resource_, *scaling_.demand) : std::string("usage"),
            AtMaximum() ? ", but that is the maximum" : "");
      case DecisionReason::kMissingPods:
        if (scaling_.missing_pods == 0)
          return "the minute cannot be decided on, so nothing changes";
        return fmt::format("usage of {} is not known, and without it no step is sure to be right",
                           Counted(scaling_.missing_pods, "pod"));
      case DecisionReason::kStabilized:
        return fmt::format("{} would do now, but the most that was needed in the last {} counts",
                           decision_.recommended,
                           Counted(scaling_.policy.window_minutes, "minute"));
    }
    return "as decided";
  }

  /// What is given out may be more than what was decided.
  std::string Escape() const {
    const auto served = ServedTarget(scaling_);
    if (!served || !served->is_escaped) return "";
    return fmt::format(
        "; {} would do, but fewer than {} an autoscaler with the usual tolerance does not follow",
        decision_.target, served->replicas);
  }

  bool AtMaximum() const { return scaling_.bounds && decision_.target >= scaling_.bounds->max; }

  std::string Demand() const {
    return scaling_.demand ? "demand of " + AmountText(resource_, *scaling_.demand)
                           : std::string("demand");
  }

  /// What the present replicas count for together.
  std::optional<double> Requested() const {
    if (!scaling_.current_replicas || !scaling_.request) return std::nullopt;
    return *scaling_.current_replicas * *scaling_.request;
  }

  /// What is planned for, where that is more than there is: DEBI's W, which the high-water mark
  /// bounds; tidemark's W2.
  std::optional<double> Planned() const {
    if (decision_.mode != ScalingMode::kPredictive || !decision_.forecast_load_ratio) {
      return std::nullopt;
    }
    double ratio = *decision_.forecast_load_ratio;
    if (decision_.high_water_load_ratio) ratio = std::min(ratio, *decision_.high_water_load_ratio);
    return ratio > decision_.load_ratio ? std::optional(ratio) : std::nullopt;
  }

  /// "demand of 5.2 is expected to reach 7.9 within 3 minutes".
  std::string Outlook() const {
    const std::optional<double> planned = Planned();
    const std::optional<double> requested = Requested();
    if (!planned || !requested) {
      return scaling_.demand ? "demand is " + AmountText(resource_, *scaling_.demand)
                             : std::string("demand is as it is");
    }
    const bool is_risk = scaling_.policy.policy == ScalingPolicy::kTidemark;
    std::string text =
        fmt::format("{} {} {} within {}", Demand(), is_risk ? "may reach" : "is expected to reach",
                    AmountText(resource_, *decision_.forecast_load_ratio * *requested),
                    Counted(scaling_.lead_minutes, "minute"));
    if (*planned < *decision_.forecast_load_ratio) {
      fmt::format_to(std::back_inserter(text), " but hardly ever passes {}",
                     AmountText(resource_, *planned * *requested));
    }
    return text;
  }

  /// "; 12 pods of 750m keep that at 88 %".
  std::string Outcome() const {
    const std::optional<double> requested = Requested();
    if (!requested || decision_.target <= 0 || !(*scaling_.request > 0)) return "";
    const double load = Planned().value_or(decision_.load_ratio) * *requested;
    return fmt::format("; {} of {} {} that at {}", Counted(decision_.target, "pod"),
                       AmountText(resource_, *scaling_.request),
                       decision_.target == 1 ? "keeps" : "keep",
                       Percent(load / (decision_.target * *scaling_.request)));
  }

  std::string Objective() const {
    return fmt::format(", with the objective of more than {} in at most {} of the time",
                       Percent(scaling_.policy.slo_utilization_ratio),
                       Percent(scaling_.policy.slo_time_ratio));
  }

  std::string WithinTolerance() const {
    if (!(decision_.target_utilization_ratio > 0)) {
      return fmt::format("{} is within the tolerance of {}", Demand(),
                         Percent(scaling_.policy.tolerance_ratio));
    }
    return fmt::format("{} is a load of {}, which is within {} of the target of {}",
                       Planned() ? "the demand that is expected" : Demand(),
                       Percent(Planned().value_or(decision_.load_ratio)),
                       Percent(scaling_.policy.tolerance_ratio),
                       Percent(decision_.target_utilization_ratio));
  }

  const WorkloadScaling& scaling_;
  const ReplicaDecision& decision_;
  const Resource resource_;
};

/// A utilisation to aim at is between these.
constexpr double kLeastUtilizationPercent = 30;
constexpr double kMostUtilizationPercent = 90;

std::string WithoutTarget(const WorkloadScaling& scaling) {
  constexpr std::array<std::pair<std::string_view, std::string_view>, 6> kReasons = {{
      {"disabled", "a rule of scaling.workloads turns it off"},
      {"no_bounds",
       "neither a HorizontalPodAutoscaler nor a rule of scaling.workloads says how many replicas "
       "there may be"},
      {"no_replicas",
       "how many replicas its spec asks for is not known; kube_deployment_spec_replicas, "
       "kube_statefulset_replicas or the like are missing"},
      {"no_request",
       "what one of its pods requests is not known; set a request, or base in scaling.workloads"},
      {"no_limit",
       "utilisation is measured by what its pods may use (base: limit in scaling.workloads), and "
       "one "
       "of their containers has no limit; set limits, or another base"},
      {"no_demand",
       "what its pods use together is not known for any whole minute; a few minutes after a start "
       "that is as it should be"},
  }};
  for (const auto& [why, text] : kReasons) {
    if (why == scaling.why) return fmt::format("No target: {}.", text);
  }
  if (scaling.why == "stale") {
    return fmt::format(
        "No target: the last known minute of its demand{} is too old to decide by; usage or "
        "replicas come in no more.",
        scaling.minute_ms == 0 ? "" : fmt::format(" ({})", FormatRfc3339(scaling.minute_ms)));
  }
  return scaling.why.empty() ? "No target yet." : fmt::format("No target: {}.", scaling.why);
}

}  // namespace

std::string UtilizationTargetText(const AutoscalerUtilization& target) {
  std::string text = fmt::format(
      "HorizontalPodAutoscaler {} scales at {} of the {} that a pod requests", target.autoscaler,
      Percent(target.target_utilization_ratio), ResourceName(target.resource));
  if (!target.scale_point_now) {
    return text.append(
        ", but not all containers of its pods have a request: until they do it cannot scale.");
  }
  const auto amount = [&target](double load) { return AmountText(target.resource, load); };
  text.append(": ");
  if (target.scale_point_before) {
    fmt::format_to(std::back_inserter(text), "{} a pod by the original requests, ",
                   amount(*target.scale_point_before));
  }
  fmt::format_to(std::back_inserter(text), "{} a pod by those of now",
                 amount(*target.scale_point_now));
  if (!target.scale_point_after || !target.preserving_target_ratio) return text.append(".");
  const double meant = target.scale_point_before.value_or(*target.scale_point_now);
  fmt::format_to(std::back_inserter(text), ", {} a pod by the recommended ones. ",
                 amount(*target.scale_point_after));
  const double percent = std::round(*target.preserving_target_ratio * 100);
  if (percent == std::round(target.target_utilization_ratio * 100)) {
    return text.append("Its target may stay.");
  }
  if (percent >= kLeastUtilizationPercent && percent <= kMostUtilizationPercent) {
    return text.append(fmt::format(
        "With the recommended requests set averageUtilization: {:.0f} to keep its scale point.",
        percent));
  }
  const auto format =
      target.resource == Resource::kMemory ? QuantityFormat::kBinarySi : QuantityFormat::kDecimalSi;
  return text.append(fmt::format(
      "With the recommended requests set type AverageValue, averageValue: {} to keep its scale "
      "point: a utilisation of {} is no target to set.",
      QuantityText(meant, format).value_or(amount(meant)),
      Percent(*target.preserving_target_ratio)));
}

std::string ScalingText(const WorkloadScaling& scaling, Resource resource) {
  if (!scaling.decision) return WithoutTarget(scaling);
  return Sentence(scaling, *scaling.decision, resource).Text();
}

}  // namespace tidemark
