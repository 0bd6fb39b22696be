#include "exporter/rightsize_api.h"

#include <fmt/format.h>

#include <optional>
#include <string>
#include <string_view>

#include "exporter/answer_json.h"
#include "exporter/api.h"
#include "model/quoted.h"
#include "model/snapshot_lookup.h"
#include "rightsizing/manifest.h"
#include "rightsizing/pod_plan.h"

namespace tidemark::exporter {
namespace {

using rightsizing::ManifestLine;
using rightsizing::RightsizedManifest;

struct Query {
  std::string name_space;
  std::optional<std::string> cluster;
  bool report = false;
};

Result<Query> ReadQuery(const HttpRequest& request) {
  Query query;
  for (const auto& [name, value] : request.query) {
    if (name == "namespace") {
      query.name_space = value;
    } else if (name == "cluster") {
      query.cluster = value;
    } else if (name == "report" && (value == "true" || value == "false")) {
      query.report = value == "true";
    } else {
      return Fail(ErrorCode::kInvalidArgument,
                  fmt::format("parameter {} is not known; allowed are namespace=, cluster=, "
                              "report=true",
                              QuotedText(fmt::format("{}={}", name, value))));
    }
  }
  return query;
}

/// Whose workloads the manifest's are.
Result<std::string> ClusterOf(const Snapshot& snapshot, const Query& query) {
  if (query.cluster) {
    if (!BlocksOf(snapshot, *query.cluster).empty()) return *query.cluster;
    return Fail(ErrorCode::kNotFound, "nothing is known of the cluster " +
                                          QuotedText(*query.cluster) +
                                          ": no series carries it in the label cluster");
  }
  if (auto only = ServedCluster("", snapshot)) return *std::move(only);
  const std::string& first = snapshot.blocks.front()->cluster;
  const std::string& last = snapshot.blocks.back()->cluster;
  return Fail(ErrorCode::kInvalidArgument, "the streams carry more than one cluster (" +
                                               QuotedText(first) + ", " + QuotedText(last) +
                                               " among them): say which with cluster=");
}

void WriteLines(std::string_view key, const std::vector<ManifestLine>& lines, JsonWriter& json) {
  json.Key(key);
  json.BeginArray();
  for (const ManifestLine& line : lines) {
    json.BeginObject();
    json.Key("document");
    json.Unsigned(line.document);
    json.Member("kind", line.kind);
    json.Member("namespace", line.name_space);
    json.Member("name", line.name);
    WriteUnlessEmpty("container", line.container, json);
    WriteUnlessEmpty("resource", line.resource, json);
    WriteUnlessEmpty("before", line.before, json);
    WriteUnlessEmpty("after", line.after, json);
    WriteUnlessEmpty("rule", line.rule, json);
    json.Member("what", line.what);
    json.EndObject();
  }
  json.EndArray();
}

HttpResponse Report(const std::string& posted, const RightsizedManifest& done) {
  return SuccessAnswer([&](JsonWriter& json) {
    json.BeginObject();
    json.Key("changed");
    json.Bool(done.text != posted);
    json.Member("manifest", done.text);
    WriteLines("changes", done.changes, json);
    WriteLines("kept", done.kept, json);
    json.EndObject();
  });
}

}  // namespace

HttpResponse RightsizeAnswer(const Snapshot& snapshot, const ProfileSet& profiles,
                             const RightsizingSettings& settings, const HttpRequest& request) {
  const auto query = ReadQuery(request);
  if (!query) return ErrorAnswer(query.error());
  const auto cluster = ClusterOf(snapshot, *query);
  if (!cluster) return ErrorAnswer(cluster.error());
  auto done = rightsizing::RightsizeManifest(
      request.body, query->name_space, [&](const rightsizing::PodView& given) {
        rightsizing::PodView pod = given;
        pod.workload.cluster = *cluster;
        const NamespaceBlock* const block =
            FindNamespace(snapshot, *cluster, pod.workload.name_space);
        return rightsizing::PlanPod(
            pod, {.advice = FindWorkload(block, pod.workload.workload_type, pod.workload.workload),
                  .block = block,
                  .profiles = profiles,
                  .settings = settings,
                  .is_asked_for = true});
      });
  if (!done) return ErrorAnswer(done.error());
  if (query->report) return Report(request.body, *done);
  HttpResponse response;
  const bool is_json = done->format == rightsizing::ManifestFormat::kJson;
  response.headers.push_back({"Content-Type", is_json ? "application/json" : "application/yaml"});
  response.headers.push_back({"Tidemark-Changed-Requests", std::to_string(done->changes.size())});
  response.body = std::move(done->text);
  return response;
}

}  // namespace tidemark::exporter
