#include "workloads/container_signs.h"

#include <algorithm>
#include <cmath>

namespace tidemark::workloads {
namespace {

/// What the kubelet sets cpu.cfs_period_us to unless it is told otherwise (--cpu-cfs-quota-period).
constexpr double kPeriodMs = 100;

}  // namespace

void ThrottledMinutes::AddThrottled(int64_t time_ms, double increase) {
  const bool first = minutes_.front().start_ms == kNever;
  Minute& minute = At(time_ms);
  if (first) minute.periods = static_cast<double>(time_ms - minute.start_ms) / kPeriodMs;
  minute.throttled += increase;
}

ThrottledMinutes::Minute& ThrottledMinutes::At(int64_t time_ms) {
  // What is told on the very end of a minute is about that minute.
  const int64_t start_ms = (time_ms - 1) - (time_ms - 1) % kMinuteMs;
  if (start_ms > minutes_.front().start_ms) {
    std::rotate(minutes_.begin(), minutes_.end() - 1, minutes_.end());
    minutes_.front() = {.start_ms = start_ms};
    return minutes_.front();
  }
  for (Minute& minute : minutes_) {
    if (minute.start_ms == start_ms) return minute;
  }
  none_ = {};
  return none_;
}

double ThrottledMinutes::Ratio(int64_t start_ms) const {
  for (const Minute& minute : minutes_) {
    if (minute.start_ms != start_ms || !(minute.periods > 0)) continue;
    return std::min(1.0, minute.throttled / minute.periods);
  }
  return 0;
}

void ThrottledMinutes::Save(ByteWriter& out, int64_t base_ms) const {
  const auto told = std::ranges::count_if(
      minutes_, [](const Minute& minute) { return minute.start_ms != kNever; });
  out.Varint(static_cast<uint64_t>(told));
  for (const Minute& minute : minutes_) {
    if (minute.start_ms == kNever) continue;
    out.Signed(minute.start_ms - base_ms);
    out.Double(minute.periods);
    out.Double(minute.throttled);
  }
}

bool ThrottledMinutes::Restore(ByteReader& in, int64_t base_ms) {
  const uint64_t told = in.Count(17);
  if (in.failed() || told > minutes_.size()) return false;
  *this = {};
  for (uint64_t i = 0; i < told; ++i) {
    Minute& minute = minutes_[i];
    int64_t start_ms = 0;
    if (__builtin_add_overflow(base_ms, in.Signed(), &start_ms)) return false;
    minute = {start_ms, in.Double(), in.Double()};
    const bool good = std::isfinite(minute.periods) && minute.periods >= 0 &&
                      std::isfinite(minute.throttled) && minute.throttled >= 0 &&
                      start_ms % kMinuteMs == 0 && (i == 0 || start_ms < minutes_[i - 1].start_ms);
    if (in.failed() || !good) return false;
  }
  return true;
}

}  // namespace tidemark::workloads
