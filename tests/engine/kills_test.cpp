// Kills for memory from series as remote write brings them: in any order and any number of
// requests, sent again, copied by an HA pair, with restarts of Tidemark in between.
#include <algorithm>
#include <array>

#include "tests/engine/durable.h"

using namespace tidemark;
using namespace tidemark::testing;

namespace {

FeedSeries Of(const std::string& metric, int64_t at, double value, LabelMap more = {}) {
  more.insert({{"namespace", "shop"}, {"pod", "db-0"}, {"uid", "u-db-0"}, {"container", "app"}});
  return {Named("kube_pod_container_" + metric, std::move(more)), {{at, value}}};
}

/// What one scrape of kube-state-metrics says of a container that was killed `kills` times.
std::vector<FeedSeries> Scrape(int64_t at, int kills) {
  std::vector<FeedSeries> scrape = {
      {PodOwner("db-0", "StatefulSet", "db"), {{at, 1}}},
      Of("resource_requests", at, 5e8, {{"resource", "memory"}, {"unit", "byte"}}),
      Of("status_restarts_total", at, kills)};
  if (kills == 0) return scrape;
  scrape.push_back(Of("status_last_terminated_reason", at, 1, {{"reason", "OOMKilled"}}));
  scrape.push_back(
      Of("status_last_terminated_timestamp", at, static_cast<double>(at - 4000) / 1000));
  return scrape;
}

constexpr int64_t kStep = 30'000;

/// Writes what must be applied in the order of the journal.
template <class World>
void Put(World& world, std::vector<FeedSeries> request) {
  int64_t newest = ToUnixMs(world.clock.Now());
  for (const FeedSeries& series : request) {
    newest = std::max(newest, series.samples.front().timestamp_ms);
  }
  world.clock.Set(FromUnixMs(newest));
  Write(world.engine, request);
}

}  // namespace

TEST_CASE("kills in series of one scrape are counted once, in every order of five series",
          "[engine][kills]") {
  std::array<size_t, 5> order = {0, 1, 2, 3, 4};
  int orders = 0;
  do {
    if (++orders % 5 != 0) continue;
    Bench bench;
    Put(bench, Scrape(kT0, 0));
    for (int kills = 1; kills <= 3; ++kills) {
      const auto scrape = Scrape(kT0 + kills * kStep, kills);
      for (const size_t i : order) Put(bench, {scrape[i]});
      // All of it again, as a sender does whose answer was lost.
      Put(bench, scrape);
    }
    INFO("order " << order[0] << order[1] << order[2] << order[3] << order[4]);
    REQUIRE(bench.counters.oom_kills == 3);
    REQUIRE(bench.counters.restarts_without_kill == 0);
  } while (std::next_permutation(order.begin(), order.end()));
}

TEST_CASE("an HA pair's copies tell no second kill", "[engine][kills]") {
  Bench bench;
  const auto copy = [&](const std::vector<FeedSeries>& scrape, int64_t by_ms) {
    std::deque<std::string> bytes;
    const auto batch = bench.engine.Begin();
    for (const FeedSeries& series : scrape) {
      std::vector<LabelView> labels;
      for (const auto& [name, value] : series.labels) labels.push_back({name, value});
      std::vector<Sample> samples = series.samples;
      samples.front().timestamp_ms += by_ms;
      IncomingSeries incoming{labels, bytes.emplace_back(EncodeLabels(labels)), samples};
      incoming.from_ha_pair = true;
      batch->Add(incoming);
    }
    REQUIRE(batch->Commit());
  };
  for (int i = 0; i < 20; ++i) {
    bench.clock.Set(FromUnixMs(kT0 + i * kStep + 2000));
    const auto scrape = Scrape(kT0 + i * kStep, i / 5);
    copy(scrape, 0);
    copy(scrape, 1500);   // the new leader's, a little later
    copy(scrape, -1500);  // the old one's, late
  }
  CHECK(bench.counters.oom_kills == 3);
}

TEST_CASE("a kill of which half was told is known after a restart of Tidemark", "[engine][kills]") {
  for (const bool checkpoint : {true, false}) {
    for (size_t told = 0; told <= 5; ++told) {
      INFO("checkpoint " << checkpoint << ", told " << told);
      MemoryStore disk;
      uint64_t before = 0;
      const auto scrape = Scrape(kT0 + kStep, 1);
      {
        const auto engine = Open(disk);
        Put(*engine, Scrape(kT0, 0));
        for (size_t i = 0; i < told; ++i) Put(*engine, {scrape[i]});
        if (checkpoint) REQUIRE(engine->engine.Checkpoint());
        before = engine->counters.oom_kills;
        CHECK(before == (told == 5 ? 1 : 0));
      }
      const auto engine = Open(disk);
      // A replay counts what it applies again.
      CHECK(engine->counters.oom_kills == (checkpoint ? 0 : before));
      engine->clock.Set(FromUnixMs(kT0 + kStep));
      for (size_t i = told; i < 5; ++i) Put(*engine, {scrape[i]});
      for (int i = 2; i < 8; ++i) {
        auto later = Scrape(kT0 + i * kStep, 1);
        later.back().samples.front().value = static_cast<double>(kT0 + kStep - 4000) / 1000;
        Put(*engine, later);
      }
      CHECK(engine->counters.oom_kills + (checkpoint ? before : 0) == 1);
      CHECK(engine->counters.restarts_without_kill == 0);
      CHECK(Open(disk)->State() == engine->State());
    }
  }
}
