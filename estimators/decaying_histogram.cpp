#include "estimators/decaying_histogram.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cassert>
#include <cmath>

#include "estimators/reference_grid.h"

namespace tidemark::estimators {

namespace {

/// A reference older than this many half-lives is moved.
constexpr int64_t kMaxDecayExponent = 100;
constexpr int64_t kMaxCompactDecayExponent = 16;

/// Compact: the share of the total from which on a bucket is occupied.
constexpr double kLeastShare = 0x1p-30;

/// Compact: where a subtraction leaves less than this share of what it takes, that is no more than
/// the rounding of some hundred additions, or has long faded; the total, a double, is more exact.
constexpr double kResidue = 0x1p-10;
constexpr double kTotalResidue = 0x1p-20;

/// Compact: a sample that weighs less would leave the range of a float; it is some hundred
/// half-lives late.
constexpr double kLeastCompactWeight = 1e-30;

/// Weights below `epsilon` are rounding residues of a subtraction.
double WithoutResidue(double weight, double epsilon) { return weight < epsilon ? 0.0 : weight; }

/// `sum` of bucket `bucket` rounded to a float: up with the probability that equals its place
/// between the two nearest ones.
///
/// The upper bits of a product with 2^64 divided by the golden ratio spread evenly even where the
/// factor goes up step by step (Knuth, The Art of Computer Programming 3, 6.4), as the total does
/// with equal samples. The sum itself has no part in it: it depends on how it was rounded before,
/// and what depends on that is not by chance any more.
double RoundedByChance(double sum, double total, int bucket) {
  constexpr int kDroppedBits = 52 - 23;
  constexpr uint64_t kDropped = (uint64_t{1} << kDroppedBits) - 1;
  const uint64_t mixed =
      (std::bit_cast<uint64_t>(total) + static_cast<uint64_t>(bucket)) * 0x9E3779B97F4A7C15U;
  return std::bit_cast<double>((std::bit_cast<uint64_t>(sum) + (mixed >> (64 - kDroppedBits))) &
                               ~kDropped);
}

void AddTo(double& weight, double more, double /*total*/, int /*bucket*/) { weight += more; }

void AddTo(float& weight, double more, double total, int bucket) {
  weight = static_cast<float>(RoundedByChance(double{weight} + more, total, bucket));
}

}  // namespace

DecayingHistogram::DecayingHistogram(const HistogramOptions* options,
                                     std::chrono::nanoseconds half_life, Precision precision)
    : options_(options),
      half_life_(std::max(half_life, std::chrono::nanoseconds(1))),
      weights_(precision),
      min_bucket_(static_cast<uint16_t>(options->NumBuckets() - 1)) {
  assert(half_life > std::chrono::nanoseconds::zero());
}

bool DecayingHistogram::Acceptable(double value, double weight) const {
  return std::isfinite(value) && weight >= 0 &&
         weight <= (IsCompact() ? kMaxCompactWeight : kMaxWeight);
}

double DecayingHistogram::Epsilon() const {
  return IsCompact() ? total_weight_ * kLeastShare : options_->Epsilon();
}

bool DecayingHistogram::Occupied(int bucket) const {
  const double weight = weights_.Get(bucket);
  return weight > 0 && weight >= Epsilon();
}

std::pair<int, int> DecayingHistogram::OccupiedRange() const {
  int first = min_bucket_;
  int last = max_bucket_;
  if (IsCompact() && first < last) {
    const double epsilon = Epsilon();
    while (first < last && weights_.Get(first) < epsilon) ++first;
    while (last > first && weights_.Get(last) < epsilon) --last;
  }
  return {first, last};
}

bool DecayingHistogram::Add(double value, double weight, Time time, DecayCache* cache) {
  if (!Acceptable(value, weight)) return false;
  const double decayed = weight * DecayFactor(time, cache);
  // A bucket need not be stored for nothing.
  if (decayed == 0 || (IsCompact() && decayed < kLeastCompactWeight)) return true;
  const int bucket = options_->FindBucket(value);
  total_weight_ += decayed;
  const double sum = weights_.Get(bucket) + decayed;
  PutSum(bucket, sum);
  if (sum >= Epsilon()) WidenOccupied(bucket, bucket);
  return true;
}

bool DecayingHistogram::Subtract(double value, double weight, Time time) {
  if (!Acceptable(value, weight)) return false;
  const double decayed = weight * DecayFactor(time, nullptr);
  const int bucket = options_->FindBucket(value);
  const double residue = IsCompact() ? decayed * kTotalResidue : options_->Epsilon();
  total_weight_ = WithoutResidue(total_weight_ - decayed, residue);
  if (IsCompact() && total_weight_ == 0) {
    weights_ = BucketWeights(Precision::kCompact);
  } else if (const double stored = weights_.Get(bucket); stored != 0) {
    const double epsilon =
        IsCompact() ? std::max(Epsilon(), decayed * kResidue) : options_->Epsilon();
    PutSum(bucket, WithoutResidue(stored - decayed, epsilon));
  }
  ShrinkOccupied();
  return true;
}

std::optional<Time> DecayingHistogram::ReferenceTime() const {
  if (!has_reference_) return std::nullopt;
  return reference_;
}

Result<void> DecayingHistogram::Merge(DecayingHistogram& other) {
  if (options_ != other.options_ && *options_ != *other.options_) {
    return Fail(
        ErrorCode::kInvalidArgument,
        fmt::format("histogram merge: bucket layouts of {} and {} buckets differ, must be equal",
                    options_->NumBuckets(), other.options_->NumBuckets()));
  }
  if (half_life_ != other.half_life_) {
    return Fail(ErrorCode::kInvalidArgument,
                fmt::format("histogram merge: half-lives of {} ns and {} ns differ, must be equal",
                            half_life_.count(), other.half_life_.count()));
  }
  if (precision() != other.precision()) {
    DecayingHistogram converted = other;
    converted.SetPrecision(precision());
    return Merge(converted);
  }
  if (!(total_weight_ + other.total_weight_ <= MaxTotal())) {
    return Fail(
        ErrorCode::kInvalidArgument,
        fmt::format("histogram merge: total weights are {} and {}, must add up to at most {}",
                    total_weight_, other.total_weight_, MaxTotal()));
  }
  // A missing reference is older than any other.
  if (other.has_reference_ && (!has_reference_ || reference_ < other.reference_)) {
    ShiftReference(other.reference_);
  } else if (has_reference_ && (!other.has_reference_ || other.reference_ < reference_)) {
    other.ShiftReference(reference_);
  }
  total_weight_ += other.total_weight_;
  if (!other.IsEmpty()) {
    weights_.Widen(other.min_bucket_, other.max_bucket_);
    const int count = other.max_bucket_ - other.min_bucket_ + 1;
    other.weights_.ReadFrom(other.min_bucket_, [&](const auto* theirs) {
      weights_.WriteFrom(other.min_bucket_, [&](auto* ours) {
        for (int i = 0; i < count; ++i) AddTo(ours[i], double{theirs[i]}, total_weight_, i);
      });
    });
  }
  WidenOccupied(other.min_bucket_, other.max_bucket_);
  return {};
}

/// By how much a sample of `time` outweighs one of the reference time. May move the reference.
double DecayingHistogram::DecayFactor(Time time, DecayCache* cache) {
  const int64_t exponent = IsCompact() ? kMaxCompactDecayExponent : kMaxDecayExponent;
  // The product wraps around for half-lives above 2.9 years, as in the original: the reference then
  // moves earlier or more often than needed, and weights keep their meaning.
  const auto longest = static_cast<int64_t>(static_cast<uint64_t>(half_life_.count()) *
                                            static_cast<uint64_t>(exponent));
  if (!has_reference_ || SaturatingDifference(time, reference_).count() > longest) {
    ShiftReference(time);
  }
  const std::chrono::nanoseconds age = SaturatingDifference(time, reference_);
  return cache != nullptr ? cache->Factor(age, half_life_) : DecayCache::Compute(age, half_life_);
}

void DecayingHistogram::ShiftReference(Time time) {
  const Time shifted = RoundToGrid(time, half_life_);
  const std::chrono::nanoseconds back =
      has_reference_ ? SaturatingDifference(reference_, shifted) : std::chrono::nanoseconds::min();
  const double exponent =
      std::floor(static_cast<double>(back.count()) / static_cast<double>(half_life_.count()) + 0.5);
  constexpr double kBeyondDouble = 5000;  // 2^5000 is infinite, 2^-5000 is 0
  Scale(std::ldexp(1.0, static_cast<int>(std::clamp(exponent, -kBeyondDouble, kBeyondDouble))));
  if (IsCompact()) weights_.Narrow(min_bucket_, max_bucket_);
  reference_ = shifted;
  has_reference_ = true;
}

void DecayingHistogram::Scale(double factor) {
  if (factor == 1) return;
  // As in the original, what is not occupied is not scaled.
  const int first = IsCompact() ? weights_.begin_bucket() : min_bucket_;
  const int last = IsCompact() ? weights_.end_bucket() - 1 : max_bucket_;
  for (int bucket = first; bucket <= last; ++bucket) {
    if (const double weight = weights_.Get(bucket); weight != 0) {
      weights_.Put(bucket, weight * factor);
    }
  }
  total_weight_ *= factor;
  ShrinkOccupied();
}

/// Stores the sum of two weights. The total must be the one that goes with it.
void DecayingHistogram::PutSum(int bucket, double sum) {
  weights_.Put(bucket, IsCompact() ? RoundedByChance(sum, total_weight_, bucket) : sum);
}

void DecayingHistogram::FindOccupied() {
  min_bucket_ = static_cast<uint16_t>(options_->NumBuckets() - 1);
  max_bucket_ = 0;
  for (int bucket = weights_.begin_bucket(); bucket < weights_.end_bucket(); ++bucket) {
    if (Occupied(bucket)) WidenOccupied(bucket, bucket);
  }
}

void DecayingHistogram::WidenOccupied(int first, int last) {
  min_bucket_ = static_cast<uint16_t>(std::min<int>(min_bucket_, first));
  max_bucket_ = static_cast<uint16_t>(std::max<int>(max_bucket_, last));
}

void DecayingHistogram::ShrinkOccupied() {
  const int last = options_->NumBuckets() - 1;
  while (min_bucket_ < last && !Occupied(min_bucket_)) ++min_bucket_;
  while (max_bucket_ > 0 && !Occupied(max_bucket_)) --max_bucket_;
}

}  // namespace tidemark::estimators
