#pragma once
// A histogram of usage in which old samples count less and less: the percentiles behind every
// recommended request.
//
// Algorithm: the decaying histogram of the Kubernetes Vertical Pod Autoscaler (VPA 1.8,
// recommender). A sample's weight is multiplied by 2^((time - reference) / half_life), so that new
// samples outweigh old ones and nothing has to be touched as time passes. When a sample comes more
// than 100 half-lives after the reference, the reference moves to the multiple of the half-life
// nearest to that sample, counted from the year 1, and all weights are scaled to it.
//
// Percentiles answer the END of a bucket without interpolation, as VPA does: an answer is never
// below the value it stands for (but in the last bucket, which has no end) and at most one bucket
// above.
//
// Peculiarities of the original that are kept, because requests depend on them:
// - a bucket with less weight than epsilon counts in the total but is not occupied;
// - subtracting a value that was never added lowers the total and no bucket;
// - a merge takes the other's whole total but only its buckets between the first and the last
// occupied one;
// - loading a checkpoint replaces the reference without rescaling what was there.
//
// Cost: Add and Subtract one logarithm, one power of two, and an allocation only when a bucket
// outside the range touched so far is met; Percentile one scan of the occupied range. Size: 56
// bytes, and 8 per bucket of that range.

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "estimators/bucket_weights.h"
#include "estimators/event_time.h"
#include "estimators/histogram_options.h"
#include "model/byte_codec.h"
#include "model/result.h"

namespace tidemark::estimators {

/// A histogram in the form in which VPA stores it: weights rounded to whole numbers, the heaviest
/// being 10000. Percentiles from p50 to p95 survive it to within one bucket; the lowest and the
/// highest can move further.
struct HistogramCheckpoint {
  struct Bucket {
    int32_t bucket = 0;
    uint32_t weight = 0;

    friend bool operator==(const Bucket&, const Bucket&) = default;
  };

  /// Whole seconds; absent: nothing was ever added.
  std::optional<std::chrono::sys_seconds> reference_time;
  double total_weight = 0;
  /// Ascending by bucket; each bucket once.
  std::vector<Bucket> buckets;

  friend bool operator==(const HistogramCheckpoint&, const HistogramCheckpoint&) = default;
};

/// Not thread-safe. Copies are independent; a moved-from histogram may only be destroyed or
/// assigned to.
class DecayingHistogram {
 public:
  /// The heaviest sample that is taken; far above any use, it keeps every sum finite.
  static constexpr double kMaxWeight = 1e100;
  /// A total that a merge or a checkpoint may not exceed, for the same reason.
  static constexpr double kMaxTotalWeight = 1e200;

  /// `options` must outlive the histogram and its copies. `half_life` must be above zero.
  DecayingHistogram(const HistogramOptions* options, std::chrono::nanoseconds half_life);

  /// Adds `weight` to the bucket of `value`, decayed to `time`. Times may come in any order; late
  /// ones weigh less. False, and nothing changed, when the value is NaN or infinite, or the weight
  /// is not from 0 to kMaxWeight.
  bool Add(double value, double weight, Time time);

  /// Takes back a sample that was added with the same arguments. What is not there is not taken:
  /// bucket and total stop at 0 (and become 0 below epsilon). False as for Add.
  bool Subtract(double value, double weight, Time time);

  /// The end of the bucket in which the weight below it reaches the share `p` of the total; the
  /// start of the last bucket if it is that one; 0 when empty. `p` is a ratio from 0 to 1: below 0
  /// counts as 0, above 1 or NaN as 1.
  double Percentile(double p) const;

  /// True when no bucket is occupied; a total of less than epsilon per bucket may still be there.
  bool IsEmpty() const { return weights_.Get(min_bucket_) < options_->Epsilon(); }

  /// Sum of all weights, decayed to the reference time.
  double TotalWeight() const { return total_weight_; }

  /// The first and the last occupied bucket; when empty, the last bucket of the layout and 0.
  int MinBucket() const { return min_bucket_; }
  int MaxBucket() const { return max_bucket_; }

  /// The weight of one bucket of the layout, decayed to the reference time.
  double Weight(int bucket) const { return weights_.Get(bucket); }

  /// The time at which a sample has exactly its own weight; absent until the first sample.
  std::optional<Time> ReferenceTime() const;

  const HistogramOptions& options() const { return *options_; }
  std::chrono::nanoseconds half_life() const { return half_life_; }

  /// Adds everything of `other`, which must have an equal layout and the same half-life, the totals
  /// adding up to at most kMaxTotalWeight: otherwise kInvalidArgument and nothing changed. The
  /// older of the two is first scaled to the younger's reference: this may change `other`'s
  /// reference and weights, not what it means.
  Result<void> Merge(DecayingHistogram& other);

  HistogramCheckpoint SaveCheckpoint() const;

  /// Adds what a checkpoint holds and takes over its reference time. All or nothing:
  /// kInvalidArgument when its total is negative, NaN or lifts ours above kMaxTotalWeight, a bucket
  /// is outside the layout or out of order, or the time does not fit Time.
  Result<void> LoadCheckpoint(const HistogramCheckpoint& checkpoint);

  /// Appends the state, every bit of it, the half-life included; not the layout.
  void Save(ByteWriter& out) const;

  /// The histogram that Save wrote, of this layout, with the half-life it had; it answers and goes
  /// on to the last bit as the saved one would have. kInvalidArgument, naming what was wrong, when
  /// it is nothing that Save can have written of a histogram with this layout.
  static Result<DecayingHistogram> Restore(const HistogramOptions* options, ByteReader& in);

  /// From now on samples decay with another half-life. What is there has decayed with the old one
  /// until `at` (the newest sample), and decays with the new one from then on. So the percentiles
  /// stay; what changes is how fast samples after `at` outweigh it. The reference becomes the
  /// multiple of the new half-life that is nearest to `at`. kInvalidArgument, and nothing changed,
  /// when the new half-life is not above zero or a weight would pass kMaxTotalWeight.
  Result<void> ChangeHalfLife(std::chrono::nanoseconds half_life, Time at);

  /// Bytes of this object and of what it holds on the heap, without the allocator's own.
  size_t MemoryBytes() const { return sizeof(*this) + weights_.HeapBytes(); }

 private:
  double DecayFactor(Time time);
  void ShiftReference(Time time);
  void Scale(double factor);
  void WidenOccupied(int first, int last);
  void ShrinkOccupied();

  const HistogramOptions* options_;
  std::chrono::nanoseconds half_life_;
  Time reference_{};  // counts only with has_reference_
  double total_weight_ = 0;
  BucketWeights weights_;
  uint16_t min_bucket_;
  uint16_t max_bucket_ = 0;
  bool has_reference_ = false;
};

}  // namespace tidemark::estimators
