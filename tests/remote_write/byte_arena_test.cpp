#include "remote_write/byte_arena.h"

#include <random>
#include <string>

#include "tests/catch.h"

using namespace tidemark::remote_write;

TEST_CASE("texts keep their address and content until the arena is cleared",
          "[remote_write][arena]") {
  std::mt19937 random(7);  // NOLINT(cert-msc51-cpp): the same each time
  for (const size_t kept : {size_t{0}, 3 * ByteArena::kChunkBytes}) {
    ByteArena arena(kept);
    for (int round = 0; round < 3; ++round) {
      std::vector<std::pair<std::string, std::string_view>> texts;
      for (int i = 0; i < 300; ++i) {
        const size_t most = i % 20 == 0 ? 3 * ByteArena::kChunkBytes : 3000;
        std::string text(random() % most, static_cast<char>('a' + i % 26));
        if (i % 2 == 0) {
          const std::string_view copy = arena.Copy(text);
          texts.emplace_back(std::move(text), copy);
          continue;
        }
        char* const room = arena.Reserve(text.size() + 100);
        std::copy(text.begin(), text.end(), room);
        const std::string_view copy = arena.Take(text.size());
        texts.emplace_back(std::move(text), copy);
      }
      for (const auto& [text, copy] : texts) REQUIRE(text == copy);
      arena.Clear();
    }
  }
}

TEST_CASE("a cleared arena hands out what it has kept", "[remote_write][arena]") {
  ByteArena arena(2 * ByteArena::kChunkBytes);
  std::vector<const char*> first;
  for (int i = 0; i < 4; ++i) {
    first.push_back(arena.Reserve(ByteArena::kChunkBytes));
    static_cast<void>(arena.Take(ByteArena::kChunkBytes));
  }
  arena.Clear();
  for (int i = 0; i < 2; ++i) {
    REQUIRE(arena.Reserve(ByteArena::kChunkBytes) == first[static_cast<size_t>(i)]);
    static_cast<void>(arena.Take(ByteArena::kChunkBytes));
  }
}
