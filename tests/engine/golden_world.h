#pragma once
// One shard that is told usage as the reference values have it: values of amounts, not counters.
//
// Pods, owners, labels and requests come in as series; usage and kills enter where converted live
// values do, so that all behind that - pods, label sets, tracks, kills, merging, recommendation,
// saving and restoring - is the code that runs in the daemon.

#include <fmt/format.h>

#include <chrono>
#include <future>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "engine/checkpoint_block.h"
#include "engine/shard.h"
#include "estimators/event_time.h"
#include "tests/engine/feed.h"
#include "tests/estimators/golden.h"

namespace tidemark::testing {

/// Settings of a reference case as a strict profile of preset vpa.
inline ProfileSetPtr StrictProfile(const estimators::golden::Json& config,
                                   std::string_view weight) {
  const auto number = [&config](const std::string& key) {
    return estimators::golden::Number(config.at(key));
  };
  Profile profile = PresetProfile(Preset::kVpa);
  profile.strict = true;
  for (const std::string name : {"cpu", "memory"}) {
    ResourceRule& rule = profile.rule(name == "cpu" ? Resource::kCpu : Resource::kMemory);
    rule.percentile = number("target_" + name + "_percentile");
    rule.lower_percentile = number("lower_bound_" + name + "_percentile");
    rule.upper_percentile = number("upper_bound_" + name + "_percentile");
    rule.half_life_ms = static_cast<int64_t>(number(name + "_half_life_seconds") * 1000);
    rule.confidence_interval_ms =
        static_cast<int64_t>(number("confidence_interval_" + name + "_seconds") * 1000);
    rule.margin_ratio = number("recommendation_margin_fraction");
  }
  ResourceRule& cpu = profile.rule(Resource::kCpu);
  cpu.pod_minimum = number("pod_min_cpu_millicores") / 1000;
  if (weight == "request") cpu.weight = WeightRule::kByRequest;
  ResourceRule& memory = profile.rule(Resource::kMemory);
  memory.pod_minimum = number("pod_min_memory_mb") * 1024 * 1024;
  memory.window_ms = static_cast<int64_t>(number("memory_aggregation_interval_seconds") * 1000);
  memory.kills.bump_ratio = number("oom_bump_up_ratio");
  memory.kills.min_bump = number("oom_min_bump_up_bytes");
  return std::make_shared<const ProfileSet>(std::vector<Profile>{}, profile);
}

class GoldenWorld {
 public:
  explicit GoldenWorld(ProfileSetPtr profiles) {
    options_.profiles = std::move(profiles);
    // Samples come at any second, as VPA takes them; a demand is of whole minutes.
    ForecastSettings nothing;
    nothing.rules.emplace_back().steps = DemandSteps::kNone;
    options_.forecast = std::make_shared<const ForecastSettings>(std::move(nothing));
    Start();
  }

  /// A pod of the one workload, with its labels ("a=b,c=d"), as kube-state-metrics tells of it.
  void AddPod(const std::string& pod, const std::string& labels, int64_t time_ms) {
    LabelMap names{{"namespace", "shop"}, {"pod", pod}, {"uid", pod}};
    std::string rest = labels;
    while (!rest.empty()) {
      const std::string one = rest.substr(0, rest.find(','));
      rest = one.size() < rest.size() ? rest.substr(one.size() + 1) : "";
      std::string name = one.substr(0, one.find('='));
      std::replace(name.begin(), name.end(), '-', '_');
      names["label_" + name] = one.substr(one.find('=') + 1);
    }
    Put({{Named("kube_pod_owner", {{"namespace", "shop"},
                                   {"pod", pod},
                                   {"uid", pod},
                                   {"owner_kind", "StatefulSet"},
                                   {"owner_name", "db"},
                                   {"owner_is_controller", "true"}}),
          {{time_ms, 1}}},
         {Named("kube_pod_labels", names), {{time_ms, 1}}}});
  }

  /// Requests of a container; makes it where it is not.
  void SetRequests(const std::string& pod, const std::string& container, double cores, double bytes,
                   int64_t time_ms) {
    const auto request = [&](const std::string& resource, const std::string& unit) {
      return Named("kube_pod_container_resource_requests", {{"namespace", "shop"},
                                                            {"pod", pod},
                                                            {"uid", pod},
                                                            {"container", container},
                                                            {"resource", resource},
                                                            {"unit", unit}});
    };
    Put({{request("cpu", "core"), {{time_ms, cores}}},
         {request("memory", "byte"), {{time_ms, bytes}}}});
  }

  /// A value as of `time`, which is the end of its minute.
  void Use(const std::string& pod, const std::string& container, Resource resource, int64_t time_ms,
           double usage) {
    OnShard([&](engine::Shard& shard) {
      StateOf(shard).GiveUsageForTest(pod, container, resource,
                                      {time_ms - workloads::kMinuteMs, usage});
    });
  }
  void Kill(const std::string& pod, const std::string& container, int64_t time_ms, double request) {
    OnShard([&](engine::Shard& shard) {
      StateOf(shard).GiveKillForTest(pod, container, {time_ms, request});
    });
  }

  /// What the snapshot shows of a container.
  const ContainerAdvice* Advice(const std::string& container, int64_t now_ms) {
    OnShard([&](engine::Shard& shard) { page_ = shard.Publish(now_ms); });
    for (const auto& block : page_.blocks) {
      for (const WorkloadAdvice& workload : block->workloads) {
        for (const ContainerAdvice& each : workload.containers) {
          if (each.container == container) return &each;
        }
      }
    }
    return nullptr;
  }

  /// What is behind it. Valid until something else is told.
  engine::UsageTrack::Reading Reading(const std::string& container, Resource resource) {
    engine::UsageTrack::Reading reading;
    OnShard([&](engine::Shard& shard) {
      StateOf(shard).ForEachContainer([&](const workloads::Workload&, std::string_view name,
                                          const workloads::WorkloadContainer& known) {
        const auto* const track = shard.history().TrackOf(known.index, resource);
        if (name == container && track != nullptr) reading = track->Read();
      });
    });
    return reading;
  }

  /// Saves all state, ends the shard, and begins another with that state at this time.
  void Restart(int64_t now_ms) {
    std::vector<std::string> blocks;
    OnShard([&](engine::Shard& shard) {
      size_t next = 0;
      while (shard.Save(next, 1, 1 << 20, blocks)) {
      }
    });
    Start();
    std::vector<uint16_t> sources;
    for (size_t i = 0; i < addressing_.sources.size(); ++i) {
      sources.push_back(static_cast<uint16_t>(i));
    }
    OnShard([&](engine::Shard& shard) {
      for (const std::string& block : blocks) {
        const auto saved = engine::DecodeNamespaceHead(block);
        REQUIRE(saved);
        const auto restored = shard.Restore(*saved, sources);
        INFO((restored ? "" : restored.error().message));
        REQUIRE(restored);
      }
      shard.RestartAsVpa(now_ms, 2);
    });
  }

 private:
  void Start() {
    shard_.reset();
    shard_ = std::make_unique<engine::Shard>(
        0, engine::ShardCommons{options_, addressing_, known_, pool_, budget_, counters_,
                                demand_places_});
  }

  void OnShard(const std::function<void(engine::Shard&)>& task) {
    std::promise<void> done;
    shard_->Post([&](engine::Shard& shard) {
      task(shard);
      done.set_value();
    });
    done.get_future().wait();
  }

  workloads::NamespaceState& StateOf(engine::Shard& shard) const {
    return shard.FindOrMake(addressing_.HashNamespace("", "shop"), "", "shop");
  }

  void Put(const std::vector<FeedSeries>& request) {
    workloads::SeriesBatch batch;
    std::vector<std::string> bytes;
    bytes.reserve(request.size());
    for (const FeedSeries& series : request) {
      std::vector<LabelView> labels;
      for (const auto& [name, value] : series.labels) labels.push_back({name, value});
      workloads::SeriesItem item;
      REQUIRE_FALSE(engine::AddressByLabels(addressing_, labels, item));
      item.label_bytes = bytes.emplace_back(EncodeLabels(labels));
      item.series = addressing_.HashSeries(item.label_bytes);
      item.first_sample = static_cast<uint32_t>(batch.samples.size());
      item.sample_count = static_cast<uint32_t>(series.samples.size());
      item.may_create = budget_.TryTake();
      for (const Sample& sample : series.samples) {
        batch.arrival_ms = std::max(batch.arrival_ms, sample.timestamp_ms);
        batch.samples.push_back(sample);
      }
      batch.items.push_back(item);
    }
    std::promise<engine::BatchOutcome> applied;
    REQUIRE(shard_->Reserve());
    shard_->Push(std::move(batch), 0,
                 [&](engine::BatchOutcome outcome) { applied.set_value(std::move(outcome)); });
    CHECK(applied.get_future().get().verdict.TotalRejected() == 0);
  }

  engine::Options options_;
  const workloads::SourceTable sources_;
  const engine::Addressing addressing_{sources_, nullptr};
  workloads::KnownSeries known_;
  engine::BatchPool pool_;
  workloads::SeriesBudget budget_{1'000'000};
  EngineCounters counters_;
  engine::DemandPlaces demand_places_;
  std::unique_ptr<engine::Shard> shard_;
  engine::ShardPage page_;
};

}  // namespace tidemark::testing
