// Series that are found by their bytes alone, against the same ones that are found by their labels.
#include <random>

#include "tests/engine/feed.h"

using namespace tidemark;
using namespace tidemark::testing;

namespace {

bool SameVerdict(const WriteVerdict& a, const WriteVerdict& b) {
  return a.accepted == b.accepted && a.ignored == b.ignored && a.rejected == b.rejected &&
         a.first_rejected == b.first_rejected;
}

/// Enough of what is shown to tell two engines apart.
std::vector<std::string> Shown(Bench& bench) {
  std::vector<std::string> lines;
  for (const WorkloadAdvice& workload : bench.Workloads()) {
    for (const ContainerAdvice& container : workload.containers) {
      for (const ResourceAdvice& resource : container.resources) {
        lines.push_back(workload.id.name_space + "/" + workload.id.workload + "/" +
                        container.container + " " +
                        std::to_string(resource.recommended_request.value_or(-1)) + " " +
                        std::to_string(resource.current_request.value_or(-1)) + " " +
                        std::to_string(workload.replicas));
      }
    }
  }
  return lines;
}

std::vector<FeedSeries> RandomRequest(std::mt19937_64& random, int64_t time_ms) {
  std::vector<FeedSeries> request;
  for (int i = 0; i < 30; ++i) {
    const std::string ns = "ns-" + std::to_string(random() % 6);
    const std::string pod = "web-5c9f7b6d4-" + std::to_string(random() % 4);
    const int64_t at = time_ms - static_cast<int64_t>(random() % 4) * 5000;
    const double value = random() % 12 == 0 ? StaleMarker() : static_cast<double>(at % 100'000'000);
    LabelMap labels;
    switch (random() % 5) {
      case 0: labels = Memory(pod, "app", ns); break;
      case 1: labels = PodOwner(pod, "ReplicaSet", "web-5c9f7b6d4", ns); break;
      case 2: labels = ReplicaSetOwner("web-5c9f7b6d4", "Deployment", "web", ns); break;
      case 3: labels = Named("some_metric_without_a_role", {{"namespace", ns}}); break;
      default: labels = Cpu(pod, "app", ns);
    }
    request.push_back({labels, {{at, value}}});
  }
  return request;
}

}  // namespace

TEST_CASE("found by bytes or by labels, series come to the same", "[engine][recognized]") {
  const auto seed = GENERATE(range(1, 6));
  CAPTURE(seed);
  std::mt19937_64 random(static_cast<uint64_t>(seed));
  Bench by_bytes;
  Bench by_labels;
  int64_t time_ms = kT0;
  for (int step = 0; step < 400; ++step) {
    // Now and then a silence after which all series have been collected.
    time_ms += step % 90 == 89 ? 3 * 3'600'000LL : 15'000;
    const auto request = RandomRequest(random, time_ms);
    by_bytes.clock.Set(FromUnixMs(time_ms));
    by_labels.clock.Set(FromUnixMs(time_ms));
    const auto a = TryWrite(by_bytes.engine, request, Recognize::kYes);
    const auto b = TryWrite(by_labels.engine, request, Recognize::kNo);
    REQUIRE(a);
    REQUIRE(b);
    REQUIRE(SameVerdict(*a, *b));
    REQUIRE(by_bytes.counters.series_now == by_labels.counters.series_now);
    if (step % 40 == 39) REQUIRE(Shown(by_bytes) == Shown(by_labels));
  }
  CHECK(by_bytes.counters.series_collected > 0);
  CHECK(by_bytes.counters.internal_errors == 0);
}

TEST_CASE("a series that is collected while its next sample is on the way begins anew",
          "[engine][recognized]") {
  Bench bench;
  bench.Put(Cpu("db-0", "app", "old"), kT0, 1);
  bench.Put(Memory("db-0", "app", "old"), kT0, 1);
  // Found at its place, which is gone and has another series when the batch comes there.
  bench.clock.Set(FromUnixMs(kT0 + 4 * 3'600'000));
  Prepared late = Prepare(bench.engine, {{Cpu("db-0", "app", "old"), {{kT0 + 15'000, 2}}}});
  for (int i = 0; i < 3; ++i) {
    const int64_t at = kT0 + 3 * 3'600'000LL + i * 600'000;
    bench.Put(Cpu("db-1", "app", "old"), at, 3 + i);
    bench.Put(Memory("db-1", "app", "old"), at, 3);
  }
  CHECK(bench.counters.series_collected == 2);
  const auto verdict = late.batch->Commit();
  REQUIRE(verdict);
  CHECK(verdict->accepted == 1);
  CHECK(bench.counters.series_now == 3);
  CHECK(bench.counters.internal_errors == 0);
  // And it is found at its new place.
  CHECK(bench.Put(Cpu("db-0", "app", "old"), kT0 + 15'000, 2)
            .ignored[static_cast<size_t>(IgnoreReason::kDuplicate)] == 1);
}

TEST_CASE("a namespace that is given up while a sample is on the way comes again",
          "[engine][recognized]") {
  engine::Options options;
  options.shards = 1;
  Bench bench(options);
  bench.Put(Cpu("db-0", "app", "old"), kT0, 1);
  Prepared late = Prepare(bench.engine, {{Cpu("db-0", "app", "old"), {{kT0 + 15'000, 2}}}});
  for (int hour = 1; hour <= 8 * 24 + 2; ++hour) {
    bench.clock.Set(FromUnixMs(kT0 + hour * 3'600'000LL));
    bench.engine.Tick();
  }
  REQUIRE(bench.counters.namespaces_now == 0);
  // Its place goes to another namespace first.
  bench.Put(Cpu("db-0", "app", "new"), ToUnixMs(bench.clock.Now()), 1);
  const auto verdict = late.batch->Commit();
  REQUIRE(verdict);
  CHECK(verdict->accepted == 1);
  CHECK(bench.counters.namespaces_now == 2);
  CHECK(bench.counters.internal_errors == 0);
}

TEST_CASE("what was not vetted is never known by its bytes", "[engine][recognized]") {
  Bench bench;
  const std::vector<FeedSeries> request = {{Cpu("db-0"), {{kT0, 1}}}};
  REQUIRE(TryWrite(bench.engine, request, Recognize::kNo));
  const auto is_known = [&] {
    std::vector<LabelView> labels;
    for (const auto& [name, value] : request[0].labels) labels.push_back({name, value});
    const std::string bytes = EncodeLabels(labels);
    SeriesLookUp wanted{bytes, {}};
    bench.engine.Begin()->Find({&wanted, 1});
    return wanted.token.IsKnown();
  };
  CHECK_FALSE(is_known());
  REQUIRE(TryWrite(bench.engine, request, Recognize::kYes));
  CHECK(is_known());
}
