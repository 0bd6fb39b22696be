#pragma once
// Peaks over threshold: the level that usage passes with at most a given probability (its
// high-water mark), from a high threshold and what exceeded it.
//
// Of n observations N exceed the threshold t; their excesses follow a generalised Pareto
// distribution (estimators/pareto_fit.h), so P(X > z) = N/n (1 + gamma (z - t)/sigma)^(-1/gamma),
// and the level of risk q is z = t + sigma/gamma ((q n/N)^-gamma - 1).
//
// One rule chooses (FitChoice::kAuto): with fewer than kLeastExcesses, or without spread, nothing
// is fitted and the mark is the largest value. Else moments; but maximum likelihood where moments
// put the end of a bounded tail below what was seen, or find gamma above kHeavyGamma, where they
// are biased low. A risk of N/n or more needs no tail: it is answered with the empirical quantile.
// That is the plain rule. It takes what was estimated for what is true, and so is passed more often
// than it says where few separate peaks are behind it; minutes come in clusters, and a fit is as
// uncertain as their number K says. CautiousLevel allows for that in two ways, both of which vanish
// as K grows: the end of a bounded tail is not believed further than its standard error
// (1 + |gamma|)/sqrt(K) lets it, with the mean excess kept, at most up to the exponential; and the
// logarithm of the risk counts as much as in the predictive distribution of an exponential whose
// scale was estimated from K values, -ln r becoming K (r^(-1/K) - 1).
//
// Large values are never left out: for a capacity they are the ones that count (SPOT, Siffer et
// al., KDD 2017, treats them as anomalies and leaves them out).
//
// Pure functions and plain values; thread-safe.

#include <cstdint>
#include <optional>
#include <span>

#include "estimators/pareto_fit.h"

namespace tidemark::estimators {

/// Which estimator a tail is fitted by.
enum class FitChoice : uint8_t {
  kAuto,  ///< by the rule above
  kMoments,
  kWeightedMoments,
  kMaximumLikelihood,
};

/// Why there is no fit.
enum class Unfitted : uint8_t {
  kFitted,          ///< there is one
  kNothing,         ///< no observation
  kFewExcesses,     ///< fewer than kLeastExcesses
  kNoSpread,        ///< all excesses are the same
  kEndBelowLargest  ///< the estimator that was asked for puts the end below what was seen
};

/// What is known of a tail.
struct TailFit {
  static constexpr uint32_t kLeastExcesses = 10;
  static constexpr double kHeavyGamma = 0.25;
  /// Fewer separate peaks than this say little, however many minutes they lasted.
  static constexpr uint32_t kLeastClusters = 5;

  double threshold = 0;
  double largest = 0;         ///< of all observations
  uint64_t observations = 0;  ///< n
  uint32_t excesses = 0;      ///< N
  uint32_t clusters = 0;      ///< runs of excesses; 0 where nobody counted
  Unfitted unfitted = Unfitted::kNothing;
  FitMethod method = FitMethod::kMoments;  ///< what was taken, when fitted
  ParetoFit fit;                           ///< when fitted

  bool IsFitted() const { return unfitted == Unfitted::kFitted; }
  /// N/n; 0 without observations.
  double ExcessRatio() const;
  /// Where the tail ends, as a level; absent for one that does not, and when nothing is fitted.
  std::optional<double> End() const;
  /// The level of the fit for a risk in (0, 1), also one that needs no tail. Only when fitted.
  double Level(double risk) const;
  /// The same, allowing for how few clusters there are; Level where nobody counted them.
  double CautiousLevel(double risk) const;
  /// Whether there is a fit, with at least kLeastClusters behind it.
  bool IsTrusted() const { return IsFitted() && clusters >= kLeastClusters; }

  friend bool operator==(const TailFit&, const TailFit&) = default;
};

/// Fits what exceeded `threshold`. `ascending`: the excesses, sorted, above 0, of `observations`
/// finite values of which `largest` is the largest. `clusters` is only noted.
TailFit FitTail(double threshold, std::span<const double> ascending, uint64_t observations,
                double largest, FitChoice choice = FitChoice::kAuto, uint32_t clusters = 0);

/// FitTail over a whole window: its threshold is the quantile `level` by linear interpolation
/// between order statistics (Hyndman and Fan's seventh). `ascending`: finite, sorted, not empty.
TailFit FitWindow(std::span<const double> ascending, double level,
                  FitChoice choice = FitChoice::kAuto);

/// The quantile by linear interpolation at (n - 1) p. `ascending`: sorted, not empty.
double InterpolatedQuantile(std::span<const double> ascending, double p);

}  // namespace tidemark::estimators
