#include "forecast/cholesky.h"

#include <cmath>

namespace tidemark::forecast {

bool Factorise(std::span<double> matrix, size_t n) {
  for (size_t i = 0; i < n; ++i) {
    double* const row = &matrix[i * n];
    for (size_t j = 0; j <= i; ++j) {
      const double* const other = &matrix[j * n];
      double sum = row[j];
      for (size_t k = 0; k < j; ++k) sum -= row[k] * other[k];
      if (i == j) {
        if (!(sum > 0) || !std::isfinite(sum)) return false;
        row[j] = std::sqrt(sum);
      } else {
        row[j] = sum / other[j];
      }
    }
  }
  return true;
}

void Solve(std::span<const double> factor, size_t n, std::span<double> values) {
  for (size_t i = 0; i < n; ++i) {
    double sum = values[i];
    for (size_t k = 0; k < i; ++k) sum -= factor[i * n + k] * values[k];
    values[i] = sum / factor[i * n + i];
  }
  for (size_t i = n; i-- > 0;) {
    double sum = values[i];
    for (size_t k = i + 1; k < n; ++k) sum -= factor[k * n + i] * values[k];
    values[i] = sum / factor[i * n + i];
  }
}

}  // namespace tidemark::forecast
