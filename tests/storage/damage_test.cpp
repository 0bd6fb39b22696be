// Torn and damaged files: what is good before the damage comes back, nothing wrong ever does, and
// what was lost is counted.

#include <algorithm>
#include <string>
#include <vector>

#include "tests/storage/fixture.h"

namespace tidemark::storage {
namespace {

using Catch::Matchers::Contains;

std::string Text(uint64_t number) {
  return std::to_string(number) + std::string(1 + number * 37 % 900, 'r');
}

Records Expected(uint64_t first, uint64_t last) {
  Records records;
  for (uint64_t number = first; number <= last; ++number)
    records.emplace_back(number, Text(number));
  return records;
}

/// Appends records up to `last`, each on its own.
void AppendTo(StoreFixture& fixture, uint64_t last) {
  while (fixture.store->LastNumber() < last) {
    fixture.Append({Text(fixture.store->LastNumber() + 1)});
  }
}

void Flip(const std::string& path, size_t at) {
  std::string bytes = ReadFile(path);
  REQUIRE(at < bytes.size());
  bytes[at] = static_cast<char>(bytes[at] ^ 0x10);
  WriteFile(path, bytes);
}

std::string OnlyLog(const TestFolder& folder) {
  std::string found;
  for (const std::string& path : FilesEnding(folder.In("data/journal"), ".log")) {
    if (std::filesystem::file_size(path) == 0) continue;
    REQUIRE(found.empty());
    found = path;
  }
  return found;
}

/// The damaged store is opened: it must hold the first so many good records, and go on well.
uint64_t CheckPrefix(StoreFixture& fixture, uint64_t last_before) {
  fixture.Open();
  const Records records = fixture.Replay();
  const uint64_t good = records.size();
  REQUIRE(records == Expected(1, good));
  // What was lost never comes back, and what comes now stays.
  const uint64_t next = fixture.Append({"after the damage"});
  REQUIRE(next > good);
  // Where a table cannot be read, its description may say one too many.
  REQUIRE(next <= last_before + 2);
  Records expected = records;
  expected.emplace_back(next, "after the damage");
  fixture.Open();
  REQUIRE(fixture.Replay() == expected);
  REQUIRE(fixture.outcome.damage.empty());
  REQUIRE(fixture.counters->journal_bytes_dropped == 0);
  fixture.store.reset();
  return good;
}

TEST_CASE("a log that was cut anywhere gives every whole record before the cut",
          "[storage][damage]") {
  const TestFolder folder(TestFolder::kInMemory);
  StoreFixture fixture(folder.In("data"));
  fixture.Open();
  std::vector<uint64_t> ends;
  AppendTo(fixture, 180);
  fixture.store.reset();
  const std::string whole = ReadFile(OnlyLog(folder));
  const TestFolder spare(TestFolder::kInMemory);
  std::filesystem::copy(folder.In("data"), spare.In("data"),
                        std::filesystem::copy_options::recursive);
  // More than one of the log's blocks, each fifth record cut at each of its parts, and the ends of
  // blocks.
  REQUIRE(whole.size() > 2 * 32768);
  uint64_t before = 0;
  size_t cuts = 0;
  for (size_t size = 0; size<whole.size(); size += size % 32768> 32750 ? 1 : 211) {
    CAPTURE(size);
    std::filesystem::remove_all(folder.In("data"));
    std::filesystem::copy(spare.In("data"), folder.In("data"),
                          std::filesystem::copy_options::recursive);
    WriteFile(OnlyLog(folder), whole.substr(0, size));
    fixture.Open();
    const uint64_t dropped = fixture.counters->journal_bytes_dropped;
    fixture.store.reset();
    const uint64_t good = CheckPrefix(fixture, 180);
    REQUIRE(good >= before);
    // What was left out is what is behind the last whole record.
    REQUIRE(dropped < Text(good + 1).size() + 64);
    REQUIRE(dropped <= size);
    before = good;
    ++cuts;
  }
  CHECK(before >= 178);
  CHECK(cuts > 100);
}

TEST_CASE("a flipped bit of a log ends the replay there, counted and for good",
          "[storage][damage]") {
  const TestFolder folder(TestFolder::kInMemory);
  StoreFixture fixture(folder.In("data"));
  fixture.Open();
  AppendTo(fixture, 300);
  fixture.store.reset();
  const std::string whole = ReadFile(OnlyLog(folder));
  const TestFolder spare(TestFolder::kInMemory);
  std::filesystem::copy(folder.In("data"), spare.In("data"),
                        std::filesystem::copy_options::recursive);
  size_t lost_some = 0;
  for (size_t at = 0; at < whole.size(); at += 2777) {
    CAPTURE(at);
    std::filesystem::remove_all(folder.In("data"));
    std::filesystem::copy(spare.In("data"), folder.In("data"),
                          std::filesystem::copy_options::recursive);
    Flip(OnlyLog(folder), at);
    fixture.Open();
    const Records records = fixture.Replay();
    const uint64_t good = records.size();
    REQUIRE(records == Expected(1, good));
    // Up to it all is there; what is behind it in the log is lost, and said to be.
    REQUIRE(good * 450 + 20'000 > at);
    REQUIRE(good < 300);
    REQUIRE(fixture.counters->journal_bytes_dropped > 0);
    if (!fixture.outcome.damage.empty()) {
      ++lost_some;
      REQUIRE(fixture.outcome.dropped_records == 300 - good);
      REQUIRE(fixture.counters->journal_records_dropped == 300 - good);
      // The numbers that were given out once are not given again.
      REQUIRE(fixture.store->LastNumber() == 300);
    }
    CheckPrefix(fixture, 300);
  }
  CHECK(lost_some > 10);
}

TEST_CASE("a damaged table ends the replay there; before and after it the journal goes on",
          "[storage][damage]") {
  const TestFolder folder(TestFolder::kInMemory);
  StoreFixture fixture(folder.In("data"));
  // Three tables of 40 records each.
  for (const uint64_t last : {40, 80, 120}) {
    fixture.Open();
    AppendTo(fixture, last);
  }
  fixture.Open();
  fixture.store.reset();
  const auto tables = FilesEnding(folder.In("data/journal"), ".sst");
  REQUIRE(tables.size() == 3);
  const size_t size = std::filesystem::file_size(tables[1]);
  const TestFolder spare(TestFolder::kInMemory);
  std::filesystem::copy(folder.In("data"), spare.In("data"),
                        std::filesystem::copy_options::recursive);
  size_t refused = 0;
  for (size_t at = 0; at < size; at += at + 1200 < size ? 997 : 13) {
    CAPTURE(at, size);
    std::filesystem::remove_all(folder.In("data"));
    std::filesystem::copy(spare.In("data"), folder.In("data"),
                          std::filesystem::copy_options::recursive);
    Flip(tables[1], at);
    fixture.Open();
    const Records records = fixture.Replay();
    const uint64_t good = records.size();
    REQUIRE(good >= 40);
    REQUIRE(records == Expected(1, good));
    if (good < 120) {
      ++refused;
      REQUIRE(good < 80);
      REQUIRE_FALSE(fixture.outcome.damage.empty());
      REQUIRE(fixture.outcome.dropped_records == 120 - good);
      REQUIRE(fixture.counters->journal_records_dropped == 120 - good);
      REQUIRE(fixture.store->LastNumber() == 120);
    }
    CheckPrefix(fixture, 120);
  }
  CHECK(refused > 20);
}

TEST_CASE("no bit of a table's footer makes the store crash or give what is wrong",
          "[storage][damage]") {
  const TestFolder folder(TestFolder::kInMemory);
  StoreFixture fixture(folder.In("data"));
  for (const uint64_t last : {20, 40}) {
    fixture.Open();
    AppendTo(fixture, last);
  }
  fixture.Open();
  fixture.Checkpoint(1, {"block"});
  fixture.store.reset();
  const std::string table = FilesEnding(folder.In("data/journal"), ".sst").at(1);
  const std::string checkpoint = folder.In("data/checkpoint-1.sst");
  const TestFolder spare(TestFolder::kInMemory);
  std::filesystem::copy(folder.In("data"), spare.In("data"),
                        std::filesystem::copy_options::recursive);
  // The kind of checksum, and the places of the two indexes.
  const int byte = GENERATE(range(0, 12));
  for (int bit = 0; bit < 8; ++bit) {
    CAPTURE(byte, bit);
    std::filesystem::remove_all(folder.In("data"));
    std::filesystem::copy(spare.In("data"), folder.In("data"),
                          std::filesystem::copy_options::recursive);
    for (const std::string& path : {table, checkpoint}) {
      std::string bytes = ReadFile(path);
      const size_t at = bytes.size() - 53 + static_cast<size_t>(byte);
      bytes[at] = static_cast<char>(bytes[at] ^ (1 << bit));
      WriteFile(path, bytes);
    }
    fixture.Open();
    const auto blocks = fixture.Blocks(1);
    if (blocks) REQUIRE(*blocks == std::vector<std::string>{"block"});
    const Records records = fixture.Replay();
    REQUIRE(records.size() >= 20);
    REQUIRE(records == Expected(1, records.size()));
    fixture.store.reset();
  }
}

TEST_CASE("a damaged table that a checkpoint makes needless loses nothing of the later ones",
          "[storage][damage]") {
  const TestFolder folder(TestFolder::kInMemory);
  StoreFixture fixture(folder.In("data"));
  for (const uint64_t last : {40, 80, 120}) {
    fixture.Open();
    AppendTo(fixture, last);
  }
  fixture.Open();
  fixture.store.reset();
  const auto tables = FilesEnding(folder.In("data/journal"), ".sst");
  const bool at_the_end = GENERATE(false, true);
  Flip(tables[0], at_the_end ? std::filesystem::file_size(tables[0]) - 20 : 300);
  fixture.Open();
  CHECK(fixture.Replay(60) == Expected(61, 120));
  CHECK(fixture.outcome.damage.empty());
  CHECK(fixture.counters->journal_records_dropped == 0);
  CHECK(fixture.Append({Text(121)}) == 121);
  fixture.Open();
  CHECK(fixture.Replay(60) == Expected(61, 121));
}

TEST_CASE("a table that is missing ends the replay before it", "[storage][damage]") {
  const TestFolder folder(TestFolder::kInMemory);
  StoreFixture fixture(folder.In("data"));
  for (const uint64_t last : {40, 80, 120}) {
    fixture.Open();
    AppendTo(fixture, last);
  }
  fixture.Open();
  fixture.store.reset();
  std::filesystem::remove(FilesEnding(folder.In("data/journal"), ".sst")[1]);
  fixture.Open();
  CHECK(fixture.Replay() == Expected(1, 40));
  CHECK_FALSE(fixture.outcome.damage.empty());
  CHECK(fixture.store->LastNumber() == 120);
  CHECK(CheckPrefix(fixture, 120) == 40);
}

TEST_CASE("a store with a table that is missing can be looked into", "[storage][damage]") {
  const TestFolder folder(TestFolder::kInMemory);
  StoreFixture fixture(folder.In("data"));
  for (const uint64_t last : {40, 80, 120}) {
    fixture.Open();
    AppendTo(fixture, last);
    // Each table has a deletion in it.
    REQUIRE(fixture.store->Trim(last / 8).has_value());
  }
  fixture.Open();
  fixture.store.reset();
  const auto tables = FilesEnding(folder.In("data/journal"), ".sst");
  REQUIRE(tables.size() > 2);
  std::filesystem::remove(tables[GENERATE(0U, 1U, 2U)]);
  const auto before = Everything(folder.path());
  fixture.options.read_only = true;
  fixture.Open();
  fixture.Replay();
  CHECK_FALSE(fixture.outcome.damage.empty());
  fixture.store.reset();
  CHECK(Everything(folder.path()) == before);
}

TEST_CASE("a store whose only table is missing can be looked into", "[storage][damage]") {
  const TestFolder folder(TestFolder::kInMemory);
  StoreFixture fixture(folder.In("data"));
  fixture.Open();
  AppendTo(fixture, 40);
  // Its facts are then in the table too.
  REQUIRE(fixture.store->Trim(20).has_value());
  fixture.Open();
  fixture.store.reset();
  const auto tables = FilesEnding(folder.In("data/journal"), ".sst");
  REQUIRE(tables.size() == 1);
  std::filesystem::remove(tables[0]);
  fixture.options.read_only = true;
  fixture.Open();
  CHECK(fixture.Replay().empty());
  CHECK_FALSE(fixture.outcome.damage.empty());
}

TEST_CASE("who only looks is told of a torn or damaged log too", "[storage][damage]") {
  const TestFolder folder(TestFolder::kInMemory);
  StoreFixture fixture(folder.In("data"));
  fixture.Open();
  AppendTo(fixture, 40);
  fixture.store.reset();
  const std::string log = OnlyLog(folder);
  const size_t bytes = std::filesystem::file_size(log);
  fixture.options.read_only = true;
  SECTION("a whole one") {
    fixture.Open();
    CHECK(fixture.Replay() == Expected(1, 40));
    CHECK(fixture.outcome.damage.empty());
    return;
  }
  SECTION("its end is torn") { std::filesystem::resize_file(log, bytes - 5); }
  SECTION("it is damaged in the middle") { Flip(log, bytes / 2); }
  SECTION("it is all zeros") { WriteFile(log, std::string(bytes, '\0')); }
  fixture.Open();
  fixture.Replay();
  INFO(fixture.outcome.damage);
  CHECK_FALSE(fixture.outcome.damage.empty());
}

TEST_CASE("a journal whose own catalogue is damaged is refused and left as it is",
          "[storage][damage]") {
  const TestFolder folder(TestFolder::kInMemory);
  StoreFixture fixture(folder.In("data"));
  fixture.Open();
  AppendTo(fixture, 20);
  fixture.Open();
  fixture.store.reset();
  const auto kind = GENERATE(0, 1, 2, 3);
  const std::string journal = folder.In("data/journal");
  if (kind == 0) WriteFile(journal + "/CURRENT", "nonsense");
  if (kind == 1) std::filesystem::remove(journal + "/CURRENT");
  if (kind == 2) {
    for (const auto& entry : std::filesystem::directory_iterator(journal)) {
      if (entry.path().filename().string().starts_with("MANIFEST")) Flip(entry.path().string(), 60);
    }
  }
  if (kind == 3) std::filesystem::remove_all(journal);
  const auto before = Everything(folder.path());
  const auto opened = fixture.TryOpen();
  REQUIRE_FALSE(opened.has_value());
  CHECK(opened.error().code == ErrorCode::kIo);
  CHECK_THAT(opened.error().message, Contains(journal) && Contains("backup"));
  for (const auto& [path, content] : before) {
    if (path.ends_with("/lock") || path.ends_with("/LOCK")) continue;
    if (!std::filesystem::is_directory(path)) CHECK(ReadFile(path) == content);
  }
}

TEST_CASE("numbers of which a checkpoint knows are not given again", "[storage][damage]") {
  const TestFolder folder(TestFolder::kInMemory);
  StoreFixture fixture(folder.In("data"));
  fixture.Open();
  AppendTo(fixture, 50);
  fixture.Checkpoint(30, {"holds records up to 50"});
  fixture.store.reset();
  // As a loss of power may leave it that was synced from time to time only.
  const std::string log = OnlyLog(folder);
  WriteFile(log, ReadFile(log).substr(0, 15'000));
  fixture.Open();
  const Records records = fixture.Replay(10);
  REQUIRE(records.size() > 10);
  REQUIRE(records.back().first < 50);
  CHECK(fixture.store->LastNumber() == 50);
  CHECK(fixture.Append({"new"}) == 51);
  // The gap is no damage.
  fixture.Open();
  Records expected = records;
  expected.emplace_back(51, "new");
  CHECK(fixture.Replay(10) == expected);
  CHECK(fixture.outcome.damage.empty());
  CHECK(fixture.Replay(30).back() == std::pair<uint64_t, std::string>(51, "new"));
}

TEST_CASE("a checkpoint that was cut or changed anywhere is refused", "[storage][damage]") {
  const TestFolder folder(TestFolder::kInMemory);
  StoreFixture fixture(folder.In("data"));
  fixture.Open();
  std::vector<std::string> blocks;
  for (uint64_t i = 1; i <= 30; ++i) blocks.push_back(Text(i));
  fixture.Checkpoint(5, blocks);
  const std::string path = folder.In("data/checkpoint-1.sst");
  const std::string whole = ReadFile(path);
  size_t refused = 0;
  const auto check = [&](const std::string& bytes) {
    WriteFile(path, bytes);
    std::vector<std::string> given;
    const auto read = fixture.store->ReadCheckpoint(1, [&](std::string_view block) {
      given.emplace_back(block);
      return Result<void>();
    });
    // Not every byte of a table file says something; but what is given is what was written.
    REQUIRE(given.size() <= blocks.size());
    REQUIRE(std::equal(given.begin(), given.end(), blocks.begin()));
    if (read) {
      REQUIRE(given.size() == blocks.size());
      REQUIRE(read->journal_number == 5);
    } else {
      ++refused;
      REQUIRE(read.error().code == ErrorCode::kIo);
      REQUIRE_THAT(read.error().message, Contains(path));
    }
    REQUIRE(fixture.store->Checkpoints().size() == 1);
    REQUIRE(fixture.store->Checkpoints()[0].number == 1);
    return read.has_value();
  };
  CHECK(check(whole));
  for (size_t size = 0; size < whole.size(); size += 31) CHECK_FALSE(check(whole.substr(0, size)));
  CHECK_FALSE(check(whole.substr(0, whole.size() - 1)));
  refused = 0;
  size_t flips = 0;
  for (size_t at = 0; at < whole.size(); at += 7, ++flips) {
    std::string bad = whole;
    bad[at] = static_cast<char>(bad[at] ^ 0x04);
    check(bad);
  }
  CHECK(refused > flips / 2);
}

TEST_CASE("a checkpoint under another's name is refused", "[storage][damage]") {
  const TestFolder folder(TestFolder::kInMemory);
  StoreFixture fixture(folder.In("data"));
  fixture.Open();
  fixture.Checkpoint(1, {"old"});
  std::filesystem::copy(folder.In("data/checkpoint-1.sst"), folder.In("data/checkpoint-9.sst"));
  CHECK_THAT(fixture.Blocks(9).error().message, Contains("under another name"));
}

TEST_CASE("a checkpoint that cannot get its name leaves the others as they are",
          "[storage][checkpoint]") {
  const TestFolder folder(TestFolder::kInMemory);
  StoreFixture fixture(folder.In("data"));
  fixture.Open();
  fixture.Checkpoint(1, {"old"});
  auto writer = fixture.store->BeginCheckpoint(2);
  REQUIRE(writer.has_value());
  REQUIRE((*writer)->Add("new").has_value());
  std::filesystem::create_directory(folder.In("data/checkpoint-2.sst"));
  const auto info = (*writer)->Finish();
  REQUIRE_FALSE(info.has_value());
  CHECK(info.error().code == ErrorCode::kIo);
  CHECK(fixture.counters->checkpoints_failed == 1);
  CHECK(fixture.counters->checkpoints_written == 1);
  CHECK(FilesEnding(folder.In("data"), ".tmp").empty());
  CHECK(fixture.Blocks(1).value() == std::vector<std::string>{"old"});
  writer->reset();
  std::filesystem::remove(folder.In("data/checkpoint-2.sst"));
  CHECK(fixture.Checkpoint(2, {"new"}).blocks == 1);
}

}  // namespace
}  // namespace tidemark::storage
