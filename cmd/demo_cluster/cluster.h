#pragma once
// A small believable Kubernetes cluster, simulated.
//
// Everything is a function of seed, pace, start and the time to which it was advanced, however
// many calls that took: the state moves in steps of one wall-clock second (or what the pace says),
// and between steps counters run on linearly. Simulated time runs `speed` times faster than the
// wall clock and decides what comes when (waves, leaks, new versions, runs of CronJobs); counters
// grow by usage × wall seconds, so that rate() gives the true usage at any speed.
//
// Memory is bounded: pods, ReplicaSets and completed runs have a highest number.

#include <cstdint>
#include <vector>

#include "cmd/demo_cluster/lifecycle.h"
#include "model/clock.h"

namespace tidemark::demo_cluster {

/// Not thread-safe.
class Cluster {
 public:
  /// `speed` must be above 0 and at most kMaxSpeed. The cluster exists since well before `start`.
  Cluster(uint64_t seed, double speed, TimePoint start)
      : Cluster(seed, Pace{.speed = speed}, start) {}

  Cluster(uint64_t seed, const Pace& pace, TimePoint start);

  static constexpr double kMaxSpeed = 1000;

  /// Moves on to `time`; an earlier time than the last one changes nothing. Costs about 20 µs per
  /// step.
  void AdvanceTo(TimePoint time);

  /// Moves on at another pace from the last whole step on. The simulated clock runs on from where
  /// it is.
  void ChangePace(const Pace& pace);

  /// Views hold until the next AdvanceTo.
  const std::vector<Node>& nodes() const { return world_.nodes; }
  const std::vector<Workload>& workloads() const { return world_.workloads; }
  /// How far the present step has come, for Meter::At: in [0, 1).
  double seconds_into_step() const {
    return static_cast<double>(now_ms_ - world_.now.wall_ms) / 1000;
  }
  int64_t now_ms() const { return now_ms_; }

 private:
  void Step();
  void UpdateRates();

  World world_;
  int64_t pace_since_ms_;          // wall clock at the last change of pace
  double pace_since_simulated_s_;  // the simulated clock then
  int64_t now_ms_;
};

}  // namespace tidemark::demo_cluster
