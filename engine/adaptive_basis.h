#pragma once
// What a request is when the hours of the last week are its basis, and how that came about.

#include <optional>
#include <vector>

#include "engine/usage_track.h"
#include "estimators/memory_shape.h"
#include "estimators/request_estimator.h"
#include "model/explanation.h"
#include "model/profile.h"
#include "model/resource.h"

namespace tidemark::engine {

struct AdaptiveBasis {
  estimators::RequestBases bases;
  std::vector<ExplanationStep> steps;  ///< empty unless they were asked for
};

/// Nullopt where no hour is known. Until a day of hours is, no less than the percentile and the
/// usual margin. `percentiles`: of the rule, of the same usage.
std::optional<AdaptiveBasis> AdaptiveBasisOf(const UsageTrack::Reading& usage, Resource resource,
                                             const ResourceRule& rule,
                                             const estimators::RequestBases& percentiles,
                                             bool explain);

/// Whether memory lies at its limit and stays there (estimators/memory_shape.h). Cheap where its
/// usage is not near the limit.
bool LiesAtLimit(const UsageTrack::Reading& usage, double limit);

/// What the hours of memory look like, for people; empty for nothing special.
std::string ShapeText(const UsageTrack::Reading& usage, Resource resource,
                      std::optional<double> limit);

}  // namespace tidemark::engine
