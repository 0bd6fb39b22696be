#include "bench/estimators/naive_histogram.h"

#include <algorithm>
#include <cmath>

namespace tidemark::bench {

namespace {

constexpr double kRatio = 1.05;
constexpr double kEpsilon = 0.0001;
constexpr int64_t kHalfLife = 86'400'000'000'000;

double LogOf(double value) { return std::log(value) / std::log(kRatio); }

}  // namespace

NaiveHistogram::NaiveHistogram(double first, double max) : first_(first), max_(max) {
  weights_.resize(static_cast<size_t>(std::ceil(LogOf(max * (kRatio - 1) / first + 1))) + 1);
  min_ = static_cast<int>(weights_.size()) - 1;
}

int NaiveHistogram::FindBucket(double value) const {
  if (value < first_) return 0;
  const int bucket = static_cast<int>(LogOf(value * (kRatio - 1) / first_ + 1));
  return std::min(bucket, static_cast<int>(weights_.size()) - 1);
}

double NaiveHistogram::BucketStart(int bucket) const {
  return bucket == 0 ? 0 : first_ * (std::pow(kRatio, bucket) - 1) / (kRatio - 1);
}

double NaiveHistogram::Factor(int64_t time) {
  if (time > reference_ + 100 * kHalfLife) {
    const int64_t moved = (time + kHalfLife / 2) / kHalfLife * kHalfLife;
    const double factor =
        std::exp2(static_cast<double>(reference_ - moved) / static_cast<double>(kHalfLife));
    for (double& weight : weights_) weight *= factor;
    total_ *= factor;
    reference_ = moved;
  }
  return std::exp2(static_cast<double>(time - reference_) / static_cast<double>(kHalfLife));
}

void NaiveHistogram::Add(double value, double weight, int64_t time) {
  const double decayed = weight * Factor(time);
  const int bucket = FindBucket(value);
  double& stored = weights_[static_cast<size_t>(bucket)];
  stored += decayed;
  total_ += decayed;
  if (stored >= kEpsilon) {
    min_ = std::min(min_, bucket);
    max_bucket_ = std::max(max_bucket_, bucket);
  }
}

double NaiveHistogram::Percentile(double p) const {
  if (weights_[static_cast<size_t>(min_)] < kEpsilon) return 0;
  const double threshold = p * total_;
  double below = 0;
  int bucket = min_;
  for (; bucket < max_bucket_; ++bucket) {
    below += weights_[static_cast<size_t>(bucket)];
    if (below >= threshold) break;
  }
  return BucketStart(std::min(bucket + 1, static_cast<int>(weights_.size()) - 1));
}

void NaiveHistogram::Merge(const NaiveHistogram& other) {
  for (int i = other.min_; i <= other.max_bucket_; ++i) {
    weights_[static_cast<size_t>(i)] += other.weights_[static_cast<size_t>(i)];
  }
  total_ += other.total_;
  min_ = std::min(min_, other.min_);
  max_bucket_ = std::max(max_bucket_, other.max_bucket_);
}

std::vector<std::pair<int, uint32_t>> NaiveHistogram::SaveCheckpoint() const {
  std::vector<std::pair<int, uint32_t>> saved;
  const double ratio = 10'000 / *std::max_element(weights_.begin(), weights_.end());
  for (int i = min_; i <= max_bucket_; ++i) {
    const auto stored =
        static_cast<uint32_t>(std::floor(weights_[static_cast<size_t>(i)] * ratio + 0.5));
    if (stored != 0) saved.emplace_back(i, stored);
  }
  return saved;
}

}  // namespace tidemark::bench
