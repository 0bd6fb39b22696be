#pragma once
// What holds only now, asked of the API as the live stream would say it: for a report without a
// daemon.

#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "backfill/matrix_reader.h"
#include "backfill/options.h"
#include "backfill/plan.h"
#include "backfill/querier.h"
#include "backfill/query_fault.h"
#include "model/past.h"
#include "model/sink.h"

namespace tidemark::backfill {

/// Sees every series of metrics that are of no workload's state (PastKind::kAutoscaler and
/// kAutoscalerTarget); they do not go to the sink.
using AsideTaker = std::function<void(PastKind, const AnswerSeries&)>;

/// How far it is: units done, of how many.
using PresentProgress = std::function<void(size_t, size_t)>;

/// Gives the newest sample of each series of `metrics` in these namespaces to the sink, as of
/// `at_ms`: those that the server still answers with at that time, so not those that have ended. In
/// the order of the metrics' kinds, so that owners come before usage. What a metric that is not
/// there would have said is missing, and nothing is said of that here: the Snapshot's sources tell.
/// A fault: a query or the sink failed, and part of it may be in. Not thread-safe.
std::optional<QueryFault> FetchPresent(Querier& querier, std::vector<PastMetric> metrics,
                                       const std::vector<FoundNamespace>& namespaces, int64_t at_ms,
                                       const Options& options, SampleSink& sink,
                                       const AsideTaker& aside, const PresentProgress& progress);

}  // namespace tidemark::backfill
