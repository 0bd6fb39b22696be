#pragma once
// It stays as it is: the yardstick of all other models, and hard to beat a minute ahead.

#include <memory>

#include "forecast/forecaster.h"

namespace tidemark::forecast {

/// Learns nothing. Gaps of up to kBridgedMinutes are bridged.
std::unique_ptr<Forecaster> MakeLastValue(const Horizons& horizons);

}  // namespace tidemark::forecast
