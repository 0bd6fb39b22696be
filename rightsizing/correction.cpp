#include "rightsizing/correction.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "model/amount_text.h"
#include "model/rounding.h"

namespace tidemark::rightsizing {
namespace {

std::optional<double> Amount(std::optional<double> value) {
  return value && std::isfinite(*value) && *value >= 0 ? value : std::nullopt;
}

class Correcting {
 public:
  Correcting(const ResourceRule& rule, PoolMode mode, Effect effect, const ResourceAdvice& advice,
             std::optional<double> original, std::optional<double> limit)
      : rule_(rule),
        mode_(mode),
        effect_(effect),
        resource_(advice.resource),
        candidate_(Amount(advice.recommended_request)),
        original_(Amount(original)),
        limit_(Amount(limit)) {
    // A static pool's recommendation was made of the original of the newest pod; here there is the
    // one that is being corrected.
    if (advice.Has(AdviceMark::kStatic)) candidate_.reset();
    if (mode == PoolMode::kStaticAndDynamic && !(advice.confidence_days >= kEnoughDays)) {
      candidate_.reset();
    }
  }

  Corrected Do() const {
    if (!rule_.enabled) return Leave(CorrectionRule::kOff, "the profile leaves this resource out");
    if (mode_ == PoolMode::kOff) return Leave(CorrectionRule::kOff, "the pool is off");
    if (rule_.correction == Correction::kOff) {
      return Leave(CorrectionRule::kOff, "correction is off for this resource");
    }
    const bool in_effect = candidate_.has_value() && effect_ == Effect::kApplied;
    if (mode_ == PoolMode::kStatic) return Static("the pool is static");
    if (mode_ == PoolMode::kStaticAndDynamic && !in_effect) {
      return Static(candidate_ ? "the recommendation is only shown"
                               : "there is no recommendation yet");
    }
    if (!candidate_) return Leave(CorrectionRule::kNothing, "there is no recommendation yet");
    if (!in_effect) {
      return Leave(CorrectionRule::kShown, "the recommendation of " + Text(*candidate_) +
                                               " is only shown, its owner has to take it over");
    }
    return rule_.correction == Correction::kReplace ? Replace() : KeepOriginal();
  }

 private:
  std::string Text(double amount) const { return AmountText(resource_, amount); }

  Corrected Leave(CorrectionRule by, std::string_view why) const {
    if (!original_) return {by, std::nullopt, false, fmt::format("left alone: {}", why)};
    return {by, original_, false,
            fmt::format("the original request of {} is kept: {}", Text(*original_), why)};
  }

  Corrected Set(CorrectionRule by, double request, std::string what) const {
    return {by, request, !original_ || request != *original_, std::move(what)};
  }

  static Corrected UnknownOriginal() {
    return {CorrectionRule::kUnknownOriginal, std::nullopt, false,
            "the original request is not known: right-sizing reads it from the manifest"};
  }

  /// As the engine works out the recommendation of a static pool, but never above the original.
  double StaticRequest() const {
    const double share = WholeAmount(resource_, *original_ * rule_.static_ratio);
    double request = RoundedUp(std::max(share, rule_.floor), rule_.rounding);
    if (rule_.ceiling) request = std::min(request, *rule_.ceiling);
    return std::min(request, *original_);
  }

  Corrected Static(std::string_view why) const {
    if (!original_) return UnknownOriginal();
    const double request = StaticRequest();
    return Set(CorrectionRule::kStaticRatio, request,
               fmt::format("{}: {:.4g} % of the original request of {}, as {}", Text(request),
                           rule_.static_ratio * 100, Text(*original_), why));
  }

  Corrected Replace() const {
    if (limit_ && *candidate_ > *limit_) {
      return Set(
          CorrectionRule::kCandidate, *limit_,
          fmt::format("{}: the recommendation of {} ends at the limit, which is never changed",
                      Text(*limit_), Text(*candidate_)));
    }
    return Set(CorrectionRule::kCandidate, *candidate_,
               fmt::format("{}: the recommendation replaces the original request{}",
                           Text(*candidate_), original_ ? " of " + Text(*original_) : ""));
  }

  Corrected KeepOriginal() const {
    if (!original_) return UnknownOriginal();
    if (*candidate_ < *original_) {
      return Set(CorrectionRule::kCandidate, *candidate_,
                 fmt::format("{}: the recommendation is less than the original request of {}",
                             Text(*candidate_), Text(*original_)));
    }
    return Leave(CorrectionRule::kKeepOriginal,
                 "the recommendation of " + Text(*candidate_) + " is not less");
  }

  const ResourceRule& rule_;
  const PoolMode mode_;
  const Effect effect_;
  const Resource resource_;
  std::optional<double> candidate_;
  const std::optional<double> original_;
  const std::optional<double> limit_;
};

}  // namespace

std::string_view ToString(CorrectionRule rule) {
  switch (rule) {
    case CorrectionRule::kOff: return "off";
    case CorrectionRule::kShown: return "shown";
    case CorrectionRule::kNothing: return "nothing";
    case CorrectionRule::kUnknownOriginal: return "unknown_original";
    case CorrectionRule::kCandidate: return "candidate";
    case CorrectionRule::kKeepOriginal: return "keep_original";
    case CorrectionRule::kStaticRatio: return "static_ratio";
  }
  return "unknown";
}

Corrected CorrectRequest(const ResourceRule& rule, PoolMode mode, Effect effect,
                         const ResourceAdvice& advice, std::optional<double> original,
                         std::optional<double> limit) {
  return Correcting(rule, mode, effect, advice, original, limit).Do();
}

}  // namespace tidemark::rightsizing
