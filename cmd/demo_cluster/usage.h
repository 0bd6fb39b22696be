#pragma once
// How much a container uses: a shape that depends on simulated time, and noise on top.

#include <cstdint>

#include "cmd/demo_cluster/random.h"
#include "cmd/demo_cluster/state.h"

namespace tidemark::demo_cluster {

/// How the cluster moves on.
struct Pace {
  double speed = 1;        ///< simulated seconds per wall second
  int64_t step_ms = 1000;  ///< the wall time of one step
  /// CronJobs run so much longer and more seldom: for an observer who looks too rarely to see their
  /// usual runs.
  double run_stretch = 1;

  double step_s() const { return static_cast<double>(step_ms) / 1000; }
};

/// When it is, on both clocks.
struct StepTime {
  int64_t wall_ms = 0;
  double simulated_s = 0;  ///< Unix time on the simulated clock
  Pace pace;
};

/// The load of a workload relative to its mean, > 0. Depends on its arguments alone.
double LoadFactor(Temper temper, uint64_t seed, size_t workload, double simulated_s);

/// Sets rates and memory of a running container for the step that begins now; `load` is its
/// workload's LoadFactor. CPU never exceeds the limit (demand above it shows as throttling); memory
/// that reaches the limit sets `out_of_memory` if the container leaks and is held below it
/// otherwise.
void UpdateUsage(Container& container, const WorkloadSpec& spec, double load, const StepTime& time,
                 Random& random);

}  // namespace tidemark::demo_cluster
