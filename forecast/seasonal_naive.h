#pragma once
// As it was a day, or a week, ago at that minute, corrected to the level of now.

#include <memory>

#include "forecast/forecaster.h"

namespace tidemark::forecast {

/// `model` is kSeasonalDay or kSeasonalWeek. Learns nothing; says nothing while the season is not
/// over once, nor where too much of its last hour, or of the hour a season ago, is missing.
std::unique_ptr<Forecaster> MakeSeasonalNaive(ForecastModel model, const Horizons& horizons);

}  // namespace tidemark::forecast
