#include "engine/adaptive_basis.h"

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <utility>

#include "model/amount_text.h"

namespace tidemark::engine {
namespace {

using estimators::AdaptiveRequest;
using estimators::MemoryShape;
using estimators::PeakRequest;

/// Writes the steps of one basis, if anybody asks.
class BasisSteps {
 public:
  BasisSteps(Resource resource, std::vector<ExplanationStep>& out)
      : resource_(resource), out_(out) {}

  std::string Text(double amount) const { return AmountText(resource_, amount); }
  /// The same, where 0 says that nothing is known.
  std::string KnownText(double amount) const { return amount > 0 ? Text(amount) : "not known"; }
  void Add(std::string_view name, double value, std::string what) {
    const bool changed = out_.empty() || value != out_.back().value;
    out_.push_back({name, value, changed, std::move(what)});
  }

 private:
  const Resource resource_;
  std::vector<ExplanationStep>& out_;
};

void ExplainHours(const AdaptiveRequest& hours, const ResourceRule& rule, BasisSteps& steps) {
  const auto options = AdaptiveOptionsOf(rule);
  const auto said = hours.Explain(options);
  if (!said) return;
  steps.Add("hours", said->base,
            fmt::format("half of the highest of the last hour ({}), of these hours a day before "
                        "({}) and a week before ({}), and half of a usual hour ({})",
                        steps.KnownText(said->last_hour), steps.KnownText(said->day_before),
                        steps.KnownText(said->week_before), steps.KnownText(said->typical_hour)));
  double value = said->base * said->for_target;
  steps.Add("wish", value,
            fmt::format("x {:.3g}, as {:g} % of minutes may be above", said->for_target,
                        options.target_exceedance * 100));
  value *= said->correction;
  steps.Add("correction", value,
            fmt::format("x {:.3g}, learnt from the hours before; at this request {:.2g} % of "
                        "minutes are tolerated above it",
                        said->correction, said->tolerated * 100));
  steps.Add("week_maximum", said->wanted,
            fmt::format("at most {}: {:g} times the highest of eight days", steps.Text(said->cap),
                        options.cap_ratio));
  steps.Add("hold", said->request,
            fmt::format("raised at once, lowered only by {:g} % or more", options.lower_by * 100));
}

void ExplainDays(const AdaptiveRequest& hours, double request, const ResourceRule& rule,
                 BasisSteps& steps) {
  const auto options = AdaptiveOptionsOf(rule);
  const auto said = hours.Explain(options);
  const double tolerated = options.Tolerated(request, said ? said->mean : 0);
  steps.Add("days", request,
            fmt::format("the least that about {:.2g} % of the minutes are above, old ones counting "
                        "less, + {:g} %",
                        tolerated * 100, options.day_margin * 100));
}

void ExplainPeaks(const PeakRequest& peaks, const ResourceRule& rule, BasisSteps& steps) {
  const auto options = PeakOptionsOf(rule);
  const auto said = peaks.Explain(options);
  if (!said) return;
  steps.Add("high_hour", said->high_hour,
            fmt::format("the level that {:g} % of the week's hours do not pass, old ones counting "
                        "less",
                        options.hour_quantile * 100));
  steps.Add("safety", said->with_factor, fmt::format("x {:g}", options.safety_factor));
  steps.Add("week_maximum", said->request,
            fmt::format("at least what the worst pod needed in seven days, {}",
                        steps.Text(said->largest)));
}

}  // namespace

std::optional<AdaptiveBasis> AdaptiveBasisOf(const UsageTrack::Reading& usage, Resource resource,
                                             const ResourceRule& rule,
                                             const estimators::RequestBases& percentiles,
                                             bool explain) {
  if (usage.hours == nullptr) return std::nullopt;
  const auto request = usage.hours->Request(rule, usage.histogram());
  if (!request) return std::nullopt;
  AdaptiveBasis basis;
  double lower = percentiles.lower;
  const auto* const peaks = usage.hours->peaks();
  if (peaks != nullptr) {
    // What the worst pod needed is needed: less would have killed it.
    if (const auto said = peaks->Explain(PeakOptionsOf(rule))) lower = said->largest;
  }
  double target = *request;
  BasisSteps steps(resource, basis.steps);
  if (explain) {
    if (peaks != nullptr) {
      ExplainPeaks(*peaks, rule, steps);
    } else if (rule.adaptive.resize_in_place) {
      ExplainHours(*usage.hours->adaptive(), rule, steps);
    } else {
      ExplainDays(*usage.hours->adaptive(), target, rule, steps);
    }
  }
  if (!usage.hours->KnowsADay()) {
    target = std::max(target, percentiles.target * (1 + kUsualMargin));
    if (explain) {
      steps.Add("first_day", target,
                fmt::format("before a day of hours is known at least the {:g}th percentile of "
                            "what is known + {:g} %",
                            rule.percentile * 100, kUsualMargin * 100));
    }
  }
  basis.bases = {.target = target,
                 .lower = std::min(lower, target),
                 .upper = std::max(percentiles.upper, target)};
  return basis;
}

bool LiesAtLimit(const UsageTrack::Reading& usage, double limit) {
  if (usage.hours == nullptr || usage.hours->peaks() == nullptr || !(limit > 0)) return false;
  const PeakRequest& peaks = *usage.hours->peaks();
  if (peaks.DailyMaximum(0) < 0.9 * limit) return false;
  return estimators::FindMemoryShape(peaks.hours(), limit).shape == MemoryShape::kAtLimit;
}

std::string ShapeText(const UsageTrack::Reading& usage, Resource resource,
                      std::optional<double> limit) {
  if (usage.hours == nullptr || usage.hours->peaks() == nullptr) return {};
  const auto found = estimators::FindMemoryShape(usage.hours->peaks()->hours(), limit);
  const auto text = [resource](double amount) { return AmountText(resource, amount); };
  std::string out(estimators::ToString(found.shape));
  switch (found.shape) {
    case MemoryShape::kNothingSpecial: break;
    case MemoryShape::kLeak:
      out += fmt::format(" From {} to {} in {} hours, {} an hour; ended by a restart {} times.",
                         text(found.from), text(found.to), found.hours, text(found.bytes_an_hour),
                         found.times);
      break;
    case MemoryShape::kSawTooth:
      out += fmt::format(": between {} and {}, every {} hours or so", text(found.from),
                         text(found.to), found.hours);
      break;
    case MemoryShape::kAtLimit: out += ": about " + text(found.to); break;
  }
  return out;
}

}  // namespace tidemark::engine
