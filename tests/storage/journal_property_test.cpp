// The journal against a model of it: a map of numbers to texts and one counter.

#include <chrono>
#include <map>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "tests/storage/fixture.h"

namespace tidemark::storage {
namespace {

class Model {
 public:
  explicit Model(uint32_t seed) : random_(seed) {}

  std::vector<std::string> Group() {
    std::vector<std::string> group(Below(5));
    for (std::string& record : group) {
      // Mostly small ones, some about the size of a log's blocks, a few of many of them.
      const size_t size = Below(20) == 0  ? Below(400'000)
                          : Below(3) == 0 ? Below(40'000)
                                          : Below(80);
      record.assign(size, static_cast<char>('a' + Below(26)));
    }
    return group;
  }
  uint64_t Below(uint64_t end) { return random_() % end; }

  void Append(const std::vector<std::string>& group) {
    for (const std::string& record : group) records[++last] = record;
  }
  void Trim(uint64_t number) { records.erase(records.begin(), records.upper_bound(number)); }
  Records After(uint64_t after) const { return {records.upper_bound(after), records.end()}; }

  std::map<uint64_t, std::string> records;
  uint64_t last = 0;

 private:
  std::mt19937_64 random_;
};

TEST_CASE("any order of appends, trims and reopenings gives what a map would",
          "[storage][journal]") {
  const auto seed = static_cast<uint32_t>(GENERATE(range(1, 7)));
  CAPTURE(seed);
  const TestFolder folder;
  StoreFixture fixture(folder.In("data"));
  fixture.options.sync = seed % 2 == 0 ? SyncMode::kAlways : SyncMode::kInterval;
  fixture.options.sync_interval_ms = 10;
  fixture.Open();
  Model model(seed);
  for (int step = 0; step < 150; ++step) {
    const uint64_t dice = model.Below(20);
    if (dice < 14) {
      const auto group = model.Group();
      CHECK(fixture.Append(group) == model.last + 1);
      model.Append(group);
    } else if (dice < 17) {
      // Also beyond the end and before the beginning.
      const uint64_t number = model.Below(model.last + 4);
      REQUIRE(fixture.store->Trim(number).has_value());
      model.Trim(number);
    } else {
      fixture.Open();
      const uint64_t after = model.Below(model.last + 2);
      REQUIRE(fixture.Replay(after) == model.After(after));
      CHECK(fixture.outcome.damage.empty());
      CHECK(fixture.counters->journal_bytes_dropped == 0);
    }
    REQUIRE(fixture.store->LastNumber() == model.last);
    const JournalInfo info = fixture.store->Journal();
    CHECK(info.last_number == model.last);
    CHECK(info.first_number == (model.records.empty() ? 0 : model.records.begin()->first));
  }
  fixture.Open();
  CHECK(fixture.Replay() == model.After(0));
  CHECK(fixture.counters->journal_records_dropped == 0);
}

TEST_CASE("a journal that is trimmed of everything goes on counting", "[storage][journal]") {
  const TestFolder folder;
  StoreFixture fixture(folder.In("data"));
  fixture.Open();
  fixture.Append({"1", "2", "3"});
  REQUIRE(fixture.store->Trim(100).has_value());
  CHECK(fixture.store->Journal().first_number == 0);
  fixture.Open();
  CHECK(fixture.store->LastNumber() == 3);
  CHECK(fixture.Append({"4"}) == 4);
  fixture.Open();
  CHECK(fixture.Replay() == Records{{4, "4"}});
}

TEST_CASE("a journal that is trimmed takes a bounded room on the disk", "[storage][journal]") {
  const TestFolder folder;
  StoreFixture fixture(folder.In("data"));
  fixture.options.sync = SyncMode::kInterval;
  fixture.Open();
  const std::string record(100'000, 'r');
  const auto on_disk = [&] {
    uint64_t bytes = 0;
    for (const auto& entry : std::filesystem::recursive_directory_iterator(folder.path())) {
      std::error_code gone;
      const uintmax_t size = entry.is_regular_file(gone) ? entry.file_size(gone) : 0;
      if (!gone) bytes += size;
    }
    return bytes;
  };
  uint64_t most = 0;
  // 400 MB in all, 20 MB of them kept; a memtable has 32 MB, and as much as it holds is in logs.
  for (int round = 0; round < 40; ++round) {
    for (int i = 0; i < 100; ++i) fixture.Append({record});
    if (fixture.store->LastNumber() > 200) {
      REQUIRE(fixture.store->Trim(fixture.store->LastNumber() - 200).has_value());
    }
    most = std::max(most, on_disk());
    CHECK(fixture.store->Journal().bytes < 200'000'000);
  }
  CHECK(most < 200'000'000);  // tables are written beside us, on a busy machine a little later
  // A table that was still being written when it was trimmed goes with one of the next trims.
  const auto until = std::chrono::steady_clock::now() + std::chrono::seconds(30);
  do {
    fixture.Append({"last"});
    REQUIRE(fixture.store->Trim(fixture.store->LastNumber() - 1).has_value());
    std::this_thread::yield();
  } while (on_disk() >= 1'000'000 && std::chrono::steady_clock::now() < until);
  CHECK(on_disk() < 1'000'000);
  const uint64_t last = fixture.store->LastNumber();
  fixture.Open();
  CHECK(fixture.Replay() == Records{{last, "last"}});
}

TEST_CASE("many restarts without a trim leave a journal that opens and reads well",
          "[storage][journal]") {
  const TestFolder folder;
  StoreFixture fixture(folder.In("data"));
  Records expected;
  for (uint64_t i = 1; i <= 30; ++i) {
    fixture.Open();
    fixture.Append({std::to_string(i)});
    expected.emplace_back(i, std::to_string(i));
  }
  fixture.Open();
  CHECK(fixture.Replay() == expected);
  REQUIRE(fixture.store->Trim(29).has_value());
  CHECK(FilesEnding(folder.In("data/journal"), ".sst").size() < 5);
}

}  // namespace
}  // namespace tidemark::storage
