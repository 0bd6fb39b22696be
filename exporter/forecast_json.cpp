#include "exporter/forecast_json.h"

#include <limits>
#include <optional>
#include <string_view>
#include <vector>

#include "exporter/answer_json.h"
#include "exporter/forecast_text.h"
#include "model/load_ratio.h"

namespace tidemark::exporter {
namespace {

constexpr int64_t kMinuteMs = 60'000;
/// More than eight days of minutes.
constexpr int64_t kMostSteps = 12'000;

void WriteScores(const std::vector<ForecastScore>& scores, JsonWriter& json) {
  json.BeginArray();
  for (const ForecastScore& score : scores) {
    json.BeginObject();
    json.Member("model", ToString(score.model));
    WriteIfKnown("day_error_ratio", score.day_error_ratio, json);
    WriteIfKnown("week_error_ratio", score.week_error_ratio, json);
    WriteIfKnown("day_pinball_ratio", score.day_pinball_ratio, json);
    WriteIfKnown("week_pinball_ratio", score.week_pinball_ratio, json);
    json.Key("scored"), json.Unsigned(score.scored);
    json.EndObject();
  }
  json.EndArray();
}

void WriteHorizons(const WorkloadForecast& now, const LoadBase& base, JsonWriter& json) {
  json.BeginArray();
  for (const HorizonForecast& horizon : now.horizons) {
    json.BeginObject();
    json.Key("horizon_seconds"), json.Integer(horizon.horizon_seconds);
    json.Member("model", ToString(horizon.model));
    json.Key("demand"), json.Number(horizon.demand);
    WriteIfKnown("lower_bound", horizon.lower, json);
    WriteIfKnown("upper_bound", horizon.upper, json);
    WriteIfKnown("load_ratio", LoadRatio(base, horizon.demand), json);
    WriteIfKnown("coverage_ratio", horizon.coverage_ratio, json);
    json.Key("scores");
    WriteScores(horizon.scores, json);
    json.EndObject();
  }
  json.EndArray();
}

void WriteHighWater(const ForecastExplanation& forecast, const LoadBase& base, JsonWriter& json) {
  json.BeginObject();
  json.Key("risk"), json.Number(forecast.now.high_water_risk);
  WriteIfKnown("demand", forecast.now.high_water, json);
  WriteIfKnown("load_ratio", LoadRatio(base, forecast.now.high_water), json);
  if (const auto& tail = forecast.high_water; tail) {
    json.Key("fit");
    json.BeginObject();
    json.Key("threshold"), json.Number(tail->threshold);
    json.Key("shape"), json.Number(tail->shape);
    json.Key("scale"), json.Number(tail->scale);
    json.Key("excesses"), json.Unsigned(tail->excesses);
    json.Key("observations"), json.Unsigned(tail->observations);
    json.EndObject();
  }
  json.EndObject();
}

void WriteModels(const std::vector<ForecastExplanation::Fitted>& models, JsonWriter& json) {
  json.BeginArray();
  for (const ForecastExplanation::Fitted& fitted : models) {
    json.BeginObject();
    json.Member("model", ToString(fitted.model));
    WriteTime("trained", fitted.trained_ms, json);
    json.Key("seconds"), json.Number(fitted.seconds);
    if (fitted.iterations > 0) {
      json.Key("iterations"), json.Unsigned(fitted.iterations);
      json.Key("loss"), json.Number(fitted.loss);
    }
    WriteUnlessEmpty("what", fitted.what, json);
    json.EndObject();
  }
  json.EndArray();
}

/// One value for each step from the first point to the last; null where there is no point.
template <class Point>
void WriteSteps(const std::vector<Point>& points, int64_t step_ms, float Point::*value,
                JsonWriter& json) {
  json.BeginArray();
  int64_t step = 0;  // from the first point
  for (const Point& point : points) {
    const int64_t at = (point.time_ms - points.front().time_ms) / step_ms;
    if (at < step || at >= kMostSteps) continue;
    for (; step < at; ++step) json.Number(std::numeric_limits<double>::quiet_NaN());
    json.Float(point.*value);
    ++step;
  }
  json.EndArray();
}

template <class Point>
void WriteAxis(const std::vector<Point>& points, int64_t step_ms, JsonWriter& json) {
  if (!points.empty()) WriteTime("start", points.front().time_ms, json);
  json.Key("step_seconds"), json.Integer(step_ms / 1000);
}

void WriteHistory(const ForecastExplanation& forecast, JsonWriter& json) {
  const int64_t step_ms =
      forecast.now.steps == DemandSteps::kFiveMinutes ? 5 * kMinuteMs : kMinuteMs;
  json.Key("history");
  json.BeginObject();
  WriteAxis(forecast.history, step_ms, json);
  json.Key("values");
  WriteSteps(forecast.history, step_ms, &DemandPoint::demand, json);
  json.EndObject();
  json.Key("past");
  json.BeginArray();
  for (size_t i = 0; i < forecast.past.size() && i < forecast.now.horizons.size(); ++i) {
    const std::vector<ForecastPoint>& points = forecast.past[i];
    json.BeginObject();
    json.Key("horizon_seconds"), json.Integer(forecast.now.horizons[i].horizon_seconds);
    WriteAxis(points, kMinuteMs, json);
    json.Key("demand");
    WriteSteps(points, kMinuteMs, &ForecastPoint::demand, json);
    json.Key("lower_bound");
    WriteSteps(points, kMinuteMs, &ForecastPoint::lower, json);
    json.Key("upper_bound");
    WriteSteps(points, kMinuteMs, &ForecastPoint::upper, json);
    json.EndObject();
  }
  json.EndArray();
}

}  // namespace

void WriteForecast(const ForecastExplanation& forecast, const ResourceTable& names,
                   const LoadBase& base, ForecastParts parts, JsonWriter& json) {
  const WorkloadForecast& now = forecast.now;
  json.BeginObject();
  json.Member("resource", names.NameOf(now.resource));
  json.Member("unit", names.UnitOf(now.resource));
  json.Member("steps", ToString(now.steps));
  json.Member("summary", ForecastText(now, names));
  WriteUnlessEmpty("why", now.why, json);
  if (now.minute_ms != 0) WriteTime("minute", now.minute_ms, json);
  WriteIfKnown("demand", now.demand, json);
  WriteIfKnown("request", base.request, json);
  WriteIfKnown("load_ratio", LoadRatio(base, now.demand), json);
  json.Key("horizons");
  WriteHorizons(now, base, json);
  if (now.high_water || forecast.high_water) {
    json.Key("high_water");
    WriteHighWater(forecast, base, json);
  }
  json.Key("models");
  WriteModels(forecast.fitted, json);
  if (parts == ForecastParts::kAll) WriteHistory(forecast, json);
  json.EndObject();
}

}  // namespace tidemark::exporter
