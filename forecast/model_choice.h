#pragma once
// Which of several models is in use at a horizon, by what their forecasts have cost.
//
// The cost of a model is the mean of its absolute error and of its pinball loss, each in units of
// the last value's over the same hours of the last day; an hour's worth of the last value's own
// losses is added to both sides, so that little evidence says little. The last value is in use
// until it is beaten. A change has to be worth it: the other must cost less by kHysteresis, and not
// more over the last kRecentHours; one that has become worse than the last value by that much is
// left at once. A network has to be better than the best of the others by a margin of its own, and
// is left when it is no more so by half of it.
//
// Pure functions; thread-safe.

#include <cstddef>
#include <span>

#include "forecast/loss_record.h"
#include "model/forecast.h"

namespace tidemark::forecast {

inline constexpr double kHysteresis = 0.02;
inline constexpr int64_t kRecentHours = 3;
/// So many forecasts of a model must have been scored within the last day before it is used.
inline constexpr uint32_t kTrialMinutes = 180;
/// The same for a network, whose training costs as much as thousands of others.
inline constexpr uint32_t kNetworkTrialMinutes = 720;

constexpr bool IsNetwork(ForecastModel model) {
  return model == ForecastModel::kLstm || model == ForecastModel::kBiLstm;
}

/// One of the models to choose from.
struct Contender {
  ForecastModel model = ForecastModel::kLastValue;
  bool usable = false;  ///< it can forecast, and has been on trial for long enough
  double cost = 1;      ///< CostOf over the last day
  double recent = 1;    ///< the same over the last hours
};

/// 1 where the last value was never wrong.
double CostOf(const LossSums& sums);

/// The place of the one to use. `contenders`: not empty, the first is the last value, which is
/// always usable. `margin`: ForecastSettings::network_margin_ratio.
size_t Choose(std::span<const Contender> contenders, size_t in_use, double margin);

/// Whether the network at `place` beats all that are no networks by the margin.
bool IsWorthIt(std::span<const Contender> contenders, size_t place, double margin);

}  // namespace tidemark::forecast
