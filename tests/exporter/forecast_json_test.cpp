#include "exporter/forecast_json.h"

#include <boost/json.hpp>
#include <limits>

#include "exporter/forecast_text.h"
#include "tests/catch.h"
#include "tests/exporter/fakes.h"

using namespace tidemark;
using namespace tidemark::exporter;

namespace {

constexpr int64_t kStart = 1'699'999'800'000;
constexpr int64_t kMinute = 60'000;
constexpr float kUnknown = std::numeric_limits<float>::quiet_NaN();

std::string Written(const ForecastExplanation& forecast,
                    ForecastParts parts = ForecastParts::kAll) {
  JsonWriter json;
  WriteForecast(forecast, ResourceTable(), LoadBaseOf(forecast.now, 3, nullptr), parts, json);
  std::string text = json.Take();
  CHECK_NOTHROW(boost::json::parse(text));
  return text;
}

ForecastExplanation WholeExplanation() {
  ForecastExplanation whole;
  whole.now = WholeForecast();
  whole.history = {{kStart, 0.1F}, {kStart + kMinute, kUnknown}, {kStart + 3 * kMinute, 2}};
  whole.past = {{{kStart, 1, 0.5F, 1.5F}, {kStart + 2 * kMinute, 2, 2, 2}}, {}};
  whole.fitted = {{.model = ForecastModel::kBiLstm,
                   .trained_ms = kStart,
                   .seconds = 31.5,
                   .iterations = 400,
                   .loss = 0.25,
                   .what = ""},
                  {.model = ForecastModel::kArima,
                   .trained_ms = kStart,
                   .seconds = 2,
                   .iterations = 0,
                   .loss = 0,
                   .what = "ARIMA(1,1,1)"}};
  whole.high_water = {
      .threshold = 5, .shape = -0.25, .scale = 0.5, .excesses = 200, .observations = 10'000};
  return whole;
}

}  // namespace

TEST_CASE("a forecast is written with all that is behind it", "[exporter][forecast]") {
  CHECK(
      Written(WholeExplanation()) ==
      R"({"resource":"cpu","unit":"core","steps":"minutes",)"
      R"("summary":"cpu demand 3; expected in 1m 3.3 (3.1 to 3.75) by ridge_30, in 10m 4.5 by )"
      R"(last_value; 6 is passed in a minute with a probability of at most 0.001",)"
      R"("minute":"2023-11-14T22:13:00.000Z","demand":3,"request":0.5,"load_ratio":2,)"
      R"("horizons":[{"horizon_seconds":60,"model":"ridge_30","demand":3.3,"lower_bound":3.1,)"
      R"("upper_bound":3.75,"load_ratio":2.1999999999999997,"coverage_ratio":0.91,"scores":[)"
      R"({"model":"last_value","day_error_ratio":1,"week_error_ratio":1,"day_pinball_ratio":1,)"
      R"("week_pinball_ratio":1,"scored":1440},{"model":"ridge_30","day_error_ratio":0.86,)"
      R"("week_error_ratio":0.87,"day_pinball_ratio":0.81,"week_pinball_ratio":0.82,)"
      R"("scored":1400},{"model":"arima","scored":0}]},{"horizon_seconds":600,)"
      R"("model":"last_value","demand":4.5,"load_ratio":3,"scores":[]}],)"
      R"("high_water":{"risk":0.001,"demand":6,"load_ratio":4,"fit":{"threshold":5,)"
      R"("shape":-0.25,"scale":0.5,"excesses":200,"observations":10000}},)"
      R"("models":[{"model":"bilstm","trained":"2023-11-14T22:10:00.000Z","seconds":31.5,)"
      R"("iterations":400,"loss":0.25},{"model":"arima","trained":"2023-11-14T22:10:00.000Z",)"
      R"j("seconds":2,"what":"ARIMA(1,1,1)"}],)j"
      R"("history":{"start":"2023-11-14T22:10:00.000Z","step_seconds":60,)"
      R"("values":[0.1,null,null,2]},)"
      R"("past":[{"horizon_seconds":60,"start":"2023-11-14T22:10:00.000Z","step_seconds":60,)"
      R"("demand":[1,null,2],"lower_bound":[0.5,null,2],"upper_bound":[1.5,null,2]},)"
      R"({"horizon_seconds":600,"step_seconds":60,"demand":[],"lower_bound":[],)"
      R"("upper_bound":[]}]})");
}

TEST_CASE("without history the same is written but that", "[exporter][forecast]") {
  const std::string whole = Written(WholeExplanation());
  const std::string brief = Written(WholeExplanation(), ForecastParts::kWithoutHistory);
  const size_t end = whole.find(",\"history\"");
  REQUIRE(end != std::string::npos);
  CHECK(brief == whole.substr(0, end) + "}");
}

TEST_CASE("what is only drawn has steps of five minutes and says why there is no forecast",
          "[exporter][forecast]") {
  ForecastExplanation drawn;
  drawn.now.resource = Resource::kMemory;
  drawn.now.steps = DemandSteps::kFiveMinutes;
  drawn.now.why = "kept to be drawn";
  drawn.history = {{kStart, 1e9F}, {kStart + 10 * kMinute, 3e9F}};
  CHECK(Written(drawn) ==
        R"({"resource":"memory","unit":"byte","steps":"five_minutes",)"
        R"("summary":"memory demand not known now; no forecast: kept to be drawn",)"
        R"("why":"kept to be drawn","horizons":[],"models":[],)"
        R"("history":{"start":"2023-11-14T22:10:00.000Z","step_seconds":300,)"
        R"("values":[1e+09,null,3e+09]},"past":[]})");
}

TEST_CASE("points that cannot be do not make the answer grow", "[exporter][forecast]") {
  ForecastExplanation odd;
  odd.now.steps = DemandSteps::kMinutes;
  odd.history = {
      {kStart, 1}, {kStart, 2}, {kStart - kMinute, 3}, {kStart + 1'000'000 * kMinute, 4}};
  const boost::json::value written = boost::json::parse(Written(odd));
  CHECK(written.at("history").at("values") == boost::json::array{1});
}

TEST_CASE("a sentence says what is expected, and why it is no more", "[exporter][forecast]") {
  WorkloadForecast forecast = WholeForecast();
  forecast.high_water.reset();
  forecast.horizons.resize(1);
  forecast.horizons[0].lower.reset();
  forecast.why = "too little is known for ridge_60";
  CHECK(ForecastText(forecast, ResourceTable()) ==
        "cpu demand 3; expected in 1m 3.3 by ridge_30; too little is known for ridge_60");
}
