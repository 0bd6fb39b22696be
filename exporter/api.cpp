#include "exporter/api.h"

#include <filesystem>
#include <optional>
#include <string_view>
#include <system_error>
#include <utility>

#include "exporter/advice_json.h"
#include "exporter/answer_json.h"
#include "exporter/find_advice.h"
#include "exporter/json_writer.h"
#include "exporter/recommendation_query.h"
#include "exporter/summary_json.h"
#include "model/advice_text.h"
#include "model/scaling_text.h"

namespace tidemark::exporter {
namespace {

// As the engine calls them (StateReader::Explain).
constexpr std::string_view kBoundsPrerequisite = "bounds";
constexpr std::string_view kRequestPrerequisite = "request of a pod";

void WriteItem(const ItemPosition& item, const WorkloadAdvice& workload, const Profile* profile,
               const ResourceAdvice& advice, const ResourceTable& names, const Prices& prices,
               JsonWriter& json) {
  json.BeginObject();
  WriteUnlessEmpty("cluster", item.cluster, json);
  json.Member("namespace", item.name_space);
  json.Member("workload_type", item.workload_type);
  json.Member("workload", item.workload);
  WriteUnlessEmpty("container", item.container, json);
  WriteAdvice(advice, names, json);
  WriteIfKnown("savings_per_month", MonthlySavings(prices, advice), json);
  WriteIfKnown("workload_savings_per_month", MonthlySavings(prices, workload), json);
  json.Key("replicas"), json.Number(workload.replicas);
  if (workload.workload_class != WorkloadClass::kUnknown) {
    json.Member("class", ToString(workload.workload_class));
  }
  if (workload.last_sample_ms != 0) WriteTime("last_sample", workload.last_sample_ms, json);
  if (profile != nullptr) {
    json.Member("profile", profile->name);
    json.Member("reason", AdviceText(*profile, advice));
  }
  json.EndObject();
}

/// Every item of a block in order, until `visit` says false; false then.
template <class F>
bool VisitBlock(const NamespaceBlock& block, const F& visit) {
  for (const WorkloadAdvice& workload : block.workloads) {
    for (const ContainerAdvice& container : workload.containers) {
      for (const ResourceAdvice& advice : container.resources) {
        const ItemPosition item = {workload.id.cluster,       workload.id.name_space,
                                   workload.id.workload_type, workload.id.workload,
                                   container.container,       advice.resource};
        if (!visit(item, workload, container.profile, advice)) return false;
      }
    }
  }
  return true;
}

/// Writes one page of items as an array; the token of the next page when there is one.
std::optional<std::string> WritePage(const Snapshot& snapshot, const RecommendationQuery& query,
                                     const Prices& prices, JsonWriter& json) {
  const std::optional<ItemPosition> after = query.After(*snapshot.resources);
  std::optional<ItemPosition> last;
  std::optional<std::string> next;
  size_t written = 0;
  json.BeginArray();
  // False when the page is full and this item is the first of the next.
  const auto visit = [&](const ItemPosition& item, const WorkloadAdvice& workload,
                         const Profile* profile, const ResourceAdvice& advice) {
    if ((after && item <= *after) || !query.Matches(item)) return true;
    if (written == query.limit) {
      next = EncodePageToken(*last, *snapshot.resources);
      return false;
    }
    WriteItem(item, workload, profile, advice, *snapshot.resources, prices, json);
    last = item;
    ++written;
    return true;
  };
  for (const auto& block : snapshot.blocks) {
    using Place = std::pair<std::string_view, std::string_view>;
    if (after &&
        Place(block->cluster, block->name_space) < Place(after->cluster, after->name_space))
      continue;
    if (!VisitBlock(*block, visit)) break;
  }
  json.EndArray();
  return next;
}

/// Of all items that match.
AllRequestSums SumsOf(const Snapshot& snapshot, const RecommendationQuery& query) {
  AllRequestSums sums;
  const auto add = [&](const ItemPosition& item, const WorkloadAdvice& workload,
                       const Profile* /*profile*/, const ResourceAdvice& advice) {
    if (query.Matches(item)) sums.Add(workload, advice);
    return true;
  };
  for (const auto& block : snapshot.blocks) VisitBlock(*block, add);
  return sums;
}

void WritePrerequisite(const Prerequisite& each, bool is_given, JsonWriter& json) {
  json.BeginObject();
  json.Member("what", each.what);
  json.Key("present"), json.Bool(each.present || is_given);
  if (each.last_sample_ms) WriteTime("last_sample", *each.last_sample_ms, json);
  if (!is_given) WriteUnlessEmpty("hint", each.hint, json);
  json.EndObject();
}

/// Whether what no series tells comes from the configuration.
bool IsGiven(const Prerequisite& each, const WorkloadScaling* scaling) {
  if (each.present || scaling == nullptr) return false;
  return (each.what == kBoundsPrerequisite && scaling->bounds) ||
         (each.what == kRequestPrerequisite && scaling->request);
}

/// What a target of replicas lacks; nothing where there is nothing to say.
void WriteScalingStatus(const WorkloadStatus& status, const Snapshot& snapshot, JsonWriter& json) {
  const WorkloadAdvice* const advice = FindAdvice(
      snapshot, {status.cluster, status.name_space, status.workload_type, status.workload});
  const WorkloadScaling* const scaling = advice == nullptr ? nullptr : advice->scaling.get();
  if (scaling == nullptr && status.scaling_prerequisites.empty()) return;
  json.Key("scaling");
  json.BeginObject();
  json.Key("has_target"), json.Bool(scaling != nullptr && scaling->decision);
  if (scaling != nullptr) {
    if (!scaling->decision) WriteUnlessEmpty("why", scaling->why, json);
    json.Member("sentence", ScalingText(*scaling, DemandResourceOf(*advice)));
  }
  json.Key("prerequisites");
  json.BeginArray();
  for (const Prerequisite& each : status.scaling_prerequisites) {
    WritePrerequisite(each, IsGiven(each, scaling), json);
  }
  json.EndArray();
  json.EndObject();
}

void WriteWorkloadStatus(const WorkloadStatus& status, const Snapshot& snapshot, JsonWriter& json) {
  json.BeginObject();
  WriteUnlessEmpty("cluster", status.cluster, json);
  json.Member("namespace", status.name_space);
  WriteUnlessEmpty("workload_type", status.workload_type, json);
  json.Member("workload", status.workload);
  json.Key("has_recommendation"), json.Bool(status.has_recommendation);
  json.Key("prerequisites");
  json.BeginArray();
  for (const Prerequisite& each : status.prerequisites) WritePrerequisite(each, false, json);
  json.EndArray();
  WriteScalingStatus(status, snapshot, json);
  json.Key("pods");
  json.BeginArray();
  for (const PodStatus& pod : status.pods) {
    json.BeginObject();
    json.Member("pod", pod.pod);
    json.Member("owner", pod.owner);
    WriteUnlessEmpty("workload", pod.workload, json);
    json.EndObject();
  }
  json.EndArray();
  json.EndObject();
}

HttpResponse ExplainAnswer(const Snapshot& snapshot, const StateReader& state,
                           std::string_view name_space, std::string_view workload) {
  const Result<std::vector<WorkloadStatus>> found = state.Explain(name_space, workload);
  if (!found) return ErrorAnswer(found.error());
  return SuccessAnswer([&](JsonWriter& json) {
    json.BeginObject();
    json.Key("workloads");
    json.BeginArray();
    for (const WorkloadStatus& status : *found) WriteWorkloadStatus(status, snapshot, json);
    json.EndArray();
    json.EndObject();
  });
}

void WriteSources(const Snapshot& snapshot, JsonWriter& json) {
  json.BeginObject();
  json.Key("generation"), json.Unsigned(snapshot.generation);
  json.Key("sources");
  json.BeginArray();
  for (const SourceStatus& source : snapshot.sources) {
    json.BeginObject();
    json.Member("role", source.role);
    json.Member("metric", source.metric);
    json.Key("series"), json.Unsigned(source.series);
    if (source.last_sample_ms) WriteTime("last_sample", *source.last_sample_ms, json);
    json.Key("missing"), json.Bool(!source.last_sample_ms);
    json.EndObject();
  }
  json.EndArray();
  json.EndObject();
}

}  // namespace

HttpResponse ErrorAnswer(const Error& error) {
  unsigned status = 500;
  std::string_view type = "internal";
  switch (error.code) {
    case ErrorCode::kInvalidArgument: status = 400, type = "bad_data"; break;
    case ErrorCode::kNotFound: status = 404, type = "not_found"; break;
    case ErrorCode::kUnavailable: status = 503, type = "unavailable"; break;
    case ErrorCode::kIo:
    case ErrorCode::kInternal: break;
  }
  JsonWriter json;
  json.BeginObject();
  json.Member("status", "error");
  json.Member("errorType", type);
  json.Member("error", error.message);
  json.EndObject();
  return JsonAnswer(status, json);
}

HttpResponse RecommendationsAnswer(const Snapshot& snapshot, const Prices& prices,
                                   const HttpRequest& request) {
  const Result<RecommendationQuery> query = ParseRecommendationQuery(request, *snapshot.resources);
  if (!query) return ErrorAnswer(query.error());
  return SuccessAnswer([&](JsonWriter& json) {
    json.BeginObject();
    json.Key("generation"), json.Unsigned(snapshot.generation);
    if (snapshot.published_ms != 0) WriteTime("published", snapshot.published_ms, json);
    json.Key("recommendations");
    const std::optional<std::string> next = WritePage(snapshot, *query, prices, json);
    if (next) json.Member("next", *next);
    json.Key("summary");
    WriteSummary(SumsOf(snapshot, *query), prices, *snapshot.resources, json);
    json.EndObject();
  });
}

HttpResponse SourcesAnswer(const Snapshot& snapshot, const StateReader& state,
                           const HttpRequest& request) {
  const Result<void> known = CheckParameters(request, {"namespace", "workload"});
  if (!known) return ErrorAnswer(known.error());
  const std::optional<std::string_view> name_space = request.Query("namespace");
  const std::optional<std::string_view> workload = request.Query("workload");
  if (!name_space && !workload) {
    return SuccessAnswer([&](JsonWriter& json) { WriteSources(snapshot, json); });
  }
  for (const auto& [name, value] :
       {std::pair("namespace", name_space), std::pair("workload", workload)}) {
    if (!value || value->empty()) {
      return ErrorAnswer(
          {ErrorCode::kInvalidArgument,
           std::string("parameter \"") + name +
               "\" is missing or empty; give both \"namespace\" and \"workload\", or neither"});
    }
  }
  return ExplainAnswer(snapshot, state, *name_space, *workload);
}

HttpResponse BuildInfoAnswer(const BuildInfo& build) {
  return SuccessAnswer([&](JsonWriter& json) {
    json.BeginObject();
    json.Member("version", build.version);
    json.Member("revision", build.revision);
    json.Member("branch", build.branch);
    json.Member("compiler", build.compiler);
    json.EndObject();
  });
}

HttpResponse ConfigAnswer(const std::string& yaml) {
  return SuccessAnswer([&](JsonWriter& json) {
    json.BeginObject();
    json.Member("yaml", yaml);
    json.EndObject();
  });
}

HttpResponse RuntimeInfoAnswer(const RuntimeInfo& info, const EngineCounters& engine,
                               const Snapshot& snapshot) {
  std::error_code error;
  const std::string working_directory = std::filesystem::current_path(error).string();
  return SuccessAnswer([&](JsonWriter& json) {
    const auto count = [&](std::string_view key, const std::atomic<int64_t>& value) {
      json.Key(key), json.Integer(value.load(std::memory_order_relaxed));
    };
    json.BeginObject();
    WriteTime("startTime", ToUnixMs(info.started), json);
    json.Member("CWD", working_directory);
    WriteTime("serverTime", ToUnixMs(info.now), json);
    json.Member("storagePath", info.storage_path);
    count("timeSeriesCount", engine.series_now);
    count("namespaceCount", engine.namespaces_now);
    count("workloadCount", engine.workloads_now);
    count("podCount", engine.pods_now);
    count("containerCount", engine.containers_now);
    json.Key("snapshotGeneration"), json.Unsigned(snapshot.generation);
    if (snapshot.published_ms != 0) {
      WriteTime("snapshotTime", snapshot.published_ms, json);
      json.Key("snapshotAgeSeconds");
      json.Number(static_cast<double>(ToUnixMs(info.now) - snapshot.published_ms) / 1000);
    }
    json.EndObject();
  });
}

}  // namespace tidemark::exporter
