#include "forecast/error_sketch.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <optional>
#include <vector>

#include "estimators/peaks_over_threshold.h"

namespace tidemark::forecast {
namespace {

// A middle bucket up to 2^-4, four to the doubling from there, the last one from 2^5 on.
constexpr int kLowestExponent = -4;
constexpr int kPerDoubling = 2;
constexpr float kFast = 1.0F / 20;    // of the running means: 20 minutes
constexpr float kSlow = 1.0F / 1440;  // and a day
constexpr double kFastShare = 0.5;
// Beyond it the scale was that of another time, and the number means nothing.
constexpr float kMostQuotient = 128;

/// Where the bucket k of a side begins.
double SideStart(int k) {
  return std::ldexp(1 + (k % kPerDoubling) / double{kPerDoubling},
                    k / kPerDoubling + kLowestExponent);
}

}  // namespace

double ErrorSketch::Scale() const {
  return kFastShare * double{fast_} + (1 - kFastShare) * double{slow_};
}

void ErrorSketch::Note(float error, float scale) {
  const float amount = std::abs(error);
  if (seen_ < 255) ++seen_;
  // Plain means at first, so that the first error does not stay for a day.
  const float least_share = 1.0F / static_cast<float>(seen_);
  const float slow_share = std::max(kSlow, seen_ < 255 ? least_share : kSlow);
  fast_ += (amount - fast_) * std::max(kFast, least_share);
  slow_ += (amount - slow_) * slow_share;
  if (scale < 0) return;  // not known when the forecast was made
  float quotient = 0;
  if (amount > 0) quotient = scale > 0 ? std::min(kMostQuotient, amount / scale) : kMostQuotient;
  if (error < 0) {
    least_ = std::max(least_, quotient);
    quotient = -quotient;
  } else {
    largest_ = std::max(largest_, quotient);
  }
  uint16_t& count = counts_[BucketOf(quotient)];
  if (count > UINT16_MAX - kWeight) Halve();
  count = static_cast<uint16_t>(count + kWeight);
  mass_ += kWeight;
}

void ErrorSketch::Halve() {
  mass_ = 0;
  for (uint16_t& count : counts_) {
    count /= 2;
    mass_ += count;
  }
  // What has been forgotten bounds nothing.
  size_t lowest = kSide;
  size_t highest = kSide;
  for (size_t bucket = 0; bucket < kBuckets; ++bucket) {
    if (counts_[bucket] == 0) continue;
    lowest = std::min(lowest, bucket);
    highest = std::max(highest, bucket);
  }
  largest_ = static_cast<float>(std::min(double{largest_}, EndOf(highest)));
  least_ = static_cast<float>(std::min(double{least_}, -StartOf(lowest)));
}

size_t ErrorSketch::BucketOf(float quotient) {
  const float amount = std::abs(quotient);
  if (!(amount >= 0x1p-4F)) return kSide;
  const uint32_t bits = std::bit_cast<uint32_t>(amount);
  const int exponent = static_cast<int>(bits >> 23) - 127;
  const int k = std::min(
      kSide - 1, (exponent - kLowestExponent) * kPerDoubling + static_cast<int>((bits >> 22) & 1));
  return static_cast<size_t>(quotient < 0 ? kSide - 1 - k : kSide + 1 + k);
}

double ErrorSketch::StartOf(size_t bucket) const {
  const int side = static_cast<int>(bucket) - kSide;
  if (side == 0) return -SideStart(0);
  if (side > 0) return SideStart(side - 1);
  // An outermost bucket goes as far as errors went.
  return side == -kSide ? -std::max(double{least_}, SideStart(kSide)) : -SideStart(-side);
}

double ErrorSketch::EndOf(size_t bucket) const {
  const int side = static_cast<int>(bucket) - kSide;
  if (side == 0) return SideStart(0);
  if (side < 0) return -SideStart(-side - 1);
  return side == kSide ? std::max(double{largest_}, SideStart(kSide)) : SideStart(side);
}

double ErrorSketch::Quantile(double p) const {
  if (mass_ == 0) return 0;
  const double target = std::clamp(p, 0.0, 1.0) * mass_;
  uint64_t below = 0;
  size_t last = 0;
  for (size_t bucket = 0; bucket < kBuckets; ++bucket) {
    if (counts_[bucket] == 0) continue;
    last = bucket;
    if (static_cast<double>(below + counts_[bucket]) >= target) break;
    below += counts_[bucket];
  }
  const double within = std::clamp((target - static_cast<double>(below)) / counts_[last], 0.0, 1.0);
  const double quantile = StartOf(last) + within * (EndOf(last) - StartOf(last));
  // What nothing ever reached is no quantile.
  return std::clamp(quantile, -double{least_}, double{largest_});
}

estimators::TailFit ErrorSketch::FitTail() const {
  constexpr double kTailShare = 1 - kTailFrom;
  constexpr size_t kMostExcesses = 40;
  const double largest = double{largest_};
  const double threshold = Quantile(kTailFrom);
  const auto excesses = static_cast<size_t>(std::min<double>(kMostExcesses, Errors() * kTailShare));
  // The histogram's upper end, as so many values at even steps of probability.
  std::vector<double> ascending;
  ascending.reserve(excesses);
  for (size_t i = 0; i < excesses; ++i) {
    const double share = (static_cast<double>(i) + 0.5) / static_cast<double>(excesses);
    const double excess = Quantile(kTailFrom + kTailShare * share) - threshold;
    if (excess > 0) ascending.push_back(excess);
  }
  const auto observations =
      static_cast<uint64_t>(static_cast<double>(ascending.size()) / kTailShare);
  return estimators::FitTail(threshold, ascending, observations, largest);
}

double ErrorSketch::TailLevel(const estimators::TailFit& tail, double p) const {
  if (!tail.IsFitted()) return Quantile(p);
  return std::clamp(tail.Level(1 - p), tail.threshold,
                    std::max(tail.threshold, 3 * double{largest_}));
}

double ErrorSketch::TailQuantile(double p) const { return TailLevel(FitTail(), p); }

void ErrorSketch::Quantiles(std::span<const double> p, std::span<double> out) const {
  std::optional<estimators::TailFit> tail;
  for (size_t i = 0; i < p.size(); ++i) {
    if (p[i] >= kTailFrom && !tail) tail = FitTail();
    out[i] = p[i] >= kTailFrom ? TailLevel(*tail, p[i]) : Quantile(p[i]);
  }
}

void ErrorSketch::Save(ByteWriter& out) const {
  out.Byte(seen_);
  for (const uint16_t count : counts_) out.Varint(count);
  for (const float amount : {fast_, slow_, largest_, least_}) {
    out.Fixed32(std::bit_cast<uint32_t>(amount));
  }
}

void ErrorSketch::Restore(ByteReader& in) {
  *this = ErrorSketch();
  seen_ = in.Byte();
  for (uint16_t& count : counts_) {
    const uint64_t read = in.Varint();
    if (read > UINT16_MAX) in.Fail();
    count = static_cast<uint16_t>(read);
    mass_ += count;
  }
  for (float* const amount : {&fast_, &slow_, &largest_, &least_}) {
    *amount = std::bit_cast<float>(in.Fixed32());
    if (!std::isfinite(*amount) || *amount < 0) in.Fail();
  }
  if (in.failed()) *this = ErrorSketch();
}

}  // namespace tidemark::forecast
