#pragma once
// How far the running job is: for the status, the metrics and the log.

#include <chrono>
#include <cstdint>
#include <mutex>
#include <string>

#include "backfill/cursor.h"
#include "backfill/plan.h"
#include "model/backfill.h"
#include "model/clock.h"

namespace tidemark::backfill {

/// Thread-safe: the job's threads write, anybody reads.
class Progress {
 public:
  Progress(const Clock& clock, BackfillCounters& counters) : clock_(clock), counters_(counters) {}

  /// A job of this process begins, or what an earlier process left is shown.
  void Begin(const Cursor& cursor);
  void Show(const Cursor& cursor, BackfillState state, std::string error);
  void End(BackfillState state, std::string error);

  /// `weight`: of all units; `done`: of those that were merged earlier.
  void Planned(uint64_t namespaces, double weight, double done);
  void UnitBegins(const Unit& unit);
  void UnitEnds(const Unit& unit, double weight, const Cursor& cursor);
  /// `part`: of the unit that is under way, with `weight`, which is done when this window begins.
  void WindowBegins(int64_t start_ms, int64_t end_ms, double part, double weight);

  void Queried(uint64_t samples, uint64_t bytes);
  void NotCovered(std::string line);
  void Note(std::string line);

  BackfillStatus Status() const;
  /// A line for the log is due: after another tenth of the work, or after `every`.
  bool LogIsDue(std::chrono::milliseconds every);

 private:
  double Ratio() const;  // under the lock

  const Clock& clock_;
  BackfillCounters& counters_;
  mutable std::mutex mutex_;
  BackfillStatus status_;
  double weight_ = 0;         // of all
  double done_ = 0;           // of the units that are merged
  double partly_ = 0;         // of the one under way
  double done_at_begin_ = 0;  // what another process had done
  std::chrono::steady_clock::time_point began_{};
  std::chrono::steady_clock::time_point logged_{};
  double logged_ratio_ = 0;
};

/// Percent and time left for people: `42.0%`, `3m20s`.
std::string PercentText(double ratio);
std::string LeftText(int64_t eta_ms);

}  // namespace tidemark::backfill
