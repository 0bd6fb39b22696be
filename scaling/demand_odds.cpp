#include "scaling/demand_odds.h"

#include <algorithm>
#include <cmath>

namespace tidemark::scaling {

const std::array<DemandOdds::Atom, DemandOdds::kAtoms>& DemandOdds::Atoms() {
  static const std::array<Atom, kAtoms> atoms = [] {
    std::array<Atom, kAtoms> made{};
    made.front() = {.cell = 0, .share = 0, .weight = kProbabilities.front()};
    size_t at = 1;
    for (size_t cell = 0; cell + 1 < kProbabilities.size(); ++cell) {
      const double lower = 1 - kProbabilities[cell];  // risks
      const double upper = 1 - kProbabilities[cell + 1];
      for (size_t i = 0; i < kPerCell; ++i) {
        const double part = (static_cast<double>(i) + 0.5) / kPerCell;
        const double risk = lower + part * (upper - lower);
        made[at++] = {.cell = cell,
                      .share = std::log(lower / risk) / std::log(lower / upper),
                      .weight = (lower - upper) / kPerCell};
      }
    }
    made[at] = {.cell = kProbabilities.size() - 2, .share = 1, .weight = 1 - kProbabilities.back()};
    return made;
  }();
  return atoms;
}

DemandOdds::DemandOdds(const Quantiles& quantiles) {
  Quantiles rising = quantiles;
  for (size_t i = 1; i < rising.size(); ++i) rising[i] = std::max(rising[i], rising[i - 1]);
  const auto& atoms = Atoms();
  for (size_t i = 0; i < kAtoms; ++i) {
    const double lower = rising[atoms[i].cell];
    demands_[i] = lower + atoms[i].share * (rising[atoms[i].cell + 1] - lower);
  }
}

double DemandOdds::ExpectedShortness(double capacity) const {
  const auto& atoms = Atoms();
  double sum = 0;
  for (size_t i = kAtoms; i-- > 0 && demands_[i] > capacity;) {
    sum += atoms[i].weight * Shortness(demands_[i], capacity);
  }
  return sum;
}

}  // namespace tidemark::scaling
