#pragma once
// How a ridge regression on lags is learnt from a history.
//
// Regressions minimise squares, models are judged by absolute errors, and demand errs the more the
// more it moves: so each hour weighs by the inverse of how much it moved. Penalty, yesterday or
// not, and the share of the regression's answer that counts are chosen on the newest part of the
// history by absolute error; a share of 0 is the last value. The weights then come from all of it.

#include <array>
#include <stop_token>

#include "forecast/forecaster.h"
#include "forecast/lag_regression.h"
#include "forecast/regression_rows.h"
#include "model/result.h"

namespace tidemark::forecast {

struct RidgeFit {
  LagWeights plain;  ///< in units of demand
  /// Empty where no horizon uses it.
  LagWeights with_yesterday;
  std::array<bool, kMaxForecastHorizons> uses_yesterday{};
  /// Absolute error of what was held back in units of the last value's, the mean over horizons.
  double error_ratio = 1;
};

/// `rows` has passed its Check. kUnavailable: stopped; kInvalidArgument: no solution.
Result<RidgeFit> FitRidge(const RegressionRows& rows, int32_t lags, const Horizons& horizons,
                          const YesterdayShifts& yesterday, const std::stop_token& stop);

}  // namespace tidemark::forecast
