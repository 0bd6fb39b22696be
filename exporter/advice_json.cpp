#include "exporter/advice_json.h"

#include "exporter/answer_json.h"
#include "model/advice_text.h"

namespace tidemark::exporter {

namespace {

void WriteHighWater(const std::vector<HighWaterMark>& marks, JsonWriter& json) {
  json.Key("high_water");
  json.BeginArray();
  for (const HighWaterMark& mark : marks) {
    json.BeginObject();
    json.Key("risk"), json.Number(mark.risk);
    json.Key("value"), json.Number(mark.value);
    json.Key("fitted"), json.Bool(mark.fitted);
    json.Key("confident"), json.Bool(mark.confident);
    json.Key("censored"), json.Bool(mark.censored);
    json.EndObject();
  }
  json.EndArray();
}

}  // namespace

void WriteAdvice(const ResourceAdvice& advice, const ResourceTable& names, JsonWriter& json) {
  json.Member("resource", names.NameOf(advice.resource));
  json.Member("unit", names.UnitOf(advice.resource));
  WriteIfKnown("current_request", advice.current_request, json);
  WriteIfKnown("current_limit", advice.current_limit, json);
  WriteIfKnown("original_request", advice.original_request, json);
  WriteIfKnown("model_request", advice.model_request, json);
  WriteIfKnown("recommended_request", advice.recommended_request, json);
  WriteIfKnown("lower_bound", advice.lower_bound, json);
  WriteIfKnown("upper_bound", advice.upper_bound, json);
  WriteIfKnown("reclaimable", advice.reclaimable, json);
  if (advice.model_request) {
    json.Key("confidence_days"), json.Number(advice.confidence_days);
    json.Key("samples"), json.Unsigned(advice.samples);
  }
  if (!advice.high_water.empty()) WriteHighWater(advice.high_water, json);
  if (advice.resource == Resource::kMemory) json.Key("kills"), json.Unsigned(advice.kills);
}

void WriteMarks(const ResourceAdvice& advice, JsonWriter& json) {
  json.BeginArray();
  for (const AdviceMark mark : kAllAdviceMarks) {
    if (advice.Has(mark)) json.String(ToString(mark));
  }
  json.EndArray();
}

}  // namespace tidemark::exporter
