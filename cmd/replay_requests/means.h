#pragma once
// Many workloads' outcomes in a few numbers. Pure functions.

#include <cstdint>
#include <span>
#include <vector>

#include "cmd/replay_requests/evaluation.h"

namespace tidemark::replay_requests {

/// Each workload counts the same, but in the bill and in the kills.
struct Means {
  size_t workloads = 0;
  double slack_mean = 0;
  double slack_median = 0;
  /// All that was requested / all that was used - 1: large workloads decide it.
  double bill = 0;
  double breach = 0;
  double depth = 0;
  double changes = 0;
  uint64_t episodes = 0;
  double episodes_per_pod_day = 0;  ///< all of them / all days of pods
};

/// Workloads that used nothing have no slack and are left out of it; those of which nothing was
/// evaluated are left out of all.
Means MeansOf(std::span<const Outcome* const> outcomes);

}  // namespace tidemark::replay_requests
