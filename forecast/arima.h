#pragma once
// ARIMA with the order that Akaike's corrected criterion prefers among a few, by exact likelihood
// over the newest day (arima_fit.h).

#include <memory>

#include "forecast/forecaster.h"

namespace tidemark::forecast {

/// Gaps of up to kBridgedMinutes are bridged in what a forecast is made from, longer ones keep it
/// from being made; the fit knows gaps for what they are. Fit needs six hours of the newest day.
std::unique_ptr<Forecaster> MakeArima(const Horizons& horizons);

}  // namespace tidemark::forecast
