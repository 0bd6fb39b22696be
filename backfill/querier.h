#pragma once
// Asks queries with manners: pauses in between, patience with what may get better, counts of all.

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <memory>
#include <stop_token>
#include <string>
#include <utility>

#include "backfill/options.h"
#include "backfill/progress.h"
#include "backfill/prometheus_api.h"
#include "model/backfill.h"

namespace tidemark::backfill {

/// Waits; false: it was stopped meanwhile.
bool WaitFor(std::chrono::milliseconds time, const std::stop_token& stop);

/// How long to wait before a query is asked again.
class Backoff {
 public:
  explicit Backoff(const Tuning& tuning) : next_(tuning.retry_first), tuning_(tuning) {}
  std::chrono::milliseconds Next();

 private:
  std::chrono::milliseconds next_;
  const Tuning& tuning_;
};

/// One connection. Not thread-safe. Everything given must outlive it.
class Querier {
 public:
  Querier(std::unique_ptr<PrometheusApi> api, const Tuning& tuning, BackfillCounters& counters,
          Progress& progress, std::stop_token stop)
      : api_(std::move(api)),
        tuning_(tuning),
        counters_(counters),
        progress_(progress),
        stop_(std::move(stop)) {}

  /// Fewer attempts than usual: for a server that is in doubt.
  void SetAttempts(unsigned attempts) { attempts_ = attempts; }

  Asked<QueryAnswer> Query(const std::string& query, int64_t time_ms) {
    return Ask([&] { return api_->Query(query, time_ms, stop_); });
  }
  Asked<QueryAnswer> QueryRange(const std::string& query, int64_t start_ms, int64_t end_ms,
                                int64_t step_ms) {
    return Ask([&] { return api_->QueryRange(query, start_ms, end_ms, step_ms, stop_); });
  }
  Asked<std::vector<std::string>> LabelNames(const std::string& selector, int64_t start_ms,
                                             int64_t end_ms) {
    return Ask([&] { return api_->LabelNames(selector, start_ms, end_ms, stop_); });
  }
  Asked<std::vector<std::string>> LabelValues(const std::string& label, const std::string& selector,
                                              int64_t start_ms, int64_t end_ms) {
    return Ask([&] { return api_->LabelValues(label, selector, start_ms, end_ms, stop_); });
  }

 private:
  /// `ask()` until it gives an answer, a fault that stays, or patience ends.
  template <class F>
  auto Ask(F&& ask) -> decltype(ask()) {
    Backoff backoff(tuning_);
    const auto begin = std::chrono::steady_clock::now();
    for (unsigned attempt = 1;; ++attempt) {
      auto answer = ask();
      if (answer) {
        ++counters_.queries_ok;
        progress_.Queried(SamplesOf(answer->value), answer->bytes);
        Pause(answer->took);
        return answer;
      }
      const std::optional<std::chrono::milliseconds> wait =
          Judge(answer.error(), attempt, std::chrono::steady_clock::now() - begin, backoff);
      if (!wait) {
        if (answer.error().slow) answer.error().kind = QueryFaultKind::kTooLarge;
        return answer;
      }
      if (!WaitFor(*wait, stop_)) {
        return tl::unexpected(QueryFault{.kind = QueryFaultKind::kCancelled,
                                         .message = "the back-fill was cancelled"});
      }
    }
  }

  static uint64_t SamplesOf(const QueryAnswer& answer) { return answer.samples; }
  static uint64_t SamplesOf(const std::vector<std::string>&) { return 0; }
  /// How long to wait before the next attempt; nothing: there is none.
  std::optional<std::chrono::milliseconds> Judge(const QueryFault& fault, unsigned attempt,
                                                 std::chrono::steady_clock::duration spent,
                                                 Backoff& backoff);
  /// So that the server is busy with us for at most half of the time.
  void Pause(std::chrono::milliseconds took);

  std::unique_ptr<PrometheusApi> api_;
  const Tuning& tuning_;
  BackfillCounters& counters_;
  Progress& progress_;
  std::stop_token stop_;
  unsigned attempts_ = 0;  // 0: as the tuning says
};

}  // namespace tidemark::backfill
