// The cursor survives its bytes, and no bytes hurt it.

#include "backfill/cursor.h"

#include "tests/catch.h"

namespace tidemark::backfill {
namespace {

Cursor Full() {
  Cursor cursor;
  cursor.url = "https://prometheus:9090/prefix";
  cursor.grid = {.start_ms = 60'000, .end_ms = 1'700'000'040'000, .step_ms = 60'000};
  cursor.external_labels = {{"cluster", "eu-1"}};
  cursor.from_config = true;
  cursor.had_credentials = true;
  cursor.last = NamespaceName{"eu-1", "shop"};
  cursor.namespaces_done = 3;
  cursor.namespaces_total = 300;
  cursor.containers = 1000;
  cursor.minutes = 1'000'000'000'000;
  cursor.samples = 5;
  cursor.not_covered_total = 2;
  cursor.not_covered = {"one", "two"};
  return cursor;
}

}  // namespace

TEST_CASE("a cursor comes back as it went", "[backfill][cursor]") {
  const auto back = DecodeCursor(EncodeCursor(Full()));
  REQUIRE(back);
  CHECK(EncodeCursor(*back) == EncodeCursor(Full()));
  CHECK(back->url == Full().url);
  CHECK(back->grid == Full().grid);
  CHECK(back->external_labels == Full().external_labels);
  CHECK(back->from_config);
  CHECK(back->had_credentials);
  CHECK_FALSE(back->finished);
  CHECK(back->last == Full().last);
  CHECK(back->minutes == Full().minutes);
  CHECK(back->not_covered == Full().not_covered);
  Cursor finished = Full();
  finished.last.reset();
  finished.finished = true;
  const auto other = DecodeCursor(EncodeCursor(finished));
  REQUIRE(other);
  CHECK(other->finished);
  CHECK_FALSE(other->last);
}

TEST_CASE("a cursor stays small", "[backfill][cursor]") {
  Cursor cursor = Full();
  cursor.not_covered.assign(10'000, std::string(100'000, 'x'));
  cursor.external_labels.assign(1, {"a", std::string(kMaxJobTextBytes, 'x')});
  CHECK(EncodeCursor(cursor).size() < (size_t{64} << 10));
}

TEST_CASE("damaged cursors are refused", "[backfill][cursor]") {
  const std::string bytes = EncodeCursor(Full());
  for (size_t size = 0; size < bytes.size(); ++size) {
    CAPTURE(size);
    const auto cut = DecodeCursor(std::string_view(bytes).substr(0, size));
    REQUIRE_FALSE(cut);
    CHECK(cut.error().code == ErrorCode::kInvalidArgument);
  }
  CHECK_FALSE(DecodeCursor(bytes + "x"));
  std::string newer = bytes;
  newer[0] = 2;
  const auto refused = DecodeCursor(newer);
  REQUIRE_FALSE(refused);
  CHECK(refused.error().message.find("newer release") != std::string::npos);
  Cursor no_step = Full();
  no_step.grid.step_ms = 0;
  CHECK_FALSE(DecodeCursor(EncodeCursor(no_step)));
}

}  // namespace tidemark::backfill
