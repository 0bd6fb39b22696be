#include "estimators/memory_peak_window.h"

#include <algorithm>
#include <cassert>
#include <cmath>

namespace tidemark::estimators {

namespace {

/// The end of the interval that `time` falls into, when one ended at `end`, which is not after
/// `time`. Absent when it is beyond Time.
std::optional<Time> IntervalEnd(Time end, Time time, std::chrono::nanoseconds interval) {
  const std::chrono::nanoseconds past = SaturatingDifference(time, end) % interval;
  const std::chrono::nanoseconds ahead = interval - past;
  if (time > Time::max() - ahead) return std::nullopt;
  return time + ahead;
}

}  // namespace

MemoryPeakWindow::MemoryPeakWindow(std::chrono::nanoseconds interval)
    : interval_(std::max(interval, std::chrono::nanoseconds(1))) {
  assert(interval > std::chrono::nanoseconds::zero());
}

bool MemoryPeakWindow::AddSample(DecayingHistogram& histogram, Time time, double bytes) {
  if (!(std::isfinite(bytes) && bytes >= 0)) return false;
  if (has_sample_ && time < last_sample_) return false;

  if (has_sample_ && time < window_end_) {
    if (peak_ != 0 && bytes > peak_) {
      histogram.Subtract(peak_, kWeight, window_end_);
      histogram.Add(bytes, kWeight, window_end_);
      peak_ = bytes;
    }
  } else {
    const std::optional<Time> end = IntervalEnd(has_sample_ ? window_end_ : time, time, interval_);
    if (!end) return false;
    window_end_ = *end;
    histogram.Add(bytes, kWeight, window_end_);
    peak_ = bytes;
  }
  last_sample_ = time;
  has_sample_ = true;
  return true;
}

}  // namespace tidemark::estimators
