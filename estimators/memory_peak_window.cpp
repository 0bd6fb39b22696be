#include "estimators/memory_peak_window.h"

#include <algorithm>
#include <cassert>
#include <cmath>

#include "estimators/amount.h"

namespace tidemark::estimators {

namespace {

bool IsAmount(double bytes) { return std::isfinite(bytes) && bytes >= 0; }

}  // namespace

double NeededAfterKill(double used, const KillPolicy& policy) {
  const double needed =
      std::max(used + policy.min_bump_bytes, std::trunc(used * policy.bump_ratio));
  if (!(needed >= used)) return used;  // also of a policy that is no number
  return std::min(needed, std::max(used, static_cast<double>(kMaxAmount)));
}

MemoryPeakWindow::MemoryPeakWindow(std::chrono::nanoseconds interval, WindowRule rule)
    : interval_(std::max(interval, std::chrono::nanoseconds(1))), rule_(rule) {
  assert(interval > std::chrono::nanoseconds::zero());
}

/// The end of the interval that `time` falls into, in the rhythm of the running one; of the first
/// interval, when there is none. Absent when it is beyond Time.
std::optional<Time> MemoryPeakWindow::EndOf(Time time) const {
  std::chrono::nanoseconds past =
      has_window_ ? SaturatingDifference(time, window_end_) % interval_ : interval_.zero();
  if (past < past.zero()) past += interval_;  // before the running one
  const std::chrono::nanoseconds ahead = interval_ - past;
  if (time > Time::max() - ahead) return std::nullopt;
  return time + ahead;
}

/// Whether an ordinary sample of `time` does not belong to the running interval.
bool MemoryPeakWindow::Opens(Time time) const {
  if (!has_window_ || time >= window_end_) return true;
  return rule_ == WindowRule::kMended && IsOld(time);
}

/// Whether `time` is more than one interval older than the running one, of which there must be one.
bool MemoryPeakWindow::IsOld(Time time) const {
  const std::chrono::nanoseconds before_end = SaturatingDifference(window_end_, time);
  return before_end > interval_ && before_end - interval_ > interval_;
}

void MemoryPeakWindow::Enter(DecayingHistogram& histogram, double bytes) const {
  histogram.Add(bytes, kWeight, window_end_);
}

void MemoryPeakWindow::Replace(DecayingHistogram& histogram, double bytes) const {
  histogram.Subtract(Entered(), kWeight, window_end_);
  Enter(histogram, bytes);
}

bool MemoryPeakWindow::AddSample(DecayingHistogram& histogram, Time time, double bytes) {
  if (!IsAmount(bytes) || (has_sample_ && time < last_sample_)) return false;
  if (Opens(time)) {
    const std::optional<Time> end = EndOf(time);
    if (!end) return false;
    window_end_ = *end;
    has_window_ = true;
    peak_ = bytes;
    kill_peak_ = 0;
    Enter(histogram, bytes);
  } else if (rule_ == WindowRule::kVpa) {
    if (Entered() != 0 && bytes > Entered()) {
      Replace(histogram, bytes);
      peak_ = bytes;
    }
  } else {
    if (bytes > Entered()) Replace(histogram, bytes);
    peak_ = std::max(peak_, bytes);
  }
  last_sample_ = time;
  has_sample_ = true;
  return true;
}

std::optional<double> MemoryPeakWindow::AddKill(DecayingHistogram& histogram, Time time,
                                                double requested_bytes, const KillPolicy& policy) {
  if (!IsAmount(requested_bytes)) return std::nullopt;
  if (policy.as_vpa) {
    if (has_sample_ && SaturatingDifference(last_sample_, time) > interval_) return std::nullopt;
  } else if (has_window_ && IsOld(time)) {
    return std::nullopt;
  }
  const double needed = NeededAfterKill(std::max(requested_bytes, peak_), policy);
  if (!has_window_ || time >= window_end_) {
    const std::optional<Time> end = EndOf(time);
    if (!end) return std::nullopt;
    window_end_ = *end;
    has_window_ = true;
    peak_ = 0;
    kill_peak_ = needed;
    Enter(histogram, needed);
  } else if (needed > Entered() && !(policy.as_vpa && Entered() == 0)) {
    Replace(histogram, needed);
    kill_peak_ = needed;
  }
  if (policy.as_vpa) {
    last_sample_ = time;
    has_sample_ = true;
  }
  return needed;
}

void MemoryPeakWindow::TakeBack(DecayingHistogram& histogram, Time now) const {
  if (has_window_ && now < window_end_) histogram.Subtract(Entered(), kWeight, window_end_);
}

}  // namespace tidemark::estimators
