// What a strict profile forgets at a restart, and that it is forgotten at the same place when the
// journal is read again.
#include "tests/engine/durable.h"
#include "tests/engine/profiles.h"
#include "tests/engine/traffic.h"

using namespace tidemark;
using namespace tidemark::testing;

namespace {

constexpr double kMi = 1024.0 * 1024;

engine::Options Vpa(bool strict) {
  engine::Options options;
  options.profiles =
      OneProfile(Preset::kVpa, [strict](Profile& profile) { profile.strict = strict; });
  return options;
}

/// An hour of one pod, from the hour'th on, with a peak of memory in its middle.
void Hour(Durable& durable, int hour, double peak) {
  if (hour == 0) Write(durable.engine, {{PodOwner("db-0", "StatefulSet", "db"), {{kT0, 1}}}});
  for (int minute = 0; minute < 60; ++minute) {
    const int at = hour * 60 + minute;
    const int64_t time_ms = kT0 + at * 60'000LL;
    durable.clock.Set(FromUnixMs(time_ms));
    Write(durable.engine,
          {{Cpu("db-0"), {{time_ms, at * 6.0}}},
           {Memory("db-0"), {{time_ms, (minute == 30 ? peak : 300 + 5.0 * hour) * kMi}}}});
  }
}

double MemoryOf(Durable& durable) {
  durable.engine.Tick();
  for (const auto& block : durable.engine.Current()->blocks) {
    for (const WorkloadAdvice& workload : block->workloads) {
      for (const ResourceAdvice& advice : workload.containers.at(0).resources) {
        if (advice.resource == Resource::kMemory) return *advice.recommended_request;
      }
    }
  }
  return 0;
}

}  // namespace

TEST_CASE("A restart forgets the running memory peak where VPA's numbers are wanted, else nothing",
          "[durability][strict]") {
  for (const bool strict : {true, false}) {
    INFO("strict " << strict);
    MemoryStore disk;
    double before = 0;
    {
      const auto engine = Open(disk, Vpa(strict));
      Hour(*engine, 0, 900);
      before = MemoryOf(*engine);
      CHECK(before > 900 * kMi);
    }
    const auto after = Open(disk, Vpa(strict));
    if (strict) {
      CHECK(MemoryOf(*after) == 250 * kMi);  // nothing is left but the minimum
    } else {
      CHECK(MemoryOf(*after) == before);
    }
  }
}

TEST_CASE("Restarts of a strict engine are where they were when the journal is read again",
          "[durability][strict]") {
  MemoryStore journal_only;
  MemoryStore with_checkpoints;
  std::vector<std::string> states[2];
  int i = 0;
  for (MemoryStore* const disk : {&journal_only, &with_checkpoints}) {
    for (int hour = 0; hour < 4; ++hour) {
      const auto engine = Open(*disk, Vpa(true));
      Hour(*engine, hour, 500 + 100.0 * hour);
      if (disk == &with_checkpoints) REQUIRE(engine->engine.Checkpoint());
    }
    states[i++] = Open(*disk, Vpa(true))->State();
  }
  CHECK(journal_only.Checkpoints().empty());
  CHECK_FALSE(states[0].empty());
  CHECK(states[0] == states[1]);
}
