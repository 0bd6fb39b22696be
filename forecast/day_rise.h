#pragma once
// Now, and the rise that there was a day ago: what runs by the clock comes back at its minute,
// whatever the level of today.

#include <memory>

#include "forecast/forecaster.h"

namespace tidemark::forecast {

/// Learns nothing; says nothing before the second day, nor where yesterday has a gap there.
std::unique_ptr<Forecaster> MakeDayRise(const Horizons& horizons);

}  // namespace tidemark::forecast
