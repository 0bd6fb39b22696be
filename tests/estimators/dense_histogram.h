#pragma once
// The decaying histogram in its plainest form: every bucket stored, every rule written down as a
// loop over all of them. What the stored range of the real one must never differ from, not by one
// bit.

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "estimators/decaying_histogram.h"

namespace tidemark::estimators {

class DenseHistogram {
 public:
  /// The half-life is in whole seconds, so that the grid can be computed without 128 bits.
  DenseHistogram(const HistogramOptions* options, std::chrono::seconds half_life)
      : options_(options),
        half_life_(half_life),
        weights_(static_cast<size_t>(options->NumBuckets())) {
    min_ = Last();
  }

  void Add(double value, double weight, Time time) {
    const double decayed = weight * Factor(time);
    const auto bucket = static_cast<size_t>(options_->FindBucket(value));
    weights_[bucket] += decayed;
    total_ += decayed;
    if (bucket < min_ && weights_[bucket] >= Epsilon()) min_ = bucket;
    if (bucket > max_ && weights_[bucket] >= Epsilon()) max_ = bucket;
  }

  void Subtract(double value, double weight, Time time) {
    const double decayed = weight * Factor(time);
    const auto bucket = static_cast<size_t>(options_->FindBucket(value));
    total_ -= decayed;
    if (total_ < Epsilon()) total_ = 0;
    weights_[bucket] -= decayed;
    if (weights_[bucket] < Epsilon()) weights_[bucket] = 0;
    Shrink();
  }

  void Merge(DenseHistogram& other) {
    if (other.reference_ && (!reference_ || *reference_ < *other.reference_)) {
      Shift(*other.reference_);
    } else if (reference_ && (!other.reference_ || *other.reference_ < *reference_)) {
      other.Shift(*reference_);
    }
    total_ += other.total_;
    for (size_t i = other.min_; i <= other.max_; ++i) weights_[i] += other.weights_[i];
    min_ = std::min(min_, other.min_);
    max_ = std::max(max_, other.max_);
  }

  void Load(const HistogramCheckpoint& checkpoint) {
    double sum = 0;
    for (const auto& entry : checkpoint.buckets) sum += entry.weight;
    if (sum > 0) {
      for (const auto& entry : checkpoint.buckets) {
        const auto bucket = static_cast<size_t>(entry.bucket);
        weights_[bucket] += entry.weight * (checkpoint.total_weight / sum);
        min_ = std::min(min_, bucket);
        max_ = std::max(max_, bucket);
      }
      total_ += checkpoint.total_weight;
      Shrink();
    }
    reference_ = checkpoint.reference_time;
  }

  HistogramCheckpoint Save() const {
    HistogramCheckpoint result;
    if (reference_) result.reference_time = std::chrono::floor<std::chrono::seconds>(*reference_);
    result.total_weight = total_;
    double heaviest = 0;
    for (size_t i = min_; i <= max_; ++i) heaviest = std::max(heaviest, weights_[i]);
    for (size_t i = min_; i <= max_; ++i) {
      const double stored = std::floor(weights_[i] * (10'000 / heaviest) + 0.5);
      if (stored > 0)
        result.buckets.push_back({static_cast<int32_t>(i), static_cast<uint32_t>(stored)});
    }
    return result;
  }

  double Percentile(double p) const {
    if (weights_[min_] < Epsilon()) return 0;
    double below = 0;
    size_t bucket = min_;
    while (bucket < max_) {
      below += weights_[bucket];
      if (below >= p * total_) break;
      ++bucket;
    }
    return options_->BucketStart(static_cast<int>(bucket < Last() ? bucket + 1 : bucket));
  }

  double total() const { return total_; }
  int min() const { return static_cast<int>(min_); }
  int max() const { return static_cast<int>(max_); }
  std::optional<Time> reference() const { return reference_; }

 private:
  size_t Last() const { return weights_.size() - 1; }
  double Epsilon() const { return options_->Epsilon(); }

  double Factor(Time time) {
    if (!reference_ || time > *reference_ + 100 * half_life_) Shift(time);
    return std::exp2(static_cast<double>((time - *reference_).count()) / Nanoseconds());
  }

  double Nanoseconds() const { return static_cast<double>(half_life_.count()) * 1e9; }

  void Shift(Time time) {
    const auto seconds = std::chrono::floor<std::chrono::seconds>(time);
    const std::chrono::nanoseconds past =
        std::chrono::seconds((seconds.time_since_epoch().count() + 62'135'596'800) %
                             half_life_.count()) +
        (time - seconds);
    const Time moved = past * 2 < half_life_ ? time - past : time - past + half_life_;
    const double back =
        reference_ ? static_cast<double>((*reference_ - moved).count()) : -std::exp2(63);
    const double factor = std::exp2(std::floor(back / Nanoseconds() + 0.5));
    for (size_t i = min_; i <= max_; ++i) weights_[i] *= factor;
    total_ *= factor;
    Shrink();
    reference_ = moved;
  }

  void Shrink() {
    while (weights_[min_] < Epsilon() && min_ < Last()) ++min_;
    while (weights_[max_] < Epsilon() && max_ > 0) --max_;
  }

  const HistogramOptions* options_;
  std::chrono::seconds half_life_;
  std::vector<double> weights_;
  double total_ = 0;
  size_t min_ = 0;
  size_t max_ = 0;
  std::optional<Time> reference_;
};

}  // namespace tidemark::estimators
