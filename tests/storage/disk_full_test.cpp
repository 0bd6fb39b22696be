// A disk that is full: appends and checkpoints are refused and change nothing; once there is room
// again the store goes on by itself; what was acknowledged stays.

#include <fcntl.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <random>
#include <string>

#include "tests/storage/fixture.h"
#include "tests/storage/numbered_record.h"

namespace tidemark::storage {
namespace {

using Catch::Matchers::Contains;

/// A small file system of its own, where the test may mount one.
class SmallDisk {
 public:
  explicit SmallDisk(const std::string& megabytes) {
    mounted_ = mount("tmpfs", folder_.path().c_str(), "tmpfs", 0,
                     ("size=" + megabytes + "m").c_str()) == 0;
    if (!mounted_) {
      std::printf("skipped: a file system cannot be mounted here: %s\n", std::strerror(errno));
    }
  }
  ~SmallDisk() {
    if (mounted_) umount2(folder_.path().c_str(), MNT_DETACH);
  }
  SmallDisk(const SmallDisk&) = delete;
  SmallDisk& operator=(const SmallDisk&) = delete;

  bool mounted() const { return mounted_; }
  std::string In(std::string_view name) const { return folder_.In(name); }
  uint64_t Free() const {
    struct statvfs status {};
    REQUIRE(statvfs(folder_.path().c_str(), &status) == 0);
    return status.f_bavail * status.f_frsize;
  }
  /// All but `left` bytes are taken by a file.
  void Fill(uint64_t left) const {
    const int file = open(In("filler").c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
    REQUIRE(file >= 0);
    const std::string block(4096, 'f');
    while (Free() > left) {
      if (write(file, block.data(), block.size()) <= 0) break;
    }
    close(file);
  }
  void Clear() const { unlink(In("filler").c_str()); }

 private:
  TestFolder folder_;
  bool mounted_ = false;
};

/// Appends until it is refused, or `most` records; the number of the last acknowledged one.
uint64_t AppendUntilRefused(StoreFixture& fixture, uint64_t most, Error* error) {
  for (uint64_t i = 0; i < most; ++i) {
    const std::string record = NumberedRecord(fixture.store->LastNumber() + 1);
    const std::string_view view = record;
    const auto first = fixture.store->Append({&view, 1});
    if (first) continue;
    *error = first.error();
    break;
  }
  return fixture.store->LastNumber();
}

/// As a sender does: again and again, for at most ten seconds.
bool AppendsAgain(StoreFixture& fixture) {
  const auto until = std::chrono::steady_clock::now() + std::chrono::seconds(10);
  while (std::chrono::steady_clock::now() < until) {
    Error error;
    const uint64_t before = fixture.store->LastNumber();
    if (AppendUntilRefused(fixture, 1, &error) > before) return true;
    usleep(20'000);
  }
  return false;
}

void CheckWhole(const Records& records, uint64_t last) {
  REQUIRE(records.size() == last);
  for (const auto& [number, text] : records) REQUIRE(text == NumberedRecord(number));
}

TEST_CASE("a log reserves little more room than what is in it takes", "[storage][disk_full]") {
  const TestFolder folder;
  StoreFixture fixture(folder.In("data"));
  fixture.Open();
  fixture.Append({"x"});
  for (const std::string& log : FilesEnding(folder.In("data/journal"), ".log")) {
    struct stat status {};
    REQUIRE(stat(log.c_str(), &status) == 0);
    INFO(log);
    CHECK(status.st_blocks * 512 <= 2 << 20);
  }
}

TEST_CASE("with less than the least free room appends are refused before the disk is full",
          "[storage][disk_full]") {
  const SmallDisk disk("24");
  if (!disk.mounted()) return;
  StoreFixture fixture(disk.In("data"));
  fixture.options.min_free_bytes = 8 << 20;
  fixture.Open();
  Error error;
  const uint64_t last = AppendUntilRefused(fixture, 100'000, &error);
  CHECK(last > 500);
  CHECK(error.code == ErrorCode::kUnavailable);
  CHECK_THAT(error.message, Contains(disk.In("data")) && Contains("bytes are free"));
  CHECK(disk.Free() > (7U << 20));
  CHECK(fixture.counters->journal_append_failures == 1);
  CHECK(fixture.counters->disk_free_bytes_now > 0);
  CHECK(fixture.counters->disk_free_bytes_now < (9 << 20));
  CHECK(AppendUntilRefused(fixture, 3, &error) == last);
  // The room that is kept free is for this.
  fixture.Checkpoint(last, {std::string(1 << 20, 'c')});
  REQUIRE(fixture.store->Trim(last - 10).has_value());
  CHECK(AppendsAgain(fixture));
  fixture.Open();
  const Records records = fixture.Replay();
  REQUIRE(records.size() == 11);
  CHECK(records.back() == std::pair<uint64_t, std::string>(last + 1, NumberedRecord(last + 1)));
}

TEST_CASE("a disk that is full to the last byte costs nothing that was acknowledged",
          "[storage][disk_full]") {
  const SyncMode sync = GENERATE(SyncMode::kAlways, SyncMode::kInterval);
  const uint32_t seed = GENERATE(1U, 2U, 3U);
  CAPTURE(seed, sync == SyncMode::kAlways);
  const SmallDisk disk("24");
  if (!disk.mounted()) return;
  StoreFixture fixture(disk.In("data"));
  fixture.options.min_free_bytes = 0;
  fixture.options.sync = sync;
  fixture.options.sync_interval_ms = 10;
  fixture.Open();
  std::mt19937 random(seed);
  for (int round = 0; round < 4; ++round) {
    CAPTURE(round);
    Error error;
    AppendUntilRefused(fixture, 20 + random() % 50, &error);
    disk.Fill(random() % 200'000);
    const uint64_t last = AppendUntilRefused(fixture, 10'000, &error);
    REQUIRE_FALSE(error.message.empty());
    REQUIRE_THAT(error.message, Contains(disk.In("data")));
    REQUIRE(fixture.counters->journal_append_failures > 0);
    // Groups of which some may come through by halves must leave no trace.
    disk.Fill(0);
    for (int i = 0; i < 3; ++i) {
      const std::string ghost(300'000, 'g');
      const std::vector<std::string_view> group(4, ghost);
      if (const auto first = fixture.store->Append(group); first) FAIL("there is no room for this");
    }
    REQUIRE(fixture.store->LastNumber() == last);
    // Not even a checkpoint can be written, and what it began is gone.
    auto writer = fixture.store->BeginCheckpoint(last);
    if (writer) {
      std::string block(1 << 20, '\0');
      for (char& c : block) c = static_cast<char>(random());
      bool good = (*writer)->Add(block).has_value();
      good = good && (*writer)->Finish().has_value();
      CHECK_FALSE(good);
    }
    writer = Fail(ErrorCode::kNotFound, "gone before its store");
    CHECK(fixture.counters->checkpoints_failed == 1);
    CHECK(FilesEnding(disk.In("data"), ".tmp").empty());
    // One time it comes back on its own, the other the process has ended meanwhile.
    if (round % 2 == 1) {
      fixture.store.reset();
      disk.Clear();
      fixture.Open();
      CheckWhole(fixture.Replay(), last);
      REQUIRE(fixture.store->LastNumber() == last);
    }
    disk.Clear();
    REQUIRE(AppendsAgain(fixture));
    REQUIRE(fixture.store->LastNumber() == last + 1);
    fixture.Open();
    CheckWhole(fixture.Replay(), last + 1);
    REQUIRE(fixture.outcome.damage.empty());
  }
}

TEST_CASE("a store opens on a disk without room for its tables", "[storage][disk_full]") {
  const SmallDisk disk("24");
  if (!disk.mounted()) return;
  StoreFixture fixture(disk.In("data"));
  fixture.options.min_free_bytes = 0;
  fixture.Open();
  Error error;
  const uint64_t last = AppendUntilRefused(fixture, 2000, &error);
  fixture.store.reset();
  disk.Fill(400'000);
  fixture.Open();
  CheckWhole(fixture.Replay(), last);
  fixture.store.reset();
  disk.Clear();
  disk.Fill(0);
  const auto opened = fixture.TryOpen();
  if (!opened) CHECK_THAT(opened.error().message, Contains(disk.In("data")));
  disk.Clear();
  fixture.Open();
  CheckWhole(fixture.Replay(), last);
}

}  // namespace
}  // namespace tidemark::storage
