#pragma once
// A store in a folder of its own, opened and closed as a test wants, and small helpers about it.

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <memory>
#include <stdexcept>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include "model/clock.h"
#include "model/counters.h"
#include "storage/store.h"
#include "tests/catch.h"

namespace tidemark::storage {

class TestFolder {
 public:
  enum Place : uint8_t {
    kOnDisk,
    kInMemory,  ///< where there is such a file system: for what opens stores by the hundred
  };
  explicit TestFolder(Place place = kOnDisk) {
    const std::filesystem::path memory = "/dev/shm";
    const bool there = std::filesystem::is_directory(memory);
    std::string name =
        ((place == kInMemory && there ? memory : std::filesystem::temp_directory_path()) /
         "tidemark-storage-XXXXXX")
            .string();
    if (mkdtemp(name.data()) == nullptr) throw std::runtime_error("mkdtemp " + name);
    path_ = name;
  }
  ~TestFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  TestFolder(const TestFolder&) = delete;
  TestFolder& operator=(const TestFolder&) = delete;

  const std::string& path() const { return path_; }
  std::string In(std::string_view name) const { return path_ + "/" + std::string(name); }

 private:
  std::string path_;
};

inline std::string ReadFile(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

inline void WriteFile(const std::string& path, std::string_view content) {
  std::ofstream file(path, std::ios::binary | std::ios::trunc);
  file.write(content.data(), static_cast<std::streamsize>(content.size()));
  REQUIRE(file.good());
}

/// Files right in a directory whose names end so, sorted.
inline std::vector<std::string> FilesEnding(const std::string& directory, std::string_view end) {
  std::vector<std::string> found;
  for (const auto& entry : std::filesystem::directory_iterator(directory)) {
    if (entry.path().string().ends_with(end)) found.push_back(entry.path().string());
  }
  std::sort(found.begin(), found.end());
  return found;
}

/// What is in all files below a directory, by path: to see that nothing has changed.
inline std::map<std::string, std::string> Everything(const std::string& directory) {
  std::map<std::string, std::string> all;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(directory)) {
    all[entry.path().string()] = entry.is_regular_file() ? ReadFile(entry.path().string()) : "";
  }
  return all;
}

using Records = std::vector<std::pair<uint64_t, std::string>>;

/// One store at a time; its counters start anew with each opening.
class StoreFixture {
 public:
  explicit StoreFixture(std::string path) {
    options.path = std::move(path);
    options.min_free_bytes = 1 << 20;
  }

  Result<void> TryOpen() {
    store.reset();
    counters = std::make_unique<StorageCounters>();
    auto opened = Store::Open(options, clock, *counters);
    if (!opened) return tl::unexpected(opened.error());
    store = std::move(*opened);
    return {};
  }
  void Open() {
    const auto opened = TryOpen();
    INFO((opened ? "" : opened.error().message));
    REQUIRE(opened.has_value());
  }
  uint64_t Append(const std::vector<std::string>& records) {
    const std::vector<std::string_view> views(records.begin(), records.end());
    const auto first = store->Append(views);
    INFO((first ? "" : first.error().message));
    REQUIRE(first.has_value());
    return *first;
  }
  /// What replaying gives; the outcome stays in `outcome`.
  Records Replay(uint64_t after = 0) {
    Records records;
    auto replayed = store->Replay(after, [&](uint64_t number, std::string_view text) {
      records.emplace_back(number, text);
      return Result<void>();
    });
    INFO((replayed ? "" : replayed.error().message));
    REQUIRE(replayed.has_value());
    outcome = *replayed;
    return records;
  }
  CheckpointInfo Checkpoint(uint64_t journal_number, const std::vector<std::string>& blocks) {
    auto writer = store->BeginCheckpoint(journal_number);
    INFO((writer ? "" : writer.error().message));
    REQUIRE(writer.has_value());
    for (const std::string& block : blocks) REQUIRE((*writer)->Add(block).has_value());
    const auto info = (*writer)->Finish();
    INFO((info ? "" : info.error().message));
    REQUIRE(info.has_value());
    return *info;
  }
  Result<std::vector<std::string>> Blocks(uint64_t number) const {
    std::vector<std::string> blocks;
    auto read = store->ReadCheckpoint(number, [&](std::string_view block) {
      blocks.emplace_back(block);
      return Result<void>();
    });
    if (!read) return tl::unexpected(read.error());
    return blocks;
  }

  Options options;
  ManualClock clock{FromUnixMs(1'700'000'000'000)};
  std::unique_ptr<StorageCounters> counters;
  std::unique_ptr<Store> store;
  ReplayOutcome outcome;
};

}  // namespace tidemark::storage
