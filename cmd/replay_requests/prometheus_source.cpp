#include "cmd/replay_requests/prometheus_source.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <optional>
#include <utility>

#include "backfill/query_text.h"
#include "cmd/replay_requests/pod_owners.h"
#include "cmd/replay_requests/range_queries.h"
#include "cmd/replay_requests/trace_builder.h"
#include "cmd/units.h"

namespace tidemark::replay_requests {
namespace {

using backfill::AnswerSeries;

/// Two scrapes a minute apart fit into it.
constexpr int64_t kMinRateMs = 2 * 60 * 1000;
/// Of pods' names in one query.
constexpr size_t kMaxMatcherBytes = 32 * 1024;

std::string ValueOf(const AnswerSeries& series, std::string_view name) {
  const auto found =
      std::ranges::find(series.labels, name, &std::pair<std::string, std::string>::first);
  return found == series.labels.end() ? "" : found->second;
}

std::string AllLabels(const AnswerSeries& series) {
  std::string text;
  for (const auto& [name, value] : series.labels) text += name + '=' + value + ',';
  return text;
}

/// Which trace a series belongs to; nothing: none of those that are asked for.
struct Place {
  WorkloadId workload;
  std::string container;
  std::string pod;
};

std::optional<Place> PlaceByLabels(const AnswerSeries& series) {
  Place place;
  place.workload.name_space = ValueOf(series, "namespace");
  place.workload.workload_type = ValueOf(series, "workload_type");
  place.workload.workload = ValueOf(series, "workload");
  place.container = ValueOf(series, "container");
  place.pod = ValueOf(series, "pod");
  if (place.pod.empty()) place.pod = AllLabels(series);
  return place;
}

bool IsAskedFor(const workloads::ResolvedOwner& owner, std::string_view workload) {
  return workload.empty() || workload == owner.workload ||
         workload == owner.workload_type + '/' + owner.workload;
}

/// By owner; only those that are asked for are kept in `owners`.
std::optional<Place> PlaceByOwner(const AnswerSeries& series, const PodOwners& owners) {
  Place place;
  place.workload.name_space = ValueOf(series, "namespace");
  place.container = ValueOf(series, "container");
  place.pod = ValueOf(series, "pod");
  const auto owner = owners.find({place.workload.name_space, place.pod});
  if (owner == owners.end() || place.container.empty()) return std::nullopt;
  place.workload.workload_type = owner->second.workload_type;
  place.workload.workload = owner->second.workload;
  return place;
}

class Fetching {
 public:
  Fetching(const PrometheusSource& source, RangeQueries& queries,
           const std::function<void(std::string_view)>& told)
      : source_(source),
        queries_(queries),
        told_(told),
        step_(source.step_ms),
        start_(source.start_ms / step_ * step_),
        end_(source.end_ms / step_ * step_),
        builder_(start_, end_, step_) {}

  Result<std::vector<Trace>> Run() {
    const bool own = !source_.cpu_query.empty();
    if (!own) {
      if (auto good = FindOwners(); !good) return tl::unexpected(good.error());
    }
    const std::array texts = {own ? source_.cpu_query : CpuQuery(),
                              own ? source_.memory_query : MemoryQuery()};
    for (size_t r = 0; r < kReplayed.size(); ++r) {
      told_(r == 0 ? "asks for CPU" : "asks for memory");
      auto taken = queries_.Range(texts[r], start_, end_, step_,
                                  [&](auto answer) { return Take(std::move(answer), r, own); });
      if (!taken) return tl::unexpected(taken.error());
    }
    if (!own) {
      if (auto good = FindRequests(); !good) return tl::unexpected(good.error());
    }
    std::vector<Trace> traces = builder_.Take();
    if (traces.empty()) {
      return Fail(ErrorCode::kNotFound,
                  fmt::format("{}: no usage between {} and {} for {}", source_.http.url,
                              backfill::TimeText(start_), backfill::TimeText(end_),
                              own ? "these queries" : "such workloads"));
    }
    return traces;
  }

 private:
  Result<void> Take(backfill::QueryAnswer answer, size_t resource, bool own) {
    for (const AnswerSeries& series : answer.series) {
      const auto place = own ? PlaceByLabels(series) : PlaceByOwner(series, owners_);
      if (!place) continue;
      if (auto good =
              builder_.Add(place->workload, place->container, place->pod, resource, series.samples);
          !good) {
        return good;
      }
    }
    return {};
  }

  Result<void> FindOwners() {
    told_("asks for owners of pods");
    auto owners = FetchPodOwners(queries_, source_.name_space, start_, end_);
    if (!owners) return tl::unexpected(owners.error());
    if (owners->empty()) {
      return Fail(ErrorCode::kNotFound,
                  fmt::format("{}: no kube_pod_owner{} between {} and {}, allowed: a Prometheus "
                              "that scrapes kube-state-metrics, or --query-cpu and --query-memory",
                              source_.http.url,
                              source_.name_space.empty() ? "" : " of " + source_.name_space,
                              backfill::TimeText(start_), backfill::TimeText(end_)));
    }
    std::erase_if(*owners,
                  [&](const auto& entry) { return !IsAskedFor(entry.second, source_.workload); });
    if (owners->empty()) {
      return Fail(ErrorCode::kNotFound,
                  fmt::format("{}: there is no workload {} in that time, allowed: NAME or "
                              "TYPE/NAME of one that has pods",
                              source_.http.url, source_.workload));
    }
    owners_ = *std::move(owners);
    return {};
  }

  /// Sandboxes and the cgroups above containers have no container's name.
  std::string Matchers() const {
    backfill::Matchers matchers;
    if (!source_.name_space.empty()) matchers.Equals("namespace", source_.name_space);
    matchers.NotEquals("container", "").NotEquals("container", "POD");
    if (source_.workload.empty()) return matchers.text();
    std::vector<std::string> pods;
    for (const auto& [name, owner] : owners_) pods.push_back(name.second);
    backfill::Matchers with_pods = matchers;
    with_pods.OneOf("pod", pods);
    return with_pods.text().size() <= kMaxMatcherBytes ? with_pods.text() : matchers.text();
  }

  std::string CpuQuery() const {
    return fmt::format(
        "sum by (namespace, pod, container) (rate(container_cpu_usage_seconds_total{{{}}}[{}]))",
        Matchers(), cmd::FormatDuration(std::chrono::milliseconds(std::max(step_, kMinRateMs))));
  }
  std::string MemoryQuery() const {
    return fmt::format(
        "max by (namespace, pod, container) "
        "(max_over_time(container_memory_working_set_bytes{{{}}}[{}]))",
        Matchers(), cmd::FormatDuration(std::chrono::milliseconds(step_)));
  }

  Result<void> FindRequests() {
    told_("asks for requests");
    auto answer = queries_.At(
        fmt::format("max by (namespace, pod, container, resource) "
                    "(last_over_time(kube_pod_container_resource_requests{{{}}}[{}ms]))",
                    Matchers(), end_ - start_),
        end_);
    if (!answer) return tl::unexpected(answer.error());
    for (const AnswerSeries& series : answer->series) {
      const auto place = PlaceByOwner(series, owners_);
      const auto resource = ParseResource(ValueOf(series, "resource"));
      if (!place || !resource || series.samples.empty()) continue;
      if (static_cast<size_t>(*resource) >= kReplayed.size()) continue;
      builder_.SetOriginal(place->workload, place->container, static_cast<size_t>(*resource),
                           series.samples.back().value);
    }
    return {};
  }

  const PrometheusSource& source_;
  RangeQueries& queries_;
  const std::function<void(std::string_view)>& told_;
  const int64_t step_;
  const int64_t start_;
  const int64_t end_;
  TraceBuilder builder_;
  PodOwners owners_;
};

}  // namespace

Result<std::vector<Trace>> FetchTraces(const PrometheusSource& source, const Clock& clock,
                                       const std::function<void(std::string_view)>& told) {
  auto queries = RangeQueries::Open(source.http, clock);
  if (!queries) return tl::unexpected(queries.error());
  return Fetching(source, **queries, told).Run();
}

}  // namespace tidemark::replay_requests
