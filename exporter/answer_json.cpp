#include "exporter/answer_json.h"

#include "model/rfc3339.h"

namespace tidemark::exporter {

HttpResponse JsonAnswer(unsigned status, JsonWriter& json) {
  HttpResponse response;
  response.status = status;
  response.headers.push_back({"Content-Type", "application/json"});
  response.body = json.Take();
  return response;
}

void WriteIfKnown(std::string_view key, const std::optional<double>& value, JsonWriter& json) {
  if (value) json.Key(key), json.Number(*value);
}

void WriteUnlessEmpty(std::string_view key, std::string_view value, JsonWriter& json) {
  if (!value.empty()) json.Member(key, value);
}

void WriteTime(std::string_view key, int64_t unix_ms, JsonWriter& json) {
  json.Member(key, FormatRfc3339(unix_ms));
}

}  // namespace tidemark::exporter
