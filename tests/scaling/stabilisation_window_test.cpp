#include "scaling/stabilisation_window.h"

#include <algorithm>
#include <random>
#include <string>
#include <vector>

#include "model/scaling.h"
#include "tests/catch.h"
#include "tests/seed.h"

namespace tidemark::scaling {
namespace {

std::string Saved(const StabilisationWindow& window) {
  std::string bytes;
  ByteWriter out(bytes);
  window.Save(out);
  return bytes;
}

TEST_CASE("The window is the highest of its minutes, gaps and restarts or not", "[scaling]") {
  const uint32_t seed = tidemark::testing::Seed();
  INFO("seed " << seed);
  std::mt19937 random(seed);
  const auto whole = [&](int32_t low, int32_t high) {
    return std::uniform_int_distribution<>(low, high)(random);
  };
  for (int run = 0; run < 50; ++run) {
    int32_t minutes = whole(1, PolicySettings::kMaxWindowMinutes);
    StabilisationWindow window(minutes);
    std::vector<std::pair<int64_t, int32_t>> all;
    int64_t at = whole(0, 1'000'000);
    for (int i = 0; i < 300; ++i) {
      at += whole(1, 10) == 1 ? whole(1, 2 * minutes) : 1;
      if (whole(1, 100) == 1) {  // a narrower one; a wider one has dropped what it now would have
        minutes = whole(1, minutes);
        window.SetMinutes(minutes);
      }
      const auto counts = [&](const auto& entry) { return entry.first > at - minutes; };
      CHECK(window.IsEmptyAt(at) == std::none_of(all.begin(), all.end(), counts));
      all.emplace_back(at, whole(0, kMaxReplicas));
      int32_t highest = 0;
      for (const auto& entry : all) {
        if (counts(entry)) highest = std::max(highest, entry.second);
      }
      REQUIRE(window.Add(all.back().first, all.back().second) == highest);
      if (whole(1, 5) == 1) {
        const std::string bytes = Saved(window);
        StabilisationWindow restored(minutes);
        ByteReader in(bytes);
        restored.Restore(in);
        REQUIRE(in.AtEnd());
        REQUIRE(Saved(restored) == bytes);
        window = restored;
      }
    }
    CHECK(window.MemoryBytes() <= 2048 + sizeof window);
  }
}

TEST_CASE("A saved window that cannot be is refused, and nothing is left of it", "[scaling]") {
  const auto write = [](const std::vector<std::pair<uint64_t, uint64_t>>& entries) {
    std::string bytes;
    ByteWriter out(bytes);
    out.Varint(entries.size());
    for (const auto& [later, recommended] : entries) {
      out.Varint(later);
      out.Varint(recommended);
    }
    return bytes;
  };
  const auto is_refused = [](const std::string& bytes) {
    StabilisationWindow window(5);
    window.Add(3, 9);
    ByteReader in(bytes);
    window.Restore(in);
    return in.failed() && window.IsEmptyAt(3);
  };
  CHECK_FALSE(is_refused(write({})));
  CHECK_FALSE(is_refused(write({{0, 100'000}, {1, 4}, {2, 0}})));
  CHECK(is_refused(write({{1, 100'001}})));
  CHECK(is_refused(write({{1, 4}, {1, 4}})));
  CHECK(is_refused(write({{1, 4}, {1, 5}})));
  CHECK(is_refused(write({{1, 4}, {0, 3}})));
  CHECK(is_refused(write({{uint64_t{1} << 41, 4}})));
  CHECK(is_refused(write({{1, 5}, {~uint64_t{0}, 4}})));
  std::vector<std::pair<uint64_t, uint64_t>> many;
  for (uint64_t i = 0; i <= PolicySettings::kMaxWindowMinutes; ++i) many.emplace_back(1, 500 - i);
  CHECK(is_refused(write(many)));
  std::string cut = write({{1, 9}, {1, 8}});
  cut.pop_back();
  CHECK(is_refused(cut));
}

}  // namespace
}  // namespace tidemark::scaling
