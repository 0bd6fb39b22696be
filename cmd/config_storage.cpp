#include "cmd/config_storage.h"

#include <fmt/format.h>

#include <chrono>

#include "cmd/config_fields.h"
#include "cmd/units.h"

namespace tidemark::cmd {
namespace {

using namespace std::chrono_literals;

constexpr auto kMinCheckpointInterval = 1s;
constexpr auto kMaxCheckpointInterval = 6h;
constexpr auto kMinSyncInterval = 10ms;
constexpr auto kMaxSyncInterval = 1min;
constexpr uint64_t kMaxMinFree = uint64_t{1} << 50;

}  // namespace

Result<void> ReadStorage(const YamlValue& value, storage::Options& storage,
                         engine::Options& engine) {
  return value.ReadMap(
      {{"checkpoint_interval",
        Duration(engine.checkpoint_interval_ms, kMinCheckpointInterval, kMaxCheckpointInterval)},
       {"sync_interval", Duration(storage.sync_interval_ms, kMinSyncInterval, kMaxSyncInterval)},
       {"min_free", Size(storage.min_free_bytes, 0, kMaxMinFree)}});
}

std::string DumpStorage(const storage::Options& storage, const engine::Options& engine) {
  return fmt::format("storage:\n  checkpoint_interval: {}\n  sync_interval: {}\n  min_free: {}\n",
                     FormatDuration(std::chrono::milliseconds(engine.checkpoint_interval_ms)),
                     FormatDuration(std::chrono::milliseconds(storage.sync_interval_ms)),
                     FormatSize(storage.min_free_bytes));
}

}  // namespace tidemark::cmd
