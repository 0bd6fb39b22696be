#include "engine/request_steps.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <utility>

#include "engine/adaptive_basis.h"
#include "estimators/amount.h"
#include "estimators/request_estimator.h"
#include "model/amount_text.h"
#include "model/enough_days.h"
#include "model/rounding.h"

namespace tidemark::engine {
namespace {

using estimators::RequestBases;
using estimators::RequestEstimate;
using estimators::RequestPolicy;

int64_t WholeAmount(double value, double amounts) {
  return estimators::AmountFromDouble(std::round(value * amounts));
}

/// In units of `interval`.
double ConfidenceOf(const RequestInputs& inputs, std::chrono::nanoseconds interval) {
  const estimators::SampleSpan& own = inputs.usage->minutes;
  const double own_confidence = estimators::Confidence(own, interval);
  if (inputs.profile->strict) {
    return inputs.cpu_minutes ? estimators::Confidence(*inputs.cpu_minutes, interval) : 0;
  }
  // How many of the minutes between the first and the last have a value says how much is behind a
  // mean usage, but little about a peak: the minutes of CPU count where there are more of them,
  // within the time that memory itself was seen.
  if (inputs.resource != Resource::kMemory || !inputs.cpu_minutes || own.Count() == 0) {
    return own_confidence;
  }
  const double seen = static_cast<double>((*own.Last() - *own.First()).count()) /
                      static_cast<double>(interval.count());
  return std::max(own_confidence,
                  std::min(estimators::Confidence(*inputs.cpu_minutes, interval), seen));
}

/// What the histogram says: the three percentiles of the rule.
RequestBases PercentilesOf(const RequestInputs& inputs) {
  if (inputs.usage == nullptr) return {};
  const ResourceRule& rule = inputs.profile->rule(inputs.resource);
  const std::array points = {rule.lower_percentile, rule.percentile, rule.upper_percentile};
  std::array<double, 3> found{};
  inputs.usage->histogram().Percentiles(points, found);
  return {.target = found[1], .lower = found[0], .upper = found[2]};
}

/// Of Jobs and CronJobs each run may count by its peak alone.
bool CountsRuns(const RequestInputs& inputs) {
  const ResourceRule& rule = inputs.profile->rule(inputs.resource);
  return inputs.is_job && rule.peak_per_run && rule.samples == SampleKind::kEveryMinute;
}

/// What the request is worked out from.
struct Bases {
  RequestBases values;
  std::vector<ExplanationStep> steps;  // unless nobody asks
  bool is_mark = false;
  bool is_hours = false;
};

/// Whether the hours are the basis: of runs, of which only the peaks count, they say nothing.
bool GoesByHours(const RequestInputs& inputs) {
  const ResourceRule& rule = inputs.profile->rule(inputs.resource);
  return rule.basis == Basis::kAdaptive && !CountsRuns(inputs);
}

Bases BasesOf(const RequestInputs& inputs, bool explain) {
  const ResourceRule& rule = inputs.profile->rule(inputs.resource);
  Bases bases;
  if (rule.basis == Basis::kHighWater) {
    if (auto mark = BasisOf(inputs.high_water, rule, explain)) {
      bases.values = mark->bases;
      if (explain) {
        bases.steps.push_back({"high_water", bases.values.target, true, std::move(mark->what)});
      }
      bases.is_mark = true;
      return bases;
    }
  }
  bases.values = PercentilesOf(inputs);
  if (GoesByHours(inputs) && inputs.usage != nullptr) {
    auto hours = AdaptiveBasisOf(*inputs.usage, inputs.resource, rule, bases.values, explain);
    if (hours) {
      bases.values = hours->bases;
      bases.steps = std::move(hours->steps);
      bases.is_hours = true;
      return bases;
    }
  }
  if (explain) {
    const std::string_view instead =
        rule.basis == Basis::kHighWater ? ": there is no high-water mark before the first full hour"
        : CountsRuns(inputs)            ? ", of each run the peak"
        : GoesByHours(inputs)           ? ": nothing is known of the hours yet"
                                        : "";
    bases.steps.push_back(
        {rule.basis == Basis::kHighWater ? "high_water" : "percentile", bases.values.target, true,
         fmt::format("percentile {:g} of {} samples{}", rule.percentile * 100,
                     inputs.usage == nullptr ? 0 : inputs.usage->minutes.Count(), instead)});
  }
  return bases;
}

RequestPolicy PolicyOf(const RequestInputs& inputs, double amounts) {
  const ResourceRule& rule = inputs.profile->rule(inputs.resource);
  RequestPolicy policy;
  policy.margin_ratio = rule.margin_ratio;
  policy.expansion_factor = rule.expansion_factor;
  policy.minimum = estimators::ShareOfMinimum(WholeAmount(rule.pod_minimum, amounts),
                                              std::max<size_t>(inputs.containers, 1));
  policy.floor = WholeAmount(rule.floor, amounts);
  if (rule.ceiling) policy.ceiling = WholeAmount(*rule.ceiling, amounts);
  policy.rounding = std::max<int64_t>(1, WholeAmount(rule.rounding, amounts));
  policy.as_vpa = inputs.profile->strict;
  return policy;
}

/// Collects steps with the value after each.
class Steps {
 public:
  Steps(std::vector<ExplanationStep>* out, double amounts) : out_(out), amounts_(amounts) {}

  void Add(std::string_view name, double value, bool changed, std::string what) {
    if (out_ != nullptr) out_->push_back({name, value, changed, std::move(what)});
  }
  void AddAmount(std::string_view name, int64_t amount, bool changed, std::string what) {
    Add(name, static_cast<double>(amount) / amounts_, changed, std::move(what));
  }
  explicit operator bool() const { return out_ != nullptr; }

 private:
  std::vector<ExplanationStep>* const out_;
  const double amounts_;
};

/// Whether kills made the value what it is: by their hold, or as peaks of the histogram, of which a
/// percentile is the end of a bucket.
bool KillsDecide(const RequestInputs& inputs, double value) {
  if (!(inputs.kills_needed > 0)) return false;
  if (inputs.usage == nullptr) return true;
  const estimators::HistogramOptions& layout = inputs.usage->histogram().options();
  const int next = std::min(layout.FindBucket(inputs.kills_needed) + 1, layout.NumBuckets() - 1);
  return value <= std::max(inputs.kills_needed, layout.BucketStart(next));
}

/// Whether start-up minutes were left out.
bool LeftStartUpOut(const RequestInputs& inputs) {
  return inputs.resource == Resource::kCpu && inputs.signs != nullptr &&
         inputs.signs->StartUpPeak(inputs.event_time_ms).has_value();
}

double ThrottledRatio(const RequestInputs& inputs) {
  if (inputs.resource != Resource::kCpu || inputs.signs == nullptr) return 0;
  return inputs.signs->ThrottledRatio(inputs.event_time_ms);
}

/// What was made of minutes before they were counted; `value` is what they then lead to.
void AddSampleSteps(const RequestInputs& inputs, double value, Steps& steps) {
  const ResourceRule& rule = inputs.profile->rule(inputs.resource);
  if (LeftStartUpOut(inputs)) {
    steps.Add(
        "start_up", value, true,
        fmt::format("the first {:g} minutes of each pod are left out; they used up to {}",
                    static_cast<double>(rule.startup_ms) / 60'000,
                    AmountText(inputs.resource, *inputs.signs->StartUpPeak(inputs.event_time_ms))));
  }
  if (const double throttled = ThrottledRatio(inputs); throttled > 0) {
    steps.Add("throttling", value, true,
              fmt::format("in {:.2g} % of the last day's minutes the limit held it back in {:g} % "
                          "or more of the periods: they count for up to twice their usage",
                          throttled * 100, rule.throttled_from_ratio * 100));
  }
  if (inputs.resource == Resource::kMemory && rule.leave_out_page_cache) {
    steps.Add("page_cache", value, true, "page cache is left out of the usage");
  }
}

void AddModelSteps(const RequestInputs& inputs, const Bases& bases, const RequestBases& model,
                   Steps& steps) {
  if (!steps) return;
  AddSampleSteps(inputs, bases.values.target, steps);
  for (const ExplanationStep& step : bases.steps) {
    steps.Add(step.name, step.value, step.changed, step.what);
  }
  double value = bases.values.target;
  if (inputs.share) {
    value *= *inputs.share;
    steps.Add("split", value, true,
              fmt::format("{:.1f} % of the pod's sum, {}", *inputs.share * 100,
                          inputs.share_by_request ? "by the containers' requests"
                                                  : "in equal parts: not all requests are known"));
  }
  if (inputs.kills == 0) return;
  steps.Add("kills", model.target, model.target > value,
            fmt::format("{} for memory asked for at least {}",
                        inputs.kills == 1 ? "a kill" : fmt::format("{} kills", inputs.kills),
                        AmountText(inputs.resource, inputs.kills_needed)));
}

void AddBoundSteps(const RequestInputs& inputs, const RequestPolicy& policy,
                   const RequestEstimate& estimate, double amounts, Steps& steps) {
  if (!steps) return;
  const ResourceRule& rule = inputs.profile->rule(inputs.resource);
  const auto text = [&](double amount) { return AmountText(inputs.resource, amount); };
  steps.AddAmount("margin", estimate.with_margin, estimate.with_margin != estimate.model_amount,
                  fmt::format("+ {:g} %", policy.margin_ratio * 100));
  steps.AddAmount("expansion", estimate.expanded, estimate.expanded != estimate.with_margin,
                  fmt::format("x {:g}", rule.expansion_factor));
  int64_t value = std::max(estimate.expanded, policy.minimum);
  steps.AddAmount("pod_minimum", value, estimate.minimum_applied,
                  fmt::format("at least {}: {} of a pod, shared by {}",
                              text(static_cast<double>(policy.minimum) / amounts),
                              text(rule.pod_minimum), inputs.containers));
  value = std::max(value, policy.floor);
  steps.AddAmount("floor", value, estimate.floor_applied,
                  fmt::format("at least {}", text(rule.floor)));
  const int64_t over = value % policy.rounding;
  if (over != 0) value += policy.rounding - over;
  steps.AddAmount("rounding", value, estimate.rounded,
                  fmt::format("up to a multiple of {}", text(rule.rounding)));
  steps.AddAmount("ceiling", estimate.recommended_amount, estimate.ceiling_applied,
                  rule.ceiling ? fmt::format("at most {}", text(*rule.ceiling)) : "none");
}

/// No more than `most`; false where it was not more.
bool Cap(int64_t most, RequestEstimate& estimate) {
  estimate.lower_bound = std::min(estimate.lower_bound, most);
  if (estimate.upper_bound) estimate.upper_bound = std::min(*estimate.upper_bound, most);
  if (estimate.recommended_amount <= most) return false;
  estimate.recommended_amount = most;
  return true;
}

/// What stands above the profile's own ceiling.
void CapByLimitAndNode(const RequestInputs& inputs, double amounts, RequestEstimate& estimate,
                       ResourceAdvice& advice, Steps& steps) {
  const ResourceRule& rule = inputs.profile->rule(inputs.resource);
  const auto text = [&](double amount) { return AmountText(inputs.resource, amount); };
  if (rule.plateau_at_limit && inputs.limit && inputs.usage != nullptr && inputs.kills == 0 &&
      !inputs.share && LiesAtLimit(*inputs.usage, *inputs.limit)) {
    const bool changed = Cap(WholeAmount(*inputs.limit, amounts), estimate);
    if (changed) advice.Mark(AdviceMark::kPlateau);
    steps.AddAmount("plateau", estimate.recommended_amount, changed,
                    fmt::format("at most {}: use lies at this limit without a kill, as a heap does "
                                "that takes what it is given",
                                text(*inputs.limit)));
  }
  if (rule.node_cap && inputs.node) {
    const bool changed = Cap(WholeAmount(*inputs.node, amounts), estimate);
    if (changed) advice.Mark(AdviceMark::kNodeCap);
    steps.AddAmount(
        "node_cap", estimate.recommended_amount, changed,
        fmt::format("at most {}: the largest node has no room for more", text(*inputs.node)));
  }
}

void MarkEstimate(const RequestEstimate& estimate, ResourceAdvice& advice) {
  if (estimate.minimum_applied) advice.Mark(AdviceMark::kPodMinimum);
  if (estimate.floor_applied) advice.Mark(AdviceMark::kFloor);
  if (estimate.ceiling_applied) advice.Mark(AdviceMark::kCeiling);
  if (estimate.rounded) advice.Mark(AdviceMark::kRounded);
}

/// Whether the ratio would give less than what a kill has shown to be too little. A pool that waits
/// for samples does not wait with that.
bool KillsAskForMore(const RequestInputs& inputs, const ResourceAdvice& advice) {
  if (!(inputs.kills_needed > 0)) return false;
  const double ratio = inputs.profile->rule(inputs.resource).static_ratio;
  return advice.recommended_request > *inputs.original_request * ratio;
}

/// The original request times the pool's ratio, within the rule's bounds.
void RecommendStatic(const RequestInputs& inputs, double amounts, ResourceAdvice& advice,
                     Steps& steps) {
  advice.recommended_request.reset();
  advice.marks &= static_cast<uint32_t>(
      ~(static_cast<uint32_t>(AdviceMark::kPodMinimum) | static_cast<uint32_t>(AdviceMark::kFloor) |
        static_cast<uint32_t>(AdviceMark::kCeiling) | static_cast<uint32_t>(AdviceMark::kRounded)));
  advice.Mark(AdviceMark::kStatic);
  if (!inputs.original_request) {
    advice.Mark(AdviceMark::kNoOriginal);
    return;
  }
  const double ratio = inputs.profile->rule(inputs.resource).static_ratio;
  RequestPolicy policy = PolicyOf(inputs, amounts);
  policy.margin_ratio = 0;
  policy.expansion_factor = 1;
  policy.minimum = 0;
  policy.as_vpa = false;
  // The ratio is a decimal fraction; a thousandth of an amount is no amount lost.
  const double wanted = *inputs.original_request * ratio + 1e-3 / amounts;
  const RequestEstimate estimate =
      estimators::EstimateRequest({wanted, wanted, wanted}, policy, amounts);
  advice.recommended_request = static_cast<double>(estimate.recommended_amount) / amounts;
  // What the pool gives is not wrong by its own rule, whatever the histogram says.
  if (advice.lower_bound) {
    advice.lower_bound = std::min(*advice.lower_bound, *advice.recommended_request);
  }
  if (advice.upper_bound) {
    advice.upper_bound = std::max(*advice.upper_bound, *advice.recommended_request);
  }
  MarkEstimate(estimate, advice);
  steps.Add("static_ratio", *advice.recommended_request, true,
            fmt::format("the original request of {} x {:g}",
                        AmountText(inputs.resource, *inputs.original_request), ratio));
}

}  // namespace

void WorkOutRequest(const RequestInputs& inputs, ResourceAdvice& advice,
                    std::vector<ExplanationStep>* out) {
  const Profile& profile = *inputs.profile;
  const ResourceRule& rule = profile.rule(inputs.resource);
  const double amounts = WholeAmountsPerUnit(inputs.resource);
  Steps steps(out, amounts);
  advice.original_request = inputs.original_request;
  if (!rule.enabled) return;
  const bool has_usage =
      inputs.usage != nullptr && (profile.strict || !inputs.usage->histogram().IsEmpty());
  // VPA recommends its minimum for a container of which it knows no usage.
  const bool as_vpa =
      profile.strict && (inputs.resource == Resource::kCpu || inputs.resource == Resource::kMemory);
  if (has_usage || as_vpa || inputs.kills_needed > 0) {
    const Bases bases = BasesOf(inputs, out != nullptr);
    const double share = inputs.share.value_or(1);
    const auto lifted = [&](double base) { return std::max(base * share, inputs.kills_needed); };
    const RequestBases model = {lifted(bases.values.target), lifted(bases.values.lower),
                                lifted(bases.values.upper)};
    RequestPolicy policy = PolicyOf(inputs, amounts);
    policy.margin_ratio = MarginInForce(rule, bases.is_hours);
    if (inputs.usage != nullptr || as_vpa) {
      const std::chrono::milliseconds interval(rule.confidence_interval_ms);
      RequestInputs none = inputs;
      const UsageTrack::Reading nothing;
      if (none.usage == nullptr) none.usage = &nothing;
      policy.confidence = ConfidenceOf(none, interval);
      advice.confidence_days = ConfidenceOf(none, std::chrono::hours(24));
      advice.samples = none.usage->minutes.Count();
    }
    RequestEstimate estimate = estimators::EstimateRequest(model, policy, amounts);
    AddModelSteps(inputs, bases, model, steps);
    AddBoundSteps(inputs, policy, estimate, amounts, steps);
    CapByLimitAndNode(inputs, amounts, estimate, advice, steps);
    advice.model_request = static_cast<double>(estimate.model_amount) / amounts;
    advice.recommended_request = static_cast<double>(estimate.recommended_amount) / amounts;
    advice.lower_bound = static_cast<double>(estimate.lower_bound) / amounts;
    if (estimate.upper_bound) {
      advice.upper_bound = static_cast<double>(*estimate.upper_bound) / amounts;
    } else {
      advice.Mark(AdviceMark::kNoUpperBound);
    }
    MarkEstimate(estimate, advice);
    advice.kills = inputs.kills;
    if (KillsDecide(inputs, model.target)) advice.Mark(AdviceMark::kKills);
    const bool has_minutes = inputs.usage != nullptr && inputs.usage->minutes.Count() > 0;
    if (!has_minutes && !as_vpa) advice.Mark(AdviceMark::kOnlyKills);
    if (inputs.usage != nullptr && inputs.usage->is_earlier) advice.Mark(AdviceMark::kEarlierRule);
    if (inputs.share) {
      advice.Mark(inputs.share_by_request ? AdviceMark::kSharedByRequest
                                          : AdviceMark::kSharedEqually);
    }
    if (bases.is_mark) advice.Mark(AdviceMark::kHighWater);
    if (bases.is_hours) advice.Mark(AdviceMark::kHours);
    if (CountsRuns(inputs)) advice.Mark(AdviceMark::kPerRun);
    if (LeftStartUpOut(inputs)) advice.Mark(AdviceMark::kStartUpApart);
    if (ThrottledRatio(inputs) > 0) advice.Mark(AdviceMark::kThrottled);
    if (inputs.resource == Resource::kMemory && rule.leave_out_page_cache) {
      advice.Mark(AdviceMark::kPageCacheOut);
    }
    if (steps && inputs.usage != nullptr) {
      const std::string shape = ShapeText(*inputs.usage, inputs.resource, inputs.limit);
      if (!shape.empty()) steps.Add("shape", *advice.recommended_request, false, shape);
    }
  }
  const bool too_young = !advice.recommended_request || advice.confidence_days < kEnoughDays;
  switch (profile.mode) {
    case PoolMode::kDynamic: break;
    case PoolMode::kOff:
      advice.recommended_request.reset();
      advice.lower_bound.reset();
      advice.upper_bound.reset();
      break;
    case PoolMode::kStatic: RecommendStatic(inputs, amounts, advice, steps); break;
    case PoolMode::kStaticAndDynamic:
      if (too_young && inputs.original_request && !KillsAskForMore(inputs, advice)) {
        RecommendStatic(inputs, amounts, advice, steps);
      }
      break;
  }
}

}  // namespace tidemark::engine
