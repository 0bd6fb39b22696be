#pragma once
// The high-water marks of one resource of one container: the levels that a minute of a pod passes
// with at most a given probability.
//
// An ExcessWindow of seven days is fed minute by minute. Once an hour of event time the threshold
// is estimated anew - the quantile 0.98, or 0.95 of fewer than 2,000 minutes, taken from the
// decayed histogram for what is kept from then on and from the window itself for the fit - and the
// tail is fitted; between that it stands. So marks follow from the order of the minutes alone, not
// from when somebody looks, and cost nothing where nobody does. The minute of the hour is another
// for each container, so that not all are fitted in the same tick.

#include <cstdint>
#include <optional>

#include "estimators/decaying_histogram.h"
#include "estimators/excess_window.h"
#include "estimators/peaks_over_threshold.h"
#include "model/byte_codec.h"
#include "model/result.h"

namespace tidemark::estimators {

/// Where a level comes from.
enum class LevelSource : uint8_t {
  kTail,       ///< the fit
  kEmpirical,  ///< a quantile of what was seen: the risk needs no tail
  kLargest,    ///< the largest value that was seen: nothing could be fitted
};

struct HighWaterLevel {
  double value = 0;
  LevelSource source = LevelSource::kLargest;
  bool capped = false;  ///< a bound made it what it is
};

/// What no level is above.
struct HighWaterBounds {
  std::optional<double> cap = std::nullopt;  ///< what cannot be used: the limit
  /// So many times the largest value of the seven days. A fit of a heavy tail, or of one peak, says
  /// numbers that nobody will ever see.
  double most_over_largest = 3;
};

/// A value type, not thread-safe.
class HighWaterTrack {
 public:
  static constexpr uint64_t kFewMinutes = 2000;
  static constexpr double kThresholdOfFew = 0.95;
  static constexpr double kThreshold = 0.98;
  static constexpr int64_t kRefitMinutes = 60;
  /// From this share of excesses at the cap on, demand above it is not seen.
  static constexpr double kCensoredRatio = 0.05;
  /// A minute's mean seldom reaches the cap itself.
  static constexpr double kAtCap = 0.99;

  /// Takes one observation of the minute `minute` since 1970. `histogram`: of the same minutes; or
  /// null, where there is none and the largest of each day are kept whatever the threshold.
  /// Answers whether the tail was fitted anew, before the observation was counted.
  bool Add(int64_t minute, double value, const DecayingHistogram* histogram, FitChoice choice);

  /// Adds what `other` has. The tail that has more behind it stands until the next observation.
  void Merge(const HighWaterTrack& other);

  /// Nothing was ever observed.
  bool IsEmpty() const { return window_.Observations() == 0; }
  /// As it was fitted last; absent before the first full hour.
  const std::optional<TailFit>& tail() const { return tail_; }
  const ExcessWindow& window() const { return window_; }

  /// The level of `risk`, in (0, 1); absent before the first fit. `histogram`: as for Add, used
  /// where the window does not reach so low.
  std::optional<HighWaterLevel> LevelOf(double risk, const DecayingHistogram* histogram,
                                        const HighWaterBounds& bounds) const;

  /// Whether at least kCensoredRatio of the excesses are at `cap`.
  bool IsCensored(double cap) const;

  size_t MemoryBytes() const { return sizeof(*this) + window_.MemoryBytes() - sizeof(window_); }

  void Save(ByteWriter& out) const;
  /// kInvalidArgument when it is nothing that Save can have written.
  static Result<HighWaterTrack> Restore(ByteReader& in);

 private:
  void Refit(int64_t minute, const DecayingHistogram* histogram, FitChoice choice);

  ExcessWindow window_;
  std::optional<TailFit> tail_;
  float gate_ = 0;
  uint32_t next_refit_ = 0;  // minutes since 1970; with the first observation
  uint8_t phase_ = 0;        // of the hour
};

}  // namespace tidemark::estimators
