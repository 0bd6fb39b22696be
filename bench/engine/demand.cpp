// What summing the demand of all workloads costs in the steady path, against none: CPU seconds per
// million samples that are applied to namespaces, decoding and journal left out.
//
//   engine_demand_bench [PODS [MINUTES [REPEATS]]]     default 1000, 60 and 5
//
// 50 workloads in one namespace, 2 containers in each pod with CPU, memory and requests, each pod
// scraped every 15 s in a batch of its own, as kubelets are. Prints one line for each run, then the
// ratio of the medians.

#include <xxhash.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <string>
#include <vector>

#include "workloads/namespace_state.h"

namespace {

using namespace tidemark;

constexpr int kWorkloads = 50;
constexpr int64_t kBegin = 1'700'000'040'000;

/// Takes everything and keeps little: what it costs is the same with and without demand.
class Sink final : public workloads::UsageSink {
 public:
  explicit Sink(bool wished) : wished_(wished) {}
  void AddUsage(uint32_t, uint32_t, Resource, workloads::UsageMinute minute,
                const workloads::MinuteContext&) override {
    total += minute.usage;
  }
  void MergeContainer(uint32_t, uint32_t) override {}
  void RemoveContainer(uint32_t) override {}
  void RemoveInstance(uint32_t) override {}
  std::optional<workloads::DemandWish> DemandOf(const WorkloadId&) const override {
    if (!wished_) return std::nullopt;
    return workloads::DemandWish{Resource::kCpu, 120'000};
  }
  void AddDemand(uint32_t, Resource, const workloads::DemandMinute& minute,
                 const workloads::DemandFacts& /*facts*/) override {
    total += minute.demand;
    ++demand_minutes;
  }
  void SaveContainer(uint32_t, ByteWriter&) const override {}
  void SaveInstance(uint32_t, ByteWriter&) const override {}
  Result<void> RestoreContainer(uint32_t, ByteReader&) override { return {}; }
  Result<void> RestoreInstance(uint32_t, ByteReader&) override { return {}; }
  Result<void> MergeSaved(uint32_t, ByteReader&) override { return {}; }

  double total = 0;
  uint64_t demand_minutes = 0;

 private:
  const bool wished_;
};

using Labels = std::vector<std::pair<std::string, std::string>>;

struct Told {
  workloads::SeriesItem item;
  std::string bytes;
  bool counts = false;  // a counter
};

class Bench {
 public:
  Bench(int pods, bool wished)
      : sink_(wished), context_{sources_, sink_, budget_, counters_, known_} {
    context_.source_counts.resize(sources_.size());
    pods_.resize(static_cast<size_t>(pods));
    for (int pod = 0; pod < pods; ++pod) MakePod(pod);
  }

  /// CPU seconds per million samples.
  double Run(int minutes) {
    workloads::NamespaceState state("", "shop", 0, context_);
    Scrape(state, 0);  // series come to be
    const uint64_t before = samples_;
    const double began = CpuSeconds();
    for (int scrape = 1; scrape <= minutes * 4; ++scrape) Scrape(state, scrape);
    return (CpuSeconds() - began) / static_cast<double>(samples_ - before) * 1e6;
  }
  uint64_t demand_minutes() const { return sink_.demand_minutes; }

 private:
  static double CpuSeconds() {
    timespec now{};
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec) / 1e9;
  }

  void Add(int pod, std::string_view metric, Labels labels, bool counts) {
    labels.emplace_back("__name__", metric);
    labels.emplace_back("namespace", "shop");
    labels.emplace_back("pod", "web-" + std::to_string(pod));
    std::sort(labels.begin(), labels.end());
    std::vector<LabelView> views;
    for (const auto& [name, text] : labels) views.push_back({name, text});
    Told told;
    told.bytes = EncodeLabels(views);
    const XXH128_hash_t hash = XXH3_128bits(told.bytes.data(), told.bytes.size());
    told.item.series = {hash.low64, hash.high64};
    told.item.source = *sources_.Find(views);
    told.item.may_create = false;
    told.counts = counts;
    pods_[static_cast<size_t>(pod)].push_back(std::move(told));
  }
  void MakePod(int pod) {
    Add(pod, "kube_pod_owner",
        {{"owner_kind", "StatefulSet"},
         {"owner_name", "web" + std::to_string(pod % kWorkloads)},
         {"owner_is_controller", "true"}},
        false);
    for (const char* container : {"app", "proxy"}) {
      const Labels of = {{"container", container}};
      Labels run = of;
      run.emplace_back("id", "/kubepods/" + std::to_string(pod) + container);
      Labels cpu = run;
      cpu.emplace_back("cpu", "total");
      Add(pod, "container_cpu_usage_seconds_total", cpu, true);
      Add(pod, "container_memory_working_set_bytes", run, false);
      Labels request = of;
      request.emplace_back("resource", "cpu");
      Add(pod, "kube_pod_container_resource_requests", request, false);
    }
  }
  void Scrape(workloads::NamespaceState& state, int scrape) {
    WriteVerdict verdict;
    for (size_t pod = 0; pod < pods_.size(); ++pod) {
      const int64_t at = kBegin + scrape * 15'000 +
                         static_cast<int64_t>(pod) * 15'000 / static_cast<int64_t>(pods_.size());
      for (Told& told : pods_[pod]) {
        const Sample sample{at, told.counts ? scrape * 3.0 : 1.0, 0};
        if (!state.ApplyByHash(told.item, {&sample, 1}, at, verdict)) {
          told.item.label_bytes = told.bytes;
          told.item.may_create = budget_.TryTake();
          state.Apply(told.item, {&sample, 1}, at, verdict);
        }
        ++samples_;
      }
      state.EndBatch();
    }
  }

  workloads::SourceTable sources_;
  Sink sink_;
  EngineCounters counters_;
  workloads::SeriesBudget budget_{100'000'000};
  workloads::KnownSeries known_;
  workloads::ShardContext context_;
  std::vector<std::vector<Told>> pods_;
  uint64_t samples_ = 0;
};

}  // namespace

int main(int argc, char** argv) {
  const int pods = argc > 1 ? std::atoi(argv[1]) : 1000;
  const int minutes = argc > 2 ? std::atoi(argv[2]) : 60;
  const int repeats = argc > 3 ? std::atoi(argv[3]) : 5;
  if (pods < kWorkloads || minutes < 2 || repeats < 1) {
    std::fputs("usage: engine_demand_bench [PODS, at least 50 [MINUTES [REPEATS]]]\n", stderr);
    return 2;
  }
  std::vector<double> took[2];
  for (int repeat = 0; repeat < repeats; ++repeat) {
    for (const bool wished : {false, true}) {
      Bench bench(pods, wished);
      const double seconds = bench.Run(minutes);
      std::printf("%-8s %.4f CPU-s per million samples, %llu minutes of demand\n",
                  wished ? "demand" : "none", seconds,
                  static_cast<unsigned long long>(bench.demand_minutes()));
      took[wished ? 1 : 0].push_back(seconds);
    }
  }
  for (auto& each : took) std::sort(each.begin(), each.end());
  const size_t middle = took[0].size() / 2;
  std::printf("ratio %.3f\n", took[1][middle] / took[0][middle]);
  return 0;
}
