// The histogram in the form in which the VPA stores it.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "estimators/decaying_histogram.h"

namespace tidemark::estimators {

namespace {

/// The heaviest bucket of a checkpoint.
constexpr double kHeaviestStored = 10'000;

}  // namespace

HistogramCheckpoint DecayingHistogram::SaveCheckpoint() const {
  HistogramCheckpoint checkpoint;
  if (has_reference_)
    checkpoint.reference_time = std::chrono::floor<std::chrono::seconds>(reference_);
  checkpoint.total_weight = total_weight_;
  if (IsEmpty()) return checkpoint;
  const auto [first, last] = OccupiedRange();
  double heaviest = 0;
  for (int bucket = first; bucket <= last; ++bucket) {
    heaviest = std::max(heaviest, weights_.Get(bucket));
  }
  const double ratio = kHeaviestStored / heaviest;
  for (int bucket = first; bucket <= last; ++bucket) {
    const auto stored = static_cast<uint32_t>(std::floor(weights_.Get(bucket) * ratio + 0.5));
    if (stored != 0) checkpoint.buckets.push_back({.bucket = bucket, .weight = stored});
  }
  return checkpoint;
}

Result<void> DecayingHistogram::LoadCheckpoint(const HistogramCheckpoint& checkpoint) {
  if (!(checkpoint.total_weight >= 0 && total_weight_ + checkpoint.total_weight <= MaxTotal())) {
    return Fail(ErrorCode::kInvalidArgument,
                fmt::format("histogram checkpoint: total weight is {}, must be 0 or more and at "
                            "most {} with the {} "
                            "already there",
                            checkpoint.total_weight, MaxTotal(), total_weight_));
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
    total_weight_ += checkpoint.total_weight;
    for (const auto& [bucket, weight] : checkpoint.buckets) {
      WidenOccupied(bucket, bucket);
      if (const double loaded = weight * ratio; loaded != 0) {
        PutSum(bucket, weights_.Get(bucket) + loaded);
      }
    }
    // A weight that was rounded up from almost nothing can be below epsilon now; without this step
    // (VPA issue 7726) it would make the whole histogram look empty.
    ShrinkOccupied();
  }
  has_reference_ = checkpoint.reference_time.has_value();
  reference_ = checkpoint.reference_time.value_or(std::chrono::sys_seconds{});
  return {};
}

}  // namespace tidemark::estimators
