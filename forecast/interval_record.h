#pragma once
// Whether the intervals of one horizon have held, and how much wider or narrower than their model's
// errors suggest they have to be for that.
//
// An interval is to be missed by as many truths above as below. What each side is aimed at moves
// with every truth, a little up when it held and more down when it did not, so that over time as
// many are missed as should be, however errors change (Gibbs and Candes, Adaptive Conformal
// Inference under Distribution Shift, NeurIPS 2021).
//
// A value type, not thread-safe.

#include <array>
#include <cstdint>
#include <optional>

#include "model/byte_codec.h"

namespace tidemark::forecast {

class IntervalRecord {
 public:
  static constexpr int64_t kHours = 24;

  /// The probabilities to aim the next interval at, given that of missing either side.
  double LowerProbability(double miss) const { return Aim(miss, lower_shift_); }
  double UpperProbability(double miss) const { return 1 - Aim(miss, upper_shift_); }

  void Advance(int64_t hour, int64_t before);
  /// Of an interval of the present hour.
  void Note(int64_t hour, double truth, double lower, double upper, double miss);
  /// Over the last day; absent without any interval.
  std::optional<double> Coverage() const;
  /// Another probability is aimed at from now on.
  void ForgetShifts() { lower_shift_ = upper_shift_ = 0; }

  void Save(ByteWriter& out) const;
  /// Fails the reader where it is nothing that Save can have written.
  void Restore(ByteReader& in);

 private:
  static double Aim(double miss, float shift);

  std::array<uint8_t, kHours> intervals_{};
  std::array<uint8_t, kHours> held_{};
  float lower_shift_ = 0;  // of the probability of missing
  float upper_shift_ = 0;
};

}  // namespace tidemark::forecast
