#pragma once
// Ridge regression of the coming change on the changes of the last 30 or 60 minutes, on those of
// the same minutes yesterday and on the hour of the day, for each horizon by itself.
//
// All is relative to the last value (NLinear: Zeng et al., "Are Transformers Effective for Time
// Series Forecasting?", AAAI 2023): with no evidence at all the forecast is the last value, and a
// demand whose past teaches nothing gets it (ridge_fit.h).

#include <memory>

#include "forecast/forecaster.h"

namespace tidemark::forecast {

/// `model` is kRidge30 or kRidge60. Gaps of up to kBridgedMinutes are bridged; longer ones in the
/// look-back keep a forecast from being made, in yesterday's minutes make it do without them. Fit
/// needs 240 minutes that are known with what is around them; its report's loss is the absolute
/// error on what was held back in units of the last value's. Bytes: 2 kB with 60 lags.
std::unique_ptr<Forecaster> MakeRidge(ForecastModel model, const Horizons& horizons);

}  // namespace tidemark::forecast
