#pragma once
// A request for what can be throttled (CPU): one that follows the hours of the day and the week and
// corrects itself by how often it was passed.
//
// For every hour of the clock the quantile `hour_quantile` of all samples of all pods is kept, for
// eight days. The request for the hour that begins is
//
//     base    = peak_share * (largest of: the last hour; the same hour a day before and a week
//               before, each with the hours on either side of it)
//             + (1 - peak_share) * (median of all hours that are kept)
//     wanted  = base * (reference_exceedance / target_exceedance)^tail_exponent * e^correction,
//               at most cap_ratio * the largest sample of 7 to 8 days
//
// and is raised to `wanted` at once, but lowered only when that is less than (1 - lower_by) of it:
// every change costs a resize. A day that is not known (nobody measured it) is replaced by the
// newest of the days before it that is; what a weekend does not show comes back with Monday.
//
// The correction learns from every hour that is over (adaptive conformal inference: Gibbs and
// Candes, Adaptive Conformal Inference Under Distribution Shift, 2021, with the logarithm of the
// request as the score's scale):
//
//     correction += gain * (share of the hour's samples above the request - tolerated share)
//
// half as fast downwards (`relax`). The tolerated share is not the same for every workload:
//
//     tolerated = target_exceedance * request / (reference_ratio * mean use), within bounds
//
// What a request costs grows with the request, and what it saves are breaches; where use falls off
// as a power of its level, which heavy-tailed workloads come near to, the sum of both is least
// where the share of breaches is in proportion to the request. So a steady workload, for which
// room is cheap, is practically never throttled, and one whose bursts are twenty times its mean is
// not given twenty times its mean. One number, target_exceedance, moves all of them together.
//
// Where a request stands for a day and longer because pods would have to be restarted,
// RequestForADay is the one to take: a day is too long to learn by it.
//
// Time is the samples'. Hours without samples change nothing: neither the request nor the
// correction. Samples of the hour before the running one are late: they count in their own hour,
// and in the next correction. Older ones fill their hour where nothing is known of it. Nothing is
// learnt before a day of history is there.

#include <cstddef>
#include <cstdint>
#include <optional>

#include "estimators/decaying_histogram.h"
#include "estimators/event_time.h"
#include "estimators/hour_samples.h"
#include "estimators/level_ring.h"
#include "model/byte_codec.h"
#include "model/result.h"

namespace tidemark::estimators {

/// Chosen on half of the request traces; docs/requests.md has what the other half says.
struct AdaptiveRequestOptions {
  /// The knob: the wished share of time above the request (0 to 1) of a workload that gets
  /// reference_ratio times its mean use.
  double target_exceedance = 0.04;
  /// Another wish moves the base at once, as if use passed a level x times as high
  /// x^(1/tail_exponent) times as seldom; with reference_exceedance it stays as it is.
  double reference_exceedance = 0.04;
  double tail_exponent = 0.3;
  double reference_ratio = 1.45;
  double least_tolerance = 0.25;  ///< times target_exceedance
  double most_tolerance = 10;
  double hour_quantile = 0.98;
  double peak_share = 0.5;
  double gain = 0.5;
  double relax = 0.5;
  double most_correction = 1.5;  ///< of either sign
  double lower_by = 0.3;
  double cap_ratio = 1.05;
  double day_margin = 0.15;  ///< of RequestForADay

  /// What the workload is allowed with this request.
  double Tolerated(double request, double mean) const;
};

/// A value type, not thread-safe; all its state is in itself. Amounts are in the resource's unit
/// (cores). The options are the caller's and must be the same from call to call; when they change,
/// the state goes on with the new ones.
class AdaptiveRequest {
 public:
  static constexpr int kSavedFormat = 1;

  /// One usage of one pod; `time` is a moment of the hour that it belongs to (of a minute: its
  /// start). Closes the hours before it. False, and nothing changed, when the usage is negative,
  /// NaN or infinite.
  bool AddSample(Time time, double usage, const AdaptiveRequestOptions& options);

  /// Event time has come to `time`: an hour that is over is closed without waiting for a sample.
  void Close(Time time, const AdaptiveRequestOptions& options);

  /// Nullopt until the first hour is over.
  std::optional<double> Request() const;

  /// For pods that keep their request for days: the smallest amount that is passed in no more than
  /// the tolerated share of `decayed`, a histogram of the same samples, plus day_margin. Nullopt
  /// without samples.
  std::optional<double> RequestForADay(const DecayingHistogram& decayed,
                                       const AdaptiveRequestOptions& options) const;

  /// How the next request would come about, or the present one did as far as hours are closed.
  struct Explanation {
    double last_hour = 0;    ///< the newest hour that is known
    double day_before = 0;   ///< the same hour and its neighbours; 0: not known
    double week_before = 0;  ///< likewise
    double typical_hour = 0;
    double base = 0;
    double for_target = 1;  ///< what the wished share makes of the base: a factor
    double correction = 1;  ///< what was learnt: a factor
    double cap = 0;
    double wanted = 0;
    double request = 0;  ///< the one in force: `wanted`, or what it has not been lowered from
    double mean = 0;     ///< use; half of it is of the last three days
    double tolerated = 0;
    double exceeded = 0;  ///< the share of the running hour's samples above the request
  };
  /// Nullopt as Request.
  std::optional<Explanation> Explain(const AdaptiveRequestOptions& options) const;

  /// Adds what another learnt of the same workload: of pods whose owner was not known, or of a time
  /// before this one. Each hour's level is the larger of the two, sums are added, corrections mixed
  /// by the hours they were learnt in; the larger request stays until the running hour is over.
  void Merge(const AdaptiveRequest& other, const AdaptiveRequestOptions& options);

  const HourRing& hours() const { return hours_; }
  size_t MemoryBytes() const { return sizeof(*this); }

  /// Every bit of it.
  void Save(ByteWriter& out) const;
  /// kInvalidArgument where it is nothing that Save can have written.
  static Result<AdaptiveRequest> Restore(ByteReader& in);

 private:
  /// An hour that samples still come for.
  struct OpenHour {
    HourSamples samples;
    double request = 0;  // in force; 0: none
  };

  void CloseRunning(int32_t next, const AdaptiveRequestOptions& options);
  void Learn(const AdaptiveRequestOptions& options);
  void RememberMean(int32_t next);
  void AddLate(int32_t hour, double usage, const AdaptiveRequestOptions& options);
  double Mean() const { return mean_hours_ > 0 ? mean_sum_ / mean_hours_ : 0; }
  void Decide(int32_t hour, const AdaptiveRequestOptions& options);
  Explanation Want(int32_t hour, const AdaptiveRequestOptions& options) const;
  double SameHour(int32_t hour, int32_t first_day, int32_t last_day) const;
  LevelCode Typical() const;
  bool IsEmpty() const { return days_.IsEmpty(); }

  HourRing hours_;
  DayRing days_;  // the largest sample of each day
  OpenHour running_;
  OpenHour before_;           // the one before it, for late samples
  int32_t running_hour_ = 0;  // counts only when not empty
  int32_t first_hour_ = 0;    // likewise
  uint32_t samples_ = 0;      // since the last correction, those with a request to compare with
  uint32_t above_ = 0;
  uint32_t count_ = 0;   // of the running hour, with late ones
  uint32_t learnt_ = 0;  // hours
  double sum_ = 0;       // of the running hour
  double mean_sum_ = 0;  // of the means of hours, decayed
  double mean_hours_ = 0;
  double correction_ = 0;
};

}  // namespace tidemark::estimators
