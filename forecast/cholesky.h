#pragma once
// Small dense symmetric systems.

#include <cstddef>
#include <span>
#include <vector>

namespace tidemark::forecast {

/// Replaces the lower triangle of `matrix` (n × n, by rows) by its Cholesky factor. False where it
/// is not positive definite.
bool Factorise(std::span<double> matrix, size_t n);
/// Solves for one right-hand side, in place.
void Solve(std::span<const double> factor, size_t n, std::span<double> values);

}  // namespace tidemark::forecast
