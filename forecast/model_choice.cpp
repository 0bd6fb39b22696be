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

Contender ContenderOf(ForecastModel model, bool can_forecast, const LossSums& day) {
  Contender contender{.model = model};
  if (model == ForecastModel::kLastValue) {
    contender.usable = true;
    return contender;
  }
  contender.error = Shrunk(day.error, day.last_value_error, day.scored);
  contender.cost =
      (contender.error + Shrunk(day.pinball, day.last_value_pinball, day.scored)) / 2;
  contender.usable =
      can_forecast && day.scored >= TrialMinutes(model) && contender.error <= kMostError;
  return contender;
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
  if (in_use == 0) return contenders[best].cost < (1 - kHysteresis) ? best : 0;
  return contenders[best].cost < (1 - kHysteresis) * contenders[in_use].cost ? best : in_use;
}

}  // namespace tidemark::forecast
