#pragma once
// The generalised Pareto distribution, fitted to what exceeds a high threshold.
//
// What exceeds a high enough threshold is distributed so, whatever the rest looks like (Pickands
// 1975; Balkema and de Haan 1974): P(Y > y) = (1 + gamma y / sigma)^(-1/gamma), and
// exp(-y / sigma) at gamma = 0. gamma > 0 is a heavy tail, gamma < 0 a bounded one that ends at
// -sigma / gamma.
//
// Three estimators:
// - moments: gamma = (1 - mean^2/var) / 2, sigma = mean (mean^2/var + 1) / 2. Cheap, and the best
//   of the three for light tails and few excesses; can never see gamma >= 1/2, and its end lies
//   below the largest excess for a quarter of bounded tails.
// - probability-weighted moments (Hosking and Wallis, Technometrics 1987): good for gamma < 1.
// - maximum likelihood by Grimshaw's reduction to one equation (Technometrics 1993), over
//   gamma >= -1: below, the likelihood grows without bound. Besides the roots of the equation the
//   exponential and the boundary gamma = -1, sigma = largest excess are candidates.
//
// All of it scales: excesses times c give the same gamma and sigma times c. Excesses are above 0
// and finite. Pure functions, thread-safe.

#include <cstdint>
#include <optional>
#include <span>

namespace tidemark::estimators {

enum class FitMethod : uint8_t {
  kMoments,
  kWeightedMoments,  ///< probability-weighted
  kMaximumLikelihood,
};

struct ParetoFit {
  double gamma = 0;  ///< shape
  double sigma = 1;  ///< scale, above 0, in the unit of the excesses

  /// The excess that the share `ratio` of all excesses passes; `ratio` in (0, 1], beyond 1 the
  /// formula goes on below 0. Continuous in gamma, also through 0.
  double Quantile(double ratio) const;
  /// The same for ratio = exp(-`log_return`), also where that is too small for a double.
  double QuantileOfLog(double log_return) const;

  /// Where a bounded tail ends; absent for gamma >= 0.
  std::optional<double> End() const;

  /// -infinity when an excess is beyond the end.
  double LogLikelihood(std::span<const double> excesses) const;

  friend bool operator==(const ParetoFit&, const ParetoFit&) = default;
};

/// Absent with fewer than two excesses, without spread, or when sums leave the range of a double.
std::optional<ParetoFit> FitByMoments(std::span<const double> excesses);

/// As FitByMoments. `ascending`: sorted.
std::optional<ParetoFit> FitByWeightedMoments(std::span<const double> ascending);

/// As FitByMoments. Costs some hundred logarithms per excess.
std::optional<ParetoFit> FitByLikelihood(std::span<const double> excesses);

/// By the method that is named. `ascending`: sorted.
std::optional<ParetoFit> FitBy(FitMethod method, std::span<const double> ascending);

}  // namespace tidemark::estimators
