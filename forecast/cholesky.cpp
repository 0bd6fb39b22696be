#include "forecast/cholesky.h"

#include <cmath>

namespace tidemark::forecast {

bool Factorise(std::span<double> matrix, size_t n) {
  for (size_t i = 0; i < n; ++i) {
    double* const row = &matrix[i * n];
    for (size_t j = 0; j <= i; ++j) {
      const double* const other = &matrix[j * n];
      const double rest = row[j] - Dot(row, other, j);
      if (i != j) {
        row[j] = rest / other[j];
        continue;
      }
      if (!(rest > 0) || !std::isfinite(rest)) return false;
      row[j] = std::sqrt(rest);
    }
  }
  return true;
}

void SolveFactorised(std::span<const double> factor, size_t n, std::span<double> values) {
  for (size_t i = 0; i < n; ++i) {
    values[i] = (values[i] - Dot(&factor[i * n], values.data(), i)) / factor[i * n + i];
  }
  for (size_t i = n; i-- > 0;) {
    values[i] /= factor[i * n + i];
    for (size_t k = 0; k < i; ++k) values[k] -= factor[i * n + k] * values[i];
  }
}

}  // namespace tidemark::forecast
