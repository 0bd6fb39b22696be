#include "forecast/model_choice.h"

#include <cmath>

namespace tidemark::forecast {
namespace {

constexpr double kPriorMinutes = 60;

/// With the last value's own losses for the prior minutes on both sides.
double Shrunk(double loss, double unit, uint32_t scored) {
  if (!(unit > 0) || scored == 0) return 1;
  const double prior = unit / scored * kPriorMinutes;
  return (loss + prior) / (unit + prior);
}

/// What was gained over the last value, cost by cost, in units of the root of the sum of the
/// squares of the hours.
double Evidence(const LossSums& day) {
  if (!(day.last_value_error > 0) || !(day.last_value_pinball > 0)) return 0;
  const double gained =
      (1 - day.error / day.last_value_error) + (1 - day.pinball / day.last_value_pinball);
  const double squares = day.error_squares / (day.last_value_error * day.last_value_error) +
                         day.pinball_squares / (day.last_value_pinball * day.last_value_pinball) +
                         2 * day.products / (day.last_value_error * day.last_value_pinball);
  return squares > 0 ? gained / std::sqrt(squares) : 0;
}

struct Bar {
  size_t in_use = 0;
  bool in_doubt = false;

  bool IsPassedBy(std::span<const Contender> contenders, size_t place) const {
    if (place == 0) return true;
    const Contender& contender = contenders[place];
    double evidence = place == in_use ? kEvidenceInUse : kEvidence;
    if (in_doubt) evidence = kEvidenceInDoubt;
    return contender.usable && contender.error <= 1 && contender.evidence >= evidence;
  }
};

/// The cheapest good one that is no network; the last value if need be.
size_t BestPlain(std::span<const Contender> contenders, const Bar& bar) {
  size_t best = 0;
  for (size_t i = 1; i < contenders.size(); ++i) {
    if (!IsNetwork(contenders[i].model) && bar.IsPassedBy(contenders, i) &&
        contenders[i].cost < contenders[best].cost) {
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
  contender.usable = can_forecast && day.scored >= TrialMinutes(model);
  contender.error = Shrunk(day.error, day.last_value_error, day.scored);
  contender.cost = (contender.error + Shrunk(day.pinball, day.last_value_pinball, day.scored)) / 2;
  contender.evidence = Evidence(day);
  return contender;
}

bool IsInDoubt(const LossSums& used, bool was_in_doubt) {
  constexpr double kDoubt = 1.01;
  return used.error > used.last_value_error * (was_in_doubt ? 1 : kDoubt);
}

size_t Choose(std::span<const Contender> contenders, size_t in_use, double margin, bool in_doubt) {
  if (in_use >= contenders.size()) in_use = 0;
  if (!Bar{in_use, in_doubt}.IsPassedBy(contenders, in_use)) in_use = 0;
  const Bar bar{in_use, in_doubt};
  const size_t plain = BestPlain(contenders, bar);
  const auto is_worth_it = [&](size_t network) {
    const double least = network == in_use ? margin / 2 : margin;
    return bar.IsPassedBy(contenders, network) &&
           contenders[network].cost <= (1 - least) * contenders[plain].cost;
  };
  if (IsNetwork(contenders[in_use].model) && !is_worth_it(in_use)) return plain;
  size_t best = plain;
  for (size_t i = 0; i < contenders.size(); ++i) {
    if (IsNetwork(contenders[i].model) && contenders[i].cost < contenders[best].cost &&
        is_worth_it(i)) {
      best = i;
    }
  }
  return contenders[best].cost < (1 - kHysteresis) * contenders[in_use].cost ? best : in_use;
}

}  // namespace tidemark::forecast
