#include "cmd/storage_command.h"

#include <fmt/chrono.h>
#include <fmt/format.h>

#include <chrono>
#include <cstdio>
#include <memory>
#include <string_view>
#include <utility>

#include "cmd/build_info.h"
#include "cmd/config.h"
#include "cmd/flags.h"
#include "cmd/text.h"
#include "cmd/units.h"
#include "engine/engine.h"
#include "model/log.h"
#include "storage/store.h"

namespace tidemark::cmd {
namespace {

constexpr std::string_view kName = "tidetool storage";

/// A store opened for reading, beside a daemon that may be writing to it.
struct Opened {
  SystemClock clock;
  StorageCounters counters;
  EngineCounters engine_counters;
  std::unique_ptr<storage::Store> store;
  std::unique_ptr<engine::Engine> engine;
};

Result<std::unique_ptr<Opened>> Open(const std::string& path, const Config& config) {
  auto opened = std::make_unique<Opened>();
  storage::Options options = config.storage;
  options.path = path;
  options.read_only = true;
  auto store = storage::Store::Open(options, opened->clock, opened->counters);
  if (!store) return tl::unexpected(store.error());
  opened->store = std::move(*store);
  opened->engine = std::make_unique<engine::Engine>(
      config.engine, config.sources, opened->clock, opened->engine_counters,
      engine::Durability{opened->store.get(), &opened->counters});
  return opened;
}

std::string TimeText(int64_t unix_ms) {
  return fmt::format("{:%Y-%m-%dT%H:%M:%SZ}",
                     fmt::gmtime(static_cast<std::time_t>(unix_ms / 1000)));
}

void PrintContents(const std::string& path, const Opened& opened) {
  fmt::print("{}: format {}\n", path, opened.store->format());
  const storage::JournalInfo journal = opened.store->Journal();
  if (journal.first_number == 0) {
    fmt::print("journal: empty, last record {}\n", journal.last_number);
  } else {
    fmt::print("journal: records {} to {}, about {} bytes\n", journal.first_number,
               journal.last_number, journal.bytes);
  }
  const auto checkpoints = opened.store->Checkpoints();
  if (checkpoints.empty()) fmt::print("checkpoints: none\n");
  for (const storage::CheckpointInfo& one : checkpoints) {
    fmt::print(
        "checkpoint {}: written {}, holds the journal up to record {}, {} blocks, {} bytes\n",
        one.number, TimeText(one.created_ms), one.journal_number, one.blocks, one.bytes);
  }
}

void PrintState(const Opened& opened) {
  const EngineCounters& now = opened.engine_counters;
  fmt::print("state: {} namespaces, {} workloads, {} containers, {} pods, {} series\n",
             now.namespaces_now.load(), now.workloads_now.load(), now.containers_now.load(),
             now.pods_now.load(), now.series_now.load());
  if (opened.store->Checkpoints().empty()) {
    fmt::print("recovered from {} records of the journal\n",
               opened.counters.recovered_records.load());
  } else {
    fmt::print("recovered from the newest good checkpoint and {} records behind it\n",
               opened.counters.recovered_records.load());
  }
}

/// What went wrong, and what was found damaged on the way; nothing when all is well.
int Inspect(const std::string& path, Opened& opened, bool state) {
  if (!state) PrintContents(path, opened);
  if (auto recovered = opened.engine->Recover(); !recovered) {
    fmt::print(stderr, "{}: error: {}\n", kName, recovered.error().message);
    return 1;
  }
  if (state) {
    opened.engine->Dump([](std::string_view line) { fmt::print("{}\n", line); });
  } else {
    PrintState(opened);
  }
  return 0;
}

int Verify(const std::string& path, Opened& opened) {
  int damaged = 0;
  const auto tell = [&damaged](const std::string& what, const std::string& trouble) {
    fmt::print("{}: {}\n", what, trouble.empty() ? "OK" : "DAMAGED: " + trouble);
    damaged += trouble.empty() ? 0 : 1;
  };
  PrintContents(path, opened);
  for (const storage::CheckpointInfo& one : opened.store->Checkpoints()) {
    const auto read = opened.store->ReadCheckpoint(
        one.number, [](std::string_view) -> Result<void> { return {}; });
    tell(fmt::format("checkpoint {}", one.number), read ? "" : read.error().message);
  }
  const auto replayed =
      opened.store->Replay(0, [](uint64_t, std::string_view) -> Result<void> { return {}; });
  tell("journal", replayed ? replayed->damage : replayed.error().message);
  const auto recovered = opened.engine->Recover();
  tell("state", recovered ? "" : recovered.error().message);
  if (recovered) PrintState(opened);
  return damaged == 0 ? 0 : 1;
}

}  // namespace

CommandSpec StorageSpec() {
  return {std::string(kName),
          "Show what is in a storage directory (inspect), or read all of it and say whether it is "
          "whole (verify). Changes nothing; a daemon may be running on it.",
          {{"config.file", R"("")",
            "Configuration of the daemon: its sources and profiles tell what the journal means."},
           {"state", "",
            "With inspect: print the whole state instead, one line of JSON for each namespace and "
            "for each resource of each container."}},
          {{"action", "inspect or verify."}, {"directory", "What --storage.path names."}}};
}

int RunStorageCommand(std::span<const std::string> args) {
  const auto line = ParseCommandLine(StorageSpec(), args);
  if (!line) return ReportUsageError(kName, line.error());
  if (line->help || line->version) {
    fmt::print("{}", line->help ? HelpText(StorageSpec()) : VersionText("tidetool"));
    return 0;
  }
  const std::string& action = line->arguments[0];
  const std::string& path = line->arguments[1];
  if (action != "inspect" && action != "verify") {
    return ReportUsageError(
        kName, {ErrorCode::kInvalidArgument,
                fmt::format("{} is no action, allowed: inspect, verify", Shown(action))});
  }
  ConfigureLog(LogLevel::kWarn,
               LogFormat::kLogfmt);  // what the daemon says of a start is not meant
  Config config;
  const auto file = line->flags.find("config.file");
  if (file != line->flags.end() && !file->second.empty()) {
    auto loaded = LoadConfig(file->second);
    if (!loaded) return ReportUsageError(kName, loaded.error());
    config = std::move(*loaded);
  }
  auto opened = Open(path, config);
  if (!opened) {
    fmt::print(stderr, "{}: error: {}\n", kName, opened.error().message);
    return 1;
  }
  return action == "verify" ? Verify(path, **opened)
                            : Inspect(path, **opened, line->flags.contains("state"));
}

}  // namespace tidemark::cmd
