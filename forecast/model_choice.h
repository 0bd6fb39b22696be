#pragma once
// Which of several models is in use at a horizon, by what their forecasts have cost.
//
// The cost of a model is the mean of its absolute error and of its pinball loss, each in units of
// the last value's over the same hours of the last day; an hour's worth of the last value's own
// losses is added to both sides, so that little evidence says little. The last value is in use
// until it is beaten, by cost, and by error alone: a model with a larger error than the last
// value's is not used, however good its upper quantile, and one in use that comes to it is left at
// once. Nor is one used that owes its lead to a single hour: what it gained must be kEvidence times
// the root of the sum of the squares of each two hours' gains, which is 3.6 times for 13 that are
// alike.
// Where the choice itself has been worse than the last value over the last day, as in a flash
// crowd, it takes kEvidenceInDoubt until it no longer is. A change from one good model to another
// has to be worth it: the other must cost less by kHysteresis. A network has to be better than the
// best of the others by a margin of its own, and is left when it is no more so by half of it.
//
// Looked at anew every minute: on the shared traces that is as steady as every hour, and costs less
// where a model begins to fail.
//
// Pure functions; thread-safe.

#include <cstddef>
#include <span>

#include "forecast/loss_record.h"
#include "model/forecast.h"

namespace tidemark::forecast {

inline constexpr double kHysteresis = 0.02;
inline constexpr double kEvidence = 0.7;
/// The same for a model in use.
inline constexpr double kEvidenceInUse = 0.5;
/// The same for any of them where the choice is in doubt.
inline constexpr double kEvidenceInDoubt = 2.5;

/// So many forecasts of a model must have been scored within the last day before it is used: those
/// that go by the hour of the day have to have been seen at nearly all of them, and the training of
/// a network costs as much as thousands of others.
constexpr uint32_t TrialMinutes(ForecastModel model) {
  switch (model) {
    case ForecastModel::kLastValue: return 0;
    case ForecastModel::kDayRise:
    case ForecastModel::kSeasonalDay:
    case ForecastModel::kSeasonalWeek:
    case ForecastModel::kHoltWinters: return 1200;
    case ForecastModel::kLstm:
    case ForecastModel::kBiLstm: return 720;
    default: return 180;
  }
}

constexpr bool IsNetwork(ForecastModel model) {
  return model == ForecastModel::kLstm || model == ForecastModel::kBiLstm;
}

/// One of the models to choose from.
struct Contender {
  ForecastModel model = ForecastModel::kLastValue;
  bool usable = false;  ///< it can forecast, and has been on trial for long enough
  double cost = 1;      ///< over the last day, in units of the last value's
  double error = 1;     ///< the absolute error alone
  double evidence = 0;  ///< what it gained, in units of the root of the sum of squares
};

/// Of a model's losses over the last day.
Contender ContenderOf(ForecastModel model, bool can_forecast, const LossSums& day);

/// Whether the choice is in doubt, by the error of what was in use over the last day.
bool IsInDoubt(const LossSums& used, bool was_in_doubt);

/// The place of the one to use. `contenders`: not empty, the first is the last value, which is
/// always usable. `margin`: ForecastSettings::network_margin_ratio.
size_t Choose(std::span<const Contender> contenders, size_t in_use, double margin, bool in_doubt);

}  // namespace tidemark::forecast
