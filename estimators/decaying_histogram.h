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
// Exact histograms (Precision::kExact) keep peculiarities of the original, because VPA's requests
// depend on them:
// - a bucket with less weight than epsilon counts in the total but is not occupied;
// - epsilon is absolute, while weights grow to 2^100: what is left of a subtraction can look
//   occupied;
// - subtracting a value that was never added lowers the total and no bucket;
// - a merge takes the other's whole total but only its buckets between the first and the last
//   occupied one;
// - loading a checkpoint replaces the reference without rescaling what was there.
//
// Compact ones (Precision::kCompact) store a weight in 4 bytes. They differ in this:
// - The reference moves already after 16 half-lives, so that weights stay in the range of a float.
// - A sum is rounded up or down by chance, so that on average nothing is lost where a small sample
//   meets a heavy bucket ("stochastic rounding": Forsythe, Reprint of a note on rounding-off
//   errors, SIAM Review 1959; to the nearest, 2^24 equal samples would be the end). The chance
//   comes from the bits of the total, not from a generator: the same samples in the same order give
//   the same bits. After n equal samples the error is about 2^-24 * sqrt(n) of a bucket's weight at
//   worst, a hundredth of a percent for 10^7 of them.
// - A bucket is occupied from 2^-30 of the total on, whatever the weights have grown to. What is
//   left of a subtraction is nothing below 2^-10 of what was taken, and where the total is nothing
//   no bucket is anything. So no peak that was taken back shows, unless thousands of others came to
//   its bucket and went.
// - The percentile 1 is the end of the last occupied bucket, whatever rounding says.
// - Moving the reference gives up the memory of buckets that are not occupied any more.
//
// Cost: Add one table look-up, one power of two (none with a DecayCache that knows it), and an
// allocation only when a bucket outside the range touched so far is met; Percentile one scan of the
// occupied range. Size: 56 bytes, and 8 (compact 4) per bucket of that range.

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "estimators/bucket_weights.h"
#include "estimators/decay_cache.h"
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
  static constexpr double kMaxCompactWeight = 1e15;
  /// A total that a merge or a checkpoint may not exceed, for the same reason.
  static constexpr double kMaxTotalWeight = 1e200;
  static constexpr double kMaxCompactTotalWeight = 1e30;
  /// What Save writes; Restore reads this and all before it. 1: doubles only. 2: with precision.
  static constexpr int kSavedFormat = 2;

  /// `options` must outlive the histogram and its copies. `half_life` must be above zero.
  DecayingHistogram(const HistogramOptions* options, std::chrono::nanoseconds half_life,
                    Precision precision = Precision::kExact);

  /// Adds `weight` to the bucket of `value`, decayed to `time`. Times may come in any order; late
  /// ones weigh less. False, and nothing changed, when the value is NaN or infinite, or the weight
  /// is not from 0 to kMaxWeight (kMaxCompactWeight). `cache` changes nothing but the cost.
  bool Add(double value, double weight, Time time, DecayCache* cache = nullptr);

  /// Takes back a sample that was added with the same arguments. What is not there is not taken:
  /// bucket and total stop at 0 (and become 0 below epsilon). False as for Add.
  bool Subtract(double value, double weight, Time time);

  /// The end of the bucket in which the weight below it reaches the share `p` of the total; the
  /// start of the last bucket if it is that one; 0 when empty. `p` is a ratio from 0 to 1: below 0
  /// counts as 0, above 1 or NaN as 1.
  double Percentile(double p) const;

  /// Percentile of each of `ascending_points`, in one pass. `out` must be as long; points that do
  /// not ascend cost a pass of their own.
  void Percentiles(std::span<const double> ascending_points, std::span<double> out) const;

  /// True when no bucket is occupied; a total of less than epsilon per bucket may still be there.
  bool IsEmpty() const { return !Occupied(OccupiedRange().first); }

  /// Sum of all weights, decayed to the reference time.
  double TotalWeight() const { return total_weight_; }

  /// The first and the last occupied bucket; when empty, the last bucket of the layout and 0.
  int MinBucket() const { return OccupiedRange().first; }
  int MaxBucket() const { return OccupiedRange().second; }

  /// The weight of one bucket of the layout, decayed to the reference time.
  double Weight(int bucket) const { return weights_.Get(bucket); }

  /// The time at which a sample has exactly its own weight; absent until the first sample.
  std::optional<Time> ReferenceTime() const;

  const HistogramOptions& options() const { return *options_; }
  std::chrono::nanoseconds half_life() const { return half_life_; }
  Precision precision() const { return weights_.precision(); }

  /// Adds everything of `other`, which must have an equal layout and the same half-life, the totals
  /// adding up to at most kMaxTotalWeight (kMaxCompactTotalWeight): otherwise kInvalidArgument and
  /// nothing changed. The older of the two is first scaled to the younger's reference: this may
  /// change `other`'s reference and weights, not what it means. The precisions may differ; ours
  /// stays.
  Result<void> Merge(DecayingHistogram& other);

  HistogramCheckpoint SaveCheckpoint() const;

  /// Adds what a checkpoint holds and takes over its reference time. All or nothing:
  /// kInvalidArgument when its total is negative, NaN or lifts ours above kMaxTotalWeight, a bucket
  /// is outside the layout or out of order, or the time does not fit Time.
  Result<void> LoadCheckpoint(const HistogramCheckpoint& checkpoint);

  /// Appends the state, every bit of it, half-life and precision included; not the layout.
  void Save(ByteWriter& out) const;

  /// The histogram that Save wrote in `format`, of this layout, with the half-life and the
  /// precision it had (in format 1: kExact); it answers and goes on to the last bit as the saved
  /// one would have. kInvalidArgument, naming what was wrong, when the format is not from 1 to
  /// kSavedFormat, or it is nothing that Save can have written of a histogram with this layout.
  static Result<DecayingHistogram> Restore(const HistogramOptions* options, ByteReader& in,
                                           int format = kSavedFormat);

  /// From now on samples decay with another half-life. What is there has decayed with the old one
  /// until `at` (the newest sample), and decays with the new one from then on. So the percentiles
  /// stay; what changes is how fast samples after `at` outweigh it. The reference becomes the
  /// multiple of the new half-life that is nearest to `at`. kInvalidArgument, and nothing changed,
  /// when the new half-life is not above zero or a weight would pass kMaxTotalWeight
  /// (kMaxCompactTotalWeight).
  Result<void> ChangeHalfLife(std::chrono::nanoseconds half_life, Time at);

  /// From now on another layout, which must outlive the histogram. The weight of each bucket goes
  /// to the one in whose range (start, end] the old bucket's END lies; that of the last, which has
  /// none, to where its start lies. As in a merge, buckets outside the occupied range are left out;
  /// total, reference and half-life stay. So a percentile never
  /// falls, and rises by less than one bucket of the new layout; re-binning to an equal layout
  /// changes nothing. Only what lies beyond the new layout's last start is answered with that
  /// start.
  void Rebin(const HistogramOptions* to) { Rebin(to, Rebinning::kUp); }

  /// kBack is for a layout from which these weights came: where no end of it is that of the old
  /// bucket, the weight goes to the last one that ends before, so that weights that are taken to
  /// and fro do not climb a bucket each time. A percentile then falls by less than one bucket of
  /// the new layout, which should be the finer one of the two.
  enum class Rebinning : uint8_t { kUp, kBack };
  void Rebin(const HistogramOptions* to, Rebinning way);

  /// From now on weights are stored with another precision. Going compact, weights are rounded to
  /// the nearest float, after the reference has moved on by whole half-lives as far as their range
  /// needs it.
  void SetPrecision(Precision precision);

  /// Bytes of this object and of what it holds on the heap, without the allocator's own.
  size_t MemoryBytes() const { return sizeof(*this) + weights_.HeapBytes(); }

 private:
  bool IsCompact() const { return weights_.precision() == Precision::kCompact; }
  double MaxTotal() const { return IsCompact() ? kMaxCompactTotalWeight : kMaxTotalWeight; }
  bool Acceptable(double value, double weight) const;
  double Epsilon() const;
  bool Occupied(int bucket) const;
  std::pair<int, int> OccupiedRange() const;
  template <class T>
  void Scan(const T* weights, int first, int last, std::span<const double> points,
            std::span<double> out) const;

  double DecayFactor(Time time, DecayCache* cache);
  void ShiftReference(Time time);
  void Scale(double factor);
  void PutSum(int bucket, double sum);
  void FindOccupied();
  void WidenOccupied(int first, int last);
  void ShrinkOccupied();

  const HistogramOptions* options_;
  std::chrono::nanoseconds half_life_;
  Time reference_{};  // counts only with has_reference_
  double total_weight_ = 0;
  BucketWeights weights_;
  // Compact: what was occupied when it was last looked at; the total may have outgrown it since.
  uint16_t min_bucket_;
  uint16_t max_bucket_ = 0;
  bool has_reference_ = false;
};

}  // namespace tidemark::estimators
