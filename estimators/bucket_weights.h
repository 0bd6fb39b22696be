#pragma once
// The weights of a histogram's buckets, of which only the touched range is kept.
//
// A usage histogram has 176 buckets (1408 bytes) of which it typically touches 10 to 60, next to
// each other. This stores the range from the first to the last bucket that was ever written, 8 or
// 4 bytes each; every other bucket is 0. With 8 bytes, reading and writing behave exactly as with a
// full array, also for weights too small to count.

#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>

#include "model/byte_codec.h"

namespace tidemark::estimators {

/// How a bucket's weight is stored.
enum class Precision : uint8_t {
  kExact,    ///< as a double: every answer to the last bit as the Kubernetes VPA computes it
  kCompact,  ///< as a float: half the size, relative error of a write 2^-23 at most
};

/// A value type, not thread-safe. Bucket numbers are from 0 to 65534; they are not checked.
class BucketWeights {
 public:
  explicit BucketWeights(Precision precision = Precision::kExact) : precision_(precision) {}
  BucketWeights(const BucketWeights& other);
  BucketWeights(BucketWeights&& other) noexcept
      : bytes_(std::move(other.bytes_)),
        first_(std::exchange(other.first_, uint16_t{0})),
        size_(std::exchange(other.size_, uint16_t{0})),
        precision_(other.precision_) {}
  BucketWeights& operator=(const BucketWeights& other);
  BucketWeights& operator=(BucketWeights&& other) noexcept;
  ~BucketWeights() = default;

  Precision precision() const { return precision_; }

  /// The weight of `bucket`; 0 when it was never touched.
  double Get(int bucket) const {
    if (!Holds(bucket)) return 0.0;
    const int i = bucket - first_;
    return precision_ == Precision::kExact ? Array<double>()[i] : double{Array<float>()[i]};
  }

  /// Replaces a weight; compact, by the nearest float, which must exist. Widens the range first
  /// when `bucket` lies outside it: the only call beside Widen and Narrow that allocates.
  void Put(int bucket, double weight) {
    if (!Holds(bucket)) Widen(bucket, bucket);
    const int i = bucket - first_;
    if (precision_ == Precision::kExact) {
      Array<double>()[i] = weight;
    } else {
      Array<float>()[i] = static_cast<float>(weight);
    }
  }

  /// Makes room for all of `first` to `last`, so that Put does not move them any more. Needs first
  /// <= last.
  void Widen(int first, int last);

  /// Gives up everything outside `first` to `last`; all of it when first > last.
  void Narrow(int first, int last);

  /// The touched range: its first bucket, and the one after its last.
  int begin_bucket() const { return first_; }
  int end_bucket() const { return first_ + size_; }

  /// Calls `read` with a pointer (to double or float) to the weights from `bucket` on; valid up to
  /// the end of the touched range and until the next change. `bucket` must be inside the range.
  template <class Reader>
  auto ReadFrom(int bucket, Reader&& read) const {
    const int i = bucket - first_;
    return precision_ == Precision::kExact ? read(Array<double>() + i) : read(Array<float>() + i);
  }

  /// The same with what can be written.
  template <class Writer>
  void WriteFrom(int bucket, Writer&& write) {
    const int i = bucket - first_;
    if (precision_ == Precision::kExact) {
      write(Array<double>() + i);
    } else {
      write(Array<float>() + i);
    }
  }

  /// Appends the touched range, every bit of it.
  void Save(ByteWriter& out) const;
  /// Replaces everything by what Save wrote with the same precision. False, and nothing kept, when
  /// it is no such thing: the range must be inside `buckets`, every weight from 0 to `most`.
  bool Restore(ByteReader& in, int buckets, double most);

  /// Bytes on the heap, without the allocator's own.
  size_t HeapBytes() const { return size_ * WeightBytes(); }

 private:
  bool Holds(int bucket) const { return bucket >= first_ && bucket < first_ + size_; }
  size_t WeightBytes() const {
    return precision_ == Precision::kExact ? sizeof(double) : sizeof(float);
  }
  template <class T>
  T* Array() {
    return static_cast<T*>(static_cast<void*>(bytes_.get()));
  }
  template <class T>
  const T* Array() const {
    return static_cast<const T*>(static_cast<const void*>(bytes_.get()));
  }
  std::unique_ptr<std::byte[]> Zeros(int size) const;

  std::unique_ptr<std::byte[]> bytes_;  // size_ weights, aligned for either by operator new
  uint16_t first_ = 0;
  uint16_t size_ = 0;
  Precision precision_;
};

}  // namespace tidemark::estimators
