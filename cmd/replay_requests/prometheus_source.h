#pragma once
// Traces from a Prometheus-compatible API.

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "client/options.h"
#include "cmd/replay_requests/trace.h"
#include "model/clock.h"
#include "model/result.h"

namespace tidemark::replay_requests {

struct PrometheusSource {
  client::HttpClientOptions http;
  int64_t start_ms = 0;  ///< both ends are brought down to a whole step
  int64_t end_ms = 0;
  int64_t step_ms = 5 * 60 * 1000LL;  ///< kMinStepMs to kMaxStepMs
  /// PromQL for cores and bytes by pod; both empty: cAdvisor's metrics of all workloads, or of
  /// those that the next two name, with owners from kube-state-metrics.
  std::string cpu_query;
  std::string memory_query;
  std::string name_space;
  std::string workload;  ///< NAME or TYPE/NAME
};

/// The most points that Prometheus answers of one series with (web/api/v1/api.go).
inline constexpr int64_t kMaxPoints = 11'000;

/// Range queries in pieces that the server takes; a trace for each container of each workload. Of
/// queries that are the user's own, series that agree in what they have of the labels `namespace`,
/// `workload_type`, `workload` and `container` are one trace, and their pods are told apart by
/// `pod`, or by all their labels where they have none. The request that was in force last is the
/// original. Errors say what to change. `told` hears one line now and then.
Result<std::vector<Trace>> FetchTraces(const PrometheusSource& source, const Clock& clock,
                                       const std::function<void(std::string_view)>& told);

}  // namespace tidemark::replay_requests
