#pragma once
// What the high-water marks of one resource of one container are read from, and what a request is
// when a mark is its basis.
//
// Values that point into a shard's history: valid until its next change, on its thread.

#include <cstdint>
#include <optional>
#include <string>

#include "estimators/decaying_histogram.h"
#include "estimators/high_water.h"
#include "estimators/request_estimator.h"
#include "model/explanation.h"
#include "model/profile.h"
#include "model/resource.h"
#include "model/snapshot.h"

namespace tidemark::engine {

struct HighWaterReading {
  const estimators::HighWaterTrack* track = nullptr;  ///< null: nothing is known
  /// Of the same minutes; null: there is none.
  const estimators::DecayingHistogram* histogram = nullptr;
  Resource resource = Resource::kCpu;
  std::optional<double> limit;  ///< of one pod's container
  std::optional<double> share;  ///< the track is of the pod's sum, of which this is the container's

  /// Whether there are marks: after the first full hour.
  bool HasMarks() const { return track != nullptr && track->tail().has_value(); }

  /// Of what the track is of, the share not yet taken; absent without marks.
  std::optional<estimators::HighWaterLevel> LevelOf(double risk) const;
  /// What the track's minutes cannot be above: the limit; `other` where none is known.
  double CapOr(double other) const;
  /// Absent without marks. With the share taken, never above the limit.
  std::optional<HighWaterMark> MarkOf(double risk) const;
  /// Absent without marks.
  std::optional<ExplainedHighWater> Explain() const;

 private:
  bool IsCensored() const;
};

/// A request worked out from a mark.
struct HighWaterBasis {
  estimators::RequestBases bases;  ///< before the share
  std::string what;                ///< for the step that says so; empty unless it was asked for
};

/// The mark of the rule's risk. A tail with too few separate peaks behind it is not trusted with a
/// request: then it is the highest usage of the seven days. The bounds are the marks of ten times
/// and of a tenth of the risk. Absent without marks; `explain`: with the text.
std::optional<HighWaterBasis> BasisOf(const HighWaterReading& reading, const ResourceRule& rule,
                                      bool explain);

}  // namespace tidemark::engine
