#pragma once
// How the work is cut: step, units of namespaces, windows of time. Pure functions.

#include <cstdint>
#include <string>
#include <vector>

#include "backfill/options.h"
#include "model/past.h"
#include "model/result.h"

namespace tidemark::backfill {

/// The times that are asked for: start, start + step, … end.
struct TimeGrid {
  int64_t start_ms = 0;
  int64_t end_ms = 0;
  int64_t step_ms = 0;

  int64_t Points() const { return (end_ms - start_ms) / step_ms + 1; }
  friend bool operator==(const TimeGrid&, const TimeGrid&) = default;
};

/// Aligned to the step and within [start, end]. `step_ms` 0: as fine as 8 days by the minute need
/// it, so that longer ranges cost the server no more, 1 to 5 minutes. kInvalidArgument: what is
/// wrong and allowed.
Result<TimeGrid> MakeGrid(int64_t start_ms, int64_t end_ms, int64_t step_ms);

/// A namespace as the API knows it.
struct FoundNamespace {
  NamespaceName name;         ///< as the live stream calls it
  std::string query_cluster;  ///< value of the series' own cluster label; empty: it has none
  uint64_t series = 1;        ///< of the metric that has the most, at one time
  bool killed = false;        ///< containers were killed for memory there

  friend bool operator==(const FoundNamespace&, const FoundNamespace&) = default;
};

/// What is built and merged at once.
struct Unit {
  std::vector<FoundNamespace> namespaces;  ///< sorted by name, of one cluster; never empty
  uint64_t series = 0;

  std::vector<NamespaceName> Names() const;
  std::vector<FoundNamespace> WhereKilled() const;
  std::string Text() const;  ///< for people, of bounded length
};

/// `found` sorted by name and unique. A namespace larger than the bounds is a unit of its own.
std::vector<Unit> PlanUnits(const std::vector<FoundNamespace>& found, const Tuning& tuning);

/// Points of a window so that one query of `series` answers with about `samples`.
int64_t WindowPoints(uint64_t series, uint64_t samples, int64_t step_ms, const Tuning& tuning);
/// Fewer points than this are never asked for to make an answer smaller.
inline constexpr int64_t kMinWindowPoints = 5;

}  // namespace tidemark::backfill
