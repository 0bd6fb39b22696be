#pragma once
// A sink of the past that keeps what it is given, and refuses what it is told to.

#include <atomic>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "model/label.h"
#include "model/past.h"

namespace tidemark::backfill {

using Points = std::vector<std::pair<int64_t, double>>;

/// `name{a="b", …}` → samples, in the order in which they came.
using SeriesMap = std::map<std::string, Points>;

/// What is wrong with how the past was handed in; empty: nothing.
struct PastFaults {
  std::mutex mutex;
  std::vector<std::string> lines;
  void Add(std::string line) {
    const std::lock_guard lock(mutex);
    lines.push_back(std::move(line));
  }
};

class FakePastSink final : public PastSink {
 public:
  std::vector<PastMetric> metrics;
  SeriesMap merged;                          ///< of all merges
  std::vector<std::set<std::string>> units;  ///< namespaces of each merge, `cluster/namespace`
  std::string cursor;
  PastFaults faults;
  std::function<void()> before_merge;  ///< may throw nothing
  int overtake_next = 0;               ///< merges that are told to be overtaken
  int fail_next_merges = 0;            ///< merges that fail in passing
  std::atomic<int> opened{0};
  int64_t end_ms = 0;  ///< of the last OpenPast
  std::mutex mutex;

  std::vector<PastMetric> PastMetrics() const override { return metrics; }
  Result<std::unique_ptr<Past>> OpenPast(const std::vector<NamespaceName>& of,
                                         int64_t end) override;
  std::vector<NamespaceName> live;
  std::vector<NamespaceName> LiveNamespaces() const override { return live; }
  std::string PastCursor() const override {
    const std::lock_guard lock(const_cast<std::mutex&>(mutex));
    return cursor;
  }
  Result<void> SetPastCursor(std::string_view bytes) override {
    const std::lock_guard lock(mutex);
    cursor = bytes;
    return {};
  }
};

class FakePast final : public Past {
 public:
  FakePast(FakePastSink& sink, const std::vector<NamespaceName>& of) : sink_(sink) {
    for (const NamespaceName& name : of) of_.insert(name.cluster + "/" + name.name_space);
  }

  void Add(const IncomingSeries& series) override {
    if (EncodeLabels(series.labels) != series.label_bytes) sink_.faults.Add("labels differ");
    // Their bytes must live until ApplySlice; their samples, too.
    added_.push_back({FormatLabels(series.labels, 10'000), series.samples});
  }

  WriteVerdict ApplySlice() override {
    WriteVerdict verdict;
    int64_t first = INT64_MAX;
    int64_t last = INT64_MIN;
    for (const auto& [name, samples] : added_) {
      Points& points = series_[name];
      for (const Sample& sample : samples) {
        if (!points.empty() && points.back().first >= sample.timestamp_ms) {
          sink_.faults.Add("not in order of time: " + name);
        }
        points.emplace_back(sample.timestamp_ms, sample.value);
        first = std::min(first, sample.timestamp_ms);
        last = std::max(last, sample.timestamp_ms);
        ++verdict.accepted;
      }
    }
    if (first < newest_) sink_.faults.Add("a slice begins before the one before it ends");
    newest_ = std::max(newest_, last);
    if (added_.empty()) sink_.faults.Add("an empty slice");
    added_.clear();
    return verdict;
  }

  uint64_t MemoryBytes() const override { return 0; }

  Result<PastOutcome> Merge(std::string_view cursor) override {
    if (sink_.before_merge) sink_.before_merge();
    const std::lock_guard lock(sink_.mutex);
    if (sink_.fail_next_merges > 0) {
      --sink_.fail_next_merges;
      return Fail(ErrorCode::kIo, "the disk is full");
    }
    PastOutcome outcome;
    if (sink_.overtake_next > 0) {
      --sink_.overtake_next;
      outcome.overtaken = true;
      return outcome;
    }
    for (const auto& [name, points] : series_) {
      Points& all = sink_.merged[name];
      if (!all.empty()) sink_.faults.Add("merged twice: " + name);
      all = points;
      outcome.minutes += points.size();
    }
    outcome.containers = series_.size();
    sink_.units.push_back(of_);
    sink_.cursor = cursor;
    return outcome;
  }

 private:
  struct Added {
    std::string name;
    std::span<const Sample> samples;
  };
  FakePastSink& sink_;
  std::set<std::string> of_;
  std::vector<Added> added_;
  SeriesMap series_;
  int64_t newest_ = INT64_MIN;
};

inline Result<std::unique_ptr<Past>> FakePastSink::OpenPast(const std::vector<NamespaceName>& of,
                                                            int64_t end) {
  ++opened;
  end_ms = end;
  return std::make_unique<FakePast>(*this, of);
}

/// The usual four.
inline std::vector<PastMetric> ClusterMetrics() {
  const auto metric = [](std::string name, std::string container, bool owner, bool counter) {
    PastMetric out;
    out.metric = std::move(name);
    out.kind = owner ? PastKind::kOwner : PastKind::kUsage;
    out.is_counter = counter;
    out.cluster_label = "cluster";
    out.namespace_label = "namespace";
    out.pod_label = "pod";
    out.container_label = std::move(container);
    return out;
  };
  return {metric("container_cpu_usage_seconds_total", "container", false, true),
          metric("container_memory_working_set_bytes", "container", false, false),
          metric("kube_pod_owner", "", true, false)};
}

/// What else the engine asks for where nothing is weighed by request.
inline std::vector<PastMetric> KillMetrics() {
  const auto metric = [](std::string name, PastKind kind, std::string matchers) {
    PastMetric out = ClusterMetrics().front();
    out.metric = std::move(name);
    out.kind = kind;
    out.is_counter = false;
    out.is_optional = true;
    out.only_where_killed = true;
    out.matchers = std::move(matchers);
    return out;
  };
  return {
      metric("container_oom_events_total", PastKind::kOomEvents, ""),
      metric("kube_pod_container_resource_requests", PastKind::kRequest, R"(resource="memory")"),
      metric("kube_pod_container_status_restarts_total", PastKind::kRestarts, ""),
      metric("kube_pod_container_status_last_terminated_reason", PastKind::kKillReason,
             R"(reason="OOMKilled")"),
      metric("kube_pod_container_status_last_terminated_timestamp", PastKind::kKillTime, "")};
}

inline std::vector<PastMetric> ClusterAndKillMetrics() {
  std::vector<PastMetric> metrics = ClusterMetrics();
  for (PastMetric& metric : KillMetrics()) metrics.push_back(std::move(metric));
  return metrics;
}

}  // namespace tidemark::backfill
