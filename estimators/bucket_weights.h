#pragma once
// The weights of a histogram's buckets, of which only the touched range is kept.
//
// A usage histogram has 176 buckets (1408 bytes) of which it typically touches 10 to 60, next to
// each other. This stores the range from the first to the last bucket that was ever written, 8
// bytes each; every other bucket is 0. Reading and adding behave exactly as with a full array, also
// for weights too small to count.

#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>

#include "model/byte_codec.h"

namespace tidemark::estimators {

/// A value type, not thread-safe. Bucket numbers are from 0 to 65534; they are not checked.
class BucketWeights {
 public:
  BucketWeights() = default;
  BucketWeights(const BucketWeights& other);
  BucketWeights(BucketWeights&& other) noexcept
      : weights_(std::move(other.weights_)),
        first_(std::exchange(other.first_, uint16_t{0})),
        size_(std::exchange(other.size_, uint16_t{0})) {}
  BucketWeights& operator=(const BucketWeights& other);
  BucketWeights& operator=(BucketWeights&& other) noexcept;
  ~BucketWeights() = default;

  /// The weight of `bucket`; 0 when it was never touched.
  double Get(int bucket) const { return Holds(bucket) ? weights_[bucket - first_] : 0.0; }

  /// A writable weight. Widens the range first when `bucket` lies outside it: the only call that
  /// allocates.
  double& At(int bucket) {
    if (!Holds(bucket)) Widen(bucket, bucket);
    return weights_[bucket - first_];
  }

  /// Makes room for all of `first` to `last`, so that At does not move them any more. Needs first
  /// <= last.
  void Widen(int first, int last);

  /// The weights from `bucket` on; valid up to the end of the touched range and until the next
  /// widening. `bucket` must be inside the range.
  const double* From(int bucket) const { return weights_.get() + (bucket - first_); }

  /// Appends the touched range, every bit of it.
  void Save(ByteWriter& out) const;
  /// Replaces everything by what Save wrote. False, and nothing kept, when it is no such thing: the
  /// range must be inside `buckets`, every weight from 0 to `most`.
  bool Restore(ByteReader& in, int buckets, double most);

  /// Bytes on the heap, without the allocator's own.
  size_t HeapBytes() const { return size_ * sizeof(double); }

 private:
  bool Holds(int bucket) const { return bucket >= first_ && bucket < first_ + size_; }

  std::unique_ptr<double[]> weights_;
  uint16_t first_ = 0;
  uint16_t size_ = 0;
};

}  // namespace tidemark::estimators
