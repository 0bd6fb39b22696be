#pragma once
// Minimises a function of a few variables without derivatives (Nelder and Mead 1965), with the
// usual coefficients. Deterministic.

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <vector>

namespace tidemark::forecast {

struct Minimum {
  std::vector<double> at;
  double value = 0;
  size_t calls = 0;
};

struct NelderMeadOptions {
  double size = 0.5;        ///< of the first simplex
  double tolerance = 1e-7;  ///< between best and worst value, where it ends
  size_t most_calls = 1000;
};

/// `function` takes a const std::vector<double>& and may answer infinity, but not NaN. `start` is
/// not empty.
template <class Function>
Minimum NelderMead(const Function& function, const std::vector<double>& start,
                   const NelderMeadOptions& options) {
  struct Point {
    std::vector<double> at;
    double value = 0;
  };
  const size_t n = start.size();
  size_t calls = 0;
  const auto measure = [&](std::vector<double> at) {
    ++calls;
    const double value = function(at);
    return Point{std::move(at), value};
  };
  std::vector<Point> simplex;
  simplex.push_back(measure(start));
  for (size_t i = 0; i < n; ++i) {
    std::vector<double> corner = start;
    corner[i] += options.size;
    simplex.push_back(measure(std::move(corner)));
  }
  const auto by_value = [](const Point& a, const Point& b) { return a.value < b.value; };
  while (true) {
    std::stable_sort(simplex.begin(), simplex.end(), by_value);
    Point& worst = simplex.back();
    if (calls >= options.most_calls || worst.value - simplex.front().value < options.tolerance) {
      break;
    }
    std::vector<double> centre(n, 0);
    for (size_t k = 0; k < n; ++k) {
      for (size_t i = 0; i < n; ++i) centre[i] += simplex[k].at[i] / static_cast<double>(n);
    }
    const auto along = [&](double step) {  // 1: the worst; -1: its mirror image
      std::vector<double> at(n);
      for (size_t i = 0; i < n; ++i) at[i] = centre[i] + step * (worst.at[i] - centre[i]);
      return measure(std::move(at));
    };
    Point mirrored = along(-1);
    if (mirrored.value < simplex.front().value) {
      Point further = along(-2);
      worst = further.value < mirrored.value ? std::move(further) : std::move(mirrored);
      continue;
    }
    if (mirrored.value < simplex[n - 1].value) {
      worst = std::move(mirrored);
      continue;
    }
    Point nearer = along(mirrored.value < worst.value ? -0.5 : 0.5);
    if (nearer.value < std::min(mirrored.value, worst.value)) {
      worst = std::move(nearer);
      continue;
    }
    for (size_t k = 1; k <= n; ++k) {  // all towards the best
      for (size_t i = 0; i < n; ++i) {
        simplex[k].at[i] = (simplex[k].at[i] + simplex.front().at[i]) / 2;
      }
      simplex[k] = measure(std::move(simplex[k].at));
    }
  }
  return {std::move(simplex.front().at), simplex.front().value, calls};
}

}  // namespace tidemark::forecast
