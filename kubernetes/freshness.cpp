#include "kubernetes/freshness.h"

#include <fmt/format.h>

namespace tidemark::kubernetes {

Age AgeOf(const MetricPoint& point, const Freshness& freshness, int64_t now_ms) {
  if (!point.follows_load) return Age::kFresh;
  const int64_t age_ms = now_ms - point.time_ms;
  if (age_ms <= freshness.serve_ms) return Age::kFresh;
  return age_ms <= freshness.hold_ms ? Age::kHeld : Age::kTooOld;
}

std::string DurationText(int64_t duration_ms) {
  constexpr int64_t kSecondMs = 1000;
  constexpr int64_t kMinute = 60;
  constexpr int64_t kHour = 3600;
  const int64_t seconds = duration_ms < 0 ? 0 : duration_ms / kSecondMs;
  if (seconds < kMinute) return fmt::format("{}s", seconds);
  if (seconds < kHour) return fmt::format("{}m{}s", seconds / kMinute, seconds % kMinute);
  return fmt::format("{}h{}m{}s", seconds / kHour, seconds % kHour / kMinute, seconds % kMinute);
}

}  // namespace tidemark::kubernetes
