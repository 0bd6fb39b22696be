#include "kubernetes/metric_answer.h"

#include <fmt/format.h>

#include <array>
#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <boost/json/serialize.hpp>
#include <optional>
#include <string_view>

#include "model/quantity.h"
#include "model/rfc3339.h"
#include "model/scaling_text.h"

namespace tidemark::kubernetes {
namespace {

namespace json = boost::json;

/// As metav1.Time is written: whole seconds.
std::string Seconds(int64_t unix_ms) {
  std::string time = FormatRfc3339(unix_ms);
  const size_t fraction = time.find('.');
  if (fraction == std::string::npos) return time;
  time.resize(fraction);
  time.push_back('Z');
  return time;
}

std::optional<std::string> ValueText(const MetricPoint& point) {
  if (!point.value) return std::nullopt;
  return QuantityText(*point.value,
                      point.is_binary ? QuantityFormat::kBinarySi : QuantityFormat::kDecimalSi);
}

HttpResponse JsonAnswer(const json::object& document) {
  HttpResponse response;
  response.headers.push_back({"Content-Type", "application/json"});
  response.headers.push_back({"Cache-Control", "no-cache, private"});
  response.headers.push_back({"Vary", "Accept"});
  response.body = json::serialize(document) + "\n";
  return response;
}

struct Column {
  std::string_view name;
  std::string_view type;
  std::string_view description;
  int priority = 0;  // 1: with -o wide only
};

constexpr std::array<Column, 13> kTargetColumns = {{
    {"Name", "string", "The workload."},
    {"Type", "string", "Its kind, in lower case."},
    {"Target", "integer", "How many replicas it should have now."},
    {"Current", "integer", "How many its spec asks for."},
    {"Min", "integer", "The target is never less."},
    {"Max", "integer", "The target is never more."},
    {"Reason", "string", "Why."},
    {"Age", "string", "Since the end of the minute that was decided on."},
    {"Policy", "string", "What decides.", 1},
    {"Mode", "string", "Whether it went by a forecast or by the last minute.", 1},
    {"Load", "string", "Demand as a share of what all replicas count for.", 1},
    {"Forecast", "string", "The same of what is planned for.", 1},
    {"High-Water", "string", "The same of what is hardly ever passed.", 1},
}};

constexpr std::array<Column, 5> kValueColumns = {{
    {"Name", "string", "The workload."},
    {"Type", "string", "Its kind, in lower case."},
    {"Value", "string", "As an autoscaler is given it."},
    {"Of", "string", "What tells it from the workload's other values."},
    {"Age", "string", "Since the time that it is of."},
}};

template <size_t kSize>
json::array Definitions(const std::array<Column, kSize>& columns) {
  json::array definitions;
  for (const Column& column : columns) {
    definitions.push_back(json::object{{"name", column.name},
                                       {"type", column.type},
                                       {"format", column.name == "Name" ? "name" : ""},
                                       {"description", column.description},
                                       {"priority", column.priority}});
  }
  return definitions;
}

template <class T>
json::value OrNull(const std::optional<T>& value) {
  return value ? json::value(*value) : json::value(nullptr);
}

json::value PercentText(const std::optional<double>& ratio) {
  if (!ratio) return nullptr;
  return json::value(fmt::format("{:.0f}%", *ratio * 100));
}

/// A view of a point at a time.
struct Row {
  const MetricPoint& point;
  Age age;
  int64_t age_ms;

  json::value AgeCell() const {
    return point.time_ms > 0 ? json::value(DurationText(age_ms)) : json::value(nullptr);
  }
  bool IsShown() const { return point.value && age != Age::kTooOld; }
};

json::array TargetCells(const Row& row, const Freshness& freshness) {
  const WorkloadAdvice& workload = *row.point.workload;
  const WorkloadScaling& scaling = *workload.scaling;
  std::string reason = row.point.missing;
  if (row.point.value) {
    reason = ScalingText(scaling, workload.forecast ? workload.forecast->resource : Resource::kCpu);
    if (row.point.is_escaped) {
      reason += fmt::format(" Served as {:.0f}, so that an HPA follows.", *row.point.value);
    }
    if (row.age == Age::kHeld) reason = fmt::format("Held: nothing newer comes in. {}", reason);
    if (row.age == Age::kTooOld) {
      reason = fmt::format("Too old (limit {}): nothing newer comes in.",
                           DurationText(freshness.hold_ms));
    }
  }
  const auto& decision = scaling.decision;
  std::optional<int32_t> min;
  std::optional<int32_t> max;
  if (scaling.bounds) {
    min = scaling.bounds->min;
    max = scaling.bounds->max;
  }
  const auto target =
      row.IsShown() ? std::optional(static_cast<int64_t>(*row.point.value)) : std::nullopt;
  return {workload.id.workload,
          workload.id.workload_type,
          OrNull(target),
          OrNull(scaling.current_replicas),
          OrNull(min),
          OrNull(max),
          reason,
          row.AgeCell(),
          ToString(scaling.policy.policy),
          decision ? json::value(ToString(decision->mode)) : json::value(nullptr),
          decision ? PercentText(decision->load_ratio) : json::value(nullptr),
          decision ? PercentText(decision->forecast_load_ratio) : json::value(nullptr),
          decision ? PercentText(decision->high_water_load_ratio) : json::value(nullptr)};
}

json::array ValueCells(const Row& row) {
  std::string of;
  for (const auto& [name, value] : row.point.labels) {
    if (IsIdentityLabel(name)) continue;
    of += fmt::format("{}{}={}", of.empty() ? "" : ",", name, value);
  }
  const auto text = row.IsShown() ? ValueText(row.point) : std::nullopt;
  return {row.point.workload->id.workload, row.point.workload->id.workload_type, OrNull(text), of,
          row.AgeCell()};
}

}  // namespace

Result<HttpResponse> ListAnswer(ExternalMetric metric, const MetricPoint& point, Age age) {
  const auto value = ValueText(point);
  if (!value) {
    return Fail(ErrorCode::kUnavailable,
                fmt::format("the {} of {}/{} is {}, which is no number that can be given back",
                            NameOf(metric), point.workload->id.name_space,
                            point.workload->id.workload, point.value.value_or(0)));
  }
  json::object labels;
  for (const auto& [name, text] : point.labels) labels[name] = text;
  if (point.is_escaped) labels["escaped"] = "true";
  if (age != Age::kFresh) labels["stale"] = "true";
  const json::object item = {{"metricName", NameOf(metric)},
                             {"metricLabels", std::move(labels)},
                             {"timestamp", Seconds(point.time_ms)},
                             {"window", 0},
                             {"value", *value}};
  return JsonAnswer({{"kind", "ExternalMetricValueList"},
                     {"apiVersion", kGroupVersion},
                     {"metadata", json::object()},
                     {"items", json::array{item}}});
}

HttpResponse TableAnswer(ExternalMetric metric, MetricForm form,
                         const std::vector<MetricPoint>& points, const Freshness& freshness,
                         int64_t now_ms) {
  const std::string_view version =
      form == MetricForm::kTableV1beta1 ? "meta.k8s.io/v1beta1" : "meta.k8s.io/v1";
  const bool is_target = metric == ExternalMetric::kTargetReplicas;
  json::array rows;
  for (const MetricPoint& point : points) {
    const Row row = {point, AgeOf(point, freshness, now_ms), now_ms - point.time_ms};
    const json::object object = {
        {"kind", "PartialObjectMetadata"},
        {"apiVersion", version},
        {"metadata", json::object{{"name", point.workload->id.workload},
                                  {"namespace", point.workload->id.name_space},
                                  {"creationTimestamp", nullptr}}}};
    rows.push_back(json::object{
        {"cells", is_target ? TargetCells(row, freshness) : ValueCells(row)}, {"object", object}});
  }
  return JsonAnswer(
      {{"kind", "Table"},
       {"apiVersion", version},
       {"metadata", json::object()},
       {"columnDefinitions", is_target ? Definitions(kTargetColumns) : Definitions(kValueColumns)},
       {"rows", std::move(rows)}});
}

}  // namespace tidemark::kubernetes
