#pragma once
// Sums of products for a regression of a series on its own past: the Gram matrix of rows
//
//     x[t - s_0], x[t - s_1], …, 1, cos ωt, sin ωt, cos 2ωt, sin 2ωt, …        ω = 2π a day
//
// over many t, without ever making those rows. The product of two shifts depends, but for the ends
// of the range, only on their distance, so each distance costs one pass over the series and each
// further pair of the same distance the few values by which the window has moved: O((S + n D)) for
// D distances instead of O(n S²). A negative shift is the future: what is to be forecast.
//
// Not thread-safe.

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace tidemark::forecast {

class ShiftProducts {
 public:
  /// `shifts` differ from each other.
  ShiftProducts(std::vector<int64_t> shifts, size_t harmonics);

  /// Adds rows t = first … end - 1; every x[t - s] is there. x[0] is at `minute_of_day`.
  void Add(std::span<const double> x, int64_t minute_of_day, int64_t first, int64_t end);
  /// Takes one row away that was added.
  void Remove(std::span<const double> x, int64_t minute_of_day, int64_t row);
  /// What another of the same shifts has summed.
  void Add(const ShiftProducts& other);

  /// Of a row: the shifts in their order, 1, harmonics.
  size_t size() const { return shifts_.size() + 1 + 2 * harmonics_; }
  size_t OneAt() const { return shifts_.size(); }
  double operator()(size_t i, size_t j) const { return sums_[i * size() + j]; }
  /// Rows that are summed.
  double rows() const { return (*this)(OneAt(), OneAt()); }

 private:
  void AddShifts(std::span<const double> x, int64_t first, int64_t end);
  void AddHarmonics(std::span<const double> x, int64_t minute_of_day, int64_t first, int64_t end);
  void Put(size_t i, size_t j, double sum);

  struct Pair {  ///< of shifts[a] and shifts[b] = shifts[a] + distance
    int64_t distance = 0;
    size_t a = 0;
    size_t b = 0;
  };

  std::vector<int64_t> shifts_;
  size_t harmonics_;
  std::vector<Pair> pairs_;  // by distance, then by shift
  std::vector<double> sums_;
};

/// Writes 1, cos, sin, … of a minute of the day.
void WriteHarmonics(int64_t minute_of_day, size_t harmonics, double* out);

}  // namespace tidemark::forecast
