#include "forecast/arima.h"
#include "forecast/day_rise.h"
#include "forecast/forecaster.h"
#include "forecast/holt_winters.h"
#include "forecast/last_value.h"
#include "forecast/network_forecaster.h"
#include "forecast/ridge.h"
#include "forecast/seasonal_naive.h"

namespace tidemark::forecast {

std::unique_ptr<Forecaster> MakeForecaster(ForecastModel model, const Horizons& horizons) {
  switch (model) {
    case ForecastModel::kDayRise: return MakeDayRise(horizons);
    case ForecastModel::kRidge30:
    case ForecastModel::kRidge60: return MakeRidge(model, horizons);
    case ForecastModel::kSeasonalDay:
    case ForecastModel::kSeasonalWeek: return MakeSeasonalNaive(model, horizons);
    case ForecastModel::kHoltWinters: return MakeHoltWinters(horizons);
    case ForecastModel::kArima: return MakeArima(horizons);
    case ForecastModel::kLstm:
    case ForecastModel::kBiLstm: return MakeNetwork(model, horizons);
    case ForecastModel::kLastValue: break;
  }
  return MakeLastValue(horizons);
}

}  // namespace tidemark::forecast
