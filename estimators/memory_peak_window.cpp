#include "estimators/memory_peak_window.h"

#include <algorithm>
#include <cassert>
#include <cmath>

#include "estimators/time_codec.h"

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

void MemoryPeakWindow::Save(ByteWriter& out) const {
  SaveDuration(out, interval_);
  out.Bool(has_sample_);
  if (!has_sample_) return;
  SaveTime(out, last_sample_);
  SaveTime(out, window_end_);
  out.Double(peak_);
}

Result<MemoryPeakWindow> MemoryPeakWindow::Restore(ByteReader& in) {
  const std::chrono::nanoseconds interval = RestoreDuration(in);
  if (interval <= interval.zero()) {
    return Fail(ErrorCode::kInvalidArgument, "saved memory peak: the interval is not above zero");
  }
  MemoryPeakWindow window(interval);
  window.has_sample_ = in.Bool();
  if (window.has_sample_) {
    window.last_sample_ = RestoreTime(in);
    window.window_end_ = RestoreTime(in);
    window.peak_ = in.Double();
  }
  const bool in_window = !window.has_sample_ || window.last_sample_ < window.window_end_;
  if (in.failed() || !in_window || !(std::isfinite(window.peak_) && window.peak_ >= 0)) {
    return Fail(ErrorCode::kInvalidArgument,
                "saved memory peak: it is cut or damaged, must be a finite peak of 0 or more and a "
                "last sample before the interval's end");
  }
  return window;
}

}  // namespace tidemark::estimators
