// What changes how a histogram is kept, and not what it says: half-life, layout, precision.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "estimators/decaying_histogram.h"
#include "estimators/reference_grid.h"

namespace tidemark::estimators {

namespace {

/// The first bucket of `layout` that ends at `end` or later; the last one when none does.
int BucketThatReaches(const HistogramOptions& layout, double end, int from) {
  const int last = layout.NumBuckets() - 1;
  int bucket = from;
  while (bucket < last && layout.BucketStart(bucket + 1) < end) ++bucket;
  return bucket;
}

}  // namespace

Result<void> DecayingHistogram::ChangeHalfLife(std::chrono::nanoseconds half_life, Time at) {
  if (half_life <= half_life.zero()) {
    return Fail(ErrorCode::kInvalidArgument,
                fmt::format("histogram half-life is {} ns, must be above zero", half_life.count()));
  }
  if (half_life == half_life_) return {};
  if (has_reference_) {
    const Time reference = RoundToGrid(at, half_life);
    const auto ratio = [](std::chrono::nanoseconds part, std::chrono::nanoseconds of) {
      return static_cast<double>(part.count()) / static_cast<double>(of.count());
    };
    const double factor = std::exp2(ratio(SaturatingDifference(reference_, at), half_life_) +
                                    ratio(SaturatingDifference(at, reference), half_life));
    double heaviest = total_weight_;  // a bucket may outweigh it: see Subtract
    for (int bucket = weights_.begin_bucket(); bucket < weights_.end_bucket(); ++bucket) {
      heaviest = std::max(heaviest, weights_.Get(bucket));
    }
    if (!std::isfinite(factor) || heaviest * factor > MaxTotal()) {
      return Fail(
          ErrorCode::kInvalidArgument,
          fmt::format("histogram half-life of {} ns instead of {} ns: weights would pass {}",
                      half_life.count(), half_life_.count(), MaxTotal()));
    }
    Scale(factor);
    reference_ = reference;
  }
  half_life_ = half_life;
  return {};
}

void DecayingHistogram::Rebin(const HistogramOptions* to, Rebinning way) {
  if (options_ == to) return;
  if (*options_ == *to) {
    options_ = to;
    return;
  }
  const HistogramOptions& from = *options_;
  const int last = from.NumBuckets() - 1;
  BucketWeights moved(precision());
  int bucket = 0;  // ends ascend, and so do the buckets that they go to
  double sum = 0;
  const auto put = [&] {
    if (sum > 0) moved.Put(bucket, sum);
    sum = 0;
  };
  // What is too little to be occupied, and outside of what is, no percentile has counted.
  const auto [first_old, last_old] = OccupiedRange();
  for (int old = first_old; old <= last_old; ++old) {
    const double weight = weights_.Get(old);
    if (weight == 0) continue;
    const double end = from.BucketStart(std::min(old + 1, last));
    int next = BucketThatReaches(*to, end, bucket);
    if (way == Rebinning::kBack && old < last && next > bucket && next + 1 < to->NumBuckets() &&
        to->BucketStart(next + 1) > end) {
      --next;
    }
    // What is in the last one lies at its start or above.
    if (old == last && next + 1 < to->NumBuckets() &&
        to->BucketStart(next + 1) == from.BucketStart(last)) {
      ++next;
    }
    if (next != bucket) put();
    bucket = next;
    sum += weight;
  }
  put();
  options_ = to;
  weights_ = std::move(moved);
  FindOccupied();
}

void DecayingHistogram::SetPrecision(Precision precision) {
  if (precision == this->precision()) return;
  double factor = 1;
  constexpr double kHeavy = 1e12;  // far below what a float can hold, far above what days weigh
  if (precision == Precision::kCompact && has_reference_ && total_weight_ > kHeavy) {
    const auto exponent = static_cast<int64_t>(std::log2(total_weight_));
    const int64_t most = SaturatingDifference(Time::max(), reference_) / half_life_;
    const int64_t half_lives = std::min(exponent, most);
    reference_ += half_lives * half_life_;
    factor = std::ldexp(1.0, -static_cast<int>(half_lives));
  }
  BucketWeights changed(precision);
  total_weight_ *= factor;
  if (precision == Precision::kCompact) {
    total_weight_ = std::min(total_weight_, kMaxCompactTotalWeight);
  }
  if (weights_.begin_bucket() < weights_.end_bucket()) {
    changed.Widen(weights_.begin_bucket(), weights_.end_bucket() - 1);
  }
  for (int bucket = weights_.begin_bucket(); bucket < weights_.end_bucket(); ++bucket) {
    double weight = weights_.Get(bucket) * factor;
    if (precision == Precision::kCompact) weight = std::min(weight, kMaxCompactTotalWeight);
    if (weight != 0) changed.Put(bucket, weight);
  }
  weights_ = std::move(changed);
  FindOccupied();
}

}  // namespace tidemark::estimators
