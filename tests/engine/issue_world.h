#pragma once
// A small cluster for the tests of what users of other recommenders suffered from: series go in as
// remote write brings them, the daemon can be restarted, recommendations come out of the Snapshot.

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "exporter/recommendation_metrics.h"
#include "tests/engine/durable.h"
#include "tests/engine/profiles.h"

namespace tidemark::testing {

inline constexpr double kMi = 1024.0 * 1024;
inline constexpr int64_t kMinute = 60'000;
inline constexpr int64_t kHour = 60 * kMinute;
inline constexpr int64_t kDay = 24 * kHour;

inline engine::Options With(ProfileSetPtr profiles) {
  engine::Options options;
  options.profiles = std::move(profiles);
  return options;
}

/// No workload's demand is kept: it takes bytes until eight days are full.
inline engine::Options Unforecast(ProfileSetPtr profiles) {
  engine::Options options = With(std::move(profiles));
  ForecastSettings settings;
  settings.rules.emplace_back().steps = DemandSteps::kNone;
  options.forecast = std::make_shared<const ForecastSettings>(std::move(settings));
  return options;
}

/// VPA's numbers, without its faults or with them.
inline ProfileSetPtr Vpa(const std::function<void(Profile&)>& change = [](Profile&) {}) {
  return OneProfile(Preset::kVpa, change);
}
inline ProfileSetPtr StrictVpa() {
  return Vpa([](Profile& profile) { profile.strict = true; });
}

/// What lies in the store outlives Restart.
class World {
 public:
  explicit World(engine::Options options = {}, std::vector<workloads::Source> sources = {})
      : options_(std::move(options)), sources_(std::move(sources)) {
    if (options_.shards == 0) options_.shards = 1;
    Start(kT0);
  }
  explicit World(ProfileSetPtr profiles) : World(With(std::move(profiles))) {}

  enum class By : uint8_t { kJournal, kCheckpoint };
  /// The process ends and comes back, `later_ms` later.
  void Restart(By by, int64_t later_ms = 0) {
    if (by == By::kCheckpoint) REQUIRE(durable_->engine.Checkpoint());
    const int64_t now_ms = ToUnixMs(durable_->clock.Now()) + later_ms;
    durable_.reset();
    Start(now_ms);
  }
  WriteVerdict Put(const std::vector<FeedSeries>& request) {
    int64_t newest = ToUnixMs(durable_->clock.Now());
    for (const FeedSeries& series : request) {
      for (const Sample& sample : series.samples) newest = std::max(newest, sample.timestamp_ms);
    }
    durable_->clock.Set(FromUnixMs(newest));
    return Write(durable_->engine, request);
  }
  WriteVerdict Put(LabelMap labels, int64_t time_ms, double value) {
    return Put({{std::move(labels), {{time_ms, value}}}});
  }
  /// Something else in the namespace goes on until then.
  void Pass(int64_t to_ms) { Put(Request("clockwork", "cpu"), to_ms, 1); }

  std::shared_ptr<const Snapshot> Now() {
    durable_->engine.Tick();
    return durable_->engine.Current();
  }
  std::vector<std::string> Names() {
    std::vector<std::string> names;
    for (const auto& block : Now()->blocks) {
      for (const WorkloadAdvice& workload : block->workloads) {
        names.push_back(workload.id.workload_type + "/" + workload.id.workload);
      }
    }
    return names;
  }
  std::optional<ResourceAdvice> Find(const std::string& workload, Resource resource,
                                     const std::string& container = "app") {
    for (const auto& block : Now()->blocks) {
      for (const WorkloadAdvice& advice : block->workloads) {
        if (advice.id.workload != workload) continue;
        for (const ContainerAdvice& c : advice.containers) {
          if (c.container != container) continue;
          for (const ResourceAdvice& r : c.resources) {
            if (r.resource == resource) return r;
          }
        }
      }
    }
    return std::nullopt;
  }
  /// Fails where there is no such advice.
  ResourceAdvice Get(const std::string& workload, Resource resource,
                     const std::string& container = "app") {
    const auto found = Find(workload, resource, container);
    INFO(workload << " " << container);
    REQUIRE(found);
    return *found;
  }
  ResourceAdvice Cores(const std::string& workload, const std::string& container = "app") {
    return Get(workload, Resource::kCpu, container);
  }
  ResourceAdvice Bytes(const std::string& workload, const std::string& container = "app") {
    return Get(workload, Resource::kMemory, container);
  }
  /// The families of recommendations, as /metrics has them.
  std::string Page() {
    exporter::RecommendationMetrics metrics;
    std::string page;
    exporter::ExpositionWriter writer(exporter::ExpositionFormat::kText, page);
    metrics.Append(*Now(), writer);
    writer.Finish();
    return page;
  }
  /// Size of all that is kept, as a checkpoint holds it.
  size_t StateBytes() {
    REQUIRE(durable_->engine.Checkpoint());
    size_t bytes = 0;
    for (const std::string& block : disk_.checkpoints().back().blocks) bytes += block.size();
    return bytes;
  }

  int64_t now_ms() const { return ToUnixMs(durable_->clock.Now()); }
  engine::Engine& engine() { return durable_->engine; }
  EngineCounters& counters() { return durable_->counters; }

 private:
  void Start(int64_t now_ms) {
    durable_ = std::make_unique<Durable>(disk_, options_, sources_);
    durable_->clock.Set(FromUnixMs(now_ms));
    REQUIRE(durable_->engine.Recover());
  }

  MemoryStore disk_;
  engine::Options options_;
  std::vector<workloads::Source> sources_;
  std::unique_ptr<Durable> durable_;
};

/// A container of a pod of a StatefulSet "db" unless its owner is told otherwise.
class Container {
 public:
  Container(World& world, std::string pod, std::string container = "app", int64_t from_ms = kT0)
      : world_(world), pod_(std::move(pod)), container_(std::move(container)), now_ms_(from_ms) {}

  using Load = std::function<double(int)>;
  /// CPU and memory, minute by minute; the functions are asked for each.
  Container& Go(int minutes, const Load& cores, const Load& bytes) {
    if (!began_) Usage(bytes(0));
    began_ = true;
    for (int i = 0; i < minutes; ++i) {
      counter_ += 60 * cores(i);
      now_ms_ += kMinute;
      Usage(bytes(i));
    }
    return *this;
  }
  Container& Go(int minutes, double cores, double bytes) {
    return Go(
        minutes, [cores](int) { return cores; }, [bytes](int) { return bytes; });
  }
  /// Memory alone, every half hour: what peaks need of long times.
  Container& Hours(int hours, double bytes) {
    for (int i = 0; i < 2 * hours; ++i) {
      world_.Put(Memory(pod_, container_), now_ms_, bytes);
      now_ms_ += kHour / 2;
    }
    return *this;
  }
  void SkipTo(int64_t time_ms) { now_ms_ = time_ms; }
  /// Its series end by their markers.
  void End() {
    world_.Put({{Cpu(pod_, container_), {{now_ms_ + 1, StaleMarker()}}},
                {Memory(pod_, container_), {{now_ms_ + 1, StaleMarker()}}}});
  }
  int64_t now_ms() const { return now_ms_; }

 private:
  void Usage(double bytes) {
    world_.Put({{Cpu(pod_, container_), {{now_ms_, counter_}}},
                {Memory(pod_, container_), {{now_ms_, bytes}}}});
  }

  World& world_;
  std::string pod_;
  std::string container_;
  int64_t now_ms_;
  double counter_ = 0;
  bool began_ = false;
};

inline void OwnedBy(World& world, const std::string& pod, const std::string& kind,
                    const std::string& name, int64_t at = kT0) {
  world.Put(PodOwner(pod, kind, name), at, 1);
}
/// A run of a CronJob: one Job and its pod.
inline void RunOfCronJob(World& world, const std::string& job, const std::string& cron_job,
                         int64_t at) {
  world.Put({{PodOwner(job + "-pod", "Job", job), {{at, 1}}},
             {Named("kube_job_owner", {{"namespace", "shop"},
                                       {"job_name", job},
                                       {"owner_kind", "CronJob"},
                                       {"owner_name", cron_job}}),
              {{at, 1}}}});
}

/// What kube-state-metrics says of the restarts of one container.
class Restarts {
 public:
  Restarts(World& world, std::string pod, std::string container = "app")
      : world_(world), pod_(std::move(pod)), container_(std::move(container)) {}

  /// As before; the first time is where counting begins.
  void Scrape(int64_t at) { Scrape(at, terminated_); }
  /// Killed for memory a second before the scrape `at`.
  void Kill(int64_t at, std::optional<double> request) {
    if (request) world_.Put(Of("resource_requests", "memory"), at - kMinute, *request);
    KillAt(at, static_cast<double>(at - 1000) / 1000);
  }
  /// The time that is told of the kill, in Unix seconds.
  void KillAt(int64_t at, double terminated) {
    Scrape(at - kMinute);
    ++restarts_;
    Scrape(at, terminated);
  }

 private:
  LabelMap Of(const std::string& metric, const std::string& resource = "",
              const std::string& reason = "") const {
    LabelMap labels = {
        {"namespace", "shop"}, {"pod", pod_}, {"uid", "u-" + pod_}, {"container", container_}};
    if (!resource.empty()) labels.insert({{"resource", resource}, {"unit", "byte"}});
    if (!reason.empty()) labels["reason"] = reason;
    return Named("kube_pod_container_" + metric, labels);
  }
  void Scrape(int64_t at, double terminated) {
    terminated_ = terminated;
    std::vector<FeedSeries> scrape = {
        {Of("status_restarts_total"), {{at, static_cast<double>(restarts_)}}}};
    if (restarts_ > 0) {
      scrape.push_back({Of("status_last_terminated_reason", "", "OOMKilled"), {{at, 1}}});
      scrape.push_back({Of("status_last_terminated_timestamp"), {{at, terminated}}});
    }
    world_.Put(scrape);
  }

  World& world_;
  std::string pod_;
  std::string container_;
  int restarts_ = 0;
  double terminated_ = 0;
};

}  // namespace tidemark::testing
