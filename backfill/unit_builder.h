#pragma once
// Builds the past of one unit: window after window in order of time, each handed on before the next
// is asked for.

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <tl/expected.hpp>
#include <vector>

#include "backfill/fetch.h"
#include "backfill/options.h"
#include "backfill/plan.h"
#include "backfill/progress.h"
#include "backfill/querier.h"
#include "backfill/query_fault.h"
#include "model/past.h"

namespace tidemark::backfill {

/// A time of which something is missing.
struct UncoveredSpan {
  std::string what;
  int64_t start_ms = 0;
  int64_t end_ms = 0;
  std::string why;

  std::string Text() const;
};

struct BuiltUnit {
  std::unique_ptr<Past> past;         ///< not merged yet
  std::vector<UncoveredSpan> gaps{};  ///< spans that meet are one
  uint64_t samples = 0;               ///< handed on
};

/// Not thread-safe. Everything given must outlive it.
class UnitBuilder {
 public:
  UnitBuilder(PastSink& sink, std::vector<std::unique_ptr<Querier>>& queriers,
              const std::vector<PastMetric>& metrics, const TimeGrid& grid, const Options& options,
              Progress& progress)
      : sink_(sink),
        queriers_(queriers),
        fetcher_(queriers, metrics),
        grid_(grid),
        options_(options),
        progress_(progress),
        window_samples_(options.tuning.window_samples) {}

  /// `weight`: the unit's share of the work, for the progress. A fault ends the whole job.
  tl::expected<BuiltUnit, QueryFault> Build(const Unit& unit, double weight);

 private:
  /// Notes what was missing in a window and judges whether the server still works.
  std::optional<QueryFault> Account(const Unit& unit, const TimeGrid& window,
                                    const Fetched& fetched, const Window& got, BuiltUnit& built);
  static void AddGap(const TimeGrid& window, std::string what, std::string why, BuiltUnit& built);
  void LogProgress();

  PastSink& sink_;
  std::vector<std::unique_ptr<Querier>>& queriers_;
  Fetcher fetcher_;
  const TimeGrid& grid_;
  const Options& options_;
  Progress& progress_;
  uint64_t window_samples_;  // learned: what the server is willing to answer with
  unsigned failures_in_a_row_ = 0;
};

}  // namespace tidemark::backfill
