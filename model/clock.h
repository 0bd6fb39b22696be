#pragma once
// The injected wall clock. State advances on sample timestamps; the wall clock only publishes,
// withdraws by age, bounds future samples and drives timeouts.

#include <atomic>
#include <chrono>
#include <cstdint>
#include <optional>

namespace tidemark {

/// Unix time with millisecond resolution, as remote write carries it.
using TimePoint = std::chrono::sys_time<std::chrono::milliseconds>;

inline int64_t ToUnixMs(TimePoint time) { return time.time_since_epoch().count(); }
inline TimePoint FromUnixMs(int64_t unix_ms) {
  return TimePoint(std::chrono::milliseconds(unix_ms));
}

/// Thread-safe source of the present time.
class Clock {
 public:
  virtual ~Clock() = default;
  virtual TimePoint Now() const = 0;
};

/// The machine's clock; or, with a start, a clock that began at `start` when it was made and runs
/// on from there at normal speed (to replay recorded traffic).
class SystemClock final : public Clock {
 public:
  explicit SystemClock(std::optional<TimePoint> start = std::nullopt);
  TimePoint Now() const override;

 private:
  std::optional<TimePoint> start_;
  std::chrono::steady_clock::time_point made_at_;
};

/// A clock that stands until it is moved; for tests and offline replays.
class ManualClock final : public Clock {
 public:
  explicit ManualClock(TimePoint now) : now_ms_(ToUnixMs(now)) {}
  TimePoint Now() const override { return FromUnixMs(now_ms_.load()); }
  void Set(TimePoint now) { now_ms_.store(ToUnixMs(now)); }

 private:
  std::atomic<int64_t> now_ms_;
};

}  // namespace tidemark
