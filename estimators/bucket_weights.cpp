#include "estimators/bucket_weights.h"

#include <algorithm>

namespace tidemark::estimators {

BucketWeights::BucketWeights(const BucketWeights& other)
    : first_(other.first_), size_(other.size_) {
  if (size_ == 0) return;
  weights_ = std::make_unique<double[]>(size_);
  std::copy_n(other.weights_.get(), size_, weights_.get());
}

BucketWeights& BucketWeights::operator=(const BucketWeights& other) {
  if (this != &other) *this = BucketWeights(other);
  return *this;
}

BucketWeights& BucketWeights::operator=(BucketWeights&& other) noexcept {
  weights_ = std::move(other.weights_);
  first_ = std::exchange(other.first_, uint16_t{0});
  size_ = std::exchange(other.size_, uint16_t{0});
  return *this;
}

void BucketWeights::Widen(int first, int last) {
  if (size_ != 0) {
    first = std::min<int>(first, first_);
    last = std::max<int>(last, first_ + size_ - 1);
  }
  const int size = last - first + 1;
  if (size == size_) return;
  auto widened = std::make_unique<double[]>(static_cast<size_t>(size));
  if (size_ != 0) std::copy_n(weights_.get(), size_, widened.get() + (first_ - first));
  weights_ = std::move(widened);
  first_ = static_cast<uint16_t>(first);
  size_ = static_cast<uint16_t>(size);
}

}  // namespace tidemark::estimators
