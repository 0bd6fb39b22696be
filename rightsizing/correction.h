#pragma once
// What right-sizing makes of a recommendation: the request that a container is given in place of
// the one its owner wrote ("original"). Limits are never touched.
//
// Source of the rules: dynamic oversell as a large platform runs it (take the model's candidate
// only when it is below the original; before there is one, a fixed ratio of the original).
//
// Always computed from the original, never from the request in force: that may be an earlier
// correction, and correcting corrections would ratchet down for ever. So the same input gives the
// same answer however often it is asked.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "model/enough_days.h"
#include "model/profile.h"
#include "model/snapshot.h"

namespace tidemark::rightsizing {

/// Which rule decided.
enum class CorrectionRule : uint8_t {
  kOff,              ///< the profile does not correct this resource, or the pool is off
  kShown,            ///< there is a recommendation, but its owner has to take it over
  kNothing,          ///< there is no recommendation yet
  kUnknownOriginal,  ///< the original is needed and not known
  kCandidate,        ///< the recommendation is set
  kKeepOriginal,     ///< the recommendation is not below the original
  kStaticRatio,      ///< a fixed ratio of the original is set
};

/// "off", "shown", "nothing", "unknown_original", "candidate", "keep_original", "static_ratio".
std::string_view ToString(CorrectionRule rule);

/// Whether it is by right-sizing, and not by the owner, that the request is what it is.
constexpr bool Sets(CorrectionRule rule) {
  return rule == CorrectionRule::kCandidate || rule == CorrectionRule::kStaticRatio;
}

struct Corrected {
  CorrectionRule rule = CorrectionRule::kNothing;
  /// The request that the container ends up with, in the resource's unit; absent when it is left
  /// alone and what it has is not known.
  std::optional<double> request;
  /// Whether `request` has to be written: it is not what the owner wrote.
  bool changed = false;
  /// One plain sentence: what is done and by which rule.
  std::string what;
};

/// The correction of one resource of one container, by the first of these that applies:
///
/// 1. The resource is not enabled, its correction is off, or the pool is: the original.
/// 2. The pool is static, or static_and_dynamic and there is no recommendation in effect: the
///    original times the static ratio, not below the rule's floor, but never above the original. A
///    recommendation is in effect when there is one that is not itself the static ratio, it
///    has kEnoughDays behind it, and `effect` is kApplied. The ratio is a fixed setting and needs
///    no consent: it is used with kShown, too.
/// 3. No recommendation, or one that is only shown: the original.
/// 4. Correction kReplace: the recommendation.
/// 5. Correction kKeepOriginal: the recommendation where it is less than the original, else the
///    original. Where the original is not known nothing is set.
///
/// `original` is what the owner wrote; absent when the container has no such request, or nobody
/// knows. `limit` is the container's limit, where it has one: Kubernetes refuses a pod that
/// requests more, so a replacement ends there. Amounts that are negative or no numbers count as
/// absent. Pure; thread-safe.
Corrected CorrectRequest(const ResourceRule& rule, PoolMode mode, Effect effect,
                         const ResourceAdvice& advice, std::optional<double> original,
                         std::optional<double> limit = std::nullopt);

}  // namespace tidemark::rightsizing
