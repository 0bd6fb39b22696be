// The table of known series against a plain map, and beside writers.
#include "workloads/known_series.h"

#include <atomic>
#include <map>
#include <random>
#include <thread>
#include <vector>

#include "tests/catch.h"

using namespace tidemark::workloads;

namespace {

SeriesHash Hash(uint64_t number) {
  // Few values of the lowest bits, some way apart: chains of slots are long, but end.
  return {number << 20 | (number % 37 * 211), 1};
}

}  // namespace

TEST_CASE("a place keeps its three numbers, and is none when one is too large",
          "[workloads][known]") {
  const SeriesPlace place(SeriesPlace::kMaxShard, SeriesPlace::kMaxNameSpace, UINT32_MAX);
  CHECK(place);
  CHECK(place.shard() == SeriesPlace::kMaxShard);
  CHECK(place.name_space() == SeriesPlace::kMaxNameSpace);
  CHECK(place.series() == UINT32_MAX);
  CHECK(SeriesPlace(place.bits()) == place);
  CHECK(SeriesPlace(0, 0, 0));
  CHECK_FALSE(SeriesPlace());
  CHECK_FALSE(SeriesPlace(SeriesPlace::kMaxShard + 1, 0, 0));
  CHECK_FALSE(SeriesPlace(0, SeriesPlace::kMaxNameSpace + 1, 0));
}

TEST_CASE("it finds what was put in and not taken out, as a map does", "[workloads][known]") {
  const auto seed = GENERATE(range(1, 5));
  std::mt19937_64 random(static_cast<uint64_t>(seed));
  KnownSeries known;
  std::map<uint64_t, SeriesPlace> model;
  for (int step = 0; step < 40'000; ++step) {
    // It fills, empties and fills again.
    const bool filling = step / 10'000 % 2 == 0;
    const uint64_t number = random() % 5000;
    if (random() % 8 < (filling ? 7U : 1U)) {
      const SeriesPlace place(random() % 8, random() % 100, static_cast<uint32_t>(random()));
      known.Insert(Hash(number), place);
      model[number] = place;
    } else {
      known.Erase(Hash(number));
      model.erase(number);
    }
    if (step % 1000 != 999) continue;
    REQUIRE(known.size() == model.size());
    const KnownSeries::View view = known.Look();
    uint64_t differ = 0;  // counted: 800,000 assertions take minutes under the sanitizers
    for (uint64_t any = 0; any < 5000; ++any) {
      const auto found = model.find(any);
      const SeriesPlace expected = found == model.end() ? SeriesPlace() : found->second;
      if (view.Find(Hash(any)) != expected) ++differ;
    }
    REQUIRE(differ == 0);
  }
  known.Insert(Hash(6000), SeriesPlace());
  CHECK_FALSE(known.Look().Find(Hash(6000)));
}

TEST_CASE("readers beside writers see nothing that never was", "[workloads][known][concurrency]") {
  KnownSeries known;
  std::atomic<bool> done{false};
  std::atomic<uint64_t> wrong{0};
  std::atomic<uint64_t> found{0};
  std::vector<std::thread> readers;
  for (int r = 0; r < 2; ++r) {
    readers.emplace_back([&] {
      do {
        const KnownSeries::View view = known.Look();
        for (uint32_t number = 0; number < 3000; ++number) {
          const SeriesPlace place = view.Find(Hash(number));
          if (!place) continue;
          ++found;
          if (place.series() != number) ++wrong;
        }
      } while (!done);
    });
  }
  std::vector<std::thread> writers;
  for (uint32_t w = 0; w < 2; ++w) {
    writers.emplace_back([&, w] {
      for (uint32_t round = 0; round < 6; ++round) {
        for (uint32_t n = w; n < 3000; n += 2) known.Insert(Hash(n), SeriesPlace(w, round, n));
        for (uint32_t n = w; n < 3000; n += 6) known.Erase(Hash(n));
      }
    });
  }
  for (std::thread& writer : writers) writer.join();
  done = true;
  for (std::thread& reader : readers) reader.join();
  CHECK(wrong == 0);
  CHECK(found > 0);
  CHECK(known.size() == 2000);
}
