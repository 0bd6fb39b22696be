#include "model/advice_text.h"

#include <fmt/format.h>

#include <cmath>

#include "model/amount_text.h"

namespace tidemark {
namespace {

/// A number with so few digits as it takes, at most four behind the point: "15", "0.5", "99.9".
std::string Figure(double value) {
  std::string text = fmt::format("{:.4f}", value);
  text.erase(text.find_last_not_of('0') + 1);
  if (text.ends_with('.')) text.pop_back();
  return text;
}

std::string Percent(double ratio) { return Figure(ratio * 100) + " %"; }

/// "90th percentile", "99.9th percentile", "highest value".
std::string PercentileText(double ratio) {
  if (ratio >= 1) return "highest value";
  const std::string number = Figure(ratio * 100);
  std::string_view ending = "th";
  if (number.find('.') == std::string::npos && (number.size() < 2 || !number.starts_with('1'))) {
    if (number.ends_with('1')) ending = "st";
    if (number.ends_with('2')) ending = "nd";
    if (number.ends_with('3')) ending = "rd";
  }
  return fmt::format("{}{} percentile", number, ending);
}

std::string SpanText(double days) {
  if (days >= 1) return fmt::format("{:.1f} days", days);
  if (days * 24 >= 1) return fmt::format("{:.1f} hours", days * 24);
  const double minutes = std::round(days * 24 * 60);
  return minutes == 1 ? "1 minute" : fmt::format("{:.0f} minutes", minutes);
}

std::string KillsText(uint32_t kills) {
  if (kills == 0) return "killed for memory";
  return kills == 1 ? "killed for memory once" : fmt::format("killed for memory {} times", kills);
}

/// `summed`: a pod's sum was read, not the container's own samples.
std::string_view WhoseSamples(Level level, bool summed) {
  switch (level) {
    case Level::kContainer: return "samples";
    case Level::kWorkload: return "samples of all containers of the workload";
    case Level::kNamespace: return "samples of all containers of the namespace";
    case Level::kPod: return summed ? "samples of whole pods" : "samples";
  }
  return "samples";
}

class Sentence {
 public:
  Sentence(const Profile& profile, const ResourceAdvice& advice)
      : profile_(profile), rule_(profile.rule(advice.resource)), advice_(advice) {}

  std::string Text() {
    text_ = profile_.names->NameOf(advice_.resource);
    if (!advice_.recommended_request) {
      text_ += ": " + WhyNothing();
      return std::move(text_);
    }
    text_ += " " + Amount(*advice_.recommended_request) + ": ";
    if (advice_.Has(AdviceMark::kStatic)) {
      AddStatic();
    } else {
      AddModel();
      AddFactors();
    }
    AddBounds();
    // The rest is about the history, of which a static request is not made.
    if (!advice_.Has(AdviceMark::kStatic)) AddRemarks();
    return std::move(text_);
  }

 private:
  std::string Amount(double amount) const { return AmountText(advice_.resource, amount); }

  std::string WhyNothing() const {
    if (!rule_.enabled) return "nothing is recommended, the profile leaves this resource out";
    if (profile_.mode == PoolMode::kOff) return "nothing is recommended, the pool is off";
    if (profile_.mode == PoolMode::kStatic || advice_.Has(AdviceMark::kNoOriginal)) {
      return fmt::format(
          "nothing is recommended, the original request, of which this pool takes {}, is not known",
          Percent(rule_.static_ratio));
    }
    if (advice_.samples == 0 && advice_.confidence_days == 0) {
      return "nothing is recommended yet, no samples have come";
    }
    return fmt::format("nothing is recommended yet, {} of samples are too few",
                       SpanText(advice_.confidence_days));
  }

  void AddStatic() {
    text_ += Percent(rule_.static_ratio) + " of the original request";
    if (advice_.original_request) text_ += " of " + Amount(*advice_.original_request);
  }

  void AddModel() {
    const bool only = advice_.Has(AdviceMark::kOnlyKills);
    if (HasNoUsage() && !only) {
      text_ += "no usage is known";
      return;
    }
    const std::string model = Amount(advice_.model_request.value_or(0));
    if (only || advice_.Has(AdviceMark::kKills)) {
      if (only) text_ += "no usage is known; ";
      text_ += fmt::format("{}, asks for at least {}", KillsText(advice_.kills), model);
      return;
    }
    if (advice_.Has(AdviceMark::kSharedByRequest))
      text_ += "its share, by the containers' requests, of ";
    if (advice_.Has(AdviceMark::kSharedEqually)) {
      text_ += "its equal share, as not all requests are known, of ";
    }
    const bool summed =
        advice_.Has(AdviceMark::kSharedByRequest) || advice_.Has(AdviceMark::kSharedEqually);
    // A kill counts as a peak, and its peak outlives the time for which the kill itself holds.
    const std::string samples =
        advice_.samples == 0 && advice_.confidence_days == 0
            ? "the peaks that kills left"
            : fmt::format("{} of {}", SpanText(advice_.confidence_days),
                          advice_.Has(AdviceMark::kPerRun) ? "runs, of each the peak,"
                                                           : WhoseSamples(profile_.level, summed));
    if (advice_.Has(AdviceMark::kHours)) {
      text_ += CountsPeaks()
                   ? fmt::format("the highest hours of {} ask for {}", samples, model)
                   : fmt::format("the hours of {} ask for {}, with {} of minutes above", samples,
                                 model, Percent(rule_.adaptive.target_exceedance_ratio));
      return;
    }
    if (advice_.Has(AdviceMark::kHighWater)) {
      text_ += fmt::format("the high-water mark of risk {:g} over 7 days is {}",
                           rule_.high_water.risk, model);
      return;
    }
    text_ += fmt::format("the {} of {} is {}", PercentileText(rule_.percentile), samples, model);
  }

  double Margin() const { return MarginInForce(rule_, advice_.Has(AdviceMark::kHours)); }

  bool CountsPeaks() const { return rule_.samples == SampleKind::kPeakPerWindow; }

  /// VPA, and so a strict profile, recommends its minimum for what it knows nothing of.
  bool HasNoUsage() const {
    return advice_.model_request.value_or(0) == 0 && advice_.samples == 0 &&
           advice_.confidence_days == 0;
  }

  void AddFactors() {
    if (HasNoUsage()) return;
    if (Margin() > 0) text_ += fmt::format(", plus {} margin", Percent(Margin()));
    if (rule_.expansion_factor != 1) {
      text_ += fmt::format(", times {} for expansion", Figure(rule_.expansion_factor));
    }
  }

  // In the order in which the steps are taken.
  void AddBounds() {
    if (advice_.Has(AdviceMark::kPodMinimum)) {
      text_ +=
          ", raised to the container's share of the pod minimum of " + Amount(rule_.pod_minimum);
    }
    if (advice_.Has(AdviceMark::kFloor)) text_ += ", raised to the floor of " + Amount(rule_.floor);
    if (advice_.Has(AdviceMark::kRounded) && RoundsVisibly()) {
      text_ += ", rounded up to a multiple of " + Amount(rule_.rounding);
    }
    if (advice_.Has(AdviceMark::kCeiling)) {
      text_ += ", lowered to the ceiling";
      if (rule_.ceiling) text_ += " of " + Amount(*rule_.ceiling);
    }
    if (advice_.Has(AdviceMark::kPlateau)) {
      text_ += ", held at the limit, where its use has lain all the time without a kill";
    }
    if (advice_.Has(AdviceMark::kNodeCap)) {
      text_ += ", lowered to what the largest node can give: it would not be scheduled";
    }
  }

  /// Whole millicores and bytes are how requests are written: nobody asks about these.
  bool RoundsVisibly() const {
    return rule_.rounding > (advice_.resource == Resource::kCpu ||
                                     advice_.resource == Resource::kGpuUtilization ||
                                     IsCustom(advice_.resource)
                                 ? 0.001
                                 : 1);
  }

  void AddRemarks() {
    const bool lifted = advice_.Has(AdviceMark::kKills) || advice_.Has(AdviceMark::kOnlyKills);
    if (advice_.kills > 0 && !lifted)
      text_ += "; " + KillsText(advice_.kills) + ", asks for no more";
    if (advice_.Has(AdviceMark::kEarlierRule)) {
      text_ +=
          "; the rule changed: answers by the rule before until the new one has 24 hours of "
          "samples";
    }
    if (advice_.Has(AdviceMark::kThrottled)) {
      text_ += "; minutes in which the limit held it back count for more";
    }
    if (advice_.Has(AdviceMark::kStartUpApart)) {
      text_ += fmt::format("; the first {} of each pod are left out",
                           SpanText(static_cast<double>(rule_.startup_ms) / (24 * 3600 * 1000.0)));
    }
    if (advice_.Has(AdviceMark::kPageCacheOut)) text_ += "; page cache is left out";
    if (advice_.Has(AdviceMark::kNoUpperBound)) text_ += "; too little is known for an upper bound";
  }

  const Profile& profile_;
  const ResourceRule& rule_;
  const ResourceAdvice& advice_;
  std::string text_;
};

}  // namespace

std::string_view ToString(AdviceMark mark) {
  switch (mark) {
    case AdviceMark::kKills: return "kills";
    case AdviceMark::kPodMinimum: return "pod_minimum";
    case AdviceMark::kFloor: return "floor";
    case AdviceMark::kCeiling: return "ceiling";
    case AdviceMark::kRounded: return "rounded";
    case AdviceMark::kStatic: return "static";
    case AdviceMark::kEarlierRule: return "earlier_rule";
    case AdviceMark::kNoUpperBound: return "no_upper_bound";
    case AdviceMark::kSharedByRequest: return "shared_by_request";
    case AdviceMark::kSharedEqually: return "shared_equally";
    case AdviceMark::kOnlyKills: return "only_kills";
    case AdviceMark::kNoOriginal: return "no_original";
    case AdviceMark::kThrottled: return "throttled";
    case AdviceMark::kStartUpApart: return "start_up_apart";
    case AdviceMark::kPerRun: return "per_run";
    case AdviceMark::kPageCacheOut: return "page_cache_out";
    case AdviceMark::kNodeCap: return "node_cap";
    case AdviceMark::kPlateau: return "plateau";
    case AdviceMark::kHighWater: return "high_water";
    case AdviceMark::kHours: return "hours";
  }
  return "unknown";
}

std::string AdviceText(const Profile& profile, const ResourceAdvice& advice) {
  return Sentence(profile, advice).Text();
}

}  // namespace tidemark
