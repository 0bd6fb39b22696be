#include "estimators/bucket_weights.h"

#include <algorithm>
#include <bit>
#include <cstring>

namespace tidemark::estimators {

BucketWeights::BucketWeights(const BucketWeights& other)
    : first_(other.first_), size_(other.size_), precision_(other.precision_) {
  if (size_ == 0) return;
  bytes_ = Zeros(size_);
  std::memcpy(bytes_.get(), other.bytes_.get(), HeapBytes());
}

BucketWeights& BucketWeights::operator=(const BucketWeights& other) {
  if (this != &other) *this = BucketWeights(other);
  return *this;
}

BucketWeights& BucketWeights::operator=(BucketWeights&& other) noexcept {
  bytes_ = std::move(other.bytes_);
  first_ = std::exchange(other.first_, uint16_t{0});
  size_ = std::exchange(other.size_, uint16_t{0});
  precision_ = other.precision_;
  return *this;
}

std::unique_ptr<std::byte[]> BucketWeights::Zeros(int size) const {
  return std::make_unique<std::byte[]>(static_cast<size_t>(size) * WeightBytes());
}

void BucketWeights::Widen(int first, int last) {
  if (size_ != 0) {
    first = std::min<int>(first, first_);
    last = std::max<int>(last, first_ + size_ - 1);
  }
  const int size = last - first + 1;
  if (size == size_) return;
  auto widened = Zeros(size);
  if (size_ != 0) {
    std::memcpy(widened.get() + static_cast<size_t>(first_ - first) * WeightBytes(), bytes_.get(),
                HeapBytes());
  }
  bytes_ = std::move(widened);
  first_ = static_cast<uint16_t>(first);
  size_ = static_cast<uint16_t>(size);
}

void BucketWeights::Narrow(int first, int last) {
  first = std::max<int>(first, first_);
  last = std::min<int>(last, first_ + size_ - 1);
  if (first > last) {
    *this = BucketWeights(precision_);
    return;
  }
  const int size = last - first + 1;
  if (size == size_) return;
  auto narrowed = Zeros(size);
  std::memcpy(narrowed.get(), bytes_.get() + static_cast<size_t>(first - first_) * WeightBytes(),
              static_cast<size_t>(size) * WeightBytes());
  bytes_ = std::move(narrowed);
  first_ = static_cast<uint16_t>(first);
  size_ = static_cast<uint16_t>(size);
}

/// The range, then a bit for each of its buckets that says whether it weighs anything, then the
/// weights that do.
void BucketWeights::Save(ByteWriter& out) const {
  out.Varint(first_);
  out.Varint(size_);
  for (int i = first_; i < end_bucket(); i += 8) {
    uint8_t heavy = 0;
    for (int bit = 0; bit < 8; ++bit) {
      if (Get(i + bit) != 0) heavy |= static_cast<uint8_t>(1 << bit);
    }
    out.Byte(heavy);
  }
  for (int i = first_; i < end_bucket(); ++i) {
    const double weight = Get(i);
    if (weight == 0) continue;
    if (precision_ == Precision::kExact) {
      out.Double(weight);
    } else {
      out.Fixed32(std::bit_cast<uint32_t>(static_cast<float>(weight)));
    }
  }
}

bool BucketWeights::Restore(ByteReader& in, int buckets, double most) {
  *this = BucketWeights(precision_);
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
  BucketWeights read(precision_);
  read.Widen(static_cast<int>(first), static_cast<int>(first + size - 1));
  for (uint64_t i = 0; i < size; ++i) {
    if ((static_cast<uint8_t>(heavy[i / 8]) >> (i % 8) & 1) == 0) continue;
    const double weight =
        precision_ == Precision::kExact ? in.Double() : double{std::bit_cast<float>(in.Fixed32())};
    if (!(weight > 0 && weight <= most)) return false;
    read.Put(static_cast<int>(first + i), weight);
  }
  *this = std::move(read);
  return true;
}

}  // namespace tidemark::estimators
