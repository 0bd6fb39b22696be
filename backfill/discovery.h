#pragma once
// What there is to fill in: which metrics exist, by which labels they tell whose they are, which
// namespaces there were in the range.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <tl/expected.hpp>
#include <vector>

#include "backfill/options.h"
#include "backfill/plan.h"
#include "backfill/progress.h"
#include "backfill/querier.h"
#include "backfill/query_fault.h"
#include "model/past.h"

namespace tidemark::backfill {

/// What a problem or note of a metric that is not there begins with.
inline constexpr std::string_view kMissingMetric = "missing metric: ";
/// What stands in the fault when there is no usage at all.
inline constexpr std::string_view kMissingMetrics = "missing metrics: ";

struct Found {
  /// Those to ask for, in the order of their kinds. A metric stands here twice when some of its
  /// series have other labels (exported_*, pod_name).
  std::vector<PastMetric> metrics;
  std::vector<FoundNamespace> namespaces;  ///< sorted by name, unique
  /// Complaints that leave something uncovered, one line each.
  std::vector<std::string> problems;
  std::vector<std::string> notes;
};

/// Asks at some times in the range; what lived only in between is found by its label values where
/// the server has that API. A fault: nothing can be filled in, and why; also when no metric of
/// usage is there, or no namespace that matches (kRefused).
tl::expected<Found, QueryFault> Discover(Querier& querier, const std::vector<PastMetric>& wanted,
                                         const TimeGrid& grid, const Options& options);

/// Nothing when the namespaces found may be those of the live stream; else a message that says how
/// their clusters differ. Prometheus puts its external labels on what it sends, not on what its API
/// answers: without `external_labels` a whole cluster would be taken in under another name.
std::optional<std::string> ClustersDiffer(const std::vector<FoundNamespace>& found,
                                          const std::vector<NamespaceName>& live);

}  // namespace tidemark::backfill
