#include "exporter/forecast_text.h"

#include <fmt/format.h>

#include <iterator>
#include <string_view>

#include "model/amount_text.h"

namespace tidemark::exporter {
namespace {

std::string HorizonText(const WorkloadForecast& forecast, const HorizonForecast& horizon) {
  std::string text = fmt::format("in {}m {}", horizon.horizon_seconds / 60,
                                 AmountText(forecast.resource, horizon.demand));
  if (horizon.lower && horizon.upper) {
    fmt::format_to(std::back_inserter(text), " ({} to {})",
                   AmountText(forecast.resource, *horizon.lower),
                   AmountText(forecast.resource, *horizon.upper));
  }
  return text.append(" by ").append(ToString(horizon.model));
}

}  // namespace

std::string ForecastText(const WorkloadForecast& forecast, const ResourceTable& names) {
  std::string text = fmt::format("{} demand ", names.NameOf(forecast.resource));
  text += forecast.demand ? AmountText(forecast.resource, *forecast.demand) : "not known now";
  if (forecast.horizons.empty()) {
    text += "; no forecast";
    if (!forecast.why.empty()) text.append(": ").append(forecast.why);
  } else {
    std::string_view before = "; expected ";
    for (const HorizonForecast& horizon : forecast.horizons) {
      text.append(before).append(HorizonText(forecast, horizon));
      before = ", ";
    }
    if (!forecast.why.empty()) text.append("; ").append(forecast.why);
  }
  if (forecast.high_water) {
    fmt::format_to(std::back_inserter(text),
                   "; {} is passed in a minute with a probability of at most {}",
                   AmountText(forecast.resource, *forecast.high_water), forecast.high_water_risk);
  }
  return text;
}

}  // namespace tidemark::exporter
