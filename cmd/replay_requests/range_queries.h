#pragma once
// Range queries of any length: in pieces, shorter ones where the server or our own bound wants it.

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "backfill/options.h"
#include "backfill/progress.h"
#include "backfill/querier.h"
#include "client/options.h"
#include "model/backfill.h"
#include "model/clock.h"
#include "model/result.h"

namespace tidemark::replay_requests {

/// One connection. Not thread-safe. The clock must outlive it.
class RangeQueries {
 public:
  static Result<std::unique_ptr<RangeQueries>> Open(const client::HttpClientOptions& options,
                                                    const Clock& clock);

  using Taker = std::function<Result<void>(backfill::QueryAnswer answer)>;
  /// Evaluates at every step from `start_ms` to `end_ms`, both multiples of it and included, in
  /// order of time; `take` gets each piece and may end it with an error.
  Result<void> Range(const std::string& query, int64_t start_ms, int64_t end_ms, int64_t step_ms,
                     const Taker& take);
  Result<backfill::QueryAnswer> At(const std::string& query, int64_t time_ms);

 private:
  RangeQueries(std::unique_ptr<backfill::PrometheusApi> api, std::string url, const Clock& clock);
  tl::unexpected<Error> Failed(const std::string& query, const backfill::QueryFault& fault) const;

  const std::string url_;
  BackfillCounters counters_;
  backfill::Tuning tuning_;
  backfill::Progress progress_;
  backfill::Querier querier_;
  int64_t points_;  // of a piece; what was too much once is not tried again
};

}  // namespace tidemark::replay_requests
