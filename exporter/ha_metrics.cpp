#include "exporter/ha_metrics.h"

#include <algorithm>
#include <array>

namespace tidemark::exporter {
namespace {

void AppendLeaders(const std::vector<HaClusterStatus>& clusters, ExpositionWriter& writer) {
  const auto leads = [](const HaReplicaStatus& replica) { return replica.leads; };
  const bool any = std::any_of(clusters.begin(), clusters.end(), [&](const auto& cluster) {
    return std::any_of(cluster.replicas.begin(), cluster.replicas.end(), leads);
  });
  if (!any) return;
  writer.BeginFamily({"tidemark_remote_write_ha_leader_info",
                      "The replica of an HA pair whose samples are taken in; always 1.",
                      MetricType::kGauge,
                      {}});
  for (const HaClusterStatus& cluster : clusters) {
    for (const HaReplicaStatus& replica : cluster.replicas) {
      if (!replica.leads) continue;
      writer.Sample(
          std::array<LabelView, 2>{{{"ha_cluster", cluster.cluster}, {"replica", replica.replica}}},
          1);
    }
  }
}

}  // namespace

void AppendHaMetrics(const std::vector<HaClusterStatus>& clusters, ExpositionWriter& writer) {
  if (clusters.empty()) return;
  AppendLeaders(clusters, writer);
  writer.BeginFamily({"tidemark_remote_write_ha_failovers_total",
                      "Changes of an HA pair's leader, the first election not counted.",
                      MetricType::kCounter,
                      {}});
  for (const HaClusterStatus& cluster : clusters) {
    writer.Sample(std::array<LabelView, 1>{{{"ha_cluster", cluster.cluster}}},
                  static_cast<double>(cluster.failovers));
  }
  writer.BeginFamily({"tidemark_remote_write_ha_samples_total",
                      "Samples of HA pairs: taken from the leader, or shed as another's copy.",
                      MetricType::kCounter,
                      {}});
  for (const HaClusterStatus& cluster : clusters) {
    for (const HaReplicaStatus& replica : cluster.replicas) {
      const auto sample = [&](std::string_view decision, uint64_t samples) {
        writer.Sample(std::array<LabelView, 3>{{{"ha_cluster", cluster.cluster},
                                                {"replica", replica.replica},
                                                {"decision", decision}}},
                      static_cast<double>(samples));
      };
      sample("taken", replica.samples_taken);
      sample("shed", replica.samples_shed);
    }
  }
  writer.BeginFamily({"tidemark_remote_write_ha_last_received_timestamp_seconds",
                      "When the last request with samples of a replica came.", MetricType::kGauge,
                      "seconds"});
  for (const HaClusterStatus& cluster : clusters) {
    for (const HaReplicaStatus& replica : cluster.replicas) {
      writer.Sample(
          std::array<LabelView, 2>{{{"ha_cluster", cluster.cluster}, {"replica", replica.replica}}},
          static_cast<double>(replica.last_received_ms) / 1000);
    }
  }
}

}  // namespace tidemark::exporter
