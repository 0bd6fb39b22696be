#pragma once
// The decaying histogram written down as its definition reads: the peer in the benchmark.
//
// A vector with a double for every bucket, bucket numbers by logarithm, bucket starts by pow, decay
// by exp2. The same answers as an exact DecayingHistogram (the benchmark checks that), without its
// checks of input. Not thread-safe.

#include <cstdint>
#include <utility>
#include <vector>

namespace tidemark::bench {

class NaiveHistogram {
 public:
  /// Buckets from `first` up to `max`, each 5 % wider than the one before. Half-life 24 h.
  NaiveHistogram(double first, double max);

  int FindBucket(double value) const;
  double BucketStart(int bucket) const;
  /// `time` is Unix nanoseconds.
  void Add(double value, double weight, int64_t time);
  double Percentile(double p) const;
  /// Needs an equal layout and reference time.
  void Merge(const NaiveHistogram& other);
  /// Bucket and weight, the heaviest being 10000.
  std::vector<std::pair<int, uint32_t>> SaveCheckpoint() const;

 private:
  double Factor(int64_t time);

  double first_;
  double max_;
  std::vector<double> weights_;
  double total_ = 0;
  int min_ = 0;
  int max_bucket_ = 0;
  int64_t reference_ = 0;
};

}  // namespace tidemark::bench
