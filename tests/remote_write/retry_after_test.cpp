#include "remote_write/retry_after.h"

#include <set>

#include "tests/catch.h"

using namespace tidemark::remote_write;

TEST_CASE("the wait doubles with the attempt up to a minute", "[remote_write][retry_after]") {
  RetryAfter retry_after(std::nullopt);
  REQUIRE(retry_after.Seconds("") == 5);
  REQUIRE(retry_after.Seconds("1") == 5);
  REQUIRE(retry_after.Seconds("2") == 10);
  REQUIRE(retry_after.Seconds("3") == 20);
  REQUIRE(retry_after.Seconds("4") == 40);
  REQUIRE(retry_after.Seconds("5") == 60);
  REQUIRE(retry_after.Seconds("4000000000") == 60);
  REQUIRE(retry_after.Seconds("99999999999999999999") == 60);
}

TEST_CASE("an attempt that is no number counts as the first", "[remote_write][retry_after]") {
  RetryAfter retry_after(std::nullopt);
  for (const char* text : {"0", "-3", "x", "2x", " 2", "1.5"}) {
    CAPTURE(text);
    REQUIRE(retry_after.Seconds(text) == 5);
  }
}

TEST_CASE("a seed spreads the wait over its upper half and repeats itself",
          "[remote_write][retry_after]") {
  RetryAfter one(7);
  RetryAfter same(7);
  std::set<unsigned> seen;
  for (int i = 0; i < 300; ++i) {
    const unsigned seconds = one.Seconds("4");
    REQUIRE(seconds >= 20);
    REQUIRE(seconds <= 40);
    REQUIRE(seconds == same.Seconds("4"));
    seen.insert(seconds);
  }
  REQUIRE(seen.size() > 15);
}
