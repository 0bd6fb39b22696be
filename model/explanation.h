#pragma once
// How a request came about, step by step, with what it is made of. Too big for the Snapshot, so it
// is asked of the shard.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "model/forecast.h"
#include "model/profile.h"
#include "model/scaling.h"
#include "model/snapshot.h"

namespace tidemark {

/// One step from usage to request, in the order in which they are taken.
struct ExplanationStep {
  /// "percentile", "kills", "margin", "expansion", "pod_minimum", "floor", "ceiling", "rounding",
  /// "static_ratio", "split", and what docs/recommendations.md names beside them; the same for
  /// every profile.
  std::string_view name;
  double value = 0;      ///< after the step, in the resource's unit
  bool changed = false;  ///< whether it did anything
  std::string what;      ///< with its numbers, e.g. "+ 15 %"
};

struct ExplainedBucket {
  double start = 0;
  double end = 0;           ///< equal to start: the last bucket of the layout, which has none
  double weight_ratio = 0;  ///< of all weight
};

/// The usage behind a request.
struct ExplainedHistogram {
  uint64_t samples = 0;
  std::optional<int64_t> first_sample_ms;
  std::optional<int64_t> last_sample_ms;
  int64_t half_life_ms = 0;
  double total_weight = 0;
  std::vector<ExplainedBucket> buckets;  ///< those that weigh anything, ascending
  double p50 = 0;
  double p90 = 0;
  double p95 = 0;
  double p99 = 0;
  double max = 0;
};

/// A kill for memory that counts at present.
struct ExplainedKill {
  int64_t time_ms = 0;
  std::optional<double> request;  ///< in force at the kill
  double needed = 0;              ///< what it asks for
  int64_t holds_until_ms = 0;     ///< equal to time_ms: it is one more peak and nothing else
};

/// The tail behind the high-water marks.
struct ExplainedHighWater {
  double threshold = 0;
  uint64_t observations = 0;  ///< minutes in the window
  uint64_t excesses = 0;      ///< of them above the threshold
  uint64_t clusters = 0;      ///< separate peaks among those
  std::string_view method;    ///< "moments", "pwm", "mle", or "none" when nothing was fitted
  double shape = 0;           ///< above 0: heavy; below: bounded
  double scale = 0;
  std::optional<double> end_point;  ///< what the tail never passes, where it is bounded
  std::string note;                 ///< why nothing was fitted, or what to mind; may be empty
};

struct ResourceExplanation {
  ResourceAdvice advice;
  ExplainedHistogram histogram;
  std::optional<ExplainedHighWater> high_water;
  std::vector<ExplainedKill> kills;  ///< newest first, at most 16
  std::vector<ExplanationStep> steps;
};

struct ContainerExplanation {
  std::string container;
  Profile profile;
  /// Why this profile applies: what each before it said.
  std::vector<std::pair<std::string, std::string>> profiles_before;  ///< name, why not
  std::vector<ResourceExplanation> resources;
};

struct WorkloadExplanation {
  WorkloadId id;
  int64_t event_time_ms = 0;
  double replicas = 0;
  std::vector<ContainerExplanation> containers;
  std::optional<ForecastExplanation> forecast;  ///< absent: the demand is not kept
  std::optional<WorkloadScaling> scaling;       ///< absent: as WorkloadAdvice::scaling
};

}  // namespace tidemark
