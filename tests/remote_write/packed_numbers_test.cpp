#include "remote_write/packed_numbers.h"

#include <optional>
#include <random>
#include <string>
#include <utility>

#include "tests/catch.h"
#include "tests/remote_write/wire_builder.h"
#include "tests/seed.h"

using namespace tidemark::remote_write;
using namespace tidemark::remote_write::test;

TEST_CASE("a packed field is judged the same in words and number by number",
          "[remote_write][packed]") {
  const uint32_t seed = tidemark::testing::Seed();
  INFO("seed " << seed);
  std::mt19937 random(seed);
  size_t good = 0;
  for (int round = 0; round < 20'000; ++round) {
    std::string packed;
    for (auto i = random() % 20; i > 0; --i) {
      packed += Varint(random() % (1U << (random() % 20)), 1 + (random() % 50 == 0 ? 10 : 0));
    }
    if (random() % 4 == 0) packed += "\x80";
    const DecodeError slowly = ForEachPacked(packed, [](uint32_t) {});
    REQUIRE(ValidatePacked(packed) == slowly);
    if (IsPackedShort(packed)) REQUIRE(slowly == DecodeError::kNone);
    if (slowly == DecodeError::kNone) ++good;
  }
  REQUIRE(good > 1000);
  REQUIRE(good < 19'000);
}

TEST_CASE("a pair of short numbers is taken whole or not at all", "[remote_write][packed]") {
  const auto take = [](const std::string& packed) -> std::optional<std::pair<uint32_t, uint32_t>> {
    WireReader reader(packed);
    uint32_t first = 0;
    uint32_t second = 0;
    if (TakeShortPair(reader, first, second)) return std::pair(first, second);
    REQUIRE(reader.position() == packed.data());
    return std::nullopt;
  };
  using Pair = std::pair<uint32_t, uint32_t>;
  REQUIRE(take(Varint(1) + Varint(2) + "xx") == Pair(1, 2));
  REQUIRE(take(Varint(127) + Varint(128) + "x") == Pair(127, 128));
  REQUIRE(take(Varint(16'383) + Varint(16'383)) == Pair(16'383, 16'383));
  REQUIRE(take(Varint(16'384) + Varint(1) + "xxx") == std::nullopt);
  REQUIRE(take(Varint(1) + Varint(16'384) + "xxx") == std::nullopt);
  REQUIRE(take(Varint(1) + Varint(2) + "x") == std::nullopt);  // too near to the end
  REQUIRE(take("\x80\x80\x80\x80") == std::nullopt);
}
