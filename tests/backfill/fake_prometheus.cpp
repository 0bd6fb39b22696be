#include "tests/backfill/fake_prometheus.h"

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <boost/json/serialize.hpp>
#include <cmath>
#include <set>
#include <stdexcept>

#include "model/selector.h"

namespace tidemark::backfill {
namespace {

namespace json = boost::json;
using client::FakeRequest;
using client::HttpAnswer;

std::vector<LabelView> Views(const FakeSeries& series) {
  std::vector<LabelView> views;
  for (const auto& [name, value] : series.labels) views.push_back({name, value});
  return views;
}

std::string LabelOf(const FakeSeries& series, const std::string& name) {
  const auto found = series.labels.find(name);
  return found == series.labels.end() ? "" : found->second;
}

/// `metric{matchers}`; throws where it is none: a query that this server does not know is a fault
/// of the test or of what is tested.
std::vector<const FakeSeries*> Select(const std::vector<FakeSeries>& all, const std::string& text) {
  const size_t brace = text.find('{');
  const auto selector = Selector::Parse(brace == std::string::npos ? "{}" : text.substr(brace));
  if (!selector) throw std::runtime_error("no selector: " + text);
  std::vector<const FakeSeries*> out;
  for (const FakeSeries& series : all) {
    if (LabelOf(series, "__name__") == text.substr(0, brace) && selector->Matches(Views(series))) {
      out.push_back(&series);
    }
  }
  return out;
}

bool Lives(const FakeSeries& series, int64_t time_ms) {
  return series.from_ms <= time_ms && time_ms <= series.to_ms;
}

std::string ValueText(double value) {
  if (std::isnan(value)) return "NaN";
  if (std::isinf(value)) return value > 0 ? "+Inf" : "-Inf";
  char text[64];
  std::snprintf(text, sizeof text, "%.17g", value);
  return text;
}

json::object LabelsJson(const std::map<std::string, std::string>& labels) {
  json::object out;
  for (const auto& [name, value] : labels) out[name] = value;
  return out;
}

std::string Success(const std::string& type, json::array result) {
  json::object data{{"resultType", type}, {"result", std::move(result)}};
  return HttpAnswer(
      200,
      std::string(json::serialize(json::object{{"status", "success"}, {"data", std::move(data)}})));
}

int64_t Milliseconds(const FakeRequest& request, const std::string& name) {
  return std::llround(std::stod(request.Parameter(name).value()) * 1000);
}

}  // namespace

std::string PrometheusError(int status, const std::string& type, const std::string& text) {
  return HttpAnswer(status, std::string(json::serialize(json::object{
                                {"status", "error"}, {"errorType", type}, {"error", text}})));
}

FakePrometheus::FakePrometheus()
    : server_([this](const FakeRequest& request) { return Answer(request); }) {}

std::vector<std::string> FakePrometheus::RangeQueries() const {
  const std::lock_guard lock(mutex_);
  return range_queries_;
}

size_t FakePrometheus::requests() const {
  const std::lock_guard lock(mutex_);
  return requests_;
}

std::string FakePrometheus::Instant(const std::string& query, int64_t time_ms) const {
  json::array result;
  const json::array point{static_cast<double>(time_ms) / 1000, "1"};
  if (query == "vector(1)") {
    result.push_back(json::object{{"metric", json::object()}, {"value", point}});
    return Success("vector", std::move(result));
  }
  if (query.starts_with("max(count_over_time(") && query.ends_with("[1h]))")) {
    if (sample_interval_ms > 0) {
      const int64_t count = 3'600'000 / sample_interval_ms;
      result.push_back(json::object{
          {"metric", json::object()},
          {"value", json::array{static_cast<double>(time_ms) / 1000, std::to_string(count)}}});
    }
    return Success("vector", std::move(result));
  }
  if (query.ends_with("}")) {
    const std::vector<const FakeSeries*> found = Select(series, query);
    for (const FakeSeries* one : found) {
      if (!Lives(*one, time_ms)) continue;
      result.push_back(json::object{{"metric", LabelsJson(one->labels)},
                                    {"value", json::array{static_cast<double>(time_ms) / 1000,
                                                          ValueText(one->value(time_ms))}}});
    }
    if (max_samples != 0 && result.size() > max_samples) {
      return PrometheusError(
          422, "execution",
          "query processing would load too many samples into memory in query execution");
    }
    return Success("vector", std::move(result));
  }
  std::vector<std::string> by;
  size_t open = std::string("count").size();
  if (query.starts_with("count by (")) {
    const size_t begin = std::string("count by (").size();
    const size_t end = query.find(") (");
    std::string names = query.substr(begin, end - begin);
    while (!names.empty()) {
      const size_t comma = std::min(names.find(','), names.size());
      by.push_back(names.substr(0, comma));
      names.erase(0, comma + 1);
    }
    open = end + 2;
  } else if (!query.starts_with("count(")) {
    throw std::runtime_error("unknown query " + query);
  }
  std::map<std::map<std::string, std::string>, int> counts;
  std::string selector = query.substr(open + 1, query.size() - open - 2);
  const bool above_zero = selector.ends_with(" > 0");
  if (above_zero) selector.resize(selector.size() - std::string(" > 0").size());
  for (const FakeSeries* one : Select(series, selector)) {
    if (!Lives(*one, time_ms) || (above_zero && !(one->value(time_ms) > 0))) continue;
    std::map<std::string, std::string> group;
    for (const std::string& name : by) {
      if (!LabelOf(*one, name).empty()) group[name] = LabelOf(*one, name);
    }
    ++counts[group];
  }
  for (const auto& [group, count] : counts) {
    result.push_back(json::object{
        {"metric", LabelsJson(group)},
        {"value", json::array{static_cast<double>(time_ms) / 1000, std::to_string(count)}}});
  }
  return Success("vector", std::move(result));
}

std::string FakePrometheus::Range(const FakeRequest& request) {
  std::string query = request.Parameter("query").value();
  {
    const std::lock_guard lock(mutex_);
    range_queries_.push_back(query);
  }
  const std::string function = "last_over_time(";
  if (!query.starts_with(function)) throw std::runtime_error("the last value would be repeated");
  query = query.substr(function.size(), query.rfind('[') - function.size());
  const int64_t start = Milliseconds(request, "start");
  const int64_t end = Milliseconds(request, "end");
  const int64_t step = Milliseconds(request, "step");
  if (start % step != 0 || end % step != 0 || (end - start) / step >= 11'000) {
    throw std::runtime_error("not aligned, or too many points");
  }
  json::array result;
  uint64_t samples = 0;
  for (const FakeSeries* one : Select(series, query)) {
    json::array values;
    for (int64_t time = start; time <= end; time += step) {
      if (!Lives(*one, time)) continue;
      values.push_back(json::array{static_cast<double>(time) / 1000, ValueText(one->value(time))});
      ++samples;
    }
    if (values.empty()) continue;
    result.push_back(
        json::object{{"metric", LabelsJson(one->labels)}, {"values", std::move(values)}});
  }
  if (max_samples != 0 && samples > max_samples) {
    return PrometheusError(
        422, "execution",
        "query processing would load too many samples into memory in query execution");
  }
  return Success("matrix", std::move(result));
}

std::optional<std::string> FakePrometheus::Answer(const FakeRequest& request) {
  {
    const std::lock_guard lock(mutex_);
    ++requests_;
  }
  if (instead) {
    if (auto other = instead(request)) return other;
  }
  if (only_get && request.method == "POST") return HttpAnswer(405, "", "text/plain");
  const std::string path = request.Path();
  try {
    if (path == "/api/v1/query") {
      return Instant(request.Parameter("query").value(), Milliseconds(request, "time"));
    }
    if (path == "/api/v1/query_range") return Range(request);
    std::set<std::string> names;
    const bool values = path.starts_with("/api/v1/label/");
    const std::string label =
        values ? path.substr(14, path.find('/', 14) - 14) : std::string("__name__");
    if ((!values && path != "/api/v1/labels") || no_label_values) {
      return HttpAnswer(404, "404 page not found\n", "text/plain");
    }
    for (const FakeSeries* one : Select(series, request.Parameter("match[]").value())) {
      if (one->from_ms > Milliseconds(request, "end")) continue;
      if (one->to_ms < Milliseconds(request, "start")) continue;
      if (values && !LabelOf(*one, label).empty()) names.insert(LabelOf(*one, label));
      for (const auto& [name, value] : one->labels) {
        if (!values) names.insert(name);
      }
    }
    json::array list;
    for (const std::string& name : names) list.push_back(json::string(name));
    return HttpAnswer(200, std::string(json::serialize(
                               json::object{{"status", "success"}, {"data", std::move(list)}})));
  } catch (const std::exception& wrong) {
    return PrometheusError(400, "bad_data", wrong.what());
  }
}

std::vector<FakeSeries> ContainerSeries(const std::string& name_space, const std::string& pod,
                                        const std::string& cluster) {
  const auto make = [&](const std::string& name, std::map<std::string, std::string> more) {
    FakeSeries out;
    out.labels = std::move(more);
    out.labels["__name__"] = name;
    out.labels["namespace"] = name_space;
    out.labels["pod"] = pod;
    if (!cluster.empty()) out.labels["cluster"] = cluster;
    return out;
  };
  return {make("container_cpu_usage_seconds_total", {{"container", "app"}, {"cpu", "total"}}),
          make("container_cpu_usage_seconds_total", {{"container", "POD"}, {"cpu", "total"}}),
          make("container_cpu_usage_seconds_total", {{"cpu", "total"}, {"id", "/pod"}}),
          make("container_memory_working_set_bytes", {{"container", "app"}}),
          make("kube_pod_owner", {{"owner_kind", "ReplicaSet"}, {"owner_name", pod + "-rs"}})};
}

std::vector<FakeSeries> KilledSeries(const std::string& name_space, const std::string& pod,
                                     bool killed) {
  const auto make = [&](const std::string& name, std::map<std::string, std::string> more) {
    FakeSeries out;
    out.labels = std::move(more);
    out.labels["__name__"] = name;
    out.labels["namespace"] = name_space;
    out.labels["pod"] = pod;
    out.labels["container"] = "app";
    out.value = [](int64_t) { return 1.0; };
    return out;
  };
  std::vector<FakeSeries> all = {
      make("kube_pod_container_status_restarts_total", {}),
      make("kube_pod_container_resource_requests", {{"resource", "cpu"}, {"unit", "core"}}),
      make("kube_pod_container_resource_requests", {{"resource", "memory"}, {"unit", "byte"}}),
      make("container_oom_events_total", {})};
  all.back().value = [killed](int64_t) { return killed ? 1.0 : 0.0; };
  all.push_back(make("kube_pod_container_status_last_terminated_reason",
                     {{"reason", killed ? "OOMKilled" : "Error"}}));
  all.push_back(make("kube_pod_container_status_last_terminated_timestamp", {}));
  return all;
}

}  // namespace tidemark::backfill
