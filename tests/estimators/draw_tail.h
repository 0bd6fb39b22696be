#pragma once
// Samples of tails that are known.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <random>
#include <vector>

#include "estimators/pareto_fit.h"

namespace tidemark::estimators {

/// Sorted excesses of a known tail.
inline std::vector<double> Draw(const ParetoFit& from, size_t count, uint64_t seed) {
  std::mt19937_64 random(seed);
  std::vector<double> excesses;
  for (size_t i = 0; i < count; ++i) {
    excesses.push_back(
        from.Quantile(std::generate_canonical<double, 53>(random) * 0.999999 + 1e-7));
  }
  std::ranges::sort(excesses);
  return excesses;
}

}  // namespace tidemark::estimators
