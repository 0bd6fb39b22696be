#pragma once
// What becomes of one request of one container, before the pod as a whole is looked at.

#include <optional>
#include <string>

#include "model/profile.h"
#include "model/snapshot.h"
#include "rightsizing/correction.h"

namespace tidemark::rightsizing {

/// An amount and how it is written.
struct WrittenAmount {
  double value = 0;
  std::string text;
};

/// What a container has of a resource.
struct RequestFacts {
  std::optional<WrittenAmount> now;  ///< the request in force: what is written, else the limit
  std::optional<WrittenAmount> original;
  std::optional<WrittenAmount> limit;
};

struct RequestDecision {
  /// Without right-sizing: the original, at most the limit; where none is known what is in force.
  std::optional<WrittenAmount> base;
  std::optional<WrittenAmount> result;  ///< what it is to be; absent: no request, as before
  CorrectionRule rule = CorrectionRule::kNothing;
  std::string what;  ///< one sentence

  /// Whether right-sizing makes the request another than it would be without.
  bool Corrects() const { return result.has_value() && (!base || result->value != base->value); }
};

/// By the rules that PlanPod tells of single requests, but for that of small changes. `advice` may
/// be empty but for its resource. Does not depend on what is in force where the original is known.
/// Pure; thread-safe.
/// `effect`: the profile's, or what stands in for it.
RequestDecision DecideRequest(const Profile& profile, Effect effect, const ResourceAdvice& advice,
                              const RequestFacts& facts, const ContainerLimits& limit_range);

/// Whether what is in force may as well stay: `decision` is another by less than
/// `least_change_ratio` of it, and neither the original nor more memory.
bool IsNear(Resource resource, const RequestDecision& decision, const RequestFacts& facts,
            double least_change_ratio);

}  // namespace tidemark::rightsizing
