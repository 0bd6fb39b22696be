#include "backfill/query_fault.h"

#include <algorithm>
#include <array>
#include <cctype>

namespace tidemark::backfill {
namespace {

// As they stand in the servers' sources, in lower case:
//   Prometheus 2.42 promql/engine.go, web/api/v1/api.go: "query processing would load too many
//     samples into memory", "exceeded maximum resolution of 11,000 points per timeseries"
//   Mimir pkg/util/globalerror, pkg/querier: err-mimir-max-chunks-per-query and kin, "the query
//     time range exceeds the limit", "the estimated memory consumption ... exceeds the limit"
//   Cortex: "the query hit the max number of chunks limit", "... max number of series limit"
//   Thanos pkg/store/limiter.go, gate: "exceeded series limit", "limit 10 violated (got 11)",
//     "exceeded samples limit"
//   VictoriaMetrics app/vmselect: "too many points for the given step", "cannot select more than
//     -search.maxSamplesPerQuery", "the number of matching timeseries exceeds", "not enough memory
//     for processing", "-search.maxMemoryPerQuery"
constexpr std::array<std::string_view, 22> kTooLargeTexts = {"too many samples",
                                                             "exceeded maximum resolution",
                                                             "err-mimir-max-",
                                                             "exceeds the limit",
                                                             "exceeded the limit",
                                                             "query hit the max",
                                                             "query hit the aggregated",
                                                             "exceeded series limit",
                                                             "exceeded samples limit",
                                                             "exceeded chunks limit",
                                                             "exceeded bytes limit",
                                                             "exceeded chunk",
                                                             "violated (got",
                                                             "too many points",
                                                             "maxsamplesperquery",
                                                             "maxmemoryperquery",
                                                             "matching timeseries exceeds",
                                                             "not enough memory",
                                                             "too many series",
                                                             "too many chunks",
                                                             "response larger than the max",
                                                             "resourceexhausted"};

std::string Lower(std::string_view text) {
  std::string lower(text);
  std::ranges::transform(lower, lower.begin(), [](unsigned char c) { return std::tolower(c); });
  return lower;
}

bool SaysTimedOut(std::string_view text) {
  const std::string lower = Lower(text);
  return lower.find("timed out") != lower.npos || lower.find("timeout") != lower.npos ||
         lower.find("deadline exceeded") != lower.npos;
}

bool IsOverloadText(std::string_view lower) {
  // Limits on the number of queries, not on their size.
  return lower.find("concurren") != lower.npos ||
         lower.find("too many outstanding") != lower.npos || lower.find("rate limit") != lower.npos;
}

}  // namespace

bool SaysTooLarge(unsigned status, std::string_view server_text) {
  if (status == 413) return true;
  if (status == 401 || status == 403 || status == 404) return false;
  const std::string lower = Lower(server_text);
  if (IsOverloadText(lower)) return false;
  return std::ranges::any_of(kTooLargeTexts,
                             [&](std::string_view text) { return lower.find(text) != lower.npos; });
}

QueryFault JudgeFault(const client::Fault& fault) {
  QueryFault out{.message = fault.message, .retry_after = fault.retry_after};
  using client::FaultKind;
  switch (fault.kind) {
    case FaultKind::kOptions:
    case FaultKind::kTls: out.kind = QueryFaultKind::kDenied; break;
    case FaultKind::kUnreachable: out.kind = QueryFaultKind::kUnreachable; break;
    case FaultKind::kTimeout:
      out.kind = QueryFaultKind::kPassing;
      out.slow = true;
      break;
    case FaultKind::kRedirect:
    case FaultKind::kNotHttp: out.kind = QueryFaultKind::kNotTheApi; break;
    case FaultKind::kTooLarge:
    case FaultKind::kRefused: out.kind = QueryFaultKind::kTooLarge; break;
    case FaultKind::kCancelled: out.kind = QueryFaultKind::kCancelled; break;
    case FaultKind::kStatus:
      if (SaysTooLarge(fault.status, fault.server_text)) {
        out.kind = QueryFaultKind::kTooLarge;
      } else if (fault.status == 401 || fault.status == 403 || fault.status == 407) {
        out.kind = QueryFaultKind::kDenied;
      } else if (fault.status == 429 || fault.status == 408 || fault.status >= 500) {
        out.kind = QueryFaultKind::kPassing;
        out.slow = fault.status == 504 || SaysTimedOut(fault.server_text);
      } else if (fault.status == 404) {
        out.kind = QueryFaultKind::kNotTheApi;
      } else {
        out.kind = QueryFaultKind::kRefused;
      }
      break;
  }
  return out;
}

}  // namespace tidemark::backfill
