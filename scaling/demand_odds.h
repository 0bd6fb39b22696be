#pragma once
// What a demand may be, as a distribution, and what a number of replicas would make of it.
//
// It is kept as kAtoms equally sorted demands with fixed weights, so that the expected shortness of
// a capacity is a sum. Between the probabilities at which quantiles are known a demand is drawn as
// exponential tails have it: straight in the logarithm of the risk.
//
// Plain values, pure functions; thread-safe.

#include <array>
#include <cstddef>
#include <span>

namespace tidemark::scaling {

class DemandOdds {
 public:
  /// Rising; that from which a tail is fitted (ErrorSketch::kTailFrom) is among them.
  static constexpr std::array<double, 10> kProbabilities = {0.5,   0.7,  0.8,   0.9,   0.95,
                                                            0.975, 0.99, 0.995, 0.998, 0.9995};
  using Quantiles = std::array<double, kProbabilities.size()>;

  /// `quantiles`: at kProbabilities, finite, 0 or more; one that is below the one before counts as
  /// that.
  explicit DemandOdds(const Quantiles& quantiles);

  /// Half the time it is below.
  double Median() const { return demands_.front(); }
  double Highest() const { return demands_.back(); }
  /// The mean Shortness of the capacity.
  double ExpectedShortness(double capacity) const;

  /// How bad it is that a demand meets a capacity that was to be enough for it, the objective's: 0
  /// where it is; 1 where the demand is kFull above it (at the usual objective of 90 %: more than
  /// the pods have), in between in proportion; beyond, a little more for how far.
  static double Shortness(double demand, double capacity) {
    const double above = demand / capacity - 1;
    if (!(above > 0)) return 0;
    if (above < kFull) return above / kFull;
    return 1 + kBeyond * (above - kFull);
  }

 private:
  static constexpr double kFull = 1.0 / 9;
  static constexpr double kBeyond = 0.1;
  static constexpr size_t kPerCell = 2;
  /// One for all below the median, one for all above the highest quantile.
  static constexpr size_t kAtoms = kPerCell * (kProbabilities.size() - 1) + 2;

  struct Atom {
    size_t cell;
    double share;  ///< of the way from the cell's lower quantile to its upper
    double weight;
  };
  static const std::array<Atom, kAtoms>& Atoms();

  std::array<double, kAtoms> demands_{};  // rising
};

}  // namespace tidemark::scaling
