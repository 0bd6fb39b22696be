#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>

#include "cmd/doctor/checks.h"
#include "cmd/doctor/exposition_reader.h"
#include "cmd/doctor/json_view.h"
#include "cmd/doctor/times.h"
#include "cmd/doctor/webhooks.h"

namespace tidemark::doctor {
namespace {

/// A role of which series have to come in.
struct Want {
  std::string_view check;
  std::string_view role;
  bool needed;               ///< without it nothing works; else something is worse
  std::string_view without;  ///< what is wrong then
  std::string_view advice;
};

constexpr std::string_view kKubelet =
    "Send container_cpu_usage_seconds_total and container_memory_working_set_bytes of the kubelets "
    "(job with metrics_path /metrics/cadvisor) by remote write, with their labels.";

constexpr std::array<Want, 8> kWants = {{
    {"stream.usage", "usage_counter", true,
     "No CPU usage of containers comes in: nothing can be recommended or scaled.", kKubelet},
    {"stream.memory", "usage_gauge", true,
     "No memory usage of containers comes in: no memory request can be recommended.", kKubelet},
    {"stream.pod_owners", "pod_owner", true, "Nobody tells which workload a pod belongs to.",
     "Run kube-state-metrics and send kube_pod_owner."},
    {"stream.replicaset_owners", "replicaset_owner", false,
     "Deployments are guessed from the names of their ReplicaSets.",
     "Send kube_replicaset_owner of kube-state-metrics."},
    {"stream.requests", "request", true,
     "What containers request now is not known: no load ratio, no target, nothing to reclaim.",
     "Send kube_pod_container_resource_requests of kube-state-metrics 2.0 or later."},
    {"stream.limits", "limit", false,
     "Limits are not known: a request may be recommended above one, and throttling is not seen.",
     "Send kube_pod_container_resource_limits of kube-state-metrics."},
    {"stream.replicas", "replicas", false,
     "Replicas are not known: pods that are seen are counted instead, and pods that do not start "
     "are missed.",
     "Send kube_deployment_spec_replicas, kube_statefulset_replicas and their like."},
    {"stream.autoscalers", "autoscaler_info", false,
     "HorizontalPodAutoscalers are not seen: without bounds of scaling.workloads no workload gets "
     "a "
     "target.",
     "Send kube_horizontalpodautoscaler_info, _spec_min_replicas, _spec_max_replicas and "
     "_spec_target_metric of kube-state-metrics."},
}};

struct RoleSeen {
  double series = 0;
  std::optional<int64_t> last_ms;
};

using Roles = std::map<std::string, RoleSeen, std::less<>>;

Roles RolesOf(const boost::json::value& answer) {
  Roles roles;
  for (const boost::json::value& source : ListAt(answer, {"data", "sources"})) {
    const std::string name = TextAt(source, {"role"});
    // Usage of GPUs is a level too, and says nothing of memory.
    if (name == "usage_gauge" && TextAt(source, {"metric"}).starts_with("DCGM_")) continue;
    RoleSeen& role = roles[name];
    role.series += NumberAt(source, {"series"}).value_or(0);
    const auto last = ParseTime(TextAt(source, {"last_sample"}));
    if (last) role.last_ms = std::max(role.last_ms.value_or(*last), *last);
  }
  return roles;
}

double SeriesOf(const Roles& roles, std::string_view role) {
  const auto found = roles.find(role);
  return found == roles.end() ? 0 : found->second.series;
}

void CheckRoles(const Roles& roles, Findings& findings) {
  for (const Want& want : kWants) {
    const double series = SeriesOf(roles, want.role);
    if (series > 0) {
      findings.Ok(want.check, fmt::format("{:.0f} series.", series));
    } else if (want.needed) {
      findings.Problem(want.check, std::string(want.without), std::string(want.advice));
    } else {
      findings.Warning(want.check, std::string(want.without), std::string(want.advice));
    }
  }
}

/// What owners wrote matters once something changes it.
void CheckOriginals(const Installation& installation, const Roles& roles, Findings& findings) {
  constexpr std::string_view kCheck = "stream.original_requests";
  const double series = SeriesOf(roles, "original_request");
  if (series > 0) return findings.Ok(kCheck, fmt::format("{:.0f} series.", series));
  if (installation.kubernetes == nullptr ||
      FindWebhooks(*installation.kubernetes, installation.service).ours.empty()) {
    return findings.Ok(kCheck, "None come in; they are needed where right-sizing changes pods.");
  }
  findings.Warning(kCheck,
                   "Pods are right-sized, and what their owners wrote is not known afterwards: "
                   "kube_pod_annotations with tidemark.io/original-resources does not come in.",
                   "Start kube-state-metrics with "
                   "--metric-annotations-allowlist=pods=[tidemark.io/original-resources].");
}

// As the freshness of what is served: kubernetes/settings.h.
constexpr int64_t kFreshMs = 150'000;
constexpr int64_t kTooOldMs = 300'000;

void CheckAge(const Roles& roles, int64_t now_ms, Findings& findings) {
  std::optional<int64_t> newest;
  for (const auto& [name, role] : roles) {
    if (role.last_ms) newest = std::max(newest.value_or(*role.last_ms), *role.last_ms);
  }
  constexpr std::string_view kAdvice =
      "Look at prometheus_remote_storage_* of the Prometheus that sends, and at its log.";
  if (!newest) {
    return findings.Problem("stream.age", "No sample has come in yet.",
                            "Set remote_write of your Prometheus to URL/api/v1/write.");
  }
  const int64_t age = now_ms - *newest;
  if (age > kTooOldMs) {
    return findings.Problem(
        "stream.age",
        fmt::format("The newest sample is {} old: targets are withdrawn.", DurationText(age)),
        std::string(kAdvice));
  }
  if (age > kFreshMs) {
    return findings.Warning(
        "stream.age",
        fmt::format("The newest sample is {} old: targets are held.", DurationText(age)),
        std::string(kAdvice));
  }
  if (age < -60'000) {
    return findings.Warning(
        "stream.age",
        fmt::format("The newest sample is {} ahead of this machine's clock.", DurationText(-age)),
        "Set the clocks by NTP.");
  }
  findings.Ok("stream.age",
              fmt::format("The newest sample is {} old.", DurationText(std::max<int64_t>(age, 0))));
  for (const auto& [name, role] : roles) {
    if (!role.last_ms || *newest - *role.last_ms <= 2 * kTooOldMs || role.series <= 0) continue;
    findings.Warning("stream.stopped",
                     fmt::format("Nothing of the role {} has come in for {}.", name,
                                 DurationText(*newest - *role.last_ms)),
                     "See whether its target is up in Prometheus and still written.");
  }
}

void CheckShares(const std::string& metrics, Findings& findings) {
  const double accepted =
      MetricValue(metrics, "tidemark_remote_write_samples_accepted_total").value_or(0);
  auto ignored = MetricByLabel(metrics, "tidemark_remote_write_samples_ignored_total", "reason");
  const auto rejected =
      MetricByLabel(metrics, "tidemark_remote_write_samples_rejected_total", "reason");
  double total = accepted;
  for (const auto& [reason, count] : ignored) total += count;
  double refused = 0;
  std::string most;
  double most_count = 0;
  for (const auto& [reason, count] : rejected) {
    refused += count;
    if (count > most_count) {
      most = reason;
      most_count = count;
    }
  }
  total += refused;
  if (!(total > 0)) return;
  const double late = (ignored["late"] + ignored["duplicate"] + ignored["second_scrape"]) / total;
  if (refused / total > 0.01) {
    findings.Warning("stream.rejected",
                     fmt::format("{:.1f} % of all samples were refused, most of them for {}.",
                                 100 * refused / total, most),
                     "The log names the series; docs/remote-write.md says what each reason means.");
  } else {
    findings.Ok("stream.rejected",
                fmt::format("{:.2f} % of all samples were refused.", 100 * refused / total));
  }
  if (late > 0.05) {
    findings.Warning(
        "stream.late",
        fmt::format("{:.1f} % of all samples were late, duplicate or of a second scrape.",
                    100 * late),
        "Two servers of an HA pair need remote_write.ha, and each target should be scraped by one "
        "job.");
  }
  const double no_role = ignored["no_role"] / total;
  if (no_role > 0.9) {
    findings.Warning(
        "stream.unused",
        fmt::format("{:.0f} % of all samples are of metrics that mean nothing to Tidemark.",
                    100 * no_role),
        "Keep only the metrics of /api/v1/status/sources with write_relabel_configs: it saves both "
        "sides work.");
  }
}

void CheckMovedLabels(const std::string& metrics, Findings& findings) {
  const double moved =
      MetricValue(metrics, "tidemark_engine_exported_label_series_total").value_or(0);
  if (moved <= 0) return;
  findings.Warning(
      "stream.labels",
      fmt::format("{:.0f} series came with labels moved aside (exported_namespace, exported_pod): "
                  "Tidemark understands them, other rules and dashboards do not.",
                  moved),
      "Scrape kube-state-metrics with honor_labels: true.");
}

}  // namespace

Findings CheckStream(const Installation& installation) {
  Findings findings;
  if (installation.tidemark == nullptr) {
    findings.Skipped("stream.usage", "no --tidemark.url was given");
    return findings;
  }
  const JsonReply sources = GetJson(*installation.tidemark, "/api/v1/status/sources");
  if (!sources.good()) {
    findings.Skipped("stream.usage", sources.trouble);
  } else {
    const auto roles = RolesOf(sources.value);
    CheckAge(roles, installation.now_ms, findings);
    CheckRoles(roles, findings);
    CheckOriginals(installation, roles, findings);
  }
  const Reply metrics = installation.tidemark->Get("/metrics");
  if (!metrics.good()) {
    findings.Skipped("stream.rejected", metrics.trouble);
    return findings;
  }
  CheckShares(metrics.body, findings);
  CheckMovedLabels(metrics.body, findings);
  return findings;
}

}  // namespace tidemark::doctor
