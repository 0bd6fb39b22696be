// What goes into a store comes out of it, before and after it was closed.

#include <sys/stat.h>

#include <algorithm>
#include <string>
#include <vector>

#include "tests/storage/fixture.h"

namespace tidemark::storage {
namespace {

TEST_CASE("records come back in order under consecutive numbers, also after reopening",
          "[storage][journal]") {
  const SyncMode sync = GENERATE(SyncMode::kAlways, SyncMode::kInterval);
  const TestFolder folder;
  StoreFixture fixture(folder.In("data"));
  fixture.options.sync = sync;
  fixture.Open();
  CHECK(fixture.store->LastNumber() == 0);
  CHECK(fixture.store->Journal().first_number == 0);
  CHECK(fixture.Replay().empty());
  CHECK(fixture.Append({"one", ""}) == 1);
  CHECK(fixture.Append({std::string(200'000, 'x')}) == 3);
  CHECK(fixture.store->LastNumber() == 3);
  CHECK(fixture.store->Append({}) == 4);
  CHECK(fixture.counters->journal_records == 3);
  CHECK(fixture.counters->journal_payload_bytes == 200'003);
  CHECK(fixture.counters->journal_appends == 2);
  for (int round = 0; round < 3; ++round) {
    fixture.Open();
    CHECK(fixture.store->LastNumber() == static_cast<uint64_t>(3 + round));
    CHECK(fixture.counters->journal_bytes_dropped == 0);
    const auto records = fixture.Replay();
    REQUIRE(records.size() == static_cast<size_t>(3 + round));
    CHECK(records[0] == std::pair<uint64_t, std::string>(1, "one"));
    CHECK(records[1] == std::pair<uint64_t, std::string>(2, ""));
    CHECK(records[2].second == std::string(200'000, 'x'));
    CHECK(fixture.outcome.damage.empty());
    CHECK(fixture.Replay(2).size() == records.size() - 2);
    CHECK(fixture.Append({"more"}) == static_cast<uint64_t>(4 + round));
  }
}

TEST_CASE("blocks of a checkpoint come back in order, small, empty and of many pieces",
          "[storage][checkpoint]") {
  const TestFolder folder;
  StoreFixture fixture(folder.In("data"));
  fixture.Open();
  std::string large(5'000'000, '\0');
  for (size_t i = 0; i < large.size(); ++i) large[i] = static_cast<char>(i * i >> 7);
  const std::vector<std::string> blocks = {"a", "", large, large.substr(0, 1 << 20), "z"};
  const auto info = fixture.Checkpoint(17, blocks);
  CHECK(info.number == 1);
  CHECK(info.journal_number == 17);
  CHECK(info.created_ms == 1'700'000'000'000);
  CHECK(info.blocks == blocks.size());
  CHECK(info.bytes == std::filesystem::file_size(folder.In("data/checkpoint-1.sst")));
  CHECK(fixture.counters->checkpoints_written == 1);
  fixture.Open();
  const auto listed = fixture.store->Checkpoints();
  REQUIRE(listed.size() == 1);
  CHECK(listed[0].journal_number == 17);
  CHECK(listed[0].blocks == info.blocks);
  CHECK(listed[0].bytes == info.bytes);
  CHECK(fixture.Blocks(1).value() == blocks);
}

TEST_CASE("two checkpoints are kept, and a dropped one leaves nothing", "[storage][checkpoint]") {
  const TestFolder folder;
  StoreFixture fixture(folder.In("data"));
  fixture.Open();
  for (uint64_t i = 1; i <= 4; ++i) fixture.Checkpoint(i, {"block " + std::to_string(i)});
  {
    auto writer = fixture.store->BeginCheckpoint(9);
    REQUIRE(writer.has_value());
    REQUIRE((*writer)->Add("half").has_value());
    const auto second = fixture.store->BeginCheckpoint(9);
    REQUIRE_FALSE(second.has_value());
    CHECK(second.error().code == ErrorCode::kUnavailable);
  }
  CHECK(FilesEnding(folder.In("data"), ".tmp").empty());
  CHECK(FilesEnding(folder.In("data"), ".sst").size() == 2);
  const auto listed = fixture.store->Checkpoints();
  REQUIRE(listed.size() == 2);
  CHECK(listed[0].number == 4);
  CHECK(listed[1].number == 3);
  CHECK(fixture.Blocks(3).value() == std::vector<std::string>{"block 3"});
  CHECK(fixture.Blocks(2).error().code == ErrorCode::kNotFound);
  CHECK(fixture.Checkpoint(10, {}).number == 5);
}

TEST_CASE("checkpoints that are set aside are not listed, and two of them are kept",
          "[storage][checkpoint]") {
  const TestFolder folder;
  StoreFixture fixture(folder.In("data"));
  fixture.Open();
  for (uint64_t i = 1; i <= 4; ++i) {
    fixture.Checkpoint(i, {"block"});
    REQUIRE(fixture.store->SetAside(i).has_value());
  }
  CHECK(fixture.store->Checkpoints().empty());
  CHECK(FilesEnding(folder.In("data"), ".damaged") ==
        std::vector<std::string>{folder.In("data/checkpoint-3.sst.damaged"),
                                 folder.In("data/checkpoint-4.sst.damaged")});
  CHECK(fixture.store->SetAside(4).error().code == ErrorCode::kNotFound);
  fixture.Open();
  CHECK(fixture.Checkpoint(5, {}).number == 5);
}

TEST_CASE("an error of the taker ends a replay and the reading of a checkpoint", "[storage]") {
  const TestFolder folder;
  StoreFixture fixture(folder.In("data"));
  fixture.Open();
  fixture.Append({"1", "2", "3"});
  fixture.Checkpoint(3, {"a", "b"});
  int calls = 0;
  const auto refuse = [&](auto&&...) -> Result<void> {
    ++calls;
    return Fail(ErrorCode::kNotFound, "not this one");
  };
  CHECK(fixture.store->Replay(1, refuse).error().message == "not this one");
  CHECK(calls == 1);
  CHECK(fixture.store->ReadCheckpoint(1, refuse).error().message == "not this one");
  CHECK(calls == 2);
  CHECK(fixture.Replay().size() == 3);
}

TEST_CASE("the identity stays, differs between stores, and is nobody else's to read", "[storage]") {
  const TestFolder folder;
  const mode_t before = umask(0);
  StoreFixture one(folder.In("deep/below/one"));
  StoreFixture two(folder.In("two///"));
  one.Open();
  two.Open();
  umask(before);
  const StoreIdentity identity = one.store->identity();
  CHECK(identity != two.store->identity());
  CHECK(std::count(identity.begin(), identity.end(), 0) < 32);
  one.Open();
  CHECK(one.store->identity() == identity);
  one.Checkpoint(0, {"x"});
  const auto mode = [&](const std::string& name) {
    struct stat status {};
    REQUIRE(stat(folder.In(name).c_str(), &status) == 0);
    return status.st_mode & 0777;
  };
  CHECK(mode("deep/below/one") == 0700);
  CHECK(mode("deep/below/one/journal") == 0700);
  CHECK(mode("deep/below/one/identity") == 0600);
  CHECK(mode("deep/below/one/checkpoint-1.sst") == 0600);
}

TEST_CASE("a record that is too large is refused and counted as nothing", "[storage][journal]") {
  const TestFolder folder;
  StoreFixture fixture(folder.In("data"));
  fixture.Open();
  const std::string_view impossible("x", kMaxRecordBytes + 1);
  const std::vector<std::string_view> records = {"good", impossible};
  const auto refused = fixture.store->Append(records);
  REQUIRE_FALSE(refused.has_value());
  CHECK(refused.error().code == ErrorCode::kInvalidArgument);
  CHECK(fixture.Append({"next"}) == 1);
  CHECK(fixture.Replay().size() == 1);
}

}  // namespace
}  // namespace tidemark::storage
