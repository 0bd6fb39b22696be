#pragma once
// The samples of one hour of all of a workload's pods, as far as a high quantile of them needs.
//
// Counts in 44 buckets of 5 %, the last being that of the largest sample: what is 8 times
// smaller than the largest is lumped together below. A quantile is linear between order statistics,
// these being spread evenly over their bucket; it is wrong by less than a bucket, and never above
// the largest sample. A value type of 104 bytes, not thread-safe. Add is O(1), but for a largest
// sample that moves the buckets.

#include <array>
#include <cstddef>
#include <cstdint>

#include "model/byte_codec.h"

namespace tidemark::estimators {

class HourSamples {
 public:
  /// A finite amount of 0 or more.
  void Add(double usage);
  /// Adds what another has seen of the same hour.
  void Merge(const HourSamples& other);

  bool IsEmpty() const { return counts_[kBuckets - 1] == 0; }
  double largest() const { return largest_; }
  /// `share` from 0 to 1; 0 when empty. Where it falls into the lump below, the lump's upper end,
  /// as far as that is not above the largest.
  double Quantile(double share) const;

  void Save(ByteWriter& out) const;
  /// Fails the reader where it is nothing that Save can have written.
  void Restore(ByteReader& in);

 private:
  static constexpr size_t kBuckets = 44;

  void RaiseTop(int top);
  void Count(int bucket, uint32_t times);
  double Position(uint64_t position) const;

  double largest_ = 0;
  int16_t top_ = 0;                          // the bucket of the largest
  std::array<uint16_t, kBuckets> counts_{};  // [kBuckets - 1] is that of top_
};

}  // namespace tidemark::estimators
