#include "estimators/decaying_histogram.h"

#include <fmt/format.h>

#include <algorithm>
#include <cassert>
#include <cmath>
#include <limits>

namespace tidemark::estimators {

namespace {

__extension__ using Int128 = __int128;  // -Wpedantic knows no 128-bit integers

/// A reference older than this many half-lives is moved.
constexpr int64_t kMaxDecayExponent = 100;

/// The heaviest bucket of a checkpoint.
constexpr double kHeaviestStored = 10'000;

/// From 0001-01-01 to 1970-01-01, the origin of the grid of reference times.
constexpr int64_t kYearOneToUnixSeconds = 62'135'596'800;

/// The multiple of `step` nearest to `time`, counted from the year 1, halves up. Where that one is
/// beyond the range of Time, the neighbour that is inside.
Time RoundToGrid(Time time, std::chrono::nanoseconds step) {
  const Int128 since_unix = time.time_since_epoch().count();
  const Int128 since_year_one = since_unix + Int128{kYearOneToUnixSeconds} * 1'000'000'000;
  const Int128 past = since_year_one % step.count();  // Time starts in 1677: never negative
  const Int128 below = since_unix - past;
  const Int128 above = below + step.count();
  const bool above_fits = above <= std::numeric_limits<int64_t>::max();
  const bool below_fits = below >= std::numeric_limits<int64_t>::min();
  const bool down = past + past < step.count() ? below_fits : !above_fits;
  return Time(std::chrono::nanoseconds(static_cast<int64_t>(down ? below : above)));
}

/// Weights below `epsilon` are rounding residues of a subtraction.
double WithoutResidue(double weight, double epsilon) { return weight < epsilon ? 0.0 : weight; }

bool Acceptable(double value, double weight) {
  return std::isfinite(value) && weight >= 0 && weight <= DecayingHistogram::kMaxWeight;
}

}  // namespace

DecayingHistogram::DecayingHistogram(const HistogramOptions* options,
                                     std::chrono::nanoseconds half_life)
    : options_(options),
      half_life_(std::max(half_life, std::chrono::nanoseconds(1))),
      min_bucket_(static_cast<uint16_t>(options->NumBuckets() - 1)) {
  assert(half_life > std::chrono::nanoseconds::zero());
}

bool DecayingHistogram::Add(double value, double weight, Time time) {
  if (!Acceptable(value, weight)) return false;
  const double decayed = weight * DecayFactor(time);
  if (decayed == 0) return true;  // a bucket need not be stored for it
  const int bucket = options_->FindBucket(value);
  double& stored = weights_.At(bucket);
  stored += decayed;
  total_weight_ += decayed;
  if (stored >= options_->Epsilon()) WidenOccupied(bucket, bucket);
  return true;
}

bool DecayingHistogram::Subtract(double value, double weight, Time time) {
  if (!Acceptable(value, weight)) return false;
  const double decayed = weight * DecayFactor(time);
  const double epsilon = options_->Epsilon();
  const int bucket = options_->FindBucket(value);
  total_weight_ = WithoutResidue(total_weight_ - decayed, epsilon);
  if (weights_.Get(bucket) != 0) {
    double& stored = weights_.At(bucket);
    stored = WithoutResidue(stored - decayed, epsilon);
  }
  ShrinkOccupied();
  return true;
}

double DecayingHistogram::Percentile(double p) const {
  if (IsEmpty()) return 0;
  const double threshold = p * total_weight_;
  const double* weight = weights_.From(min_bucket_);
  double below = 0;
  int bucket = min_bucket_;
  for (; bucket < max_bucket_; ++bucket, ++weight) {
    below += *weight;
    if (below >= threshold) break;
  }
  const int last = options_->NumBuckets() - 1;
  return options_->BucketStart(std::min(bucket + 1, last));
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
  if (!(total_weight_ + other.total_weight_ <= kMaxTotalWeight)) {
    return Fail(
        ErrorCode::kInvalidArgument,
        fmt::format("histogram merge: total weights are {} and {}, must add up to at most {}",
                    total_weight_, other.total_weight_, kMaxTotalWeight));
  }
  // A missing reference is older than any other.
  if (other.has_reference_ && (!has_reference_ || reference_ < other.reference_)) {
    ShiftReference(other.reference_);
  } else if (has_reference_ && (!other.has_reference_ || other.reference_ < reference_)) {
    other.ShiftReference(reference_);
  }
  total_weight_ += other.total_weight_;
  if (!other.IsEmpty()) weights_.Widen(other.min_bucket_, other.max_bucket_);
  for (int bucket = other.min_bucket_; bucket <= other.max_bucket_; ++bucket) {
    if (const double weight = other.weights_.Get(bucket); weight != 0)
      weights_.At(bucket) += weight;
  }
  WidenOccupied(other.min_bucket_, other.max_bucket_);
  return {};
}

HistogramCheckpoint DecayingHistogram::SaveCheckpoint() const {
  HistogramCheckpoint checkpoint;
  if (has_reference_)
    checkpoint.reference_time = std::chrono::floor<std::chrono::seconds>(reference_);
  checkpoint.total_weight = total_weight_;
  if (IsEmpty()) return checkpoint;
  const double* weights = weights_.From(min_bucket_);
  const int size = max_bucket_ - min_bucket_ + 1;
  const double ratio = kHeaviestStored / *std::max_element(weights, weights + size);
  for (int i = 0; i < size; ++i) {
    const auto stored = static_cast<uint32_t>(std::floor(weights[i] * ratio + 0.5));
    if (stored != 0) checkpoint.buckets.push_back({.bucket = min_bucket_ + i, .weight = stored});
  }
  return checkpoint;
}

Result<void> DecayingHistogram::LoadCheckpoint(const HistogramCheckpoint& checkpoint) {
  if (!(checkpoint.total_weight >= 0 &&
        total_weight_ + checkpoint.total_weight <= kMaxTotalWeight)) {
    return Fail(ErrorCode::kInvalidArgument,
                fmt::format("histogram checkpoint: total weight is {}, must be 0 or more and at "
                            "most {} with the {} "
                            "already there",
                            checkpoint.total_weight, kMaxTotalWeight, total_weight_));
  }
  uint64_t sum = 0;
  int least = 0;
  for (const auto& [bucket, weight] : checkpoint.buckets) {
    if (bucket < least || bucket >= options_->NumBuckets()) {
      return Fail(
          ErrorCode::kInvalidArgument,
          fmt::format(
              "histogram checkpoint: bucket {} is out of range or order, must be {} to {} here",
              bucket, least, options_->NumBuckets() - 1));
    }
    least = bucket + 1;
    sum += weight;
  }
  if (checkpoint.reference_time) {
    const auto seconds = checkpoint.reference_time->time_since_epoch();
    constexpr auto kLatest =
        std::chrono::floor<std::chrono::seconds>(std::chrono::nanoseconds::max());
    if (seconds < -kLatest || seconds > kLatest) {
      return Fail(ErrorCode::kInvalidArgument,
                  fmt::format("histogram checkpoint: reference time is {} s, must be {} to {}",
                              seconds.count(), -kLatest.count(), kLatest.count()));
    }
  }

  if (sum != 0) {
    const double ratio = checkpoint.total_weight / static_cast<double>(sum);
    for (const auto& [bucket, weight] : checkpoint.buckets) {
      WidenOccupied(bucket, bucket);
      if (const double loaded = weight * ratio; loaded != 0) weights_.At(bucket) += loaded;
    }
    total_weight_ += checkpoint.total_weight;
    // A weight that was rounded up from almost nothing can be below epsilon now; without this step
    // (VPA issue 7726) it would make the whole histogram look empty.
    ShrinkOccupied();
  }
  has_reference_ = checkpoint.reference_time.has_value();
  reference_ = checkpoint.reference_time.value_or(std::chrono::sys_seconds{});
  return {};
}

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
    for (int bucket = min_bucket_; bucket <= max_bucket_; ++bucket) {
      heaviest = std::max(heaviest, weights_.Get(bucket));
    }
    if (!std::isfinite(factor) || heaviest * factor > kMaxTotalWeight) {
      return Fail(
          ErrorCode::kInvalidArgument,
          fmt::format("histogram half-life of {} ns instead of {} ns: weights would pass {}",
                      half_life.count(), half_life_.count(), kMaxTotalWeight));
    }
    Scale(factor);
    reference_ = reference;
  }
  half_life_ = half_life;
  return {};
}

/// By how much a sample of `time` outweighs one of the reference time. May move the reference.
double DecayingHistogram::DecayFactor(Time time) {
  // The product wraps around for half-lives above 2.9 years, as in the original: the reference then
  // moves earlier or more often than needed, and weights keep their meaning.
  const auto longest = static_cast<int64_t>(static_cast<uint64_t>(half_life_.count()) *
                                            static_cast<uint64_t>(kMaxDecayExponent));
  if (!has_reference_ || Int128{time.time_since_epoch().count()} >
                             Int128{reference_.time_since_epoch().count()} + longest) {
    ShiftReference(time);
  }
  const double age = static_cast<double>(SaturatingDifference(time, reference_).count());
  return std::exp2(age / static_cast<double>(half_life_.count()));
}

void DecayingHistogram::ShiftReference(Time time) {
  const Time shifted = RoundToGrid(time, half_life_);
  const std::chrono::nanoseconds back =
      has_reference_ ? SaturatingDifference(reference_, shifted) : std::chrono::nanoseconds::min();
  const double exponent =
      std::floor(static_cast<double>(back.count()) / static_cast<double>(half_life_.count()) + 0.5);
  constexpr double kBeyondDouble = 5000;  // 2^5000 is infinite, 2^-5000 is 0
  Scale(std::ldexp(1.0, static_cast<int>(std::clamp(exponent, -kBeyondDouble, kBeyondDouble))));
  reference_ = shifted;
  has_reference_ = true;
}

void DecayingHistogram::Scale(double factor) {
  if (factor == 1) return;
  for (int bucket = min_bucket_; bucket <= max_bucket_; ++bucket) {
    if (const double weight = weights_.Get(bucket); weight != 0)
      weights_.At(bucket) = weight * factor;
  }
  total_weight_ *= factor;
  ShrinkOccupied();
}

void DecayingHistogram::WidenOccupied(int first, int last) {
  min_bucket_ = static_cast<uint16_t>(std::min<int>(min_bucket_, first));
  max_bucket_ = static_cast<uint16_t>(std::max<int>(max_bucket_, last));
}

void DecayingHistogram::ShrinkOccupied() {
  const double epsilon = options_->Epsilon();
  const int last = options_->NumBuckets() - 1;
  while (min_bucket_ < last && weights_.Get(min_bucket_) < epsilon) ++min_bucket_;
  while (max_bucket_ > 0 && weights_.Get(max_bucket_) < epsilon) --max_bucket_;
}

}  // namespace tidemark::estimators
