#pragma once
// One namespace with everything that it needs of a shard, without the shard.

#include <fmt/format.h>
#define XXH_INLINE_ALL
#include <xxhash.h>

#include <algorithm>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "engine/advisor.h"
#include "engine/options.h"
#include "engine/request_history.h"
#include "tests/engine/random_traffic.h"
#include "workloads/namespace_state.h"

namespace tidemark::testing {

/// Hands everything on to a history, and wishes for the demand of all workloads.
class Demanding final : public workloads::UsageSink {
 public:
  explicit Demanding(engine::RequestHistory& history) : history_(history) {}

  void AddUsage(uint32_t container, uint32_t instance, Resource resource,
                workloads::UsageMinute minute, const workloads::MinuteContext& context) override {
    history_.AddUsage(container, instance, resource, minute, context);
  }
  void AddKill(uint32_t container, uint32_t instance, const workloads::Kill& kill) override {
    history_.AddKill(container, instance, kill);
  }
  void MergeContainer(uint32_t from, uint32_t into) override {
    history_.MergeContainer(from, into);
  }
  void RemoveContainer(uint32_t container) override { history_.RemoveContainer(container); }
  void RemoveInstance(uint32_t instance) override { history_.RemoveInstance(instance); }
  void ContainerIs(uint32_t container, const ProfileSubject& subject) override {
    history_.ContainerIs(container, subject);
  }
  bool SumsByPod(uint32_t container) const override { return history_.SumsByPod(container); }
  bool LeavesOutPageCache(uint32_t container) const override {
    return history_.LeavesOutPageCache(container);
  }
  std::optional<workloads::DemandWish> DemandOf(const WorkloadId& /*workload*/) const override {
    return wish;
  }
  void AddDemand(uint32_t container, Resource resource,
                 const workloads::DemandMinute& minute,
                 const workloads::DemandFacts& facts) override {
    history_.AddDemand(container, resource, minute, facts);
    if (minute.start_ms <= newest_ms[container]) out_of_order = true;
    newest_ms[container] = minute.start_ms;
    demand += minute.demand;
    ++demand_minutes;
  }
  void SetLabelSet(uint32_t instance, uint64_t labels) override {
    history_.SetLabelSet(instance, labels);
  }
  void Collect(uint32_t container, int64_t event_time_ms) override {
    history_.Collect(container, event_time_ms);
  }
  void SaveContainer(uint32_t container, ByteWriter& out) const override {
    history_.SaveContainer(container, out);
  }
  void SaveInstance(uint32_t instance, ByteWriter& out) const override {
    history_.SaveInstance(instance, out);
  }
  Result<void> RestoreContainer(uint32_t container, ByteReader& in) override {
    newest_ms.erase(container);
    return history_.RestoreContainer(container, in);
  }
  Result<void> RestoreInstance(uint32_t instance, ByteReader& in) override {
    return history_.RestoreInstance(instance, in);
  }
  Result<void> MergeSaved(uint32_t container, ByteReader& in) override {
    return history_.MergeSaved(container, in);
  }

  std::optional<workloads::DemandWish> wish = workloads::DemandWish{Resource::kCpu, 120'000};
  std::map<uint32_t, int64_t> newest_ms;  // minutes of demand, by container
  bool out_of_order = false;
  double demand = 0;  // of all that came
  uint64_t demand_minutes = 0;

 private:
  engine::RequestHistory& history_;
};

struct NamespaceWorld {
  engine::Options options;
  workloads::SourceTable sources;
  engine::RequestHistory history;
  Demanding sink{history};
  EngineCounters counters;
  workloads::SeriesBudget budget;
  workloads::KnownSeries known;
  workloads::ShardContext context;
  std::unique_ptr<workloads::NamespaceState> state;
  std::vector<LabelView> labels;

  explicit NamespaceWorld(const engine::Options& with = {},
                          const std::vector<workloads::Source>& extra = {})
      : options(with),
        sources(extra, options.profiles->resources()),
        history(options.profiles),
        budget(options.max_series),
        context{sources, sink, budget, counters, known} {
    context.refuse_late = options.refuse_late;
    context.source_counts.resize(sources.size());
  }

  void Begin() {
    state.reset();
    state = std::make_unique<workloads::NamespaceState>("east", "shop", 3, context);
  }

  /// As a shard applies a batch. Series without a role are left out.
  WriteVerdict Put(const TrafficBatch& batch) {
    WriteVerdict verdict;
    for (const TrafficSeries& series : batch.series) {
      labels.clear();
      if (!DecodeLabels(series.label_bytes, labels)) continue;
      const auto source = sources.Find(labels);
      if (!source || !workloads::Identify(sources.at(*source), labels)) continue;
      workloads::SeriesItem item;
      const XXH128_hash_t hash = XXH3_128bits(series.label_bytes.data(), series.label_bytes.size());
      item.series = {hash.low64, hash.high64};
      item.label_bytes = series.label_bytes;
      item.source = *source;
      item.from_ha_pair = series.from_ha_pair;
      item.vetted = true;
      const workloads::SeriesPlace place = known.Look().Find(item.series);
      if (place && state->Holds(place.series(), item.series)) {
        item.place = place;
        state->ApplyKnown(item, series.samples, batch.arrival_ms, verdict);
      } else if (!state->ApplyByHash(item, series.samples, batch.arrival_ms, verdict)) {
        item.may_create = budget.TryTake();
        state->Apply(item, series.samples, batch.arrival_ms, verdict);
      }
      state->Touch();
    }
    state->EndBatch();
    return verdict;
  }

  std::string Saved() const {
    std::string bytes;
    ByteWriter out(bytes);
    state->Save(out);
    return bytes;
  }

  /// Replaces the namespace; on an error there is none.
  Result<void> Restore(std::string_view bytes, const std::vector<uint16_t>& mapping) {
    state.reset();
    ByteReader in(bytes);
    auto restored = workloads::NamespaceState::Restore(in, mapping, 3, context);
    if (!restored) return tl::unexpected(restored.error());
    // As a shard does it.
    if (!in.AtEnd()) return Fail(ErrorCode::kInternal, "bytes are left");
    state = std::move(*restored);
    return {};
  }

  /// Each saved source of `from` in this world's table.
  std::vector<uint16_t> MappingFrom(const workloads::SourceTable& from) const {
    std::vector<uint16_t> mapping;
    for (size_t i = 0; i < from.size(); ++i) {
      mapping.push_back(workloads::NamespaceState::kNoSource);
      const std::string wanted =
          workloads::Fingerprint(from.at(static_cast<uint16_t>(i)), from.resources());
      for (size_t j = 0; j < sources.size(); ++j) {
        if (workloads::Fingerprint(sources.at(static_cast<uint16_t>(j)), sources.resources()) ==
            wanted) {
          mapping.back() = static_cast<uint16_t>(j);
        }
      }
    }
    return mapping;
  }
  std::vector<uint16_t> OwnMapping() const { return MappingFrom(sources); }

  /// Everything the namespace shows, every bit of it.
  std::string Shown() {
    std::string text;
    const auto add = [&text](const char* what, const std::optional<double>& value) {
      text += value ? fmt::format(" {}={:a}", what, *value) : fmt::format(" {}=-", what);
    };
    const auto views = state->View(state->event_time_ms());
    engine::RequestHistory& all = history;
    for (const WorkloadAdvice& advice :
         engine::Advisor(all, views, state->event_time_ms(), {}, counters).Advise(nullptr)) {
      text += fmt::format("{}/{} replicas={:a} last={} containers={}\n", advice.id.workload_type,
                          advice.id.workload, advice.replicas, advice.last_sample_ms,
                          advice.containers_in_pod);
      for (const ContainerAdvice& container : advice.containers) {
        for (const ResourceAdvice& of : container.resources) {
          text +=
              fmt::format("  {} {}:", container.container, sources.resources().NameOf(of.resource));
          add("request", of.current_request);
          add("limit", of.current_limit);
          add("model", of.model_request);
          add("lower", of.lower_bound);
          add("upper", of.upper_bound);
          add("original", of.original_request);
          add("recommended", of.recommended_request);
          add("days", of.confidence_days);
          add("reclaimable", of.reclaimable);
          add("original", of.original_request);
          text += '\n';
        }
      }
      std::vector<WorkloadStatus> statuses;
      state->Explain(advice.id.workload, statuses);
      for (const WorkloadStatus& status : statuses) {
        text += fmt::format("  {}/{} {}", status.workload_type, status.workload,
                            status.has_recommendation);
        for (const auto& item : status.prerequisites) {
          text +=
              fmt::format("; {} {} {}", item.what, item.present, item.last_sample_ms.value_or(-1));
        }
        for (const auto& pod : status.pods)
          text += "; " + pod.pod + " of " + pod.owner + " in " + pod.workload;
        text += '\n';
      }
    }
    return text;
  }

  /// What counters say is there now.
  std::string Counted() const {
    std::string text = fmt::format("series {} {} pods {} workloads {} containers {} namespaces {};",
                                   counters.series_now.load(), budget.count(),
                                   counters.pods_now.load(), counters.workloads_now.load(),
                                   counters.containers_now.load(), counters.namespaces_now.load());
    for (size_t i = 0; i < sources.size(); ++i) {
      if (context.source_counts[i].series == 0) continue;
      text += fmt::format(" {}={}", sources.at(static_cast<uint16_t>(i)).metric,
                          context.source_counts[i].series);
    }
    return text;
  }
};

}  // namespace tidemark::testing
