#pragma once
// A token bucket for requests, with the meaning of exporter-toolkit's `rate_limit`.

#include <algorithm>
#include <chrono>
#include <mutex>

#include "server/access_config.h"

namespace tidemark::server {

/// Thread-safe. Full at first.
class RateLimiter {
 public:
  using TimePoint = std::chrono::steady_clock::time_point;

  explicit RateLimiter(RateLimit limit) : limit_(limit) {}

  const RateLimit& limit() const { return limit_; }

  /// Takes a place in the bucket; false when it is empty. Always true without a limit. `now` should
  /// not go back; if it does, nothing is added.
  bool Allow(TimePoint now) {
    if (limit_.interval.count() <= 0) return true;
    const std::lock_guard lock(mutex_);
    // Kept as the time at which the bucket would be full (generic cell rate algorithm, ITU-T
    // I.371), which needs no fractions of tokens.
    const auto full = std::max(full_, now);
    if (full - now > limit_.interval * (limit_.burst - 1)) return false;
    full_ = full + limit_.interval;
    return true;
  }

 private:
  const RateLimit limit_;
  std::mutex mutex_;
  TimePoint full_{};
};

}  // namespace tidemark::server
