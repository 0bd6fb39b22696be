#pragma once
// The memory samples of one container on their way into a histogram, which its replicas share: one
// peak per interval.
//
// Memory cannot be throttled, so that not the usual use counts but the highest: the Kubernetes VPA
// (1.8, recommender) enters one value per container and interval. The peak is in the histogram from
// its first sample on; a higher one takes its place. It counts at the END of its interval, in the
// future by up to that interval, and so weighs up to twice a sample of now (at equal half-life).
// Intervals start with the container's first sample, not at midnight.
//
// A kill for want of memory says that more was needed than there was: it counts as a peak above the
// memory in use and the memory requested. It is kept apart from the usage peak, so that of several
// kills none builds on what was made up for the one before.
//
// The original has faults here. WindowRule::kVpa and KillPolicy::as_vpa keep them, so that its
// answers can be had to the letter; the others mend them:
// - Where the first sample of an interval is 0, no later one of that interval takes its place.
// - A kill moves the time up to which samples are accepted: into the future, and usage is refused
//   until then; into the past, and what was refused is accepted.
// - Whether a kill is too old depends on which samples came before it.
// - While a kill's estimate is the peak, lower usage is not remembered, and the next kill builds on
//   too little.

#include <chrono>
#include <cstdint>
#include <optional>

#include "estimators/decaying_histogram.h"
#include "estimators/event_time.h"
#include "model/byte_codec.h"
#include "model/result.h"

namespace tidemark::estimators {

/// By how much a kill exceeds what was there: the larger of the two. Defaults as VPA's flags
/// oom-bump-up-ratio and oom-min-bump-up-bytes.
struct KillPolicy {
  double bump_ratio = 1.2;
  double min_bump_bytes = 104857600;
  bool as_vpa = false;  ///< to the letter
};

/// What a container needed that was killed with `used` bytes, at least 0. Finite where `used` is,
/// and above kMaxAmount (estimators/amount.h) only where that is.
double NeededAfterKill(double used, const KillPolicy& policy);

/// How ordinary samples are taken.
enum class WindowRule : uint8_t {
  kVpa,     ///< to the letter
  kMended,  ///< without its faults
};

/// A value type of 48 bytes, not thread-safe. All calls must be with the same histogram.
class MemoryPeakWindow {
 public:
  /// Of every peak.
  static constexpr double kWeight = 1.0;
  /// What Save writes; Restore reads this and all before it. 1: without kills. 2: with them.
  static constexpr int kSavedFormat = 2;

  /// `interval` must be above zero.
  explicit MemoryPeakWindow(std::chrono::nanoseconds interval = std::chrono::hours(24),
                            WindowRule rule = WindowRule::kMended);

  /// Takes one sample: `bytes` in use at `time`. False, and nothing changed, when the usage is
  /// negative, NaN or infinite, the time is before the last accepted one (the same time again is
  /// taken), or the end of its interval is beyond Time. Mended, a sample from before the running
  /// interval - a kill has opened it - counts in it when it is at most one interval older, and
  /// otherwise opens its own interval again.
  bool AddSample(DecayingHistogram& histogram, Time time, double bytes);

  /// Takes one kill at `time` of a container that requested `requested_bytes` (0: nothing, or not
  /// known). The answer is what was needed then, in bytes: with U the larger of the request and
  /// Peak(), the larger of U + min_bump_bytes and the whole part of U * bump_ratio. Nullopt, and
  /// nothing changed, when it is discarded: the request is negative, NaN or infinite, the end of
  /// its interval is beyond Time, or it is too old - mended, more than one interval older than the
  /// running one; as VPA, more than one interval older than the last sample or kill. One that is
  /// later than the running interval opens its own; the caller bounds how far in the future a kill
  /// can be.
  std::optional<double> AddKill(DecayingHistogram& histogram, Time time, double requested_bytes,
                                const KillPolicy& policy);

  /// Takes the running interval's peak out of `histogram` - a copy that is going to be saved - when
  /// the interval ends after `now`: what VPA does before it writes a checkpoint, and by which it
  /// forgets that peak when it restarts. The window stays as it is.
  void TakeBack(DecayingHistogram& histogram, Time now) const;

  void Save(ByteWriter& out) const;
  /// The window that Save wrote in `format`, with its interval and rule (format 1: kMended).
  /// kInvalidArgument when the format is not from 1 to kSavedFormat, or it is nothing that Save can
  /// have written.
  static Result<MemoryPeakWindow> Restore(ByteReader& in, int format = kSavedFormat);

  std::chrono::nanoseconds interval() const { return interval_; }
  WindowRule rule() const { return rule_; }
  /// Takes effect with the next sample.
  void set_rule(WindowRule rule) { rule_ = rule; }

  /// End of the running interval; absent until the first sample or kill.
  std::optional<Time> WindowEnd() const {
    return has_window_ ? std::optional(window_end_) : std::nullopt;
  }
  /// The highest usage of the running interval in bytes; 0 until the first sample.
  double Peak() const { return peak_; }
  /// The highest estimate from a kill in the running interval; 0 without a kill.
  double KillPeak() const { return kill_peak_; }
  /// The time up to which samples are refused; absent until the first. As VPA, a kill counts too.
  std::optional<Time> LastSample() const {
    return has_sample_ ? std::optional(last_sample_) : std::nullopt;
  }

 private:
  double Entered() const { return peak_ > kill_peak_ ? peak_ : kill_peak_; }
  void Enter(DecayingHistogram& histogram, double bytes) const;
  void Replace(DecayingHistogram& histogram, double bytes) const;
  std::optional<Time> EndOf(Time time) const;
  bool Opens(Time time) const;
  bool IsOld(Time time) const;

  std::chrono::nanoseconds interval_;
  Time window_end_{};   // counts only with has_window_; then the histogram has one entry for it
  Time last_sample_{};  // counts only with has_sample_
  double peak_ = 0;
  double kill_peak_ = 0;
  bool has_window_ = false;
  bool has_sample_ = false;
  WindowRule rule_;
};

}  // namespace tidemark::estimators
