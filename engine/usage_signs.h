#pragma once
// What was made of minutes of usage before they were counted, for one container of a workload: CPU
// that young pods use to start is kept apart; minutes in which the limit held a pod back count for
// more.

#include <cstdint>
#include <optional>

#include "model/byte_codec.h"
#include "model/result.h"

namespace tidemark::engine {

/// A value type, not thread-safe. Times are event time.
class UsageSigns {
 public:
  /// Where nothing else is known, so many minutes of young pods are waited for; then they count
  /// like others: pods that never grow older show nothing else.
  static constexpr uint32_t kStartUpMinutes = 15;
  /// How long the peak of a start is remembered.
  static constexpr int64_t kStartUpPeakMs = 8LL * 24 * 3600 * 1000;

  /// A minute of a young pod is left out.
  void LeaveOut(int64_t time_ms, double usage);
  uint32_t minutes_left_out() const { return left_out_; }
  /// The most that a pod used to start, within kStartUpPeakMs.
  std::optional<double> StartUpPeak(int64_t now_ms) const;

  /// A minute was counted, and whether for more than its usage.
  void Count(int64_t time_ms, bool throttled);
  /// Of the minutes of about a day how many counted for more; 0 without any.
  double ThrottledRatio(int64_t now_ms) const;

  void Merge(const UsageSigns& other);
  void Save(ByteWriter& out) const;
  /// kInvalidArgument when it is nothing that Save can have written.
  static Result<UsageSigns> Restore(ByteReader& in);

 private:
  void Decay(int64_t time_ms);

  double peak_ = 0;
  int64_t peak_ms_ = 0;
  uint32_t left_out_ = 0;
  int64_t counted_ms_ = 0;  // the newest minute counted; weights are as of then
  double counted_ = 0;
  double throttled_ = 0;
};

}  // namespace tidemark::engine
