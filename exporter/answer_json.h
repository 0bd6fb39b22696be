#pragma once
// What all answers of the JSON API have in common. Thread-safe as far as the writer is.

#include <cstdint>
#include <optional>
#include <string_view>
#include <utility>

#include "exporter/json_writer.h"
#include "model/http.h"

namespace tidemark::exporter {

/// What `json` holds, as an answer.
HttpResponse JsonAnswer(unsigned status, JsonWriter& json);

/// {"status":"success","data":...}; `write_data(json)` writes the value of `data`.
template <class F>
HttpResponse SuccessAnswer(F&& write_data) {
  JsonWriter json;
  json.BeginObject();
  json.Member("status", "success");
  json.Key("data");
  std::forward<F>(write_data)(json);
  json.EndObject();
  return JsonAnswer(200, json);
}

// Members of an object. What is not known, or empty, is left out.
void WriteIfKnown(std::string_view key, const std::optional<double>& value, JsonWriter& json);
void WriteUnlessEmpty(std::string_view key, std::string_view value, JsonWriter& json);
/// RFC 3339 in UTC.
void WriteTime(std::string_view key, int64_t unix_ms, JsonWriter& json);

}  // namespace tidemark::exporter
