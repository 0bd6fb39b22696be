#include "exporter/workload_api.h"

#include <algorithm>
#include <optional>
#include <string_view>
#include <vector>

#include "exporter/advice_json.h"
#include "exporter/answer_json.h"
#include "exporter/api.h"
#include "exporter/find_advice.h"
#include "exporter/forecast_json.h"
#include "exporter/json_writer.h"
#include "exporter/recommendation_query.h"
#include "exporter/scaling_json.h"
#include "model/advice_text.h"
#include "model/near_miss.h"
#include "model/quoted.h"
#include "rightsizing/correction.h"

namespace tidemark::exporter {
namespace {

/// Of what a client sent, in an error message.
constexpr size_t kLongestShown = 64;

void WriteNumber(std::string_view key, double value, JsonWriter& json) {
  json.Key(key), json.Number(value);
}

void WriteHistogram(const ExplainedHistogram& histogram, JsonWriter& json) {
  json.BeginObject();
  json.Key("samples"), json.Unsigned(histogram.samples);
  if (histogram.first_sample_ms) WriteTime("first_sample", *histogram.first_sample_ms, json);
  if (histogram.last_sample_ms) WriteTime("last_sample", *histogram.last_sample_ms, json);
  WriteNumber("half_life_seconds", static_cast<double>(histogram.half_life_ms) / 1000, json);
  WriteNumber("total_weight", histogram.total_weight, json);
  WriteNumber("p50", histogram.p50, json);
  WriteNumber("p90", histogram.p90, json);
  WriteNumber("p95", histogram.p95, json);
  WriteNumber("p99", histogram.p99, json);
  WriteNumber("max", histogram.max, json);
  json.Key("buckets");
  json.BeginArray();
  for (const ExplainedBucket& bucket : histogram.buckets) {
    json.BeginObject();
    WriteNumber("start", bucket.start, json);
    if (bucket.end != bucket.start) WriteNumber("end", bucket.end, json);
    WriteNumber("weight_ratio", bucket.weight_ratio, json);
    json.EndObject();
  }
  json.EndArray();
  json.EndObject();
}

void WriteHighWaterFit(const ExplainedHighWater& fit, JsonWriter& json) {
  json.BeginObject();
  WriteNumber("threshold", fit.threshold, json);
  json.Key("observations"), json.Unsigned(fit.observations);
  json.Key("excesses"), json.Unsigned(fit.excesses);
  json.Key("clusters"), json.Unsigned(fit.clusters);
  json.Member("method", fit.method);
  if (fit.method != "none") {
    WriteNumber("shape", fit.shape, json);
    WriteNumber("scale", fit.scale, json);
  }
  WriteIfKnown("end_point", fit.end_point, json);
  WriteUnlessEmpty("note", fit.note, json);
  json.EndObject();
}

void WriteKills(const std::vector<ExplainedKill>& kills, JsonWriter& json) {
  json.BeginArray();
  for (const ExplainedKill& kill : kills) {
    json.BeginObject();
    WriteTime("time", kill.time_ms, json);
    WriteIfKnown("request", kill.request, json);
    WriteNumber("needed", kill.needed, json);
    if (kill.holds_until_ms != kill.time_ms) WriteTime("holds_until", kill.holds_until_ms, json);
    json.EndObject();
  }
  json.EndArray();
}

void WriteSteps(const std::vector<ExplanationStep>& steps, JsonWriter& json) {
  json.BeginArray();
  for (const ExplanationStep& step : steps) {
    json.BeginObject();
    json.Member("name", step.name);
    WriteNumber("value", step.value, json);
    json.Key("changed"), json.Bool(step.changed);
    WriteUnlessEmpty("what", step.what, json);
    json.EndObject();
  }
  json.EndArray();
}

void WriteCorrection(const Profile& profile, const ResourceAdvice& advice, JsonWriter& json) {
  const rightsizing::Corrected corrected =
      rightsizing::CorrectRequest(profile.rule(advice.resource), profile.mode, profile.effect,
                                  advice, advice.original_request, advice.current_limit);
  json.BeginObject();
  json.Member("rule", ToString(corrected.rule));
  WriteIfKnown("request", corrected.request, json);
  json.Key("changed"), json.Bool(corrected.changed);
  json.Member("what", corrected.what);
  json.EndObject();
}

void WriteResource(const Profile& profile, const ResourceExplanation& resource, JsonWriter& json) {
  json.BeginObject();
  WriteAdvice(resource.advice, *profile.names, json);
  json.Key("marks");
  WriteMarks(resource.advice, json);
  json.Member("reason", AdviceText(profile, resource.advice));
  json.Key("steps");
  WriteSteps(resource.steps, json);
  json.Key("correction");
  WriteCorrection(profile, resource.advice, json);
  if (resource.high_water) {
    json.Key("high_water_fit");
    WriteHighWaterFit(*resource.high_water, json);
  }
  json.Key("kills_counted");
  WriteKills(resource.kills, json);
  json.Key("histogram");
  WriteHistogram(resource.histogram, json);
  json.EndObject();
}

void WriteProfile(const ContainerExplanation& container, JsonWriter& json) {
  const Profile& profile = container.profile;
  json.BeginObject();
  json.Member("name", profile.name);
  json.Member("preset", ToString(profile.preset));
  json.Member("level", ToString(profile.level));
  json.Key("strict"), json.Bool(profile.strict);
  json.Member("mode", ToString(profile.mode));
  json.Member("effect", ToString(profile.effect));
  json.Key("profiles_before");
  json.BeginArray();
  for (const auto& [name, why_not] : container.profiles_before) {
    json.BeginObject();
    json.Member("name", name);
    json.Member("why_not", why_not);
    json.EndObject();
  }
  json.EndArray();
  json.EndObject();
}

void WriteWorkload(const WorkloadExplanation& workload, const Snapshot& snapshot,
                   ForecastParts parts, JsonWriter& json) {
  const WorkloadAdvice* const advice = FindAdvice(snapshot, workload.id);
  // The same answer as everywhere; of a workload that came after the last tick what its shard says.
  const WorkloadScaling* scaling = workload.scaling ? &*workload.scaling : nullptr;
  if (advice != nullptr) scaling = advice->scaling.get();
  json.BeginObject();
  WriteUnlessEmpty("cluster", workload.id.cluster, json);
  json.Member("namespace", workload.id.name_space);
  json.Member("workload_type", workload.id.workload_type);
  json.Member("workload", workload.id.workload);
  WriteNumber("replicas", workload.replicas, json);
  if (advice != nullptr && advice->workload_class != WorkloadClass::kUnknown) {
    json.Member("class", ToString(advice->workload_class));
  }
  if (workload.event_time_ms != 0) WriteTime("event_time", workload.event_time_ms, json);
  json.Key("containers");
  json.BeginArray();
  for (const ContainerExplanation& container : workload.containers) {
    json.BeginObject();
    WriteUnlessEmpty("container", container.container, json);
    json.Key("profile");
    WriteProfile(container, json);
    json.Key("resources");
    json.BeginArray();
    for (const ResourceExplanation& resource : container.resources) {
      WriteResource(container.profile, resource, json);
    }
    json.EndArray();
    json.EndObject();
  }
  json.EndArray();
  if (workload.forecast) {
    json.Key("forecast");
    const LoadBase base = LoadBaseOf(workload.forecast->now, workload.replicas, scaling);
    WriteForecast(*workload.forecast, *snapshot.resources, base, parts, json);
  }
  if (scaling != nullptr) {
    json.Key("scaling");
    const Resource resource = workload.forecast ? workload.forecast->now.resource : Resource::kCpu;
    WriteScaling(*scaling, resource, *snapshot.resources, json);
  }
  json.EndObject();
}

Result<ForecastParts> ParseParts(const HttpRequest& request) {
  const std::string_view history = request.Query("history").value_or("true");
  if (history == "true") return ForecastParts::kAll;
  if (history == "false") return ForecastParts::kWithoutHistory;
  return Fail(ErrorCode::kInvalidArgument, "parameter \"history\" is " +
                                               QuotedText(history.substr(0, kLongestShown)) +
                                               "; allowed are true, false");
}

HttpResponse NotFoundAnswer(const Snapshot& snapshot, const WorkloadId& wanted,
                            std::string message) {
  const std::vector<std::string> near = NearMisses(snapshot, wanted);
  for (const std::string& each : near) {
    message += (&each == &near.front() ? "; perhaps " : ", ") + each;
  }
  return ErrorAnswer({ErrorCode::kNotFound, std::move(message)});
}

Result<WorkloadId> ParsePath(const HttpRequest& request) {
  // "api", "v1", "workloads" and three more.
  std::vector<std::string> segments = request.PathSegments();
  const auto wrong = [&] {
    return Fail(ErrorCode::kInvalidArgument,
                "the path of a workload is /api/v1/workloads/{namespace}/{type}/{name}, e.g. "
                "/api/v1/workloads/shop/deployment/web, each part percent-encoded and none empty");
  };
  if (segments.size() != 6) return wrong();
  if (std::any_of(segments.begin() + 3, segments.end(), [](const auto& s) { return s.empty(); })) {
    return wrong();
  }
  return WorkloadId{"", std::move(segments[3]), std::move(segments[4]), std::move(segments[5])};
}

}  // namespace

HttpResponse WorkloadAnswer(const Snapshot& snapshot, const StateReader& state,
                            const HttpRequest& request) {
  if (const Result<void> known = CheckParameters(request, {"cluster", "history"}); !known) {
    return ErrorAnswer(known.error());
  }
  Result<WorkloadId> wanted = ParsePath(request);
  if (!wanted) return ErrorAnswer(wanted.error());
  const Result<ForecastParts> parts = ParseParts(request);
  if (!parts) return ErrorAnswer(parts.error());
  const std::optional<std::string_view> cluster = request.Query("cluster");
  wanted->cluster = cluster.value_or("");
  Result<std::vector<WorkloadExplanation>> found =
      state.ExplainRequests(wanted->name_space, wanted->workload_type, wanted->workload);
  if (!found) {
    if (found.error().code != ErrorCode::kNotFound) return ErrorAnswer(found.error());
    return NotFoundAnswer(snapshot, *wanted, found.error().message);
  }
  if (cluster) {
    std::erase_if(*found, [&](const WorkloadExplanation& w) { return w.id.cluster != *cluster; });
    if (found->empty()) {
      return NotFoundAnswer(
          snapshot, *wanted,
          "the workload is not in cluster " + QuotedText(cluster->substr(0, kLongestShown)));
    }
  }
  return SuccessAnswer([&](JsonWriter& json) {
    json.BeginObject();
    json.Key("generation"), json.Unsigned(snapshot.generation);
    json.Key("workloads");
    json.BeginArray();
    for (const WorkloadExplanation& workload : *found) {
      WriteWorkload(workload, snapshot, *parts, json);
    }
    json.EndArray();
    json.EndObject();
  });
}

}  // namespace tidemark::exporter
