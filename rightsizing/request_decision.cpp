#include "rightsizing/request_decision.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "model/quantity.h"

namespace tidemark::rightsizing {
namespace {

bool IsBytes(Resource resource) { return resource != Resource::kCpu; }

class Deciding {
 public:
  Deciding(const Profile& profile, Effect effect, const ResourceAdvice& advice,
           const RequestFacts& facts, const ContainerLimits& limit_range)
      : profile_(profile),
        effect_(effect),
        advice_(advice),
        facts_(facts),
        limit_range_(limit_range) {}

  RequestDecision Do() {
    decision_.base = AtMostLimit(facts_.original ? facts_.original : facts_.now);
    decision_.result = decision_.base;
    const auto corrected = CorrectRequest(profile_.rule(advice_.resource), profile_.mode, effect_,
                                          advice_, ValueOf(facts_.original), ValueOf(facts_.limit));
    decision_.rule = corrected.rule;
    decision_.what = corrected.what;
    if (Sets(corrected.rule) && corrected.request) Set(*corrected.request);
    return std::move(decision_);
  }

 private:
  static std::optional<double> ValueOf(const std::optional<WrittenAmount>& amount) {
    if (!amount) return std::nullopt;
    return amount->value;
  }

  std::optional<WrittenAmount> AtMostLimit(const std::optional<WrittenAmount>& amount) const {
    if (amount && facts_.limit && amount->value > facts_.limit->value) return facts_.limit;
    return amount;
  }

  void Add(std::string_view remark) {
    decision_.what += "; ";
    decision_.what += remark;
  }

  /// What the namespace's LimitRange and the limit leave of `request`.
  double Bounded(double request) {
    double least = limit_range_.min.value_or(0);
    if (facts_.limit && limit_range_.max_limit_request_ratio >= 1.0) {
      least = std::max(least, facts_.limit->value / *limit_range_.max_limit_request_ratio);
    }
    if (request < least) {
      request = least;
      Add("not less than the LimitRange allows");
    }
    if (limit_range_.max && *limit_range_.max >= 0 && request > *limit_range_.max) {
      request = *limit_range_.max;
      Add("not more than the LimitRange allows");
    }
    return request;
  }

  /// In canonical form; rounded up, unless that passed what the LimitRange allows.
  std::optional<WrittenAmount> Written(double request) const {
    const bool bytes = IsBytes(advice_.resource);
    const double unit = bytes ? 1 : 0.001;
    const auto format = bytes ? QuantityFormat::kBinarySi : QuantityFormat::kDecimalSi;
    auto text = QuantityText(bytes ? std::ceil(request) : request, format);
    if (!text) return std::nullopt;
    double value = *ParseQuantity(*text);
    const auto& most = limit_range_.max;
    if (most && *most >= 0 && value > *most && request <= *most) {
      text = QuantityText(std::floor(request / unit) * unit, format);
      if (!text) return std::nullopt;
      value = *ParseQuantity(*text);
    }
    return WrittenAmount{value, std::move(*text)};
  }

  void Set(double request) {
    const bool may_raise = decision_.rule == CorrectionRule::kCandidate &&
                           profile_.rule(advice_.resource).correction == Correction::kReplace;
    auto written = Written(Bounded(request));
    if (!written) {
      Add("left alone: no quantity of Kubernetes is as large");
      decision_.rule = CorrectionRule::kNothing;
      return;
    }
    written = AtMostLimit(written);
    const auto& base = decision_.base;
    if (base && (written->value == base->value ||
                 (!may_raise && facts_.original && written->value > base->value))) {
      return;  // the original, in its owner's words
    }
    decision_.result = std::move(written);
  }

  const Profile& profile_;
  const Effect effect_;
  const ResourceAdvice& advice_;
  const RequestFacts& facts_;
  const ContainerLimits& limit_range_;
  RequestDecision decision_;
};

}  // namespace

RequestDecision DecideRequest(const Profile& profile, Effect effect, const ResourceAdvice& advice,
                              const RequestFacts& facts, const ContainerLimits& limit_range) {
  return Deciding(profile, effect, advice, facts, limit_range).Do();
}

bool IsNear(Resource resource, const RequestDecision& decision, const RequestFacts& facts,
            double least_change_ratio) {
  if (!facts.now || !decision.Corrects()) return false;
  const double change = decision.result->value - facts.now->value;
  if (change == 0 || (resource == Resource::kMemory && change > 0)) return false;
  constexpr double kRoundingErrors = 1e-9;  // from 1 to 0.9 is a tenth
  return std::abs(change) < (1 - kRoundingErrors) * least_change_ratio * facts.now->value;
}

}  // namespace tidemark::rightsizing
