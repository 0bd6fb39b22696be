// ARIMA fits against those of another implementation of the exact likelihood (statsmodels' state
// space form, from thirteen starting points). The file is forecast/arima.json in the folder of
// reference data; the traces it names are taken where tests/estimators/load_traces.h finds them.
#include <boost/json/value.hpp>
#include <cmath>
#include <cstdlib>
#include <iostream>
#include <span>
#include <string>

#include "forecast/arima_fit.h"
#include "tests/catch.h"
#include "tests/estimators/json_file.h"
#include "tests/estimators/load_traces.h"

namespace tidemark::forecast {
namespace {

using Json = boost::json::value;

Json ReadFits() {
  const char* const folder = std::getenv("TIDEMARK_GOLDEN");
  const std::string root =
      folder != nullptr && *folder != '\0' ? folder : TIDEMARK_TEST_DATA "/golden";
  return estimators::ReadJsonFile(root + "/forecast/arima.json");
}

double Number(const Json& value) { return value.to_number<double>(); }

TEST_CASE("likelihoods reach the reference fits', and forecasts agree with theirs",
          "[forecast][arima][golden]") {
  const Json fits = ReadFits();
  int compared = 0;
  int close = 0;
  int skipped = 0;
  for (const Json& entry : fits.as_array()) {
    const std::string name(entry.at("trace").as_string());
    const auto trace = estimators::ReadTrace(name);
    if (!trace) {
      ++skipped;
      continue;
    }
    ++compared;
    const auto first = entry.at("first_row").to_number<size_t>();
    const auto end = entry.at("last_row_exclusive").to_number<size_t>();
    REQUIRE(end <= trace->values.size());
    const auto values = std::span(trace->values).subspan(first, end - first);
    const auto part = [&](size_t i) { return entry.at("order").at(i).to_number<uint8_t>(); };
    const ArimaOrder order{part(0), part(1), part(2)};
    INFO(name << " " << ToString(order));
    const auto fit = FitArima(values, order, {.has_mean = entry.at("trend").as_string() == "c"});
    REQUIRE(fit);
    const double expected = Number(entry.at("loglik"));
    CHECK(fit->log_likelihood >= expected - 0.05);
    if (std::abs(fit->log_likelihood - expected) > 0.05) continue;
    ++close;
    const auto steps = ForecastArima(*fit, values, 12);
    for (size_t h = 0; h < steps.size(); ++h) {
      INFO("step " << h + 1);
      const double deviation = Number(entry.at("forecast_se").at(h));
      CHECK(std::abs(steps[h].expected - Number(entry.at("forecast").at(h))) <= 0.01 * deviation);
      CHECK(std::abs(steps[h].deviation - deviation) <= 0.01 * deviation);
    }
  }
  std::cout << "arima.json: " << compared << " fits compared, " << close
            << " of them with forecasts, " << skipped << " skipped (their traces are not there)\n";
  CHECK(compared + skipped > 0);
  CHECK(close * 2 >= compared);
}

}  // namespace
}  // namespace tidemark::forecast
