#include "cmd/replay_requests/pod_owners.h"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "backfill/query_text.h"
#include "model/label.h"

namespace tidemark::replay_requests {
namespace {

std::vector<LabelView> LabelsOf(const backfill::AnswerSeries& series) {
  std::vector<LabelView> labels;
  labels.reserve(series.labels.size());
  for (const auto& [name, value] : series.labels) labels.push_back({name, value});
  return labels;
}

std::string ValueOf(const backfill::AnswerSeries& series, std::string_view name) {
  const auto found =
      std::ranges::find(series.labels, name, &std::pair<std::string, std::string>::first);
  return found == series.labels.end() ? "" : found->second;
}

/// Everything that was said at any time in the range.
std::string EverSaid(std::string_view metric, std::string_view matchers, std::string_view by,
                     int64_t range_ms) {
  return fmt::format(
      "count by (namespace, {}, owner_kind, owner_name) (last_over_time({}{{{}}}[{}ms]))", by,
      metric, matchers, range_ms);
}

}  // namespace

Result<PodOwners> FetchPodOwners(RangeQueries& queries, std::string_view name_space,
                                 int64_t start_ms, int64_t end_ms) {
  backfill::Matchers matchers;
  if (!name_space.empty()) matchers.Equals("namespace", name_space);
  const int64_t range_ms = end_ms - start_ms;
  std::map<std::string, workloads::OwnerGraph> graphs;  // by namespace
  uint32_t number = 0;
  for (const auto& [metric, label] : {std::pair("kube_replicaset_owner", "replicaset"),
                                      std::pair("kube_job_owner", "job_name")}) {
    auto answer = queries.At(EverSaid(metric, matchers.text(), label, range_ms), end_ms);
    if (!answer) return tl::unexpected(answer.error());
    for (const auto& series : answer->series) {
      workloads::OwnerGraph& graph = graphs[ValueOf(series, "namespace")];
      const std::string name = ValueOf(series, label);
      workloads::Owner owner = workloads::OwnerFrom(LabelsOf(series));
      if (std::string_view(label) == "replicaset") {
        graph.SetReplicaSetOwner(name, std::move(owner), ++number);
      } else {
        graph.SetJobOwner(name, std::move(owner), ++number);
      }
    }
  }
  auto answer = queries.At(EverSaid("kube_pod_owner", matchers.text(), "pod", range_ms), end_ms);
  if (!answer) return tl::unexpected(answer.error());
  PodOwners owners;
  for (const auto& series : answer->series) {
    const std::string pod = ValueOf(series, "pod");
    const std::string of = ValueOf(series, "namespace");
    auto owner = graphs[of].Resolve(workloads::OwnerFrom(LabelsOf(series)), pod, /*waited=*/true);
    if (!pod.empty() && owner) owners.insert_or_assign({of, pod}, *std::move(owner));
  }
  return owners;
}

}  // namespace tidemark::replay_requests
