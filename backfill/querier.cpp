#include "backfill/querier.h"

#include <condition_variable>
#include <mutex>

#include "model/log.h"

namespace tidemark::backfill {
namespace {

constexpr std::chrono::seconds kLongestRetryAfter{120};
constexpr unsigned kSlowAttempts = 2;

}  // namespace

bool WaitFor(std::chrono::milliseconds time, const std::stop_token& stop) {
  std::mutex mutex;
  std::condition_variable_any wake;
  std::unique_lock lock(mutex);
  wake.wait_for(lock, stop, time, [] { return false; });
  return !stop.stop_requested();
}

std::chrono::milliseconds Backoff::Next() {
  const std::chrono::milliseconds now = next_;
  next_ = std::min(next_ * 2, tuning_.retry_longest);
  return now;
}

std::optional<std::chrono::milliseconds> Querier::Judge(const QueryFault& fault, unsigned attempt,
                                                        std::chrono::steady_clock::duration spent,
                                                        Backoff& backoff) {
  if (fault.kind == QueryFaultKind::kCancelled) return std::nullopt;
  const bool passing = fault.kind == QueryFaultKind::kPassing;
  const bool unreachable = fault.kind == QueryFaultKind::kUnreachable;
  unsigned attempts = attempts_ == 0 ? tuning_.attempts : attempts_;
  if (fault.slow) attempts = std::min(attempts, kSlowAttempts);
  const bool again =
      (passing && attempt < attempts) || (unreachable && spent < tuning_.unreachable_for);
  if (!again) {
    ++(fault.kind == QueryFaultKind::kTooLarge || fault.slow ? counters_.queries_too_large
                                                             : counters_.queries_failed);
    return std::nullopt;
  }
  ++counters_.queries_retried;
  LogOncePerMinute("backfill retry", LogLevel::kWarn, "back-fill: a query is asked again",
                   {{"err", fault.message}});
  std::chrono::milliseconds wait = backoff.Next();
  if (fault.retry_after) {
    wait =
        std::max<std::chrono::milliseconds>(wait, std::min(*fault.retry_after, kLongestRetryAfter));
  }
  return wait;
}

void Querier::Pause(std::chrono::milliseconds took) {
  const auto pause = std::chrono::milliseconds(
      static_cast<int64_t>(static_cast<double>(took.count()) * tuning_.pause_ratio));
  if (pause.count() > 0) WaitFor(std::min(pause, tuning_.longest_pause), stop_);
}

}  // namespace tidemark::backfill
