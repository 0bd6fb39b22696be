#include "scaling/demand_forecast.h"

namespace tidemark::scaling {

std::optional<double> TrackForecast::Expected(std::optional<ForecastModel> model,
                                              int32_t minutes) const {
  return track_.Expected(now_minute_, model, minutes);
}

bool TrackForecast::Quantiles(int32_t minutes, std::span<const double> p,
                              std::span<double> out) const {
  return track_.Quantiles(now_minute_, minutes, p, out);
}

std::optional<double> TrackForecast::HighWater(double risk) const { return track_.HighWater(risk); }

const forecast::DemandHistory& TrackForecast::History() const { return track_.history(); }

}  // namespace tidemark::scaling
