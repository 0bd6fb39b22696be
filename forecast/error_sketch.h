#pragma once
// How wrong one model's forecasts at one horizon have been lately: the distribution of its errors
// in units of how wrong it is at the time.
//
// Errors of demand are larger in busy hours than in quiet ones, so each is divided by a running
// scale of absolute errors that was known when the forecast was made; the quotients go into a
// histogram of 37 buckets, two to each doubling, which halves every 12 hours. A quantile of it
// times the scale of now is a quantile of the next error (as in Gibbs and Candes, Adaptive
// Conformal Inference, 2021, who put a regression's residuals to the same use). Far out, where the
// histogram has little, a generalised Pareto tail is fitted to what it has
// (estimators/peaks_over_threshold.h).
//
// A value type, not thread-safe. 100 bytes.

#include <array>
#include <cstdint>
#include <optional>
#include <span>

#include "model/byte_codec.h"

namespace tidemark::estimators {
struct TailFit;
}

namespace tidemark::forecast {

class ErrorSketch {
 public:
  static constexpr int64_t kHalvingMinutes = 720;
  /// Fewer errors than this say nothing about the next ones.
  static constexpr uint32_t kLeastErrors = 60;
  /// Above this probability a quantile is taken from the fitted tail.
  static constexpr double kTailFrom = 0.975;

  /// Whether the scale is known: after the first few errors.
  bool HasScale() const { return seen_ >= kScaleErrors; }
  /// Of the next error, in the unit of the demand, above 0 unless there never was an error.
  double Scale() const;
  /// An error, truth minus forecast, of a forecast made when Scale() was `scale`.
  void Note(float error, float scale);
  /// Half of what is known counts no more.
  void Halve();

  /// How many errors are behind quantiles, old ones counting less.
  double Errors() const { return static_cast<double>(mass_) / kWeight; }
  bool IsEnough() const { return Errors() >= kLeastErrors; }
  /// The quotient that the share `p` of errors is not above; p in (0, 1). 0 without any.
  double Quantile(double p) const;
  /// The same for p of kTailFrom and above, from a tail fitted to the upper errors; never more than
  /// three times the largest that was seen.
  double TailQuantile(double p) const;
  /// Quantile and, of kTailFrom and above, TailQuantile of each p, with one fit for all. `out` is
  /// as long as `p`.
  void Quantiles(std::span<const double> p, std::span<double> out) const;

  void Save(ByteWriter& out) const;
  /// Fails the reader where it is nothing that Save can have written.
  void Restore(ByteReader& in);

 private:
  static constexpr int kSide = 18;  // buckets on each side of the middle one
  static constexpr size_t kBuckets = 2 * kSide + 1;
  static constexpr uint16_t kWeight = 16;  // of one error; a halving loses less so
  static constexpr uint8_t kScaleErrors = 10;

  estimators::TailFit FitTail() const;
  double TailLevel(const estimators::TailFit& tail, double p) const;
  static size_t BucketOf(float quotient);
  double StartOf(size_t bucket) const;
  double EndOf(size_t bucket) const;

  std::array<uint16_t, kBuckets> counts_{};
  uint8_t seen_ = 0;  // errors, up to 255
  uint32_t mass_ = 0;
  float fast_ = 0;  // running means of the absolute error
  float slow_ = 0;
  float largest_ = 0;  // quotients, both as amounts; they halve with the counts
  float least_ = 0;
};

}  // namespace tidemark::forecast
