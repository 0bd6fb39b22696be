#pragma once
// Gets one window of one unit from the server: all metrics, some at a time.

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "backfill/options.h"
#include "backfill/plan.h"
#include "backfill/querier.h"
#include "backfill/query_fault.h"
#include "backfill/query_text.h"
#include "backfill/window.h"
#include "model/past.h"

namespace tidemark::backfill {

/// Part of a window that could not be had.
struct Gap {
  std::string what;  ///< metric and namespaces
  QueryFault fault;
};

struct Fetched {
  /// The window has to be shorter: nothing else counts then.
  bool too_large = false;
  /// Ends the whole job: denied, unreachable, cancelled, not the API.
  std::optional<QueryFault> end{};
  std::vector<Gap> gaps{};
  std::vector<std::string> warnings{};  ///< of the server's, about missing data
  uint64_t native_histograms = 0;
};

/// Not thread-safe. As many queries at a time as there are queriers; all must outlive it.
class Fetcher {
 public:
  Fetcher(std::vector<std::unique_ptr<Querier>>& queriers, const std::vector<PastMetric>& metrics)
      : queriers_(queriers), metrics_(metrics) {}

  /// `can_be_shorter`: answers that are too large are not cut into fewer namespaces, the caller
  /// asks for less time.
  Fetched Fetch(const Unit& unit, const TimeGrid& window, bool can_be_shorter, Window& into);

 private:
  struct Part {
    std::vector<QueryAnswer> answers{};
    Fetched outcome{};
  };
  static void FetchMetric(Querier& querier, const PastMetric& metric,
                          std::span<const FoundNamespace> of, const TimeGrid& window,
                          bool can_be_shorter, Part& part);

  std::vector<std::unique_ptr<Querier>>& queriers_;
  const std::vector<PastMetric>& metrics_;
};

/// What limits a metric to some namespaces of one cluster, and to rows of what it is about.
Matchers NamespaceMatchers(const PastMetric& metric, std::span<const FoundNamespace> of);

/// The query for a metric of some namespaces of one cluster: the last sample of each step, and
/// nothing for a step without one. Without last_over_time the server would repeat the last value
/// for up to five minutes after a series has ended, and between samples that are further apart than
/// a step: a counter that stands still, which no container's did.
std::string UnitQuery(const PastMetric& metric, std::span<const FoundNamespace> of,
                      int64_t step_ms);

}  // namespace tidemark::backfill
