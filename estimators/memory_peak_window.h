#pragma once
// The memory samples of one container on their way into a histogram, which its replicas share: one
// peak per interval.
//
// Memory cannot be throttled, so that not the usual use counts but the highest: the Kubernetes VPA
// (1.8, recommender) enters one value per container and interval. The peak is in the histogram from
// its first sample on; a higher one takes its place. It counts at the END of its interval, in the
// future by up to that interval, and so weighs up to twice a sample of now (at equal half-life).
// Intervals start with the container's first sample, not at midnight. As in the original, when the
// first sample of an interval is 0, no later one of that interval takes its place.

#include <chrono>
#include <optional>

#include "estimators/decaying_histogram.h"
#include "estimators/event_time.h"
#include "model/byte_codec.h"
#include "model/result.h"

namespace tidemark::estimators {

/// A value type, not thread-safe. All calls must be with the same histogram.
class MemoryPeakWindow {
 public:
  /// Of every peak.
  static constexpr double kWeight = 1.0;

  /// `interval` must be above zero.
  explicit MemoryPeakWindow(std::chrono::nanoseconds interval = std::chrono::hours(24));

  /// Takes one sample: `bytes` in use at `time`. False, and nothing changed, when the usage is
  /// negative, NaN or infinite, the time is before the last accepted one (the same time again is
  /// taken), or the end of its interval is beyond Time.
  bool AddSample(DecayingHistogram& histogram, Time time, double bytes);

  void Save(ByteWriter& out) const;
  /// The window that Save wrote, with its interval. kInvalidArgument when it is nothing that Save
  /// can have written.
  static Result<MemoryPeakWindow> Restore(ByteReader& in);

  /// End of the running interval; absent until the first sample.
  std::optional<Time> WindowEnd() const {
    return has_sample_ ? std::optional(window_end_) : std::nullopt;
  }
  /// The highest usage of the running interval in bytes; 0 until the first sample.
  double Peak() const { return peak_; }
  /// Absent until the first sample.
  std::optional<Time> LastSample() const {
    return has_sample_ ? std::optional(last_sample_) : std::nullopt;
  }

 private:
  std::chrono::nanoseconds interval_;
  Time window_end_{};  // counts only with has_sample_, as does the next one
  Time last_sample_{};
  double peak_ = 0;
  bool has_sample_ = false;
};

}  // namespace tidemark::estimators
