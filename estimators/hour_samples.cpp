#include "estimators/hour_samples.h"

#include <algorithm>
#include <cmath>

#include "estimators/level_code.h"

namespace tidemark::estimators {

namespace {

constexpr double kBucketLog = 0.04879016416943205;  // ln 1.05
constexpr int kMostBucket = 1000;                   // beyond every level

int BucketOf(double usage) {
  return static_cast<int>(
      std::floor(std::log(std::clamp(usage, kLeastLevel, kGreatestLevel)) / kBucketLog));
}

double StartOf(int bucket) { return std::exp(kBucketLog * bucket); }

}  // namespace

void HourSamples::RaiseTop(int top) {
  if (IsEmpty()) {
    top_ = static_cast<int16_t>(top);
    return;
  }
  const auto by = static_cast<size_t>(std::clamp(top - top_, 0, static_cast<int>(kBuckets) - 1));
  if (by == 0) return;
  uint32_t lump = 0;
  for (size_t i = 0; i <= by; ++i) lump += counts_[i];
  std::copy(counts_.begin() + static_cast<ptrdiff_t>(by) + 1, counts_.end(), counts_.begin() + 1);
  std::fill(counts_.end() - static_cast<ptrdiff_t>(by), counts_.end(), uint16_t{0});
  counts_[0] = 0;
  top_ = static_cast<int16_t>(top);
  Count(top_ - static_cast<int>(kBuckets) + 1, lump);
}

void HourSamples::Count(int bucket, uint32_t times) {
  const int below = std::min(top_ - bucket, static_cast<int>(kBuckets) - 1);
  const size_t place = kBuckets - 1 - static_cast<size_t>(std::max(0, below));
  uint32_t sum = counts_[place] + times;
  while (sum > UINT16_MAX) {
    // Thousands of pods: the shares are what counts. What is there stays there.
    for (uint16_t& count : counts_) count = static_cast<uint16_t>((count + 1) / 2);
    sum = (sum + 1) / 2;
  }
  counts_[place] = static_cast<uint16_t>(sum);
}

void HourSamples::Add(double usage) {
  const int bucket = BucketOf(usage);
  if (IsEmpty() || bucket > top_) RaiseTop(bucket);
  Count(bucket, 1);
  largest_ = std::max(largest_, usage);
}

void HourSamples::Merge(const HourSamples& other) {
  if (other.IsEmpty()) return;
  if (IsEmpty() || other.top_ > top_) RaiseTop(other.top_);
  for (size_t i = kBuckets; i-- > 0;) {
    const int bucket = other.top_ - static_cast<int>(kBuckets - 1 - i);
    if (other.counts_[i] > 0) Count(bucket, other.counts_[i]);
  }
  largest_ = std::max(largest_, other.largest_);
}

/// The order statistic at `position`, counted from the largest.
double HourSamples::Position(uint64_t position) const {
  uint64_t above = 0;
  for (size_t i = kBuckets; i-- > 0;) {
    const uint64_t count = counts_[i];
    if (position >= above + count) {
      above += count;
      continue;
    }
    const int bucket = top_ - static_cast<int>(kBuckets - 1 - i);
    const double start = StartOf(bucket);
    const double end = std::min(StartOf(bucket + 1), largest_);
    if (i == 0 && top_ != bucket) return std::min(end, largest_);
    const bool is_top = i == kBuckets - 1;  // there the first is known: the largest
    const double part =
        (static_cast<double>(position - above) + (is_top ? 0.0 : 0.5)) / static_cast<double>(count);
    return std::min(end, std::max(0.0, end - (end - start) * part));
  }
  return 0;
}

double HourSamples::Quantile(double share) const {
  uint64_t total = 0;
  for (const uint16_t count : counts_) total += count;
  if (total == 0) return 0;
  const double from_top = (1 - std::clamp(share, 0.0, 1.0)) * static_cast<double>(total - 1);
  const auto upper = static_cast<uint64_t>(from_top);
  const double part = from_top - static_cast<double>(upper);
  const double high = Position(upper);
  if (part <= 0 || upper + 1 >= total) return high;
  return high + (Position(upper + 1) - high) * part;
}

void HourSamples::Save(ByteWriter& out) const {
  out.Bool(!IsEmpty());
  if (IsEmpty()) return;
  out.Double(largest_);
  out.Signed(top_);
  for (const uint16_t count : counts_) out.Varint(count);
}

void HourSamples::Restore(ByteReader& in) {
  *this = HourSamples();
  if (!in.Bool() || in.failed()) return;
  largest_ = in.Double();
  const int64_t top = in.Signed();
  for (uint16_t& count : counts_) {
    const uint64_t read = in.Varint();
    if (read > UINT16_MAX) in.Fail();
    count = static_cast<uint16_t>(read);
  }
  const bool good = std::isfinite(largest_) && largest_ >= 0 && top >= -kMostBucket &&
                    top <= kMostBucket && !IsEmpty() && BucketOf(largest_) == top;
  top_ = static_cast<int16_t>(top);
  if (in.failed() || !good) {
    *this = HourSamples();
    in.Fail();
  }
}

}  // namespace tidemark::estimators
