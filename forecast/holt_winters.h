#pragma once
// Exponential smoothing with a level, a damped trend and an additive daily season (Holt 1957,
// Winters 1960; damping: Gardner and McKenzie 1985).
//
// Each horizon has parameters of its own, found by a fixed search on the absolute error that far
// ahead over the newest day, with a season that knows only the days before it. The season is taken
// from the history at each fit (day_profile.h); level and trend are smoothed anew from the last
// hour at each forecast, so there is no state that could get lost or grow old.

#include <memory>

#include "forecast/forecaster.h"

namespace tidemark::forecast {

/// Gaps of up to kBridgedMinutes are bridged, longer ones in the last hour keep a forecast from
/// being made. Fit needs six hours; without a second day it has no season. Bytes: 1.3 kB.
std::unique_ptr<Forecaster> MakeHoltWinters(const Horizons& horizons);

}  // namespace tidemark::forecast
