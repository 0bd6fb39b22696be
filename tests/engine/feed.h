#pragma once
// Writes series into an engine as remote write would, with labels given as pairs.

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "engine/engine.h"
#include "model/clock.h"
#include "model/counters.h"
#include "model/sink.h"
#include "tests/catch.h"
#include "tests/engine/profiles.h"

namespace tidemark::testing {

inline constexpr int64_t kT0 = 1'700'000'040'000;  // a whole minute

using LabelMap = std::map<std::string, std::string>;

struct FeedSeries {
  LabelMap labels;
  std::vector<Sample> samples;
};

/// `{{"a","1"}}` plus the metric name.
inline LabelMap Named(std::string name, LabelMap labels) {
  labels["__name__"] = std::move(name);
  return labels;
}

/// A request that has been read and is not committed yet.
struct Prepared {
  std::deque<std::string> bytes;  // must live until Commit, as the labels do
  std::unique_ptr<WriteBatch> batch;
};

enum class Recognize : uint8_t { kYes, kNo };

/// With Recognize::kYes as remote write does it: known series are found by their bytes alone.
inline Prepared Prepare(SampleSink& sink, const std::vector<FeedSeries>& request,
                        Recognize recognize = Recognize::kYes) {
  Prepared prepared;
  prepared.batch = sink.Begin();
  for (const FeedSeries& series : request) {
    std::vector<LabelView> labels;
    for (const auto& [name, value] : series.labels) labels.push_back({name, value});
    const std::string& bytes = prepared.bytes.emplace_back(EncodeLabels(labels));
    IncomingSeries incoming{labels, bytes, series.samples};
    if (recognize == Recognize::kYes) {
      SeriesLookUp wanted{bytes, {}};
      prepared.batch->Find({&wanted, 1});
      incoming.vetted = true;
      incoming.token = wanted.token;
      if (wanted.token.IsKnown()) incoming.labels = {};
    }
    prepared.batch->Add(incoming);
  }
  return prepared;
}

inline Result<WriteVerdict> TryWrite(SampleSink& sink, const std::vector<FeedSeries>& request,
                                     Recognize recognize = Recognize::kYes) {
  return Prepare(sink, request, recognize).batch->Commit();
}

inline WriteVerdict Write(SampleSink& sink, const std::vector<FeedSeries>& request) {
  const auto verdict = TryWrite(sink, request);
  REQUIRE(verdict);
  return *verdict;
}

/// An engine with a clock that stands where the test puts it and ticks only when asked.
struct Bench {
  ManualClock clock{FromUnixMs(kT0)};
  EngineCounters counters;
  engine::Engine engine;

  /// By itself requests go by a percentile (GoByPercentile).
  explicit Bench(engine::Options options = Plain(),
                 const std::vector<workloads::Source>& extra = {})
      : engine(Quiet(options), extra, clock, counters) {}

  static engine::Options Plain() {
    engine::Options options;
    options.profiles = ByPercentile();
    return options;
  }
  static engine::Options Quiet(engine::Options options) {
    if (options.shards == 0) options.shards = 2;
    options.eval_interval_ms = 3'600'000;
    return options;
  }
  WriteVerdict Put(const std::vector<FeedSeries>& request) {
    int64_t newest = ToUnixMs(clock.Now());
    for (const FeedSeries& series : request) {
      for (const Sample& sample : series.samples) newest = std::max(newest, sample.timestamp_ms);
    }
    clock.Set(FromUnixMs(newest));
    return Write(engine, request);
  }
  WriteVerdict Put(LabelMap labels, int64_t time_ms, double value) {
    return Put({{std::move(labels), {{time_ms, value}}}});
  }
  std::shared_ptr<const Snapshot> Now() {
    engine.Tick();
    return engine.Current();
  }
  std::vector<WorkloadAdvice> Workloads() {
    std::vector<WorkloadAdvice> all;
    for (const auto& block : Now()->blocks) {
      all.insert(all.end(), block->workloads.begin(), block->workloads.end());
    }
    return all;
  }
  /// "namespace/type/name" of all workloads with advice.
  std::vector<std::string> Names() {
    std::vector<std::string> names;
    for (const WorkloadAdvice& workload : Workloads()) {
      names.push_back(workload.id.name_space + "/" + workload.id.workload_type + "/" +
                      workload.id.workload);
    }
    return names;
  }
  std::optional<ResourceAdvice> Find(const std::string& workload, const std::string& container,
                                     Resource resource) {
    for (const WorkloadAdvice& advice : Workloads()) {
      if (advice.id.workload != workload) continue;
      for (const ContainerAdvice& c : advice.containers) {
        if (c.container != container) continue;
        for (const ResourceAdvice& r : c.resources) {
          if (r.resource == resource) return r;
        }
      }
    }
    return std::nullopt;
  }
};

inline LabelMap Cpu(std::string pod, std::string container = "app", std::string ns = "shop") {
  return Named("container_cpu_usage_seconds_total", {{"namespace", ns},
                                                     {"pod", pod},
                                                     {"container", container},
                                                     {"cpu", "total"},
                                                     {"id", "/" + pod + "/" + container + "/0"}});
}
inline LabelMap Memory(std::string pod, std::string container = "app", std::string ns = "shop") {
  return Named("container_memory_working_set_bytes", {{"namespace", ns},
                                                      {"pod", pod},
                                                      {"container", container},
                                                      {"id", "/" + pod + "/" + container + "/0"}});
}
inline LabelMap PodOwner(std::string pod, std::string kind, std::string name,
                         std::string ns = "shop") {
  LabelMap labels = {{"namespace", ns}, {"pod", pod}, {"uid", "u-" + pod}};
  if (!kind.empty()) {
    labels.insert({{"owner_kind", kind}, {"owner_name", name}, {"owner_is_controller", "true"}});
  }
  return Named("kube_pod_owner", labels);
}
inline LabelMap ReplicaSetOwner(std::string replicaset, std::string kind, std::string name,
                                std::string ns = "shop") {
  return Named(
      "kube_replicaset_owner",
      {{"namespace", ns}, {"replicaset", replicaset}, {"owner_kind", kind}, {"owner_name", name}});
}
inline LabelMap Request(std::string pod, std::string resource, std::string container = "app",
                        std::string metric = "kube_pod_container_resource_requests") {
  return Named(metric, {{"namespace", "shop"},
                        {"pod", pod},
                        {"container", container},
                        {"resource", resource},
                        {"unit", resource == "cpu" ? "core" : "byte"}});
}

/// `minutes` of steady usage, a sample every 15 s.
inline void Run(Bench& bench, const std::string& pod, int64_t from_ms, int minutes, double cores,
                double bytes) {
  for (int i = 0; i <= minutes * 4; ++i) {
    const int64_t at = from_ms + i * 15'000LL;
    bench.Put({{Cpu(pod), {{at, 1000 + cores * 15 * i}}}, {Memory(pod), {{at, bytes}}}});
  }
}

}  // namespace tidemark::testing
