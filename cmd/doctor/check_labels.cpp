#include <fmt/format.h>

#include <string>
#include <vector>

#include "cmd/doctor/checks.h"
#include "cmd/doctor/prometheus_query.h"

namespace tidemark::doctor {
namespace {

// What Tidemark reads and what is scraped of others, by which labels are moved aside.
constexpr std::string_view kInput =
    R"(__name__=~"container_cpu_usage_seconds_total|container_memory_working_set_bytes|)"
    R"(kube_pod_owner|kube_replicaset_owner|kube_pod_container_resource_requests|)"
    R"(kube_horizontalpodautoscaler_info")";

std::string NamesOf(const QueryReply& reply) {
  std::string names;
  for (const auto& [labels, value] : reply.series) {
    const auto name = labels.find("__name__");
    if (name != labels.end()) names += (names.empty() ? "" : ", ") + name->second;
  }
  return names;
}

void CheckMoved(Asker& prometheus, Findings& findings) {
  const QueryReply moved = Query(
      prometheus, fmt::format(R"(count by (__name__) ({{{},exported_namespace!=""}}))", kInput));
  if (!moved.trouble.empty()) return findings.Skipped("labels.exported", moved.trouble);
  if (!moved.series.empty()) {
    findings.Warning("labels.exported",
                     fmt::format("The labels of {} were moved aside (exported_namespace): Tidemark "
                                 "understands them, other rules do not.",
                                 NamesOf(moved)),
                     "Scrape kube-state-metrics with honor_labels: true.");
  } else {
    findings.Ok("labels.exported", "No labels of usage or of kube-state-metrics were moved aside.");
  }
  const QueryReply renamed = Query(
      prometheus, fmt::format(R"(count by (__name__) ({{{},kubernetes_namespace!=""}}))", kInput));
  if (!renamed.trouble.empty()) return findings.Skipped("labels.renamed", renamed.trouble);
  if (renamed.series.empty()) return;
  findings.Problem("labels.renamed",
                   fmt::format("{} carry kubernetes_namespace: by their name Tidemark does not see "
                               "what is meant.",
                               NamesOf(renamed)),
                   "Rename them with metric_relabel_configs, or name them in "
                   "sources[].labels.namespace and .pod of Tidemark's configuration.");
}

void CheckOwn(Asker& prometheus, Findings& findings) {
  const QueryReply own = Query(prometheus, "count(tidemark_build_info)");
  if (!own.trouble.empty()) return findings.Skipped("labels.scraped", own.trouble);
  if (own.series.empty()) {
    return findings.Warning("labels.scraped",
                            "This Prometheus does not scrape Tidemark: no dashboards, no alerts.",
                            "Add a scrape job for its /metrics with honor_labels: true.");
  }
  if (own.series.front().second > 1) {
    findings.Warning("labels.scraped",
                     fmt::format("{:.0f} Tidemarks are scraped: sums over their series count "
                                 "workloads more than once.",
                                 own.series.front().second),
                     "Run one replica, and scrape it by one job.");
  } else {
    findings.Ok("labels.scraped", "This Prometheus scrapes Tidemark.");
  }
  const QueryReply moved =
      Query(prometheus, R"(count({__name__=~"tidemark_current_request|tidemark_target_replicas",)"
                        R"(exported_namespace!=""}))");
  if (!moved.trouble.empty()) return findings.Skipped("labels.honored", moved.trouble);
  if (!moved.series.empty()) {
    return findings.Problem(
        "labels.honored",
        "Tidemark is scraped without honor_labels: the namespace of its series is Tidemark's own, "
        "and the workload's stands in exported_namespace, where adapters do not look.",
        "Set honor_labels: true in the scrape job (honorLabels in a ServiceMonitor).");
  }
  findings.Ok("labels.honored", "The labels of Tidemark's series are kept when it is scraped.");
}

}  // namespace

Findings CheckLabels(const Installation& installation) {
  Findings findings;
  if (installation.prometheus == nullptr) {
    findings.Skipped("labels.exported", "no --prometheus.url was given");
    return findings;
  }
  CheckMoved(*installation.prometheus, findings);
  CheckOwn(*installation.prometheus, findings);
  return findings;
}

}  // namespace tidemark::doctor
