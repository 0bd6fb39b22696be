// Many writers, readers and ticks at once; meant for the thread sanitizer.
#include <atomic>
#include <thread>

#include "tests/engine/durable.h"
#include "tests/engine/profiles.h"

using namespace tidemark;
using namespace tidemark::testing;

TEST_CASE("writers, readers, questions and ticks do not disturb each other",
          "[engine][concurrency]") {
  engine::Options options;
  options.shards = 3;
  Bench bench(options);
  bench.clock.Set(FromUnixMs(kT0 + 3'600'000));
  constexpr int kWriters = 4;
  constexpr int kMinutes = 10;
  std::atomic<uint64_t> accepted{0};
  std::atomic<bool> done{false};
  std::vector<std::thread> threads;
  for (int w = 0; w < kWriters; ++w) {
    threads.emplace_back([&, w] {
      const std::string ns = "ns-" + std::to_string(w);
      const auto write = [&](const std::vector<FeedSeries>& request) {
        const auto verdict = TryWrite(bench.engine, request);
        if (verdict) accepted += verdict->accepted;
      };
      write({{PodOwner("db-0", "StatefulSet", "db", ns), {{kT0, 1}}}});
      for (int i = 0; i <= kMinutes * 4; ++i) {
        const int64_t at = kT0 + i * 15'000LL;
        write(
            {{Cpu("db-0", "app", ns), {{at, i * 15.0}}}, {Memory("db-0", "app", ns), {{at, 5e7}}}});
      }
    });
  }
  std::thread reader([&] {
    uint64_t generation = 0;
    while (!done) {
      const auto snapshot = bench.engine.Current();
      if (snapshot->generation < generation) std::abort();  // time would run backwards
      generation = snapshot->generation;
      (void)bench.engine.Explain("ns-1", "db");
      bench.engine.Tick();
    }
  });
  for (std::thread& thread : threads) thread.join();
  done = true;
  reader.join();
  CHECK(accepted == kWriters * (1 + 2 * (kMinutes * 4 + 1)));
  CHECK(bench.Names().size() == kWriters);
  for (int w = 0; w < kWriters; ++w) {
    const auto why = bench.engine.Explain("ns-" + std::to_string(w), "db");
    REQUIRE(why);
    CHECK(why->front().has_recommendation);
  }
}

TEST_CASE("profiles change beside writers, ticks, questions, pasts and checkpoints",
          "[engine][concurrency]") {
  MemoryStore store;
  engine::Options options;
  options.shards = 3;
  const auto world = Open(store, options);
  world->clock.Set(FromUnixMs(kT0 + 3'600'000));
  constexpr int kWriters = 4;
  constexpr int kMinutes = 20;
  std::atomic<uint64_t> accepted{0};
  std::atomic<bool> done{false};
  std::vector<std::thread> writers;
  for (int w = 0; w < kWriters; ++w) {
    writers.emplace_back([&, w] {
      const std::string ns = "ns-" + std::to_string(w);
      const auto write = [&](const std::vector<FeedSeries>& request) {
        const auto verdict = TryWrite(world->engine, request);
        if (verdict) accepted += verdict->accepted;
      };
      write({{PodOwner("db-0", "StatefulSet", "db", ns), {{kT0, 1}}}});
      for (int i = 0; i <= kMinutes * 4; ++i) {
        const int64_t at = kT0 + i * 15'000LL;
        for (const std::string container : {"app", "side"}) {
          write({{Cpu("db-0", container, ns), {{at, i * 15.0}}},
                 {Memory("db-0", container, ns), {{at, 5e7 + i}}}});
        }
      }
    });
  }
  std::vector<std::thread> others;
  others.emplace_back([&] {
    for (int i = 0; !done; ++i) {
      world->engine.SetProfiles(
          OneProfile(i % 3 == 0 ? Preset::kVpa : Preset::kOversell, [i](Profile& profile) {
            profile.strict = i % 3 == 0;
            if (!profile.strict) profile.level = static_cast<Level>(i % 4);
            profile.rule(Resource::kCpu).buckets.ratio =
                profile.strict ? 1.05 : 1.02 + i % 5 * 0.01;
          }));
    }
  });
  others.emplace_back([&] {
    while (!done) {
      (void)world->engine.ExplainRequests("ns-1", "statefulset", "db");
      const auto snapshot = world->engine.Current();
      for (const auto& block : snapshot->blocks) {
        for (const WorkloadAdvice& workload : block->workloads) {
          for (const ContainerAdvice& container : workload.containers) {
            if (container.profile->name != "default") std::abort();
          }
        }
      }
      world->engine.Tick();
    }
  });
  others.emplace_back([&] {
    while (!done) {
      (void)world->engine.Checkpoint();
      auto past = world->engine.OpenPast({{"", "ns-2"}}, kT0);
      if (!past) continue;
      const FeedSeries usage{Memory("db-0", "app", "ns-2"), {{kT0 - 120'000, 5e7}}};
      std::vector<LabelView> labels;
      for (const auto& [name, value] : usage.labels) labels.push_back({name, value});
      const std::string bytes = EncodeLabels(labels);
      (*past)->Add({labels, bytes, usage.samples});
      (void)(*past)->ApplySlice();
    }
  });
  for (std::thread& thread : writers) thread.join();
  done = true;
  for (std::thread& thread : others) thread.join();
  CHECK(accepted == kWriters * (1 + 4 * (kMinutes * 4 + 1)));
  world->engine.Tick();
  const auto snapshot = world->engine.Current();
  REQUIRE(snapshot->blocks.size() == kWriters);
  for (const auto& block : snapshot->blocks) {
    REQUIRE(block->workloads.size() == 1);
    CHECK(block->workloads[0].containers.size() == 2);
    const auto why = world->engine.ExplainRequests(block->name_space, "statefulset", "db");
    REQUIRE(why);
    CHECK(why->front().containers.size() == 2);
  }
  world->engine.Stop();
  CHECK(world->counters.internal_errors.load() == 0);
}
