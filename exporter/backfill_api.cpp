#include "exporter/backfill_api.h"

#include <algorithm>
#include <cctype>
#include <string>

#include "exporter/api.h"
#include "exporter/json_writer.h"
#include "model/rfc3339.h"

namespace tidemark::exporter {
namespace {

constexpr uint64_t kMaxBody = uint64_t{256} << 10;  // certificates are in it

HttpResponse Answer(unsigned status, JsonWriter& json) {
  HttpResponse response;
  response.status = status;
  response.headers.push_back({"Content-Type", "application/json"});
  response.body = json.Take();
  return response;
}

bool IsJson(std::string_view content_type) {
  std::string type(content_type.substr(0, content_type.find(';')));
  while (!type.empty() && type.back() == ' ') type.pop_back();
  std::ranges::transform(type, type.begin(), [](unsigned char c) { return std::tolower(c); });
  return type == "application/json";
}

HttpResponse ErrorWith(unsigned status, std::string_view type, std::string_view message) {
  JsonWriter json;
  json.BeginObject();
  json.Member("status", "error");
  json.Member("errorType", type);
  json.Member("error", message);
  json.EndObject();
  return Answer(status, json);
}

HttpResponse Begin(BackfillControl& control, const HttpRequest& request) {
  if (!IsJson(request.Header("Content-Type"))) {
    return ErrorWith(415, "bad_data", "Content-Type is not application/json");
  }
  const auto wish = ParseBackfillRequest(request.body);
  if (!wish) return ErrorAnswer(wish.error());
  const auto begun = control.Start(*wish);
  const bool busy = control.Status().state == BackfillState::kRunning;
  if (!begun && begun.error().code == ErrorCode::kUnavailable && busy) {
    return ErrorWith(409, "conflict", begun.error().message);
  }
  if (!begun) return ErrorAnswer(begun.error());
  JsonWriter json;
  json.BeginObject();
  json.Member("status", "success");
  json.Key("data");
  json.BeginObject();
  json.Member("state", ToString(BackfillState::kRunning));
  json.Key("resumed"), json.Bool(*begun);
  json.EndObject();
  json.EndObject();
  return Answer(202, json);
}

HttpResponse Cancel(BackfillControl& control) {
  const auto done = control.Cancel();
  if (!done) return ErrorAnswer(done.error());
  return BackfillStatusAnswer(control.Status());
}

void Lines(std::string_view key, const std::vector<std::string>& lines, JsonWriter& json) {
  json.Key(key);
  json.BeginArray();
  for (const std::string& line : lines) json.String(line);
  json.EndArray();
}

void Time(std::string_view key, int64_t unix_ms, JsonWriter& json) {
  if (unix_ms != 0) json.Member(key, FormatRfc3339(unix_ms));
}

void SecondsOf(std::string_view key, int64_t time_ms, JsonWriter& json) {
  json.Key(key), json.Number(static_cast<double>(time_ms) / 1000);
}

void WriteStatus(const BackfillStatus& status, JsonWriter& json) {
  const auto count = [&](std::string_view key, uint64_t value) {
    json.Key(key), json.Unsigned(value);
  };
  json.BeginObject();
  json.Member("state", ToString(status.state));
  if (status.state != BackfillState::kIdle) {
    json.Member("url", status.url);
    Time("start", status.start_ms, json);
    Time("end", status.end_ms, json);
    SecondsOf("step_seconds", status.step_ms, json);
    json.Key("progress_ratio"), json.Number(status.progress_ratio);
    if (status.eta_ms >= 0) SecondsOf("eta_seconds", status.eta_ms, json);
    Time("started", status.started_ms, json);
    Time("ended", status.ended_ms, json);
    count("namespaces_done", status.namespaces_done);
    count("namespaces_total", status.namespaces_total);
    count("queries", status.queries);
    count("samples", status.samples);
    count("bytes", status.bytes);
    count("containers", status.containers);
    count("minutes", status.minutes);
    if (!status.current_namespaces.empty()) json.Member("current", status.current_namespaces);
    Time("window_start", status.window_start_ms, json);
    Time("window_end", status.window_end_ms, json);
    if (!status.error.empty()) json.Member("error", status.error);
    if (!status.trouble.empty()) json.Member("trouble", status.trouble);
    count("not_covered_total", status.not_covered_total);
    Lines("not_covered", status.not_covered, json);
    Lines("notes", status.notes, json);
  }
  json.EndObject();
}

}  // namespace

HttpResponse BackfillStatusAnswer(const BackfillStatus& status) {
  JsonWriter json;
  json.BeginObject();
  json.Member("status", "success");
  json.Key("data");
  WriteStatus(status, json);
  json.EndObject();
  return Answer(200, json);
}

std::vector<HttpRoute> BackfillRoutes(BackfillControl& control) {
  HttpRoute job;
  job.path = "/api/v1/backfill";
  job.methods = {"POST", "DELETE"};
  job.handler = [&control](const HttpRequest& request) {
    return request.method == "POST" ? Begin(control, request) : Cancel(control);
  };
  job.max_body_bytes = kMaxBody;
  // It makes the daemon ask other servers: where tokens are configured, not without one.
  job.wants_bearer_token = true;

  HttpRoute status;
  status.path = "/api/v1/status/backfill";
  status.methods = {"GET"};
  status.handler = [&control](const HttpRequest&) {
    return BackfillStatusAnswer(control.Status());
  };
  status.max_body_bytes = 0;
  return {std::move(job), std::move(status)};
}

}  // namespace tidemark::exporter
