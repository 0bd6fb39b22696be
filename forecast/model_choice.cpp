#include "forecast/model_choice.h"

namespace tidemark::forecast {
namespace {

constexpr double kPriorMinutes = 60;

/// With the last value's own losses for the prior minutes on both sides.
double Shrunk(double loss, double unit, uint32_t scored) {
  if (!(unit > 0) || scored == 0) return 1;
  const double prior = unit / scored * kPriorMinutes;
  return (loss + prior) / (unit + prior);
}

/// The cheapest usable one that is no network; the last value if need be.
size_t BestPlain(std::span<const Contender> contenders) {
  size_t best = 0;
  for (size_t i = 1; i < contenders.size(); ++i) {
    const Contender& contender = contenders[i];
    if (contender.usable && !IsNetwork(contender.model) && contender.cost < contenders[best].cost) {
      best = i;
    }
  }
  return best;
}

}  // namespace

double CostOf(const LossSums& sums) {
  return (Shrunk(sums.error, sums.last_value_error, sums.scored) +
          Shrunk(sums.pinball, sums.last_value_pinball, sums.scored)) /
         2;
}

bool IsWorthIt(std::span<const Contender> contenders, size_t place, double margin) {
  const Contender& network = contenders[place];
  return network.usable && network.cost <= (1 - margin) * contenders[BestPlain(contenders)].cost;
}

size_t Choose(std::span<const Contender> contenders, size_t in_use, double margin) {
  const size_t plain = BestPlain(contenders);
  if (in_use >= contenders.size() || !contenders[in_use].usable) in_use = 0;
  if (IsNetwork(contenders[in_use].model) && !IsWorthIt(contenders, in_use, margin / 2)) {
    in_use = plain;
  }
  size_t best = plain;
  for (size_t i = 0; i < contenders.size(); ++i) {
    if (IsNetwork(contenders[i].model) && contenders[i].cost < contenders[best].cost &&
        IsWorthIt(contenders, i, i == in_use ? margin / 2 : margin)) {
      best = i;
    }
  }
  if (best == in_use) return in_use;
  const Contender& other = contenders[best];
  const Contender& present = contenders[in_use];
  const bool failed = present.cost > (1 + kHysteresis) * contenders[0].cost;
  if (failed) return best;
  const bool better = other.cost < (1 - kHysteresis) * present.cost;
  return better && other.recent <= present.recent ? best : in_use;
}

}  // namespace tidemark::forecast
