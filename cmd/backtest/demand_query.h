#pragma once
// Demand from a Prometheus-compatible API: the series of one query.

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "client/options.h"
#include "cmd/backtest/demand.h"
#include "model/clock.h"
#include "model/result.h"

namespace tidemark::backtest {

struct DemandQuery {
  client::HttpClientOptions http;
  std::string query;
  int64_t start_ms = 0;  ///< both ends are brought down to a whole minute
  int64_t end_ms = 0;
};

/// More series than that are a query that was meant otherwise.
inline constexpr size_t kMaxDemandSeries = 500;

/// Range queries with a step of a minute, in pieces that the server takes; a demand for each
/// series, called by its labels. What is negative, NaN or infinite is a gap. Errors say what to
/// change. `told` hears one line now and then.
Result<std::vector<Demand>> FetchDemands(const DemandQuery& source, const Clock& clock,
                                         const std::function<void(std::string_view)>& told);

}  // namespace tidemark::backtest
