#pragma once
// Ridge regression of the coming change on the changes of the last 30 or 60 minutes and on the hour
// of the day, for each horizon by itself.
//
// All is relative to the last value (NLinear: Zeng et al., "Are Transformers Effective for Time
// Series Forecasting?", AAAI 2023): with no evidence at all the forecast is the last value. How
// strongly the weights are held back, and what share of the regression's answer counts, is chosen
// on the newest fifth of the history, by absolute error; so a pool whose past teaches nothing gets
// the last value again.

#include <cstdint>
#include <memory>

#include "forecast/forecaster.h"

namespace tidemark::forecast {

/// `model` is kRidge30 or kRidge60. Gaps of up to kBridgedMinutes are bridged, longer ones in the
/// look-back keep a forecast from being made. Fit needs six hours; about 5 ms for eight days.
std::unique_ptr<Forecaster> MakeRidge(ForecastModel model, const Horizons& horizons);

}  // namespace tidemark::forecast
