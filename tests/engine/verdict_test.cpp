// Verdicts: what becomes of each sample, and what it must not do to the rest.
#include <limits>

#include "tests/engine/feed.h"

using namespace tidemark;
using namespace tidemark::testing;

namespace {
uint64_t Ignored(const WriteVerdict& verdict, IgnoreReason reason) {
  return verdict.ignored[static_cast<size_t>(reason)];
}
uint64_t Rejected(const WriteVerdict& verdict, RejectReason reason) {
  return verdict.rejected[static_cast<size_t>(reason)];
}
}  // namespace

TEST_CASE("metrics without a role and rows of no container are set aside", "[engine][verdict]") {
  Bench bench;
  const auto verdict =
      bench.Put({{Named("up", {{"job", "x"}}), {{kT0, 1}, {kT0 + 1, 1}}},
                 {Named("container_cpu_usage_seconds_total", {{"id", "/"}}), {{kT0, 1}}},
                 {Cpu("web-1"), {{kT0, 1}}}});
  CHECK(verdict.accepted == 1);
  CHECK(Ignored(verdict, IgnoreReason::kNoRole) == 2);
  CHECK(Ignored(verdict, IgnoreReason::kNoContainer) == 1);
  CHECK(verdict.TotalRejected() == 0);
  CHECK(bench.counters.series_now == 1);
}

TEST_CASE("rows 34 to 36: late samples are ignored, repeated ones are no error, changed refused",
          "[engine][verdict]") {
  Bench bench;
  CHECK(bench.Put(Cpu("a"), kT0 + 15'000, 10).accepted == 1);
  CHECK(Ignored(bench.Put(Cpu("a"), kT0, 5), IgnoreReason::kLate) == 1);
  CHECK(Ignored(bench.Put(Cpu("a"), kT0 + 15'000, 10), IgnoreReason::kDuplicate) == 1);
  const auto verdict = bench.Put(Cpu("a"), kT0 + 15'000, 11);
  CHECK(Rejected(verdict, RejectReason::kDuplicateTimestamp) == 1);
  CHECK(verdict.first_rejected.find("pod=\"a\"") != std::string::npos);
  const auto mixed =
      bench.Put({{Cpu("a"), {{kT0 + 30'000, 12}, {kT0 + 20'000, 1}, {kT0 + 45'000, 13}}}});
  CHECK(mixed.accepted == 2);
  CHECK(Ignored(mixed, IgnoreReason::kLate) == 1);
}

TEST_CASE(
    "rows 36 and 37: late samples are refused where the policy says so, and the rest is taken",
    "[engine][verdict]") {
  engine::Options options;
  options.refuse_late = true;
  Bench bench(options);
  bench.Put(Cpu("a"), kT0 + 15'000, 10);
  const int64_t day = 24 * 3'600'000;
  const auto verdict = bench.Put({{Cpu("a"), {{kT0, 5}, {kT0 - day, 1}, {kT0 + 30'000, 12}}},
                                  {Cpu("b"), {{kT0 - day, 1}, {kT0, 2}}}});
  CHECK(verdict.accepted == 3);
  CHECK(Rejected(verdict, RejectReason::kLate) == 2);
  CHECK(verdict.TotalIgnored() == 0);
  CHECK(verdict.first_rejected.find("pod=\"a\"") != std::string::npos);
  CHECK(verdict.first_rejected.find("older than the newest sample") != std::string::npos);
  CHECK(Ignored(bench.Put(Cpu("a"), kT0 + 30'000, 12), IgnoreReason::kDuplicate) == 1);
}

TEST_CASE(
    "row 44: of an HA pair only what is later than the newest sample counts, and nothing is "
    "refused",
    "[engine][verdict][ha]") {
  engine::Options options;
  options.refuse_late = GENERATE(false, true);
  Bench bench(options);
  const auto put = [&](std::vector<Sample> samples) {
    std::vector<LabelView> labels;
    const LabelMap map = Cpu("a");
    for (const auto& [name, value] : map) labels.push_back({name, value});
    const std::string bytes = EncodeLabels(labels);
    auto batch = bench.engine.Begin();
    batch->Add({labels, bytes, samples, true});
    const auto verdict = batch->Commit();
    REQUIRE(verdict);
    return *verdict;
  };
  CHECK(put({{kT0, 10}, {kT0 + 15'000, 11}}).accepted == 2);
  // What the new leader has scraped in between, at one time and after that.
  const auto verdict =
      put({{kT0 + 7000, 10.5}, {kT0 + 15'000, 11.5}, {kT0 + 15'000, 11}, {kT0 + 22'000, 12}});
  CHECK(verdict.accepted == 1);
  CHECK(Ignored(verdict, IgnoreReason::kHaCopy) == 2);
  CHECK(Ignored(verdict, IgnoreReason::kDuplicate) == 1);
  CHECK(verdict.TotalRejected() == 0);
  CHECK(bench.counters.counter_resets == 0);
  SECTION("row 33 holds for a pair as well") {
    CHECK(put({{kT0 + 37'000, StaleMarker()}, {kT0 + 37'000, 13}}).accepted == 2);
    CHECK(Ignored(put({{kT0 + 37'000, 14}}), IgnoreReason::kHaCopy) == 1);
  }
}

TEST_CASE("a request that is sent again changes nothing", "[engine][verdict]") {
  const auto request = [] {
    std::vector<FeedSeries> series = {{PodOwner("db-0", "StatefulSet", "db"), {{kT0, 1}}}};
    FeedSeries cpu{Cpu("db-0"), {}};
    for (int i = 0; i <= 20; ++i) cpu.samples.push_back({kT0 + i * 15'000LL, i * 7.5});
    series.push_back(cpu);
    return series;
  };
  Bench once;
  once.Put(request());
  Bench twice;
  twice.Put(request());
  CHECK(twice.Put(request()).accepted == 0);
  const auto a = once.Find("db", "app", Resource::kCpu);
  const auto b = twice.Find("db", "app", Resource::kCpu);
  REQUIRE((a && b));
  CHECK(a->model_request == b->model_request);
  CHECK(a->confidence_days == b->confidence_days);
}

TEST_CASE("row 33: a number beats a stale marker of the same time, in either order",
          "[engine][verdict]") {
  for (const bool number_first : {true, false}) {
    Bench bench;
    bench.Put(PodOwner("db-0", "StatefulSet", "db"), kT0, 1);
    for (int i = 0; i <= 8; ++i) {
      const int64_t at = kT0 + i * 15'000LL;
      std::vector<FeedSeries> pair = {{Cpu("db-0"), {{at, i * 15.0}}}};
      if (i == 4) {
        pair.insert(number_first ? pair.end() : pair.begin(),
                    FeedSeries{Cpu("db-0"), {{at, StaleMarker()}}});
      }
      const auto verdict = bench.Put(pair);
      CHECK(verdict.accepted == pair.size());
      CHECK(verdict.TotalRejected() == 0);
    }
    const auto cpu = bench.Find("db", "app", Resource::kCpu);
    REQUIRE(cpu);
    CHECK(*cpu->model_request == Approx(1).epsilon(0.06));
    CHECK(cpu->confidence_days > 0);
    CHECK(bench.counters.usage_minutes == 2);
  }
}

TEST_CASE("row 32: the end of a series that was never seen makes nothing", "[engine][verdict]") {
  Bench bench;
  CHECK(bench.Put(Memory("ghost"), kT0, StaleMarker()).accepted == 1);
  CHECK(bench.counters.series_now == 0);
  CHECK(bench.counters.pods_now == 0);
}

TEST_CASE("row 31: odd values are taken in and poison nothing", "[engine][verdict]") {
  Bench bench;
  bench.Put(PodOwner("db-0", "StatefulSet", "db"), kT0, 1);
  const double inf = std::numeric_limits<double>::infinity();
  const std::vector<double> odd = {std::nan(""), inf, -inf,
                                   -0.0,         -5,  std::numeric_limits<double>::denorm_min()};
  for (int i = 0; i <= 40; ++i) {
    const int64_t at = kT0 + i * 15'000LL;
    CHECK(bench.Put({{Cpu("db-0"), {{at, i * 15.0}}}, {Memory("db-0"), {{at, 100e6}}}}).accepted ==
          2);
    const double value = odd[static_cast<size_t>(i) % odd.size()];
    CHECK(bench.Put({{Memory("db-0"), {{at + 5, value}}}, {Request("db-0", "cpu"), {{at, value}}}})
              .accepted == 2);
  }
  CHECK(*bench.Find("db", "app", Resource::kCpu)->model_request == Approx(1).epsilon(0.06));
  CHECK(*bench.Find("db", "app", Resource::kMemory)->model_request == Approx(100e6).epsilon(0.12));
  CHECK(bench.counters.nonfinite_samples > 30);
}

TEST_CASE("row 45: the ceiling on series refuses what is new and lets go on what is known",
          "[engine][verdict]") {
  engine::Options options;
  options.max_series = 2;
  Bench bench(options);
  CHECK(bench.Put({{Cpu("a"), {{kT0, 1}}}, {Cpu("b"), {{kT0, 1}}}}).accepted == 2);
  const auto verdict =
      bench.Put({{Cpu("a"), {{kT0 + 1, 1}}}, {Cpu("c"), {{kT0, 1}, {kT0 + 1, 2}}}});
  CHECK(verdict.accepted == 1);
  CHECK(Rejected(verdict, RejectReason::kSeriesLimit) == 2);
  CHECK(verdict.first_rejected.find("limit of 2 series") != std::string::npos);
  CHECK(bench.counters.series_now == 2);
  CHECK(bench.counters.pods_now == 2);
}

// row 46 of docs/remote-write.md.
TEST_CASE("a full queue refuses the whole request and applies nothing", "[engine][verdict]") {
  engine::Options options;
  options.queue_batches = 0;
  Bench bench(options);
  const auto verdict = TryWrite(bench.engine, {{Cpu("a"), {{kT0, 1}}}});
  REQUIRE_FALSE(verdict);
  CHECK(verdict.error().code == ErrorCode::kUnavailable);
  CHECK(bench.counters.series_now == 0);
  CHECK(bench.counters.overload_refusals == 1);
  CHECK(bench.counters.queued_batches_now == 0);
}

TEST_CASE("a stopped engine refuses and goes on to show what it had", "[engine][verdict]") {
  Bench bench;
  bench.Put(PodOwner("db-0", "StatefulSet", "db"), kT0, 1);
  Run(bench, "db-0", kT0, 2, 0.1, 50e6);
  CHECK(bench.Names().size() == 1);
  bench.engine.Stop();
  CHECK_FALSE(TryWrite(bench.engine, {{Cpu("db-0"), {{kT0 + 900'000, 1}}}}));
  CHECK(bench.engine.Current()->blocks.size() == 1);
}

TEST_CASE("one sample from the near future does not make all others look silent",
          "[engine][verdict]") {
  Bench bench;
  bench.Put(
      {{PodOwner("db-0", "StatefulSet", "db"), {{kT0, 1}}}, {Request("db-0", "cpu"), {{kT0, 1}}}});
  Run(bench, "db-0", kT0, 2, 0.1, 50e6);
  Write(bench.engine, {{Request("db-9", "cpu"), {{kT0 + 120'000 + 590'000, 1}}}});  // clock stands
  CHECK(bench.Find("db", "app", Resource::kCpu)->current_request == 1);
}

TEST_CASE("a second scrape of the same container counts once", "[engine][verdict]") {
  Bench bench;
  bench.Put(PodOwner("db-0", "StatefulSet", "db"), kT0, 1);
  LabelMap copy = Cpu("db-0");
  copy["job"] = "other";
  uint64_t second = 0;
  for (int i = 0; i <= 20; ++i) {
    const int64_t at = kT0 + i * 15'000LL;
    second +=
        Ignored(bench.Put({{Cpu("db-0"), {{at, i * 15.0}}}, {copy, {{at + 7000, i * 15.0 + 7}}}}),
                IgnoreReason::kSecondScrape);
  }
  CHECK(second == 21);
  CHECK(*bench.Find("db", "app", Resource::kCpu)->model_request == Approx(1).epsilon(0.06));
}
