#pragma once
// An engine on a store in memory.

#include <algorithm>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "tests/engine/feed.h"
#include "tests/engine/memory_store.h"

namespace tidemark::testing {

struct Durable {
  ManualClock clock{FromUnixMs(kT0)};
  EngineCounters counters;
  StorageCounters storage;
  engine::Engine engine;

  explicit Durable(MemoryStore& store, engine::Options options = {},
                   const std::vector<workloads::Source>& extra = {})
      : engine(Quiet(options), extra, clock, counters, {&store, &storage}) {}

  /// No tick and no checkpoint but those that a test asks for.
  static engine::Options Quiet(engine::Options options) {
    options = Bench::Quiet(options);
    options.checkpoint_interval_ms = 3'600'000;
    return options;
  }
  /// Engine::Dump, in an order that does not depend on the number of shards.
  std::vector<std::string> State() const {
    std::vector<std::string> lines;
    engine.Dump([&](std::string_view line) { lines.emplace_back(line); });
    std::sort(lines.begin(), lines.end());
    return lines;
  }
};

/// One that has recovered.
inline std::unique_ptr<Durable> Open(MemoryStore& store, engine::Options options = {},
                                     const std::vector<workloads::Source>& extra = {}) {
  auto durable = std::make_unique<Durable>(store, options, extra);
  const auto recovered = durable->engine.Recover();
  INFO((recovered ? "" : recovered.error().message));
  REQUIRE(recovered);
  return durable;
}

}  // namespace tidemark::testing
