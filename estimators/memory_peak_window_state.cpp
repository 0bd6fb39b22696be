// The peak window as it outlives the process.
#include <fmt/format.h>

#include <cmath>

#include "estimators/memory_peak_window.h"
#include "estimators/time_codec.h"

namespace tidemark::estimators {

namespace {

// The flags of format 2.
constexpr uint8_t kHasWindow = 1;
constexpr uint8_t kHasSample = 2;
constexpr uint8_t kIsMended = 4;
constexpr uint8_t kAllFlags = kHasWindow | kHasSample | kIsMended;

bool IsPeak(double bytes) { return std::isfinite(bytes) && bytes >= 0; }

}  // namespace

void MemoryPeakWindow::Save(ByteWriter& out) const {
  SaveDuration(out, interval_);
  uint8_t flags = 0;
  if (has_window_) flags |= kHasWindow;
  if (has_sample_) flags |= kHasSample;
  if (rule_ == WindowRule::kMended) flags |= kIsMended;
  out.Byte(flags);
  if (has_sample_) SaveTime(out, last_sample_);
  if (!has_window_) return;
  SaveTime(out, window_end_);
  out.Double(peak_);
  out.Double(kill_peak_);
}

Result<MemoryPeakWindow> MemoryPeakWindow::Restore(ByteReader& in, int format) {
  if (format < 1 || format > kSavedFormat) {
    return Fail(
        ErrorCode::kInvalidArgument,
        fmt::format("saved memory peak: format is {}, must be from 1 to {}", format, kSavedFormat));
  }
  const std::chrono::nanoseconds interval = RestoreDuration(in);
  if (interval <= interval.zero()) {
    return Fail(ErrorCode::kInvalidArgument, "saved memory peak: the interval is not above zero");
  }
  MemoryPeakWindow window(interval);
  if (format == 1) {
    window.has_sample_ = window.has_window_ = in.Bool();
  } else {
    const uint8_t flags = in.Byte();
    if (flags > kAllFlags) in.Fail();
    window.has_window_ = (flags & kHasWindow) != 0;
    window.has_sample_ = (flags & kHasSample) != 0;
    window.rule_ = (flags & kIsMended) != 0 ? WindowRule::kMended : WindowRule::kVpa;
  }
  if (window.has_sample_) window.last_sample_ = RestoreTime(in);
  if (window.has_window_) {
    window.window_end_ = RestoreTime(in);
    window.peak_ = in.Double();
    if (format > 1) window.kill_peak_ = in.Double();
  }
  const bool in_window =
      !window.has_sample_ || (window.has_window_ && window.last_sample_ < window.window_end_);
  if (in.failed() || !in_window || !IsPeak(window.peak_) || !IsPeak(window.kill_peak_)) {
    return Fail(ErrorCode::kInvalidArgument,
                "saved memory peak: it is cut or damaged, must be finite peaks of 0 or more and a "
                "last sample before the interval's end");
  }
  return window;
}

}  // namespace tidemark::estimators
