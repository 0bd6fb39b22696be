#pragma once
// Sums of products for a regression of a series on its own past: the Gram matrix of rows
//
//     x[t - s_0], x[t - s_1], …, 1, cos ωt, sin ωt, cos 2ωt, sin 2ωt, …        ω = 2π a day
//
// over ranges of t, without ever making those rows. The product of two shifts depends, but for the
// ends of a range, only on their distance, so each distance costs one pass over the range and each
// further pair of that distance only the values by which its window has moved: O(S² + n D) for D
// distances instead of O(n S²). A harmonic turns by the same angle with every shift, so its
// products with all shifts follow from one pass likewise. A negative shift is the future: what is
// to be forecast.
//
// Not thread-safe.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

namespace tidemark::forecast {

class ShiftProducts {
 public:
  /// `shifts` differ from each other; each plus its distance to any other stays below a week.
  ShiftProducts(std::vector<int64_t> shifts, size_t harmonics);

  /// Adds rows t = first … end - 1, all with this weight; every x[t - s] is there. x[0] is at
  /// `minute_of_day`.
  void Add(std::span<const double> x, int64_t minute_of_day, int64_t first, int64_t end,
           double weight);
  /// Takes one row away that was added with this weight.
  void Remove(std::span<const double> x, int64_t minute_of_day, int64_t row, double weight);
  /// Adds what another has summed whose shifts begin with these; its further shifts are left out.
  void Add(const ShiftProducts& other);

  /// Of a row: the shifts in their order, 1, harmonics.
  size_t size() const { return size_; }
  size_t OneAt() const { return plan_->shifts.size(); }
  double operator()(size_t i, size_t j) const {
    return sums_[std::min(i, j) * size_ + std::max(i, j)];
  }
  /// Sum of the rows' weights.
  double rows() const { return (*this)(OneAt(), OneAt()); }

 private:
  struct Pair {  ///< of two shifts
    int64_t distance = 0;
    int64_t shift = 0;  ///< the smaller one
    size_t sum = 0;     ///< index of their sum
  };
  struct Plan {  ///< the same for all copies
    std::vector<int64_t> shifts;
    std::vector<size_t> rising;  ///< indexes of shifts
    std::vector<Pair> pairs;     ///< by distance, then by shift
  };

  void AddShifts(const double* x, int64_t first, int64_t end, double weight);
  void AddHarmonics(const double* x, int64_t minute_of_day, int64_t first, int64_t end,
                    double weight);

  std::shared_ptr<const Plan> plan_;
  size_t harmonics_;
  size_t size_;
  std::vector<double> sums_;  // upper triangle
};

/// Writes 1, cos, sin, … of a minute of the day.
void WriteHarmonics(int64_t minute_of_day, size_t harmonics, double* out);

}  // namespace tidemark::forecast
