// Resources that the configuration names are kept by their names: over restarts with others, in
// another order, or without them.

#include <algorithm>
#include <random>
#include <string>
#include <vector>

#include "tests/engine/durable.h"
#include "tests/engine/namespace_world.h"
#include "tests/engine/own_resources.h"
#include "tests/seed.h"
#include "workloads/past.h"

using namespace tidemark;
using namespace tidemark::testing;

namespace {

// Metrics that random traffic has.
const Own kCache{{"cache", "byte"}, "container_memory_cache"};
const Own kEvents{
    {"events", "per_second"}, "container_oom_events_total", workloads::Role::kUsageCounter};
const Own kStarts{{"starts", "second"}, "kube_pod_container_status_restarts_total"};

/// All ways in which minutes are kept.
OwnConfig Config(const std::vector<Own>& all) {
  OwnConfig config(all);
  std::vector<Profile> profiles;
  Profile sums = PresetProfile(Preset::kTidemark);
  sums.name = "sums";
  sums.level = Level::kPod;
  sums.selector = Selector::Parse(R"({workload=~".*[0-4]"})").value();
  Profile peaks = PresetProfile(Preset::kTidemark);
  peaks.name = "peaks";
  peaks.selector = Selector::Parse(R"({workload=~".*[5-9]"})").value();
  for (ResourceRule& rule : peaks.resources) rule.samples = SampleKind::kPeakPerWindow;
  config.options.profiles = std::make_shared<const ProfileSet>(
      std::vector<Profile>{sums, peaks}, PresetProfile(Preset::kTidemark),
      config.options.profiles->resource_table());
  return config;
}

void Run(NamespaceWorld& world, RandomTraffic& traffic, int batches) {
  for (int i = 0; i < batches; ++i) world.Put(traffic.Next());
}

std::vector<std::string> SortedLines(const std::string& text) {
  std::vector<std::string> lines;
  for (size_t begin = 0; begin < text.size();) {
    const size_t end = std::min(text.find('\n', begin), text.size());
    lines.push_back(text.substr(begin, end - begin));
    begin = end + 1;
  }
  std::sort(lines.begin(), lines.end());
  return lines;
}

/// Lines that tell of none of these.
std::vector<std::string> Without(std::vector<std::string> lines, const std::string& name) {
  std::erase_if(lines, [&](const std::string& line) {
    return line.find(" " + name + ":") != std::string::npos ||
           line.find('"' + name + '"') != std::string::npos;
  });
  return lines;
}

LabelMap OfApp(const std::string& metric) {
  return Named(metric, {{"namespace", "shop"}, {"pod", "db-0"}, {"container", "app"}});
}

void Feed(Durable& durable, int from, int until) {
  for (int i = from; i < until; ++i) {
    const int64_t at = kT0 + i * 60'000LL;
    durable.clock.Set(FromUnixMs(at));
    Write(durable.engine, {{PodOwner("db-0", "StatefulSet", "db"), {{at, 1}}},
                           {OfApp("container_memory_cache"), {{at, 1000.0 + i}}},
                           {OfApp("container_oom_events_total"), {{at, 30.0 * i}}},
                           {Request("db-0", "cache"), {{at, 5}}},
                           {Cpu("db-0"), {{at, 30.0 * i}}}});
  }
}

std::vector<std::string> Requests(Durable& durable) {
  durable.engine.Tick();
  const auto snapshot = durable.engine.Current();
  std::vector<std::string> lines;
  for (const auto& block : snapshot->blocks) {
    for (const WorkloadAdvice& workload : block->workloads) {
      for (const ContainerAdvice& container : workload.containers) {
        for (const ResourceAdvice& advice : container.resources) {
          lines.push_back(fmt::format("{} \"{}\" {:a} {:a}", container.container,
                                      snapshot->resources->NameOf(advice.resource),
                                      advice.recommended_request.value_or(-1),
                                      advice.current_request.value_or(-1)));
        }
      }
    }
  }
  std::sort(lines.begin(), lines.end());
  return lines;
}

}  // namespace

TEST_CASE("A restored namespace with resources of its own is the saved one", "[engine][own]") {
  const uint32_t seed = tidemark::testing::Seed();
  INFO("seed " << seed);
  RandomTraffic traffic(seed);
  const OwnConfig config = Config({kCache, kEvents, kStarts});
  NamespaceWorld a(config.options, config.sources);
  a.Begin();
  Run(a, traffic, 300);
  NamespaceWorld b(config.options, config.sources);
  REQUIRE(b.Restore(a.Saved(), b.OwnMapping()));
  CHECK(b.Saved() == a.Saved());
  for (int i = 0; i < 200; ++i) {
    const TrafficBatch batch = traffic.Next();
    REQUIRE(a.Put(batch).accepted == b.Put(batch).accepted);
  }
  CHECK(b.Saved() == a.Saved());
  CHECK(b.Shown() == a.Shown());
  CHECK(a.Shown().find(" cache:") != std::string::npos);
  CHECK(a.Shown().find(" events:") != std::string::npos);
}

TEST_CASE("Another order of resources changes nothing but the order", "[engine][own]") {
  const uint32_t seed = tidemark::testing::Seed();
  INFO("seed " << seed);
  RandomTraffic traffic(seed);
  const OwnConfig config = Config({kCache, kEvents, kStarts});
  const OwnConfig other = Config({kStarts, kConnections, kCache, kEvents});
  NamespaceWorld a(config.options, config.sources);
  a.Begin();
  Run(a, traffic, 300);
  NamespaceWorld b(other.options, other.sources);
  REQUIRE(b.Restore(a.Saved(), b.MappingFrom(a.sources)));
  CHECK(b.state->series_count() == a.state->series_count());
  CHECK(SortedLines(b.Shown()) == SortedLines(a.Shown()));
  for (int i = 0; i < 200; ++i) {
    const TrafficBatch batch = traffic.Next();
    REQUIRE(a.Put(batch).accepted == b.Put(batch).accepted);
  }
  CHECK(SortedLines(b.Shown()) == SortedLines(a.Shown()));
}

TEST_CASE("What is kept of a resource that is gone is dropped, the rest goes on", "[engine][own]") {
  const uint32_t seed = tidemark::testing::Seed();
  INFO("seed " << seed);
  RandomTraffic traffic(seed);
  const OwnConfig config = Config({kCache, kEvents, kStarts});
  const OwnConfig fewer = Config({kStarts, kCache});
  NamespaceWorld a(config.options, config.sources);
  a.Begin();
  Run(a, traffic, 300);
  NamespaceWorld b(fewer.options, fewer.sources);
  REQUIRE(b.Restore(a.Saved(), b.MappingFrom(a.sources)));
  CHECK(b.Shown().find(" events:") == std::string::npos);
  CHECK(b.Shown().find(" cache:") != std::string::npos);
  NamespaceWorld c(fewer.options, fewer.sources);
  REQUIRE(c.Restore(b.Saved(), c.OwnMapping()));
  for (int i = 0; i < 300; ++i) {
    const TrafficBatch batch = traffic.Next();
    REQUIRE(b.Put(batch).accepted == c.Put(batch).accepted);
  }
  CHECK(b.Saved() == c.Saved());
  CHECK(b.Shown() == c.Shown());
}

TEST_CASE("A damaged namespace with resources of its own is refused or read, never worse",
          "[engine][own]") {
  std::mt19937 random(11);
  RandomTraffic traffic(11);
  const OwnConfig config = Config({kCache, kEvents});
  NamespaceWorld a(config.options, config.sources);
  a.Begin();
  Run(a, traffic, 60);
  const std::string saved = a.Saved();
  const OwnConfig fewer = Config({kEvents});
  for (int i = 0; i < 400; ++i) {
    std::string bad = saved;
    bad[random() % std::min<size_t>(bad.size(), i % 2 == 0 ? 200 : bad.size())] ^=
        static_cast<char>(1U << random() % 8);
    if (i % 5 == 0) bad.resize(random() % bad.size());
    NamespaceWorld b(fewer.options, fewer.sources);
    const std::string before = b.Counted();
    if (b.Restore(bad, b.MappingFrom(a.sources))) continue;
    CHECK(b.Counted() == before);
  }
}

TEST_CASE("A restart finds what it kept under another order of the lines", "[engine][own]") {
  const bool with_checkpoint = GENERATE(true, false);
  INFO("with a checkpoint: " << with_checkpoint);
  MemoryStore disk;
  const OwnConfig config({kCache, kEvents});
  std::vector<std::string> state;
  std::vector<std::string> requests;
  {
    const auto engine = Open(disk, config.options, config.sources);
    Feed(*engine, 0, 90);
    if (with_checkpoint) REQUIRE(engine->engine.Checkpoint());
    state = engine->State();
    requests = Requests(*engine);
  }
  CHECK(std::any_of(requests.begin(), requests.end(),
                    [](const auto& line) { return line.find("\"cache\"") != std::string::npos; }));
  const OwnConfig other({kConnections, kEvents, kCache});
  {
    const auto engine = Open(disk, other.options, other.sources);
    CHECK(engine->State() == state);
    CHECK(Requests(*engine) == requests);
    Feed(*engine, 90, 100);
    CHECK(engine->counters.internal_errors == 0);
  }
  const OwnConfig fewer({kEvents});
  const auto engine = Open(disk, fewer.options, fewer.sources);
  CHECK(Without(Requests(*engine), "cache") == Requests(*engine));
  CHECK(engine->counters.internal_errors == 0);
}

TEST_CASE("A request of a resource that is named only now is known with its next labels",
          "[engine][own]") {
  MemoryStore disk;
  {
    const OwnConfig before({kEvents});
    const auto engine = Open(disk, before.options, before.sources);
    Feed(*engine, 0, 3);
    REQUIRE(engine->engine.Checkpoint());
  }
  const OwnConfig after({kEvents, kCache});
  const auto engine = Open(disk, after.options, after.sources);
  Feed(*engine, 3, 5);
  const auto requests = Requests(*engine);
  CHECK(std::any_of(requests.begin(), requests.end(), [](const std::string& line) {
    return line.find("\"cache\"") != std::string::npos && line.ends_with(fmt::format(" {:a}", 5.0));
  }));
}

TEST_CASE("A past is merged by the names of its resources", "[engine][own]") {
  MemoryStore disk;
  const OwnConfig config({kCache, kEvents});
  std::vector<std::string> state;
  {
    const auto engine = Open(disk, config.options, config.sources);
    auto past = engine->engine.OpenPast({{"", "shop"}}, kT0);
    REQUIRE(past);
    for (int i = -90; i < 0; ++i) {
      const int64_t at = kT0 + i * 60'000LL;
      for (const LabelMap& of :
           {PodOwner("db-0", "StatefulSet", "db"), OfApp("container_memory_cache"), Cpu("db-0")}) {
        std::vector<LabelView> labels;
        for (const auto& [name, value] : of) labels.push_back({name, value});
        const std::string bytes = EncodeLabels(labels);
        const Sample sample{at, 1000.0 + i, 0};
        (*past)->Add({labels, bytes, {&sample, 1}});
        (*past)->ApplySlice();
      }
    }
    const auto outcome = (*past)->Merge("done");
    REQUIRE(outcome);
    CHECK(outcome->minutes > 100);
    state = engine->State();
  }
  CHECK(Without(state, "cache") != state);
  const OwnConfig other({kEvents, kConnections, kCache});
  CHECK(Open(disk, other.options, other.sources)->State() == state);
  const OwnConfig fewer({kEvents});
  const auto rest = Open(disk, fewer.options, fewer.sources)->State();
  CHECK(rest.size() + 1 == state.size());
  CHECK(Without(rest, "cache") == rest);
}

TEST_CASE("Demand of a resource of one's own is kept by its name", "[engine][own][forecast]") {
  const auto with = [](std::vector<Own> all, const Own& wanted) {
    OwnConfig config = Config(all);
    ForecastSettings settings;
    settings.rules.emplace_back().resource = config.Of(wanted);
    config.options.forecast = std::make_shared<const ForecastSettings>(std::move(settings));
    return config;
  };
  const auto minutes = [](Durable& durable) {
    const auto all = durable.engine.ExplainRequests("shop", "statefulset", "db");
    REQUIRE(all);
    REQUIRE(all->at(0).forecast);
    return all->at(0).forecast->history;
  };
  MemoryStore disk;
  {
    const OwnConfig config = with({kCache, kEvents}, kCache);
    const auto durable = Open(disk, config.options, config.sources);
    Feed(*durable, 0, 60);
    CHECK(minutes(*durable).size() > 55);
    CHECK(minutes(*durable).back().demand == Approx(1058).margin(2));
    REQUIRE(durable->engine.Checkpoint());
  }
  {  // The slots have changed places.
    const OwnConfig config = with({kEvents, kCache}, kCache);
    const auto durable = Open(disk, config.options, config.sources);
    Feed(*durable, 60, 70);
    CHECK(minutes(*durable).size() > 65);
    CHECK(minutes(*durable).back().demand == Approx(1068).margin(2));
    REQUIRE(durable->engine.Checkpoint());
  }
  // Of another there is nothing yet, though it has the slot.
  const OwnConfig config = with({kStarts, kEvents}, kEvents);
  const auto durable = Open(disk, config.options, config.sources);
  Feed(*durable, 70, 80);
  CHECK(minutes(*durable).size() < 12);
  CHECK(minutes(*durable).back().demand < 1);
}
