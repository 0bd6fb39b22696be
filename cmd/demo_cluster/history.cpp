#include "cmd/demo_cluster/history.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <iterator>
#include <memory>

#include "cmd/demo_cluster/pages.h"

namespace tidemark::demo_cluster {
namespace {

/// Families that are kept. Each of the others would be a tenth of the file, and none of them says
/// anything that advice on requests is built on.
constexpr std::array<std::string_view, 16> kKept = {
    "container_cpu_usage_seconds_total",
    "container_memory_working_set_bytes",
    "kube_daemonset_status_desired_number_scheduled",
    "kube_deployment_spec_replicas",
    "kube_horizontalpodautoscaler_info",
    "kube_horizontalpodautoscaler_spec_max_replicas",
    "kube_horizontalpodautoscaler_spec_min_replicas",
    "kube_job_owner",
    "kube_pod_container_resource_requests",
    "kube_pod_container_status_last_terminated_reason",
    "kube_pod_container_status_last_terminated_timestamp",
    "kube_pod_container_status_restarts_total",
    "kube_pod_owner",
    "kube_replicaset_owner",
    "kube_replicaset_spec_replicas",
    "kube_statefulset_replicas",
};

/// Rows of pods, slices and sandboxes: sums of the containers' or next to nothing.
bool IsNoContainer(std::string_view labels) {
  return labels.starts_with(R"(container="",)") || labels.starts_with(R"(container="POD",)");
}

/// A step of the simulation of the past, much shorter than what is recorded of it.
constexpr int64_t kPastStepMs = 15000;
/// The shortest run of a CronJob at a pace of 1.
constexpr double kShortestRunS = 90;

}  // namespace

void History::Scrape(int64_t time_ms, std::string_view job) {
  time_ms_ = time_ms;
  job_ = job;
  family_ = nullptr;
}

void History::Family(std::string_view name, std::string_view type, std::string_view help) {
  family_ = nullptr;
  if (std::find(kKept.begin(), kKept.end(), name) == kKept.end()) return;
  auto known = std::find_if(families_.begin(), families_.end(),
                            [&](const FamilySeries& family) { return family.name == name; });
  if (known == families_.end()) {
    known = families_.insert(known, FamilySeries{name, type, help, job_, {}, {}});
  }
  family_ = &*known;
}

void History::Row(std::string_view labels, double value) {
  if (family_ == nullptr || IsNoContainer(labels)) return;
  key_ = labels;
  const auto [place, fresh] = family_->places.try_emplace(key_, family_->series.size());
  if (fresh) family_->series.push_back({key_, {}});
  family_->series[place->second].points.push_back({time_ms_, value});
  ++samples_;
}

Result<void> History::Write(const std::string& path, std::string_view instance) const {
  const auto fail = [&] {
    return Fail(ErrorCode::kIo,
                fmt::format("{}: cannot be written: {}", path,
                            std::strerror(errno)));  // NOLINT(concurrency-mt-unsafe)
  };
  const auto close = [](std::FILE* file) { std::fclose(file); };
  const std::unique_ptr<std::FILE, decltype(close)> file(std::fopen(path.c_str(), "we"), close);
  if (!file) return fail();
  std::string text;
  std::string prefix;
  for (const FamilySeries& family : families_) {
    // OpenMetrics names a family of counters without the _total of its samples.
    std::string_view name = family.name;
    if (name.ends_with("_total")) name.remove_suffix(std::string_view("_total").size());
    text += fmt::format("# TYPE {} {}\n# HELP {} {}\n", name, family.type, name, family.help);
    for (const Series& series : family.series) {
      prefix = fmt::format("{}{{{}", family.name, series.labels);
      AppendLabels({{"instance", instance}, {"job", family.job}}, prefix);
      prefix.append("} ");
      for (const Point& point : series.points) {
        text.append(prefix);
        AppendNumber(point.value, text);
        fmt::format_to(std::back_inserter(text), " {}.{:03}\n", point.time_ms / 1000,
                       point.time_ms % 1000);
      }
      if (std::fwrite(text.data(), 1, text.size(), file.get()) != text.size()) return fail();
      text.clear();
    }
  }
  text += "# EOF\n";
  if (std::fwrite(text.data(), 1, text.size(), file.get()) != text.size()) return fail();
  if (std::fflush(file.get()) != 0) return fail();
  return {};
}

Cluster MakeClusterWithHistory(uint64_t seed, double speed, TimePoint end,
                               std::chrono::milliseconds length, std::chrono::minutes step,
                               History& history) {
  const double step_s = std::chrono::duration<double>(step).count();
  // However the samples fall, two of them see each run: one alone says nothing of a counter.
  const Pace past{
      .speed = 1, .step_ms = kPastStepMs, .run_stretch = std::max(1.0, 2 * step_s / kShortestRunS)};
  const auto steps = length / step;
  Cluster cluster(seed, past, end - steps * step);
  for (auto left = steps; left >= 0; --left) {
    cluster.AdvanceTo(end - left * step);
    history.Scrape(cluster.now_ms(), "cadvisor");
    AppendCadvisorPage(cluster, history);
    history.Scrape(cluster.now_ms(), "kube-state-metrics");
    AppendKubeStatePage(cluster, history);
  }
  cluster.ChangePace({.speed = speed});
  return cluster;
}

}  // namespace tidemark::demo_cluster
