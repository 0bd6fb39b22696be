#pragma once
// Recorded usage of one workload's container, on an even grid of time.
//
// A plain value; copies are independent. Amounts are cores and bytes.

#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "model/resource.h"
#include "model/workload_id.h"

namespace tidemark::replay_requests {

/// What is replayed; a resource's place is also its place in a ByResource.
inline constexpr std::array kReplayed = {Resource::kCpu, Resource::kMemory};
template <class T>
using ByResource = std::array<T, kReplayed.size()>;
static_assert(static_cast<size_t>(Resource::kCpu) == 0 &&
              static_cast<size_t>(Resource::kMemory) == 1);

/// A sample that is not there: the pod did not live, or nothing was recorded.
inline constexpr double kAbsent = std::numeric_limits<double>::quiet_NaN();
inline bool IsThere(double sample) { return !std::isnan(sample); }

// A trace's bounds; they also bound the memory of whoever reads one.
inline constexpr int64_t kMinStepMs = 60'000;         ///< usage is kept by the minute
inline constexpr int64_t kMaxStepMs = 60 * 60'000LL;  ///< longer ones hide every peak
inline constexpr uint64_t kMaxPods = 10'000;
inline constexpr uint64_t kMaxCells = 10'000'000;  ///< steps x pods of one trace
inline constexpr double kMaxCores = 1e6;
inline constexpr double kMaxBytes = 1e15;

struct PodUsage {
  std::string pod;
  /// One sample a step, kAbsent where there is none; all of one length.
  ByResource<std::vector<double>> samples;
};

struct Trace {
  std::string name;
  std::string kind;  ///< the manifest's class; empty: not known
  bool real = true;  ///< false: computed, left out of the means over all
  int64_t start_ms = 0;
  int64_t step_ms = 0;
  size_t steps = 0;
  std::vector<PodUsage> pods;
  /// What the owner gave each pod, where known.
  ByResource<std::optional<double>> original;
  /// Whose usage it is, as profiles select it.
  WorkloadId workload;
  std::string container;

  int64_t TimeOf(size_t step) const { return start_ms + static_cast<int64_t>(step) * step_ms; }
};

}  // namespace tidemark::replay_requests
