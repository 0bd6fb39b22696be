// A store that was written by the first version of the format, checked in: whoever changes the
// format has to change its number, and keep reading this.

#include <algorithm>
#include <string>

#include "tests/storage/fixture.h"

namespace tidemark::storage {
namespace {

TEST_CASE("the checked-in store of format 1 is read as it was written", "[storage][format]") {
  static_assert(kOldestFormatVersion == 1);
  const TestFolder folder;
  std::filesystem::copy(TIDEMARK_TEST_DATA "/storage/format_1", folder.In("data"),
                        std::filesystem::copy_options::recursive);
  StoreFixture fixture(folder.In("data"));
  fixture.Open();
  CHECK(fixture.counters->journal_bytes_dropped == 0);
  CHECK(fixture.Replay() ==
        Records{{3, "third"}, {4, ""}, {5, std::string(300, 'f')}, {6, "sixth"}});
  CHECK(fixture.outcome.damage.empty());
  const auto checkpoints = fixture.store->Checkpoints();
  REQUIRE(checkpoints.size() == 1);
  CHECK(checkpoints[0].number == 1);
  CHECK(checkpoints[0].journal_number == 4);
  CHECK(checkpoints[0].created_ms == 1'700'000'000'000);
  CHECK(fixture.Blocks(1).value() ==
        std::vector<std::string>{"block", "", std::string(2'000'000, 'b')});
  CHECK(fixture.store->identity()[0] == 0xEB);
  CHECK(fixture.Append({"seventh"}) == 7);
  // From now on the version that wrote it refuses it.
  CHECK(fixture.store->format() == 6);
  CHECK(ReadFile(folder.In("data/FORMAT")) == "tidemark-storage 6\n");
}

TEST_CASE("only a look leaves the format as it is", "[storage][format]") {
  const TestFolder folder;
  std::filesystem::copy(TIDEMARK_TEST_DATA "/storage/format_1", folder.In("data"),
                        std::filesystem::copy_options::recursive);
  StoreFixture fixture(folder.In("data"));
  fixture.options.read_only = true;
  fixture.Open();
  CHECK(fixture.store->format() == 1);
  CHECK(ReadFile(folder.In("data/FORMAT")) == "tidemark-storage 1\n");
}

}  // namespace
}  // namespace tidemark::storage
