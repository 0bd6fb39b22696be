#include "estimators/bucket_weights.h"

#include <algorithm>
#include <bit>

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

/// The range, then a bit for each of its buckets that says whether it weighs anything, then the
/// weights that do.
void BucketWeights::Save(ByteWriter& out) const {
  out.Varint(first_);
  out.Varint(size_);
  for (int i = 0; i < size_; i += 8) {
    uint8_t heavy = 0;
    for (int bit = 0; bit < 8 && i + bit < size_; ++bit) {
      if (std::bit_cast<uint64_t>(weights_[i + bit]) != 0) heavy |= static_cast<uint8_t>(1 << bit);
    }
    out.Byte(heavy);
  }
  for (int i = 0; i < size_; ++i) {
    if (std::bit_cast<uint64_t>(weights_[i]) != 0) out.Double(weights_[i]);
  }
}

bool BucketWeights::Restore(ByteReader& in, int buckets, double most) {
  *this = BucketWeights();
  const uint64_t first = in.Varint();
  const uint64_t size = in.Varint();
  if (in.failed() || first > static_cast<uint64_t>(buckets) ||
      size > static_cast<uint64_t>(buckets) - first || (size == 0 && first != 0)) {
    return false;
  }
  if (size == 0) return true;
  const std::string_view heavy = in.rest().substr(0, (size + 7) / 8);
  for (size_t i = 0; i < heavy.size(); ++i) in.Byte();
  if (heavy.size() != (size + 7) / 8) return false;
  auto weights = std::make_unique<double[]>(size);
  for (uint64_t i = 0; i < size; ++i) {
    if ((static_cast<uint8_t>(heavy[i / 8]) >> (i % 8) & 1) == 0) continue;
    weights[i] = in.Double();
    if (!(weights[i] > 0 && weights[i] <= most)) return false;
  }
  weights_ = std::move(weights);
  first_ = static_cast<uint16_t>(first);
  size_ = static_cast<uint16_t>(size);
  return true;
}

}  // namespace tidemark::estimators
