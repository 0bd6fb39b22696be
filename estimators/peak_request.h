#pragma once
// A request for what cannot be throttled (memory): by the highest hours of the last eight days.
//
// For every hour of the clock the largest sample of all pods is kept, for eight days. The request
// is the larger of
//
//     safety_factor * the level that `hour_quantile` of the hours do not pass, an hour counting
//                     half as much for each four days of its age
//     the largest sample of the last seven days, where keeps_maximum says so
//
// The first says what is usual at the top: of a whole week the second highest hour, so that one
// exceptional hour is not multiplied, and a week-old one is forgotten by and by. The second says
// that nothing is asked for that is known to have been too little for the worst pod. A sample above
// the request raises it at once; it falls when an hour is over.
//
// Time is the samples'. Hours without samples change nothing. Late samples count in their hour. A
// kill for want of memory is the caller's to add: it knows what was requested then.

#include <cstddef>
#include <cstdint>
#include <optional>

#include "estimators/event_time.h"
#include "estimators/level_ring.h"
#include "model/byte_codec.h"
#include "model/result.h"

namespace tidemark::estimators {

/// Chosen on half of the request traces; docs/requests.md has what the other half says.
struct PeakRequestOptions {
  /// The knob: above 0.
  double safety_factor = 1.1;
  double hour_quantile = 0.99;
  bool keeps_maximum = true;
};

/// A value type of some 400 bytes, not thread-safe. Amounts are in the resource's unit (bytes). The
/// options are the caller's, as with AdaptiveRequest.
class PeakRequest {
 public:
  static constexpr int kSavedFormat = 1;

  /// One usage of one pod; false, and nothing changed, when it is negative, NaN or infinite.
  bool AddSample(Time time, double usage, const PeakRequestOptions& options);
  /// Event time has come to `time`: an hour that is over is closed without waiting for a sample.
  void Close(Time time, const PeakRequestOptions& options);

  /// Nullopt without samples.
  std::optional<double> Request() const;

  struct Explanation {
    double largest = 0;    ///< of seven days, of the worst pod
    double high_hour = 0;  ///< the quantile of the hours
    double with_factor = 0;
    double request = 0;
    bool is_maximum = false;  ///< the largest decided, not the quantile
  };
  /// Nullopt as Request.
  std::optional<Explanation> Explain(const PeakRequestOptions& options) const;

  /// The largest sample of the day that ended `days` days before the newest hour did; 0: the last
  /// 24 hours. 0 where nothing is known, or beyond 7.
  double DailyMaximum(int days) const;

  /// Adds what another learnt of the same workload: each hour's level is the larger of the two.
  void Merge(const PeakRequest& other, const PeakRequestOptions& options);

  /// The largest sample of each hour, the running one among them.
  const HourRing& hours() const { return hours_; }
  size_t MemoryBytes() const { return sizeof(*this); }

  /// Every bit of it.
  void Save(ByteWriter& out) const;
  /// kInvalidArgument where it is nothing that Save can have written.
  static Result<PeakRequest> Restore(ByteReader& in);

 private:
  Explanation Want(const PeakRequestOptions& options) const;

  HourRing hours_;
  int32_t now_ = 0;  // the hour that runs; counts only when not empty
  double request_ = 0;
};

}  // namespace tidemark::estimators
