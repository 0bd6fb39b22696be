// Many writers, readers and ticks at once; meant for the thread sanitizer.
#include <atomic>
#include <thread>

#include "tests/engine/feed.h"

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
