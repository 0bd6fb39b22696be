#pragma once
// Settings of the engine, from the configuration (`estimation:`, `limits:`) and the flags.

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>

#include "model/profile.h"
#include "model/resource.h"

namespace tidemark::engine {

/// How a request is estimated from the usage of one resource.
struct EstimationOptions {
  double percentile = 0.9;     ///< (0, 1]
  double margin_ratio = 0.15;  ///< added to the model value; ≥ 0
  int64_t half_life_ms = 24 * 3600 * 1000LL;
  double sample_weight = 0.1;  ///< of one minute of CPU usage
  /// Least request of a pod, in the resource's unit; split evenly over its containers.
  double pod_minimum = 0;
};

struct Options {
  std::array<EstimationOptions, kResourceCount> estimation = {
      EstimationOptions{.pod_minimum = 0.01},
      EstimationOptions{.sample_weight = 1, .pod_minimum = 16.0 * 1024 * 1024}, EstimationOptions{},
      EstimationOptions{.sample_weight = 1}};
  ProfileSetPtr profiles = std::make_shared<const ProfileSet>();
  size_t shards = 0;               ///< 0: one per core
  size_t queue_batches = 256;      ///< per shard; a full queue refuses with 503
  int64_t max_series = 5'000'000;  ///< of all shards; new series beyond it are refused
  int64_t eval_interval_ms = 15'000;
  int64_t checkpoint_interval_ms = 5 * 60 * 1000LL;
  /// A sample older than the newest of its series is refused (400) instead of ignored (204), both
  /// counted as late.
  bool refuse_late = false;
};

}  // namespace tidemark::engine
