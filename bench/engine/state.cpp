// How long the state of a large cluster takes to be saved and restored, and how many bytes it is:
// what a checkpoint and a start cost beside the disk.
//
//   engine_state_bench [CONTAINERS [THREADS]]     default 100000 and 2
//
// 20 pods in each workload, 2 containers in each pod, 50 workloads in each namespace; per container
// 12 series of cAdvisor and kube-state-metrics, per pod 9 more; a day of usage behind each
// workload's containers. A thread is a shard with namespaces of its own. Prints one line for each
// step: `STEP SECONDS s SECONDS CPU-s`, and the sizes as bytes and, of what was restored, in
// memory.

#include <fmt/format.h>
#include <malloc.h>
#include <xxhash.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <functional>
#include <memory>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "engine/options.h"
#include "engine/request_history.h"
#include "workloads/namespace_state.h"

namespace {

using namespace tidemark;
using workloads::NamespaceState;

constexpr int kPods = 20;       // of a workload
constexpr int kContainers = 2;  // of a pod
constexpr int kWorkloads = 50;  // of a namespace
constexpr int kMinutes = 1440;  // of usage behind each container
constexpr int64_t kBegin = 1'700'000'040'000;

using Labels = std::vector<std::pair<std::string, std::string>>;

struct Commons {
  engine::Options options;
  workloads::SourceTable sources;
  EngineCounters counters;
  workloads::SeriesBudget budget{100'000'000};
  workloads::KnownSeries known;
};

/// What one thread has.
struct Shard {
  explicit Shard(Commons& commons)
      : history(commons.options.profiles),
        context{commons.sources, history, commons.budget, commons.counters, commons.known} {
    context.source_counts.resize(commons.sources.size());
  }
  engine::RequestHistory history;
  workloads::ShardContext context;
  std::vector<std::unique_ptr<NamespaceState>> namespaces;
};

class Builder {
 public:
  Builder(Shard& shard, int number) : shard_(shard), random_(static_cast<uint32_t>(number)) {
    name_ = "team-" + std::to_string(number);
    state_ =
        std::make_unique<NamespaceState>("", name_, static_cast<size_t>(number), shard.context);
  }

  std::unique_ptr<NamespaceState> Build() {
    for (int scrape = 0; scrape < 3; ++scrape) {
      now_ms_ = kBegin + scrape * 30'000;
      for (int w = 0; w < kWorkloads; ++w) PutWorkload(w);
      state_->EndBatch();
    }
    for (const workloads::WorkloadView& workload : state_->View(state_->event_time_ms())) {
      for (const workloads::ContainerView& container : workload.containers) {
        AddHistory(container.container);
      }
    }
    return std::move(state_);
  }

 private:
  double Noise() { return std::normal_distribution<double>()(random_); }

  void Put(std::string_view metric, Labels labels, double value) {
    labels.emplace_back("__name__", metric);
    labels.emplace_back("namespace", name_);
    std::sort(labels.begin(), labels.end());
    views_.clear();
    for (const auto& [name, text] : labels) views_.push_back({name, text});
    const std::string bytes = EncodeLabels(views_);
    workloads::SeriesItem item;
    const XXH128_hash_t hash = XXH3_128bits(bytes.data(), bytes.size());
    item.series = {hash.low64, hash.high64};
    item.label_bytes = bytes;
    item.source = *shard_.context.sources.Find(views_);
    item.may_create = shard_.context.budget.TryTake();
    const int64_t at = now_ms_ + static_cast<int64_t>(random_() % 15'000);
    const Sample sample{at, value, 0};
    WriteVerdict verdict;
    state_->Apply(item, {&sample, 1}, now_ms_ + 15'000, verdict);
  }

  void PutWorkload(int w) {
    const std::string deployment = fmt::format("service-{}", w);
    const std::string replicaset = fmt::format("{}-{:x}", deployment, 0x5c9f7b6d + w);
    for (int p = 0; p < kPods; ++p) {
      const std::string pod = fmt::format("{}-{:x}", replicaset, 0xa1b2c + 977 * p);
      for (int c = 0; c < kContainers; ++c) PutContainer(pod, c == 0 ? "app" : "istio-proxy");
      Put("kube_pod_owner",
          {{"pod", pod},
           {"owner_kind", "ReplicaSet"},
           {"owner_name", replicaset},
           {"owner_is_controller", "true"}},
          1);
      for (const char* phase : {"Pending", "Running", "Succeeded", "Failed", "Unknown"}) {
        Put("kube_pod_status_phase", {{"pod", pod}, {"phase", phase}},
            std::string_view(phase) == "Running" ? 1 : 0);
      }
      Put("kube_pod_status_ready", {{"pod", pod}, {"condition", "true"}}, 1);
      Put("kube_pod_start_time", {{"pod", pod}}, 1.7e9);
      Put("kube_pod_labels", {{"pod", pod}, {"label_app", deployment}}, 1);
    }
    Put("kube_replicaset_owner",
        {{"replicaset", replicaset}, {"owner_kind", "Deployment"}, {"owner_name", deployment}}, 1);
    Put("kube_deployment_spec_replicas", {{"deployment", deployment}}, kPods);
  }

  void PutContainer(const std::string& pod, const std::string& container) {
    const std::string id = fmt::format("/kubepods/burstable/pod{0}/{0}{1}", pod, container);
    const Labels of_run = {{"pod", pod}, {"container", container}, {"id", id}};
    const double seconds = 5000 + static_cast<double>(now_ms_ - kBegin) / 1000 * 0.2;
    Labels cpu = of_run;
    cpu.emplace_back("cpu", "total");
    Put("container_cpu_usage_seconds_total", cpu, seconds + std::abs(Noise()));
    Put("container_memory_working_set_bytes", of_run, std::floor(4e8 * std::exp(0.2 * Noise())));
    Put("container_memory_cache", of_run, std::floor(1e7 * std::exp(0.2 * Noise())));
    Put("container_cpu_cfs_throttled_periods_total", of_run, 1234);
    Put("container_cpu_cfs_periods_total", of_run, 456'789);
    Put("container_oom_events_total", of_run, 0);
    const Labels of_container = {{"pod", pod}, {"container", container}};
    for (const char* metric :
         {"kube_pod_container_resource_requests", "kube_pod_container_resource_limits"}) {
      Labels of_cpu = of_container;
      of_cpu.emplace_back("resource", "cpu");
      Put(metric, of_cpu, 0.25);
      Labels of_memory = of_container;
      of_memory.emplace_back("resource", "memory");
      Put(metric, of_memory, 536'870'912);
    }
    Put("kube_pod_container_status_restarts_total", of_container, 3);
    Put("kube_pod_container_status_last_terminated_reason", of_container, 1);
  }

  void AddHistory(uint32_t container) {
    for (int i = 0; i < kMinutes; ++i) {
      const int64_t start_ms = kBegin - (kMinutes - i) * workloads::kMinuteMs;
      shard_.history.AddUsage(container, 0, Resource::kCpu,
                              {start_ms, 0.2 * std::exp(0.5 * Noise())}, {});
      shard_.history.AddUsage(container, static_cast<uint32_t>(i % kPods), Resource::kMemory,
                              {start_ms, 4e8 * std::exp(0.2 * Noise())}, {});
    }
  }

  Shard& shard_;
  std::mt19937 random_;
  std::string name_;
  std::unique_ptr<NamespaceState> state_;
  int64_t now_ms_ = kBegin;
  std::vector<LabelView> views_;
};

struct Took {
  double seconds = 0;
  double cpu_seconds = 0;  // of all threads
};

/// What is taken of the heap, of all threads.
double HeapBytes() {
  const auto now = mallinfo2();
  return static_cast<double>(now.uordblks + now.hblkhd);
}

double CpuSeconds() {
  timespec now{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec) / 1e9;
}

/// Does `work` on all threads at once, the work of each being its own.
Took OnAll(size_t threads, const std::function<void(size_t)>& work) {
  const auto began = std::chrono::steady_clock::now();
  const double cpu_began = CpuSeconds();
  std::vector<std::thread> running;
  for (size_t i = 0; i < threads; ++i) running.emplace_back(work, i);
  for (std::thread& thread : running) thread.join();
  return {std::chrono::duration<double>(std::chrono::steady_clock::now() - began).count(),
          CpuSeconds() - cpu_began};
}

void Say(const char* step, Took took) {
  std::printf("%-10s %8.3f s %8.3f CPU-s\n", step, took.seconds, took.cpu_seconds);
}

}  // namespace

int main(int argc, char** argv) {
  const int containers = argc > 1 ? std::atoi(argv[1]) : 100'000;
  const int threads = argc > 2 ? std::atoi(argv[2]) : 2;
  const int namespaces = containers / (kWorkloads * kPods * kContainers);
  if (namespaces < 1 || threads < 1) {
    std::fputs("usage: engine_state_bench [CONTAINERS, at least 2000 [THREADS]]\n", stderr);
    return 2;
  }
  const auto count = static_cast<size_t>(threads);
  Commons commons;
  std::vector<std::unique_ptr<Shard>> shards;
  for (size_t i = 0; i < count; ++i) shards.push_back(std::make_unique<Shard>(commons));
  Say("build", OnAll(count, [&](size_t shard) {
        for (int n = static_cast<int>(shard); n < namespaces; n += threads) {
          shards[shard]->namespaces.push_back(Builder(*shards[shard], n).Build());
        }
      }));
  std::vector<std::vector<std::string>> saved(count);
  Say("save", OnAll(count, [&](size_t shard) {
        for (const auto& state : shards[shard]->namespaces) {
          ByteWriter out(saved[shard].emplace_back());
          state->Save(out);
        }
      }));
  size_t bytes = 0;
  for (const auto& blocks : saved) {
    for (const std::string& block : blocks) bytes += block.size();
  }
  const auto series = commons.counters.series_now.load();
  shards.clear();
  const double heap_before = HeapBytes();

  std::vector<uint16_t> mapping;
  for (size_t i = 0; i < commons.sources.size(); ++i) mapping.push_back(static_cast<uint16_t>(i));
  for (size_t i = 0; i < count; ++i) shards.push_back(std::make_unique<Shard>(commons));
  Say("restore", OnAll(count, [&](size_t shard) {
        for (const std::string& block : saved[shard]) {
          ByteReader in(block);
          auto state = NamespaceState::Restore(in, mapping, 0, shards[shard]->context);
          if (!state) {
            std::fprintf(stderr, "%s\n", state.error().message.c_str());
            std::exit(1);
          }
          shards[shard]->namespaces.push_back(std::move(*state));
        }
      }));
  const int made = namespaces * kWorkloads * kPods * kContainers;
  std::printf("%d containers, %lld series, %d threads: %.1f MB, %.0f bytes a container\n", made,
              static_cast<long long>(series), threads, static_cast<double>(bytes) / 1e6,
              static_cast<double>(bytes) / made);
  std::printf("in memory: %.0f bytes a container\n", (HeapBytes() - heap_before) / made);
  return commons.counters.series_now.load() == series ? 0 : 1;
}
