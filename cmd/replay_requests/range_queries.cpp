#include "cmd/replay_requests/range_queries.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "cmd/replay_requests/prometheus_source.h"
#include "cmd/text.h"

namespace tidemark::replay_requests {
namespace {

using backfill::QueryFault;
using backfill::QueryFaultKind;

/// Somebody waits: less patience than a back-fill has.
backfill::Tuning Impatient() {
  backfill::Tuning tuning;
  tuning.attempts = 3;
  tuning.unreachable_for = std::chrono::seconds(10);
  tuning.longest_pause = std::chrono::seconds(2);
  return tuning;
}

}  // namespace

RangeQueries::RangeQueries(std::unique_ptr<backfill::PrometheusApi> api, std::string url,
                           const Clock& clock)
    : url_(std::move(url)),
      tuning_(Impatient()),
      progress_(clock, counters_),
      querier_(std::move(api), tuning_, counters_, progress_, {}),
      points_(kMaxPoints) {}

Result<std::unique_ptr<RangeQueries>> RangeQueries::Open(const client::HttpClientOptions& options,
                                                         const Clock& clock) {
  auto api = backfill::PrometheusApi::Open(options, {});
  if (!api) return tl::unexpected(api.error());
  return std::unique_ptr<RangeQueries>(new RangeQueries(*std::move(api), options.url, clock));
}

tl::unexpected<Error> RangeQueries::Failed(const std::string& query,
                                           const QueryFault& fault) const {
  const bool refused = fault.kind == QueryFaultKind::kRefused;
  return Fail(refused ? ErrorCode::kInvalidArgument : ErrorCode::kUnavailable,
              refused ? fmt::format("{}: {} (query: {})", url_, cmd::OneLine(fault.message),
                                    cmd::OneLine(query))
                      : fmt::format("{}: {}", url_, cmd::OneLine(fault.message)));
}

Result<void> RangeQueries::Range(const std::string& query, int64_t start_ms, int64_t end_ms,
                                 int64_t step_ms, const Taker& take) {
  for (int64_t from = start_ms; from <= end_ms;) {
    const int64_t to = std::min(end_ms, from + (points_ - 1) * step_ms);
    auto answer = querier_.QueryRange(query, from, to, step_ms);
    if (!answer && answer.error().kind == QueryFaultKind::kTooLarge && points_ > 1) {
      points_ = std::max<int64_t>(1, std::min(points_, (to - from) / step_ms + 1) / 2);
      continue;
    }
    if (!answer) return Failed(query, answer.error());
    if (auto taken = take(std::move(answer->value)); !taken) return taken;
    from = to + step_ms;
  }
  return {};
}

Result<backfill::QueryAnswer> RangeQueries::At(const std::string& query, int64_t time_ms) {
  auto answer = querier_.Query(query, time_ms);
  if (!answer) return Failed(query, answer.error());
  return std::move(answer->value);
}

}  // namespace tidemark::replay_requests
