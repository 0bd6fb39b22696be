// What was acknowledged is there after a restart, whatever happened in between.
#include <atomic>
#include <cstdlib>
#include <memory>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "tests/engine/durable.h"
#include "tests/engine/profiles.h"
#include "tests/engine/traffic.h"

using namespace tidemark;
using namespace tidemark::testing;

TEST_CASE("What was acknowledged is there after the process was killed") {
  MemoryStore disk;
  const auto traffic = Traffic(1, 300);
  std::vector<std::string> before;
  {
    const auto engine = Open(disk);
    for (const auto& request : traffic) Write(engine->engine, request);
    before = engine->State();
    REQUIRE(before.size() > 10);
  }
  CHECK(disk.Checkpoints().empty());
  const auto after = Open(disk);
  CHECK(after->State() == before);
  CHECK(after->storage.recovered_records.load() == traffic.size());
  CHECK(after->storage.missed_series.load() == 0);
}

TEST_CASE("After any kill the same samples make the same state as without it") {
  const auto seed = GENERATE(range(1U, 13U));
  const auto traffic = Traffic(seed, 400);
  MemoryStore undisturbed_disk;
  const auto undisturbed = Open(undisturbed_disk);
  std::mt19937 random(seed * 31);
  auto disk = std::make_unique<MemoryStore>();
  auto engine = Open(*disk);
  int kills = 0;
  for (const auto& request : traffic) {
    const WriteVerdict expected = Write(undisturbed->engine, request);
    const WriteVerdict verdict = Write(engine->engine, request);
    REQUIRE(verdict.accepted == expected.accepted);
    REQUIRE(verdict.ignored == expected.ignored);
    REQUIRE(verdict.rejected == expected.rejected);
    if (random() % 40 == 0) REQUIRE(engine->engine.Checkpoint());
    if (random() % 25 != 0) continue;
    ++kills;
    auto copy = disk->Copy();  // what the engine still does in its end is not on this disk
    engine.reset();
    disk = std::move(copy);
    engine::Options options;
    options.shards = 1 + random() % 3;
    engine = Open(*disk, options);
  }
  CHECK(kills > 3);
  CHECK(engine->State() == undisturbed->State());
  CHECK(engine->counters.series_now.load() == undisturbed->counters.series_now.load());
}

TEST_CASE("A sender that sends again what it is not sure of changes nothing") {
  const auto traffic = Traffic(5, 200);
  MemoryStore clean_disk;
  const auto clean = Open(clean_disk);
  for (const auto& request : traffic) Write(clean->engine, request);
  auto disk = std::make_unique<MemoryStore>();
  auto engine = Open(*disk);
  for (size_t i = 0; i < traffic.size(); ++i) {
    Write(engine->engine, traffic[i]);
    if (i % 20 != 19) continue;
    // Killed behind the journal and before the answer: the sender repeats.
    auto copy = disk->Copy();
    engine.reset();
    disk = std::move(copy);
    engine = Open(*disk);
    Write(engine->engine, traffic[i]);
  }
  CHECK(engine->State() == clean->State());
}

TEST_CASE("An append that fails applies nothing, and the next one is taken") {
  MemoryStore disk;
  const auto engine = Open(disk);
  Write(engine->engine, {{Cpu("a"), {{kT0, 1}}}});
  const auto before = engine->State();
  disk.refuse_appends = true;
  const auto refused =
      TryWrite(engine->engine, {{Cpu("a"), {{kT0 + 60'000, 7}}}, {Cpu("b"), {{kT0, 1}}}});
  REQUIRE_FALSE(refused);
  CHECK(refused.error().code == ErrorCode::kIo);
  CHECK(refused.error().message == "no space left on device");
  CHECK(engine->State() == before);
  CHECK(engine->counters.series_now.load() == 1);
  CHECK(engine->counters.queued_batches_now.load() == 0);
  disk.refuse_appends = false;
  const WriteVerdict taken =
      Write(engine->engine, {{Cpu("a"), {{kT0 + 60'000, 7}}}, {Cpu("b"), {{kT0, 1}}}});
  CHECK(taken.accepted == 2);
}

TEST_CASE("Places under the ceiling on series that were not used are given back") {
  MemoryStore disk;
  engine::Options options;
  options.max_series = 2;
  const auto engine = Open(disk, options);
  Write(engine->engine, {{Cpu("a"), {{kT0, 1}}}});
  for (int i = 0; i < 5; ++i) {
    disk.refuse_appends = true;
    REQUIRE_FALSE(TryWrite(engine->engine, {{Cpu("b"), {{kT0, 1}}}}));
    disk.refuse_appends = false;
    // Known series that come with their labels.
    REQUIRE(TryWrite(engine->engine, {{Cpu("a"), {{kT0 + i, 1}}}}, Recognize::kNo));
  }
  CHECK(Write(engine->engine, {{Cpu("b"), {{kT0, 1}}}}).TotalRejected() == 0);
  const WriteVerdict third = Write(engine->engine, {{Cpu("c"), {{kT0, 1}}}});
  CHECK(third.rejected[static_cast<size_t>(RejectReason::kSeriesLimit)] == 1);
}

TEST_CASE("What the ceiling on series let in is let in again, also under a lower one") {
  MemoryStore disk;
  std::vector<std::string> before;
  {
    engine::Options options;
    options.max_series = 3;
    const auto engine = Open(disk, options);
    for (const char* pod : {"a", "b", "c", "d"}) {
      Write(engine->engine, {{In(Cpu(pod), pod), {{kT0, 1}}}});
    }
    engine->engine.Tick();  // gives up the namespace of the one that was refused
    before = engine->State();
  }
  engine::Options lower;
  lower.max_series = 1;
  const auto after = Open(disk, lower);
  CHECK(after->State() == before);
  CHECK(after->counters.series_now.load() == 3);
  CHECK(Write(after->engine, {{Cpu("e"), {{kT0, 1}}}}).TotalRejected() == 1);
}

TEST_CASE("A damaged checkpoint is set aside and the one before is used") {
  const auto traffic = Traffic(3, 200);
  MemoryStore disk;
  std::vector<std::string> before;
  {
    const auto engine = Open(disk);
    for (size_t i = 0; i < traffic.size(); ++i) {
      Write(engine->engine, traffic[i]);
      if (i == 60 || i == 120) REQUIRE(engine->engine.Checkpoint());
    }
    before = engine->State();
  }
  REQUIRE(disk.Checkpoints().size() == 2);
  auto& blocks = disk.checkpoints().back().blocks;
  REQUIRE(blocks.size() > 2);
  SECTION("a block is cut") { blocks.back().resize(blocks.back().size() / 2); }
  SECTION("a block is changed") { blocks[1][blocks[1].find("ns-")] ^= 0x55; }
  SECTION("a block stands twice") { blocks.push_back(blocks.back()); }
  SECTION("the head is gone") { blocks.erase(blocks.begin()); }
  SECTION("all blocks are gone") { blocks.clear(); }
  const auto after = Open(disk);
  CHECK(after->State() == before);
  CHECK(after->storage.checkpoints_damaged.load() == 1);
  CHECK(disk.Checkpoints().size() == 1);
}

TEST_CASE("Without a good checkpoint and with a trimmed journal the engine does not begin anew") {
  MemoryStore disk;
  {
    const auto engine = Open(disk);
    for (const auto& request : Traffic(3, 60)) {
      Write(engine->engine, request);
      REQUIRE(engine->engine.Checkpoint());
    }
  }
  REQUIRE(disk.Journal().first_number > 1);
  for (auto& checkpoint : disk.checkpoints()) checkpoint.blocks.front() = "x";
  const auto kept = disk.Checkpoints().size();
  Durable engine(disk);
  const auto recovered = engine.engine.Recover();
  REQUIRE_FALSE(recovered);
  CHECK(recovered.error().message.find("no checkpoint can be read") != std::string::npos);
  CHECK(disk.Checkpoints().size() == kept);
  disk.checkpoints().clear();
  Durable other(disk);
  const auto missing = other.engine.Recover();
  REQUIRE_FALSE(missing);
  CHECK(missing.error().message.find("is missing") != std::string::npos);
}

TEST_CASE(
    "Without its checkpoints an engine does not begin anew, also where the journal is empty") {
  MemoryStore disk;
  std::vector<MemoryStore::Checkpoint> first;
  {
    const auto engine = Open(disk);
    for (const auto& request : Traffic(3, 60)) Write(engine->engine, request);
    REQUIRE(engine->engine.Checkpoint());
    first = disk.checkpoints();
    Write(engine->engine, {{Cpu("a"), {{kT0, 1}}}});
    REQUIRE(engine->engine.Checkpoint());
    REQUIRE(engine->engine.Checkpoint());
  }
  REQUIRE(disk.Journal().first_number == 0);
  REQUIRE(disk.Journal().trimmed == disk.LastNumber());
  SECTION("all are gone") { disk.checkpoints().clear(); }
  SECTION("there is an old one only, which does not reach to the journal") {
    disk.checkpoints() = first;
  }
  const size_t kept = disk.Checkpoints().size();
  Durable engine(disk);
  const auto recovered = engine.engine.Recover();
  REQUIRE_FALSE(recovered);
  CHECK(recovered.error().message.find("missing") != std::string::npos);
  CHECK(disk.Checkpoints().size() == kept);
}

TEST_CASE("A journal that could not be trimmed is trimmed later, also when nothing more has come") {
  MemoryStore disk;
  const auto engine = Open(disk);
  Write(engine->engine, {{Cpu("a"), {{kT0, 1}}}});
  disk.refuse_trims = true;
  REQUIRE(engine->engine.Checkpoint());
  REQUIRE(engine->engine.Checkpoint());
  REQUIRE(disk.Journal().first_number == 1);
  REQUIRE(disk.Checkpoints().size() == 2);
  disk.refuse_trims = false;
  REQUIRE(engine->engine.Checkpoint());
  CHECK(disk.Journal().first_number == 0);
  CHECK(disk.Journal().trimmed == disk.LastNumber());
}

TEST_CASE("A checkpoint that cannot be written leaves the journal whole") {
  MemoryStore disk;
  const auto engine = Open(disk);
  Write(engine->engine, {{Cpu("a"), {{kT0, 1}}}});
  disk.refuse_checkpoints = true;
  REQUIRE_FALSE(engine->engine.Checkpoint());
  CHECK(disk.Journal().first_number == 1);
  disk.refuse_checkpoints = false;
  REQUIRE(engine->engine.Checkpoint());
}

TEST_CASE("Checkpoints taken while requests run hold every acknowledged sample once") {
  auto disk = std::make_unique<MemoryStore>();
  constexpr int kThreads = 4;
  constexpr int kRequests = 150;
  auto engine = Open(*disk);
  engine->clock.Set(FromUnixMs(kT0 + 86'400'000));
  std::atomic<bool> done{false};
  std::unique_ptr<MemoryStore> killed;
  std::thread checkpoints([&] {
    for (int i = 0; !done; ++i) {
      CHECK(engine->engine.Checkpoint());
      std::this_thread::yield();
    }
  });
  std::vector<std::thread> senders;
  for (int t = 0; t < kThreads; ++t) {
    senders.emplace_back([&, t] {
      for (int i = 0; i < kRequests; ++i) {
        std::vector<FeedSeries> request;
        for (int ns = 0; ns < 5; ++ns) {
          const std::string pod = "p-" + std::to_string(t);
          request.push_back({In(Cpu(pod), "ns-" + std::to_string(ns)),
                             {{kT0 + i * 30'000LL, static_cast<double>(i)}}});
        }
        if (!TryWrite(engine->engine, request)) std::abort();
      }
    });
  }
  for (auto& sender : senders) sender.join();
  done = true;
  checkpoints.join();
  const auto before = engine->State();
  killed = disk->Copy();
  engine.reset();
  const auto after = Open(*killed);
  CHECK(after->State() == before);
  CHECK(after->counters.series_now.load() == kThreads * 5);
}

TEST_CASE("Ageing by the wall clock comes back with the journal") {
  MemoryStore disk;
  std::vector<std::string> before;
  {
    const auto engine = Open(disk);
    Write(engine->engine, {{In(Cpu("a"), "gone"), {{kT0, 1}}}});
    Write(engine->engine, {{In(Cpu("a"), "stays"), {{kT0, 1}}}});
    for (int hour = 0; hour < 8 * 24 + 3; ++hour) {
      engine->clock.Set(FromUnixMs(kT0 + hour * 3'600'000LL));
      Write(engine->engine, {{In(Cpu("a"), "stays"), {{kT0 + hour * 3'600'000LL, 1.0 + hour}}}});
      engine->engine.Tick();
    }
    before = engine->State();
    REQUIRE(before.size() == 1);
  }
  CHECK(Open(disk)->State() == before);
}

TEST_CASE(
    "A series that was given up between look-up and shard is made anew and found in a replay") {
  MemoryStore disk;
  std::vector<std::string> before;
  {
    const auto engine = Open(disk);
    Write(engine->engine, {{Cpu("a"), {{kT0, 1}}}, {Cpu("b"), {{kT0, 1}}}});
    auto prepared = Prepare(engine->engine, {{Cpu("a"), {{kT0 + 4 * 3'600'000, 5}}}});
    // Three hours later "a" is collected.
    for (int minute = 0; minute <= 200; ++minute) {
      const int64_t at = kT0 + minute * 60'000LL;
      engine->clock.Set(FromUnixMs(at));
      Write(engine->engine, {{Cpu("b"), {{at, 1.0 + minute}}}});
    }
    REQUIRE(engine->counters.series_now.load() == 1);
    engine->clock.Set(FromUnixMs(kT0 + 4 * 3'600'000));
    const auto verdict = prepared.batch->Commit();
    REQUIRE(verdict);
    CHECK(verdict->accepted == 1);
    CHECK(engine->counters.series_now.load() == 2);
    before = engine->State();
  }
  CHECK(Open(disk)->State() == before);
}

TEST_CASE("After a restart series are recognised again, and resends are still duplicates") {
  MemoryStore disk;
  const std::vector<FeedSeries> request = {{Cpu("a"), {{kT0, 1}}}};
  {
    const auto engine = Open(disk);
    Write(engine->engine, request);
    REQUIRE(engine->engine.Checkpoint());
  }
  const auto after = Open(disk);
  CHECK(Write(after->engine, request).ignored[static_cast<size_t>(IgnoreReason::kDuplicate)] == 1);
  const std::string bytes = [] {
    std::vector<LabelView> labels;
    static const LabelMap map = Cpu("a");
    for (const auto& [name, value] : map) labels.push_back({name, value});
    return EncodeLabels(labels);
  }();
  SeriesLookUp wanted{bytes, {}};
  after->engine.Begin()->Find({&wanted, 1});
  CHECK(wanted.token.IsKnown());
}

TEST_CASE("A change of profiles outlives a kill right after it, with what was learnt before") {
  MemoryStore disk;
  const auto engine = Open(disk);
  const auto feed = [&](int from, int to, double bytes) {
    for (int minute = from; minute < to; ++minute) {
      const int64_t at = kT0 + minute * 60'000LL;
      engine->clock.Set(FromUnixMs(at));
      Write(engine->engine,
            {{PodOwner("db-0", "StatefulSet", "db"), {{at, 1}}}, {Memory("db-0"), {{at, bytes}}}});
    }
  };
  feed(0, 120, 4e8);
  engine::Options options;
  options.profiles = EveryRule([](ResourceRule& rule) { rule.samples = SampleKind::kEveryMinute; });
  engine->engine.SetProfiles(options.profiles);
  feed(120, 180, 1e8);
  const auto killed = disk.Copy();
  CHECK(Open(*killed, options)->State() == engine->State());
}

TEST_CASE("The running minute and the running peak window outlive a restart") {
  auto disk = std::make_unique<MemoryStore>();
  MemoryStore other_disk;
  const auto undisturbed = Open(other_disk);
  auto engine = Open(*disk);
  for (int i = 0; i < 40; ++i) {
    const int64_t at = kT0 + i * 25'000LL;
    const std::vector<FeedSeries> request = {{PodOwner("a", "DaemonSet", "agent"), {{at, 1}}},
                                             {Cpu("a"), {{at, 3.0 * i}}},
                                             {Memory("a"), {{at, i % 9 == 4 ? 9e8 : 1e8}}}};
    Write(undisturbed->engine, request);
    Write(engine->engine, request);
    if (i % 2 == 0) REQUIRE(engine->engine.Checkpoint());
    engine.reset();
    engine = Open(*disk);
  }
  CHECK(engine->State() == undisturbed->State());
}
