#pragma once
// Small dense symmetric systems: at the hundred unknowns of a regression on lags a library call
// costs more than it saves.

#include <cstddef>
#include <span>

namespace tidemark::forecast {

/// Sum of products, in four partial sums so that the processor need not wait for each addition.
inline double Dot(const double* a, const double* b, size_t n) {
  double sums[4] = {};
  size_t i = 0;
  for (; i + 4 <= n; i += 4) {
    sums[0] += a[i] * b[i];
    sums[1] += a[i + 1] * b[i + 1];
    sums[2] += a[i + 2] * b[i + 2];
    sums[3] += a[i + 3] * b[i + 3];
  }
  double sum = (sums[0] + sums[1]) + (sums[2] + sums[3]);
  for (; i < n; ++i) sum += a[i] * b[i];
  return sum;
}

/// Replaces the lower triangle of `matrix` (n × n, by rows) by its Cholesky factor. False where it
/// is not positive definite, or not finite.
bool Factorise(std::span<double> matrix, size_t n);
/// Solves for one right-hand side, in place.
void SolveFactorised(std::span<const double> factor, size_t n, std::span<double> values);

}  // namespace tidemark::forecast
