#pragma once
// How long a sender should wait after a 503. It grows with the attempt, so that many senders do not
// knock in step on a receiver that is just coming up (prometheus/prometheus#9634, #13562).

#include <atomic>
#include <cstdint>
#include <optional>
#include <string_view>

namespace tidemark::remote_write {

/// Thread-safe.
class RetryAfter {
 public:
  static constexpr unsigned kFirstSeconds = 5;
  static constexpr unsigned kMostSeconds = 60;

  /// With a seed the wait is spread evenly over the upper half of its size, without one it is
  /// exact.
  explicit RetryAfter(std::optional<uint64_t> jitter_seed) : seed_(jitter_seed) {}

  /// Seconds to wait: 5 · 2^(attempt - 1), at most 60. `attempt` is the Retry-Attempt header of
  /// Prometheus since 2.48 (1, 2, … on a resend); empty or unreadable means the first.
  unsigned Seconds(std::string_view attempt);

 private:
  std::optional<uint64_t> seed_;
  std::atomic<uint64_t> drawn_{0};
};

}  // namespace tidemark::remote_write
