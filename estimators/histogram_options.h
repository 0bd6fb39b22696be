#pragma once
// The bucket layout of a histogram.
//
// The exponential layout is the one of the Kubernetes Vertical Pod Autoscaler (VPA 1.8,
// recommender): bucket n is `first_bucket * ratio^n` wide, so that it starts at first_bucket *
// (ratio^n - 1) / (ratio - 1). An answer that is rounded up to the end of its bucket is thus too
// large by at most about `ratio - 1` (a factor of two in the first buckets). Bucket numbers are
// found by logarithm and bucket starts by repeated squaring, as the original does; on the very
// edges the two may differ by one bucket, and requests depend on that.

#include <bit>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "model/result.h"

namespace tidemark::estimators {

/// Immutable once made; any number of threads and histograms may share one. About 8 bytes per
/// bucket, and for growing buckets a look-up table of a few kilobytes.
class HistogramOptions {
 public:
  /// More buckets than this are refused; bucket numbers fit 16 bits.
  static constexpr int kMaxBuckets = 65'535;
  /// The smallest epsilon, so that no ratio of weights overflows.
  static constexpr double kMinEpsilon = 1e-300;

  /// Buckets that grow by `ratio` up to the one that holds `max_value`, and one more for whatever
  /// is larger. A bucket counts as occupied when its weight is at least `epsilon`. Errors
  /// (kInvalidArgument) name the argument: all must be finite and above 0, `ratio` above 1,
  /// `epsilon` at least kMinEpsilon, and the result must have at most kMaxBuckets buckets with
  /// finite starts.
  static Result<HistogramOptions> Exponential(double max_value, double first_bucket, double ratio,
                                              double epsilon);

  /// Buckets of equal size up to the one that holds `max_value`, and one more. Errors as above.
  static Result<HistogramOptions> Linear(double max_value, double bucket_size, double epsilon);

  /// VPA's layout for CPU: cores; 176 buckets from 0.01 to 1021 cores, each 5 % wider than the one
  /// before.
  static HistogramOptions Cpu();

  /// VPA's layout for memory: bytes; 176 buckets from 1e7 to 1.02e12 bytes, each 5 % wider than the
  /// one before.
  static HistogramOptions Memory();

  int NumBuckets() const { return static_cast<int>(starts_.size()); }

  /// The smallest value of a bucket; 0 for the first. `bucket` must be from 0 to NumBuckets() - 1.
  double BucketStart(int bucket) const { return starts_[static_cast<size_t>(bucket)]; }

  /// The bucket that `value` falls into. Total: everything below the first edge, negative and NaN
  /// is bucket 0, everything beyond the last edge and +Inf is the last bucket. Costs a look-up in a
  /// table; one logarithm within a relative 1e-9 of an edge, where only the original's own
  /// arithmetic says on which side a value is, and for layouts too fine for a table.
  int FindBucket(double value) const {
    if (!(value >= first_bucket_)) return 0;  // also NaN
    if (value >= beyond_) return NumBuckets() - 1;
    if (cells_.empty()) return ComputeBucket(value);
    const uint64_t cell = (std::bit_cast<uint64_t>(value) >> cell_shift_) - first_cell_;
    auto bucket = static_cast<size_t>(cells_[cell]);
    bucket += value >= starts_[bucket + 1] ? 1 : 0;  // no cell has a second edge
    if (bucket + 1 == starts_.size()) return ComputeBucket(value);
    const double near = value * kEdgeWidth;
    if (value - starts_[bucket] < near || starts_[bucket + 1] - value < near) {
      return ComputeBucket(value);
    }
    return static_cast<int>(bucket);
  }

  /// A bucket with less weight than this is as good as empty.
  double Epsilon() const { return epsilon_; }

  friend bool operator==(const HistogramOptions&, const HistogramOptions&) = default;

 private:
  enum class Kind : uint8_t { kExponential, kLinear };

  HistogramOptions() = default;
  int ComputeBucket(double value) const;
  void MakeCells();

  /// Around an edge, relative; rounding in the original's arithmetic reaches some 1e-14.
  static constexpr double kEdgeWidth = 1e-9;

  Kind kind_ = Kind::kExponential;
  double first_bucket_ = 0;  // linear: the size of every bucket
  double ratio_ = 0;
  double log_ratio_ = 0;
  double epsilon_ = 0;
  double beyond_ = 0;  // from here on all is in the last bucket
  std::vector<double> starts_;
  // Doubles with the same exponent and the same upper bits of the mantissa are a cell; here is the
  // bucket that the first value of each cell falls into. Empty: none of all this.
  std::vector<uint16_t> cells_;
  uint64_t first_cell_ = 0;
  int cell_shift_ = 0;
};

}  // namespace tidemark::estimators
