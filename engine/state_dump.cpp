#include "engine/state_dump.h"

#include <algorithm>
#include <boost/json/serialize.hpp>
#include <boost/json/value.hpp>
#include <chrono>
#include <string_view>
#include <tuple>
#include <utility>

namespace tidemark::engine {
namespace {

namespace json = boost::json;

/// Time of the estimators as Unix time; null when there is none.
template <class T>
json::value Milliseconds(const std::optional<T>& time) {
  if (!time) return nullptr;
  return std::chrono::duration_cast<std::chrono::milliseconds>(time->time_since_epoch()).count();
}

json::value Milliseconds(int64_t time_ms) {
  if (time_ms == workloads::kNever) return nullptr;
  return time_ms;
}

json::object HistoryLine(const estimators::DecayingHistogram& histogram,
                         const estimators::SampleSpan& minutes) {
  json::object line;
  line["samples"] = minutes.Count();
  line["first_sample_ms"] = Milliseconds(minutes.First());
  line["last_sample_ms"] = Milliseconds(minutes.Last());
  line["total_weight"] = histogram.TotalWeight();
  line["reference_ms"] = Milliseconds(histogram.ReferenceTime());
  json::array buckets;
  for (int bucket = histogram.MinBucket(); bucket <= histogram.MaxBucket(); ++bucket) {
    const double weight = histogram.Weight(bucket);
    if (weight > 0) buckets.push_back(json::array{bucket, weight});
  }
  line["buckets"] = std::move(buckets);
  return line;
}

void DumpNamespace(const workloads::NamespaceState& state, const RequestHistory& history,
                   std::vector<std::string>& lines) {
  lines.push_back(
      json::serialize(json::object{{"cluster", state.cluster()},
                                   {"namespace", state.name()},
                                   {"series", state.series_count()},
                                   {"pods", state.pod_count()},
                                   {"workloads", state.workload_count()},
                                   {"event_time_ms", Milliseconds(state.event_time_ms())}}));
  state.ForEachDemand([&](const workloads::Workload& workload, std::string_view /*name*/,
                          const workloads::WorkloadContainer& known) {
    const WorkloadScaling* const newest = history.scaling().NewestOf(known.index);
    if (newest == nullptr) return;
    json::object line{{"cluster", state.cluster()},
                      {"namespace", state.name()},
                      {"workload_type", workload.id.workload_type},
                      {"workload", workload.id.workload},
                      {"minute_ms", newest->minute_ms}};
    if (newest->decision) {
      line["target_replicas"] = newest->decision->target;
      line["recommended_replicas"] = newest->decision->recommended;
      line["reason"] = ToString(newest->decision->reason);
    } else {
      line["why"] = newest->why;
    }
    lines.push_back(json::serialize(line));
  });
  state.ForEachContainer([&](const workloads::Workload& workload, std::string_view container,
                             const workloads::WorkloadContainer& known) {
    for (const Resource resource : history.profiles()->resources().all()) {
      const UsageTrack* const track = history.TrackOf(known.index, resource);
      if (track == nullptr) continue;
      const UsageTrack::Reading reading = track->Read();
      json::object line{{"cluster", state.cluster()},
                        {"namespace", state.name()},
                        {"workload_type", workload.id.workload_type},
                        {"workload", workload.id.workload},
                        {"container", container},
                        {"resource", history.profiles()->resources().NameOf(resource)}};
      for (auto& [key, value] : HistoryLine(reading.histogram(), reading.minutes)) {
        line[key] = value;
      }
      line["first_minute_ms"] = Milliseconds(known.first.Get(resource).ms);
      line["past_until_ms"] = Milliseconds(known.past_until_ms);
      lines.push_back(json::serialize(line));
    }
  });
}

}  // namespace

std::vector<std::string> DumpShard(const Shard& shard) {
  std::vector<const workloads::NamespaceState*> states;
  shard.ForEachNamespace([&](const auto& state) { states.push_back(&state); });
  std::sort(states.begin(), states.end(), [](const auto* a, const auto* b) {
    return std::tie(a->cluster(), a->name()) < std::tie(b->cluster(), b->name());
  });
  std::vector<std::string> lines;
  for (const workloads::NamespaceState* const state : states) {
    DumpNamespace(*state, shard.history(), lines);
  }
  return lines;
}

}  // namespace tidemark::engine
