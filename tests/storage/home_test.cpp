// The store's directory: what is refused, what is completed, who has it.

#include <unistd.h>

#include <string>

#include "tests/storage/fixture.h"

namespace tidemark::storage {
namespace {

using Catch::Matchers::Contains;

/// A closed store with records and a checkpoint.
void MakeStore(StoreFixture& fixture) {
  fixture.Open();
  fixture.Append({"one", "two"});
  fixture.Checkpoint(1, {"block"});
  fixture.store.reset();
}

TEST_CASE("a directory with something else in it is refused and left as it is", "[storage][home]") {
  const TestFolder folder(TestFolder::kInMemory);
  WriteFile(folder.In("letter.txt"), "dear");
  const auto before = Everything(folder.path());
  StoreFixture fixture(folder.path());
  const auto opened = fixture.TryOpen();
  REQUIRE_FALSE(opened.has_value());
  CHECK(opened.error().code == ErrorCode::kInvalidArgument);
  CHECK_THAT(opened.error().message, Contains(folder.path()) && Contains("letter.txt"));
  CHECK(Everything(folder.path()) == before);
}

TEST_CASE("a fresh file system, which has lost+found only, becomes a store", "[storage][home]") {
  const TestFolder folder(TestFolder::kInMemory);
  std::filesystem::create_directory(folder.In("lost+found"));
  StoreFixture fixture(folder.path());
  fixture.Open();
  CHECK(ReadFile(folder.In("FORMAT")) == "tidemark-storage 6\n");
}

TEST_CASE("unknown and damaged formats are refused, and nothing is changed", "[storage][home]") {
  const auto [format, said] = GENERATE(table<std::string, std::string>({
      {"tidemark-storage 0\n", "format \"0\""},
      {"tidemark-storage 7\n", "format \"7\""},
      {"tidemark-storage 10\n", "format \"10\""},
      {"tidemark-storage 1", "damaged"},
      {"tidemark-storage \n", "format \"\""},
      {"tidemark-storage 1 \n", "format \"1 \""},
      {"tidemark-storagf 1\n", "damaged"},
      {"", "damaged"},
      {std::string(100'000, '1'), "more than the"},
  }));
  CAPTURE(format.substr(0, 40));
  const TestFolder folder(TestFolder::kInMemory);
  StoreFixture fixture(folder.In("data"));
  MakeStore(fixture);
  WriteFile(folder.In("data/FORMAT"), format);
  const auto before = Everything(folder.path());
  fixture.options.read_only = GENERATE(false, true);
  const auto opened = fixture.TryOpen();
  REQUIRE_FALSE(opened.has_value());
  CHECK_THAT(opened.error().message, Contains(folder.In("data/FORMAT")) && Contains(said));
  CHECK(Everything(folder.path()) == before);
}

TEST_CASE("any flipped bit of FORMAT or identity is noticed", "[storage][home]") {
  const std::string name = GENERATE("FORMAT", "identity");
  const TestFolder folder(TestFolder::kInMemory);
  StoreFixture fixture(folder.In("data"));
  MakeStore(fixture);
  const std::string good = ReadFile(folder.In("data/" + name));
  for (size_t bit = 0; bit < good.size() * 8; bit += name == "FORMAT" ? 1 : 7) {
    std::string bad = good;
    bad[bit / 8] = static_cast<char>(bad[bit / 8] ^ (1 << (bit % 8)));
    WriteFile(folder.In("data/" + name), bad);
    if (bad == "tidemark-storage 2\n" || bad == "tidemark-storage 4\n") {
      // An older format, which this one reads: nothing is lost, and it is made what it was.
      fixture.Open();
      CHECK(ReadFile(folder.In("data/" + name)) == good);
      fixture.store.reset();
      continue;
    }
    const auto opened = fixture.TryOpen();
    REQUIRE_FALSE(opened.has_value());
    CHECK_THAT(opened.error().message, Contains(folder.In("data/" + name)));
  }
  WriteFile(folder.In("data/" + name), good);
  fixture.Open();
  CHECK(fixture.Replay().size() == 2);
}

TEST_CASE("a missing or cut identity is an error that says what to do", "[storage][home]") {
  const TestFolder folder(TestFolder::kInMemory);
  StoreFixture fixture(folder.In("data"));
  MakeStore(fixture);
  const std::string path = folder.In("data/identity");
  const std::string good = ReadFile(path);
  for (const size_t size : {size_t{0}, size_t{100}, good.size() - 1}) {
    WriteFile(path, good.substr(0, size));
    CHECK_THAT(fixture.TryOpen().error().message, Contains(path) && Contains("backup"));
  }
  std::filesystem::remove(path);
  const auto opened = fixture.TryOpen();
  REQUIRE_FALSE(opened.has_value());
  CHECK(opened.error().code == ErrorCode::kIo);
  CHECK_FALSE(std::filesystem::exists(path));
}

TEST_CASE("a store that was never completed is completed", "[storage][home]") {
  const TestFolder folder(TestFolder::kInMemory);
  const std::string data = folder.In("data");
  StoreFixture fixture(data);
  const auto half = GENERATE(0, 1, 2, 3, 4);
  std::filesystem::create_directory(data);
  if (half >= 1) WriteFile(folder.In("data/lock"), "123\n");
  if (half >= 2) WriteFile(folder.In("data/identity"), "cut off");
  if (half >= 3) {
    std::filesystem::create_directory(folder.In("data/journal"));
    WriteFile(folder.In("data/journal/MANIFEST-000001"), "cut off");
    WriteFile(folder.In("data/FORMAT.tmp"), "tide");
  }
  if (half >= 4) {
    // All but the last step.
    std::filesystem::remove_all(data);
    fixture.Open();
    fixture.store.reset();
    std::filesystem::remove(folder.In("data/FORMAT"));
  }
  fixture.Open();
  CHECK(fixture.Append({"first"}) == 1);
  fixture.Open();
  CHECK(fixture.Replay() == Records{{1, "first"}});
  CHECK(ReadFile(folder.In("data/FORMAT")) == "tidemark-storage 6\n");
}

TEST_CASE("a store whose FORMAT was lost is not taken for a half-made one", "[storage][home]") {
  const TestFolder folder(TestFolder::kInMemory);
  StoreFixture fixture(folder.In("data"));
  fixture.Open();
  fixture.Append({"one"});
  if (GENERATE(false, true)) fixture.Open();  // the record is in a table then
  fixture.store.reset();
  std::filesystem::remove(folder.In("data/FORMAT"));
  const auto before = Everything(folder.path());
  const auto opened = fixture.TryOpen();
  REQUIRE_FALSE(opened.has_value());
  CHECK(opened.error().code == ErrorCode::kInvalidArgument);
  CHECK_THAT(opened.error().message, Contains("FORMAT"));
  CHECK(Everything(folder.path()) == before);
}

TEST_CASE("a second opening says which process has the store", "[storage][home]") {
  const TestFolder folder(TestFolder::kInMemory);
  StoreFixture first(folder.In("data"));
  StoreFixture second(folder.In("data"));
  first.Open();
  const auto opened = second.TryOpen();
  REQUIRE_FALSE(opened.has_value());
  CHECK(opened.error().code == ErrorCode::kUnavailable);
  CHECK_THAT(opened.error().message, Contains("is in use by process " + std::to_string(getpid())));
  first.store.reset();
  second.Open();
  CHECK(second.Append({"now"}) == 1);
}

TEST_CASE("a path that cannot be a directory is an error with the path", "[storage][home]") {
  const TestFolder folder(TestFolder::kInMemory);
  WriteFile(folder.In("file"), "x");
  for (const std::string name : {"file", "file/below"}) {
    StoreFixture fixture(folder.In(name));
    const auto opened = fixture.TryOpen();
    REQUIRE_FALSE(opened.has_value());
    CHECK_THAT(opened.error().message, Contains(folder.In("file")));
  }
  StoreFixture fixture("");
  CHECK(fixture.TryOpen().error().code == ErrorCode::kInvalidArgument);
}

TEST_CASE("what a killed process left half-written is removed", "[storage][home]") {
  const TestFolder folder(TestFolder::kInMemory);
  StoreFixture fixture(folder.In("data"));
  MakeStore(fixture);
  WriteFile(folder.In("data/checkpoint-2.sst.tmp"), "half");
  fixture.Open();
  CHECK_FALSE(std::filesystem::exists(folder.In("data/checkpoint-2.sst.tmp")));
  CHECK(fixture.Replay().size() == 2);
}

TEST_CASE("a store that is opened for reading only changes nothing, also beside a writer",
          "[storage][home]") {
  const TestFolder folder(TestFolder::kInMemory);
  StoreFixture writer(folder.In("data"));
  StoreFixture reader(folder.In("data"));
  reader.options.read_only = true;
  CHECK(reader.TryOpen().error().code == ErrorCode::kNotFound);
  CHECK(Everything(folder.path()).empty());
  writer.Open();
  writer.Append({"one", "two"});
  writer.Checkpoint(1, {"block"});
  WriteFile(folder.In("data/checkpoint-7.sst.tmp"), "of a writer");
  const auto before = Everything(folder.path());
  reader.Open();
  CHECK(reader.Replay() == Records{{1, "one"}, {2, "two"}});
  CHECK(reader.store->LastNumber() == 2);
  CHECK(reader.store->Journal().bytes > 0);
  CHECK(reader.store->identity() == writer.store->identity());
  CHECK(reader.Blocks(1).value() == std::vector<std::string>{"block"});
  CHECK(reader.store->Append({}).error().code == ErrorCode::kInvalidArgument);
  CHECK(reader.store->Trim(1).error().code == ErrorCode::kInvalidArgument);
  CHECK(reader.store->BeginCheckpoint(1).error().code == ErrorCode::kInvalidArgument);
  CHECK(reader.store->SetAside(1).error().code == ErrorCode::kInvalidArgument);
  reader.store.reset();
  CHECK(Everything(folder.path()) == before);
  writer.Append({"three"});
  REQUIRE(writer.store->Trim(1).has_value());
  reader.Open();
  CHECK(reader.Replay() == Records{{2, "two"}, {3, "three"}});
}

}  // namespace
}  // namespace tidemark::storage
