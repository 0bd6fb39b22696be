// Percentiles of a histogram: one pass over its weights for all of them.
#include <algorithm>
#include <cassert>
#include <cmath>

#include "estimators/decaying_histogram.h"

namespace tidemark::estimators {

namespace {

/// So many weights are summed at once.
constexpr int kBlock = 8;

/// Sums that differ by less than this share may be in another order by rounding alone: an addition
/// errs by 2^-53, and there are at most 65534 of them.
constexpr double kAmbiguous = 1e-10;

/// Four sums side by side instead of eight additions that wait for each other.
template <class T>
double SumOfBlock(const T* w) {
  const double a = double{w[0]} + double{w[4]};
  const double b = double{w[1]} + double{w[5]};
  const double c = double{w[2]} + double{w[6]};
  const double d = double{w[3]} + double{w[7]};
  return (a + b) + (c + d);
}

/// The first of `count` weights at which their sum, one added after the other as in the original,
/// reaches `threshold`; `count` when none does.
template <class T>
int ReachedAt(const T* weights, int count, double threshold) {
  double below = 0;
  for (int i = 0; i < count; ++i) {
    below += double{weights[i]};
    if (below >= threshold) return i;
  }
  return count;
}

}  // namespace

double DecayingHistogram::Percentile(double p) const {
  double answer = 0;
  Percentiles({&p, 1}, {&answer, 1});
  return answer;
}

void DecayingHistogram::Percentiles(std::span<const double> ascending_points,
                                    std::span<double> out) const {
  assert(ascending_points.size() == out.size());
  const auto [first, last] = OccupiedRange();
  if (!Occupied(first)) {
    std::fill(out.begin(), out.end(), 0.0);
    return;
  }
  weights_.ReadFrom(first, [&, first = first, last = last](const auto* weights) {
    Scan(weights, first, last, ascending_points, out);
  });
}

/// Adds up in blocks, which is another order than the original's. So where sum and threshold are
/// too close to tell, the original's own sum decides.
template <class T>
void DecayingHistogram::Scan(const T* weights, int first, int last, std::span<const double> points,
                             std::span<double> out) const {
  const int count = last - first;  // the last is the answer where no sum reaches
  const int last_of_layout = options_->NumBuckets() - 1;
  double below = 0;
  int at = 0;
  double passed = -HUGE_VAL;  // the threshold that the sum may already be beyond
  for (size_t i = 0; i < points.size() && i < out.size(); ++i) {
    // All that is there reaches 1. Compact, a sum is only as exact as the floats in it, and would
    // seem to reach it before a small last weight.
    if (IsCompact() && points[i] >= 1) {
      out[i] = options_->BucketStart(std::min(last + 1, last_of_layout));
      continue;
    }
    const double threshold = points[i] * total_weight_;
    if (!(threshold >= passed)) {
      below = 0;
      at = 0;
    }
    passed = threshold;
    const double surely_below = threshold * (1 - kAmbiguous);
    while (at + kBlock <= count) {
      const double sum = below + SumOfBlock(weights + at);
      if (!(sum < surely_below)) break;
      below = sum;
      at += kBlock;
    }
    int reached = count;
    for (; at < count; ++at) {
      const double sum = below + double{weights[at]};
      if (!(sum < surely_below) && sum <= threshold * (1 + kAmbiguous) && threshold > 0) {
        reached = ReachedAt(weights, count, threshold);
        break;
      }
      if (sum >= threshold) {
        reached = at;
        break;
      }
      below = sum;
    }
    out[i] = options_->BucketStart(std::min(first + reached + 1, last_of_layout));
  }
}

}  // namespace tidemark::estimators
