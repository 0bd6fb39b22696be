#pragma once
// From what is known of the usage to the request to set, step by step.
//
// percentile, high-water mark or what the hours say, whichever is the basis (or kills, where they
// ask for more) -> margin -> expansion -> share of the pod's minimum -> floor -> rounded up ->
// ceiling -> limit, where memory lies there -> largest node; or, in static pools, the original
// request times a ratio. Pure functions.

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "engine/high_water_reading.h"
#include "engine/usage_signs.h"
#include "engine/usage_track.h"
#include "estimators/confidence.h"
#include "model/explanation.h"
#include "model/profile.h"
#include "model/snapshot.h"

namespace tidemark::engine {

/// What is known of one resource of one container. Amounts are in the resource's unit.
struct RequestInputs {
  const Profile* profile = nullptr;
  Resource resource = Resource::kCpu;
  const UsageTrack::Reading* usage = nullptr;  ///< null: none
  /// Of the container's CPU. VPA counts no others, and for a level that is told every few minutes
  /// they say more of how long it has been seen than its own.
  std::optional<estimators::SampleSpan> cpu_minutes;
  HighWaterReading high_water;
  double kills_needed = 0;  ///< what kills ask for at least
  uint32_t kills = 0;
  size_t containers = 1;  ///< that share the pod's minimum
  /// Level pod: of the pod's sum this part is the container's.
  std::optional<double> share;
  bool share_by_request = false;
  std::optional<double> original_request;
  std::optional<double> limit;        ///< in force now
  std::optional<double> node;         ///< what the largest node can give; absent: not known
  const UsageSigns* signs = nullptr;  ///< null: nothing was made of the minutes
  bool is_job = false;                ///< the pods are runs
  int64_t event_time_ms = 0;
};

/// Fills what the inputs say into `advice`: model and recommended request, bounds, confidence,
/// marks; nothing else of it. Appends the steps to `steps` unless null.
void WorkOutRequest(const RequestInputs& inputs, ResourceAdvice& advice,
                    std::vector<ExplanationStep>* steps = nullptr);

}  // namespace tidemark::engine
