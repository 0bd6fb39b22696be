// Bytes as the last record of a journal, or as a block of a checkpoint, in a store that is good
// otherwise: a start either takes them or says what is wrong, and what it took can be saved,
// recovered and shown again.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "engine/engine.h"
#include "engine/journal_record.h"
#include "model/clock.h"
#include "model/label.h"
#include "model/log.h"
#include "tests/engine/memory_store.h"

using namespace tidemark;

namespace {

constexpr int64_t kT0 = 1'700'000'040'000;

struct Process {
  ManualClock clock{FromUnixMs(kT0)};
  EngineCounters counters;
  StorageCounters storage;
  engine::Engine engine;

  explicit Process(testing::MemoryStore& store)
      : engine(OneShard(), {}, clock, counters, {&store, &storage}) {}
  static engine::Options OneShard() {
    engine::Options options;
    options.shards = 1;
    options.eval_interval_ms = 3'600'000;
    options.checkpoint_interval_ms = 3'600'000;
    return options;
  }
};

/// A pod that has some usage and an owner, and a checkpoint in the middle.
void Fill(testing::MemoryStore& store) {
  Process process(store);
  if (!process.engine.Recover()) std::abort();
  const std::vector<std::vector<LabelView>> series = {
      {{"__name__", "container_cpu_usage_seconds_total"},
       {"container", "app"},
       {"namespace", "shop"},
       {"pod", "web-0"}},
      {{"__name__", "kube_pod_owner"},
       {"namespace", "shop"},
       {"owner_kind", "StatefulSet"},
       {"owner_name", "web"},
       {"pod", "web-0"}}};
  for (int minute = 0; minute < 4; ++minute) {
    std::vector<std::string> bytes;
    const Sample sample{kT0 + minute * 60'000, 1.0 * minute};
    const auto batch = process.engine.Begin();
    bytes.reserve(series.size());
    for (const auto& labels : series) {
      bytes.push_back(EncodeLabels(labels));
      batch->Add({labels, bytes.back(), {&sample, 1}});
    }
    if (!batch->Commit()) std::abort();
    if (minute == 1 && !process.engine.Checkpoint()) std::abort();
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  static const bool quiet = [] {
    ConfigureLog(static_cast<LogLevel>(static_cast<int>(LogLevel::kError) + 1), LogFormat::kLogfmt);
    return true;
  }();
  static_cast<void>(quiet);
  if (size == 0) return 0;
  static const auto filled = [] {
    auto store = std::make_unique<testing::MemoryStore>();
    Fill(*store);
    return store;
  }();
  const std::string bytes(reinterpret_cast<const char*>(data + 1), size - 1);
  const auto store = filled->Copy();
  if (data[0] % 2 == 0) {
    const std::string_view record = bytes;
    if (!store->Append({&record, 1})) std::abort();
  } else if (data[0] % 4 == 1) {
    store->checkpoints().back().blocks.push_back(bytes);
  } else {
    store->checkpoints().back().blocks.front() = bytes;
  }
  Process process(*store);
  if (!process.engine.Recover()) return 0;
  if (!process.engine.Checkpoint()) std::abort();
  std::vector<std::string> before;
  process.engine.Dump([&](std::string_view line) { before.emplace_back(line); });
  const auto again = store->Copy();
  Process after(*again);
  if (!after.engine.Recover()) std::abort();
  std::vector<std::string> restored;
  after.engine.Dump([&](std::string_view line) { restored.emplace_back(line); });
  if (restored != before) std::abort();
  return 0;
}
