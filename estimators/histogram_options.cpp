#include "estimators/histogram_options.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <string_view>
#include <utility>

namespace tidemark::estimators {

namespace {

/// The power of a whole exponent by repeated squaring on fraction and binary exponent apart. It may
/// differ from std::pow in the last bits; the Go library, in which the reference is written,
/// computes it in this way, and bucket starts become requests by truncation, where the last bit can
/// be a whole byte.
double PowerBySquaring(double base, int exponent) {
  int base_exponent = 0;
  double base_fraction = std::frexp(base, &base_exponent);
  double fraction = 1;
  int64_t binary_exponent = 0;
  int64_t square_exponent = base_exponent;
  for (int rest = exponent; rest != 0; rest >>= 1) {
    if ((rest & 1) != 0) {
      fraction *= base_fraction;
      binary_exponent += square_exponent;
    }
    base_fraction *= base_fraction;
    square_exponent *= 2;
    if (base_fraction < 0.5) {
      base_fraction += base_fraction;
      --square_exponent;
    }
  }
  constexpr int64_t kBeyondDouble = 10'000;
  if (binary_exponent > kBeyondDouble) return HUGE_VAL;
  return std::ldexp(fraction, static_cast<int>(binary_exponent));
}

Result<void> CheckPositive(std::string_view what, double value) {
  if (std::isfinite(value) && value > 0) return {};
  return Fail(ErrorCode::kInvalidArgument,
              fmt::format("histogram buckets: {} is {}, must be finite and above 0", what, value));
}

Result<void> CheckEpsilon(double epsilon) {
  if (std::isfinite(epsilon) && epsilon >= HistogramOptions::kMinEpsilon) return {};
  return Fail(ErrorCode::kInvalidArgument,
              fmt::format("histogram buckets: epsilon is {}, must be finite and at least {}",
                          epsilon, HistogramOptions::kMinEpsilon));
}

/// `buckets` as a whole number, when it is an allowed one.
Result<int> CheckCount(double buckets) {
  if (buckets >= 1 && buckets <= HistogramOptions::kMaxBuckets) return static_cast<int>(buckets);
  return Fail(ErrorCode::kInvalidArgument,
              fmt::format("histogram buckets: the layout needs {} buckets, allowed are 1 to {}",
                          buckets, HistogramOptions::kMaxBuckets));
}

Result<void> CheckStarts(const std::vector<double>& starts) {
  for (size_t i = 0; i < starts.size(); ++i) {
    if (!std::isfinite(starts[i])) {
      return Fail(
          ErrorCode::kInvalidArgument,
          fmt::format("histogram buckets: bucket {} starts at {}, must be finite", i, starts[i]));
    }
  }
  return {};
}

}  // namespace

Result<HistogramOptions> HistogramOptions::Exponential(double max_value, double first_bucket,
                                                       double ratio, double epsilon) {
  for (const auto& [what, value] :
       {std::pair{"maximum value", max_value}, {"first bucket", first_bucket}}) {
    if (auto checked = CheckPositive(what, value); !checked) return tl::unexpected(checked.error());
  }
  if (!(std::isfinite(ratio) && ratio > 1)) {
    return Fail(ErrorCode::kInvalidArgument,
                fmt::format("histogram buckets: ratio is {}, must be finite and above 1", ratio));
  }
  if (auto checked = CheckEpsilon(epsilon); !checked) return tl::unexpected(checked.error());

  HistogramOptions options;
  options.kind_ = Kind::kExponential;
  options.first_bucket_ = first_bucket;
  options.ratio_ = ratio;
  options.log_ratio_ = std::log(ratio);
  options.epsilon_ = epsilon;
  const Result<int> count = CheckCount(
      std::ceil(std::log(max_value * (ratio - 1) / first_bucket + 1) / options.log_ratio_) + 1);
  if (!count) return tl::unexpected(count.error());
  options.starts_.reserve(static_cast<size_t>(*count));
  options.starts_.push_back(0);
  for (int i = 1; i < *count; ++i) {
    options.starts_.push_back(first_bucket * (PowerBySquaring(ratio, i) - 1) / (ratio - 1));
  }
  if (auto checked = CheckStarts(options.starts_); !checked) return tl::unexpected(checked.error());
  options.beyond_ = std::max(first_bucket, options.starts_.back()) * (1 + kEdgeWidth);
  options.MakeCells();
  return options;
}

Result<HistogramOptions> HistogramOptions::Linear(double max_value, double bucket_size,
                                                  double epsilon) {
  for (const auto& [what, value] :
       {std::pair{"maximum value", max_value}, {"bucket size", bucket_size}}) {
    if (auto checked = CheckPositive(what, value); !checked) return tl::unexpected(checked.error());
  }
  if (auto checked = CheckEpsilon(epsilon); !checked) return tl::unexpected(checked.error());

  HistogramOptions options;
  options.kind_ = Kind::kLinear;
  options.first_bucket_ = bucket_size;
  options.epsilon_ = epsilon;
  const Result<int> count = CheckCount(std::ceil(max_value / bucket_size) + 1);
  if (!count) return tl::unexpected(count.error());
  options.starts_.reserve(static_cast<size_t>(*count));
  for (int i = 0; i < *count; ++i) options.starts_.push_back(i * bucket_size);
  if (auto checked = CheckStarts(options.starts_); !checked) return tl::unexpected(checked.error());
  options.beyond_ = std::max(bucket_size, options.starts_.back()) * (1 + kEdgeWidth);
  return options;
}

// The numbers of VPA's aggregations configuration: growth 5 %, epsilon a thousandth of the smallest
// sample weight 0.1.
HistogramOptions HistogramOptions::Cpu() { return *Exponential(1000, 0.01, 1.05, 0.0001); }

HistogramOptions HistogramOptions::Memory() { return *Exponential(1e12, 1e7, 1.05, 0.0001); }

int HistogramOptions::ComputeBucket(double value) const {
  const double index = kind_ == Kind::kExponential
                           ? std::log(value * (ratio_ - 1) / first_bucket_ + 1) / log_ratio_
                           : value / first_bucket_;
  const int last = NumBuckets() - 1;
  return index < last ? static_cast<int>(index) : last;
}

/// Takes the coarsest cells that have at most one edge each, if they are not too many.
void HistogramOptions::MakeCells() {
  constexpr int kMantissaBits = 52;
  constexpr size_t kMostCells = 16'384;
  // Finer buckets have too many cells anyway; and near 1 the original's arithmetic is less exact
  // than the edge is wide.
  constexpr double kLeastRatio = 1.001;
  if (ratio_ < kLeastRatio) return;
  for (int kept = 2; kept <= 12; ++kept) {
    const int shift = kMantissaBits - kept;
    const uint64_t first = std::bit_cast<uint64_t>(first_bucket_) >> shift;
    const uint64_t last = std::bit_cast<uint64_t>(beyond_) >> shift;
    if (last - first >= kMostCells) return;
    std::vector<uint16_t> cells;
    size_t bucket = 0;
    bool fits = true;
    for (uint64_t cell = first; cell <= last && fits; ++cell) {
      // The first value of this cell, and the first one of the next.
      const auto from = std::bit_cast<double>(cell << shift);
      const auto to = std::bit_cast<double>((cell + 1) << shift);
      while (bucket + 2 < starts_.size() && starts_[bucket + 1] <= from) ++bucket;
      cells.push_back(static_cast<uint16_t>(bucket));
      fits = bucket + 2 >= starts_.size() || to <= starts_[bucket + 2];
    }
    if (!fits) continue;
    cells_ = std::move(cells);
    first_cell_ = first;
    cell_shift_ = shift;
    return;
  }
}

}  // namespace tidemark::estimators
