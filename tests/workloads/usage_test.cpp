#include "workloads/usage.h"

#include <cmath>
#include <map>
#include <random>

#include "tests/catch.h"
#include "tests/seed.h"

using namespace tidemark;
using namespace tidemark::workloads;

namespace {

constexpr int64_t kT0 = 1'700'000'040'000;  // a whole minute
static_assert(kT0 % kMinuteMs == 0);

/// One container's usage and what it has given out.
struct Probe {
  ContainerUsage usage;
  std::vector<UsageMinute> closed;
  uint64_t dropped = 0;

  explicit Probe(ContainerUsage::Kind kind) : usage(kind) {}
  UsageOutcome Add(double seconds, double value, uint32_t series = 0, uint64_t run = 0,
                   uint64_t core = 0) {
    ContainerUsage::PartKey key;
    key.hash = run * 100 + core;
    key.run = run;
    key.is_one_core = core != 0;
    return usage.Add(series, key, {kT0 + std::llround(seconds * 1000), value}, closed, dropped);
  }
  /// With the time at which the counter started, as remote write 2.0 says it.
  UsageOutcome AddStarted(double seconds, double value, double start, uint32_t series = 0) {
    const Sample sample{kT0 + std::llround(seconds * 1000), value,
                        kT0 + std::llround(start * 1000)};
    return usage.Add(series, {}, sample, closed, dropped);
  }
  void End(uint32_t series) { usage.End(series, closed, dropped); }
  std::map<int64_t, double> ByMinute() const {
    std::map<int64_t, double> minutes;
    for (const UsageMinute& minute : closed) {
      REQUIRE(minutes.emplace((minute.start_ms - kT0) / kMinuteMs, minute.usage).second);
    }
    return minutes;
  }
};

constexpr auto kCounter = ContainerUsage::Kind::kCounter;
constexpr auto kLevel = ContainerUsage::Kind::kLevel;

}  // namespace

TEST_CASE("a counter's increase is spread over the minutes between two samples",
          "[workloads][usage]") {
  Probe probe(kCounter);
  probe.Add(0, 100);
  CHECK(probe.closed.empty());
  probe.Add(90, 190);  // 1 core
  REQUIRE(probe.ByMinute() == std::map<int64_t, double>{{0, 1.0}});
  probe.Add(150, 310);  // 2 cores: the second minute is half of each
  const auto minutes = probe.ByMinute();
  REQUIRE(minutes.size() == 2);
  CHECK(minutes.at(1) == Approx(1.5));
}

TEST_CASE("the interval and jitter of scrapes change nothing", "[workloads][usage]") {
  const uint32_t seed = tidemark::testing::Seed();
  INFO("seed " << seed);
  std::mt19937 random(seed);
  const auto truth = [](double t) { return 0.3 * t + 0.002 * t * t / 60; };  // core-seconds
  for (const double interval : {5.0, 15.0, 30.0, 60.0}) {
    Probe probe(kCounter);
    std::uniform_real_distribution<double> jitter(-0.1 * interval, 0.1 * interval);
    for (double t = interval; t < 3600; t += interval) {
      const double at = std::round((t + jitter(random)) * 1000) / 1000;
      probe.Add(at, truth(at));
    }
    const auto minutes = probe.ByMinute();
    REQUIRE(minutes.size() >= 56);
    for (const auto& [minute, usage] : minutes) {
      if (minute == 0) continue;
      const double from = static_cast<double>(minute) * 60;
      CHECK(usage == Approx((truth(from + 60) - truth(from)) / 60).epsilon(0.01));
    }
  }
}

TEST_CASE("a minute counts only when at least half of it is covered", "[workloads][usage]") {
  Probe probe(kCounter);
  probe.Add(31, 0);
  probe.Add(61, 30);
  CHECK(probe.closed.empty());
  CHECK(probe.dropped == 1);  // 29 of 60 seconds
  Probe half(kCounter);
  half.Add(30, 0);
  half.Add(61, 31);
  CHECK(half.ByMinute() == std::map<int64_t, double>{{0, 1.0}});
}

TEST_CASE("a counter that falls has started anew and its value is the increase",
          "[workloads][usage]") {
  Probe probe(kCounter);
  probe.Add(0, 1000);
  probe.Add(30, 1030);
  CHECK(probe.Add(60, 6) == UsageOutcome::kReset);
  CHECK(probe.ByMinute() == std::map<int64_t, double>{{0, 36.0 / 60}});
}

TEST_CASE("gaps over five minutes are not bridged", "[workloads][usage]") {
  Probe probe(kCounter);
  probe.Add(0, 0);
  probe.Add(60, 60);
  probe.Add(60 + 301, 1000);
  probe.Add(60 + 301 + 60, 1060);
  const auto minutes = probe.ByMinute();
  CHECK(minutes.at(0) == Approx(1));
  CHECK(minutes.at(6) == Approx(1));
  CHECK(minutes.size() == 2);
  Probe bridged(kCounter);
  bridged.Add(0, 0);
  bridged.Add(300, 300);
  CHECK(bridged.ByMinute().size() == 5);
}

TEST_CASE("a level's minute is its maximum", "[workloads][usage]") {
  Probe probe(kLevel);
  probe.Add(0, 5);
  probe.Add(15, 9);
  probe.Add(59.999, 7);
  CHECK(probe.closed.empty());
  probe.Add(60, 100);
  CHECK(probe.ByMinute() == std::map<int64_t, double>{{0, 9.0}});
}

TEST_CASE("a restarted container's runs are summed by minute, of their levels the highest counts",
          "[workloads][usage]") {
  Probe cpu(kCounter);
  cpu.Add(0, 500, 0, 1);
  cpu.Add(20, 520, 0, 1);  // the first run ends here
  cpu.End(0);
  cpu.Add(30, 0.5, 1, 2);  // the second begins
  cpu.Add(60, 60.5, 1, 2);
  // 20 s at 1 core and 30 s at 2 cores, 10 s not covered.
  CHECK(cpu.ByMinute().at(0) == Approx(80.0 / 50));

  Probe memory(kLevel);
  memory.Add(10, 70, 0, 1);
  memory.Add(40, 30, 1, 2);
  memory.End(0);
  memory.Add(60, 30, 1, 2);
  CHECK(memory.ByMinute().at(0) == Approx(70));  // one run had ended when the next began
}

TEST_CASE(
    "a run that fell silent without a marker delays its minute and no longer than the look-back",
    "[workloads][usage]") {
  Probe probe(kCounter);
  probe.Add(0, 0, 0, 1);
  probe.Add(60, 60, 0, 1);
  REQUIRE(probe.ByMinute().size() == 1);
  double t = 75;
  for (; t <= 360; t += 15) probe.Add(t, (t - 75) * 2, 1, 2);
  CHECK(probe.ByMinute().size() == 1);  // the first run may still speak
  probe.Add(375, 600, 1, 2);
  const auto minutes = probe.ByMinute();
  CHECK(minutes.size() == 6);
  CHECK(minutes.at(1) == Approx(2));
}

TEST_CASE("rows of single cores are summed, unless the total is there", "[workloads][usage]") {
  Probe cores(kCounter);
  for (double t = 0; t <= 60; t += 30) {
    cores.Add(t, t * 0.25, 0, 7, 1);
    cores.Add(t, t * 0.5, 1, 7, 2);
  }
  CHECK(cores.ByMinute() == std::map<int64_t, double>{{0, 0.75}});

  Probe both(kCounter);
  for (double t = 0; t <= 60; t += 30) {
    both.Add(t, t * 0.25, 0, 7, 1);
    both.Add(t, t * 0.75, 2, 7);
    CHECK(both.Add(t, t * 0.5, 1, 7, 2) == UsageOutcome::kSecondScrape);
  }
  CHECK(both.ByMinute() == std::map<int64_t, double>{{0, 0.75}});
}

TEST_CASE("the second scrape of a container is set aside until the first has missed two intervals",
          "[workloads][usage]") {
  Probe probe(kCounter);
  for (double t = 0; t <= 60; t += 15) {
    CHECK(probe.Add(t, t, 0) == UsageOutcome::kTaken);
    CHECK(probe.Add(t + 5, t + 5, 1) == UsageOutcome::kSecondScrape);
  }
  // The first stops at 60 s; the second may lead from later than 90 s.
  CHECK(probe.Add(80, 80, 1) == UsageOutcome::kSecondScrape);
  CHECK(probe.Add(90, 90, 1) == UsageOutcome::kSecondScrape);
  CHECK(probe.Add(95, 95, 1) == UsageOutcome::kTaken);
  probe.Add(120, 120, 1);
  CHECK(probe.Add(121, 121, 0) == UsageOutcome::kSecondScrape);  // back too late
  for (const auto& [minute, usage] : probe.ByMinute()) CHECK(usage == Approx(1));
  CHECK(probe.ByMinute().size() == 2);
}

TEST_CASE("the same container from two exporters counts once", "[workloads][usage]") {
  for (const auto kind : {kCounter, kLevel}) {
    Probe probe(kind);
    for (double t = 0; t <= 120; t += 15) {
      CHECK(probe.Add(t, 60 + t, 0, 7) == UsageOutcome::kTaken);
      CHECK(probe.Add(t + 3, 63 + t, 1) == UsageOutcome::kSecondScrape);  // has no id
    }
    // It takes over when the first has been silent for more than two intervals.
    CHECK(probe.Add(150, 210, 1) == UsageOutcome::kSecondScrape);
    CHECK(probe.Add(165, 225, 1) == UsageOutcome::kTaken);
    CHECK(probe.Add(166, 226, 0, 7) == UsageOutcome::kSecondScrape);
    if (kind == kCounter) CHECK(probe.ByMinute().at(0) == Approx(1));
    if (kind == kLevel) CHECK(probe.ByMinute().at(0) == Approx(60 + 45));
  }
}

TEST_CASE("a counter that starts anew in another series is a restart, not a second scrape",
          "[workloads][usage]") {
  Probe probe(kCounter);
  probe.Add(0, 1000, 0);
  probe.Add(30, 1030, 0);
  CHECK(probe.Add(45, 3, 1) == UsageOutcome::kReset);
  probe.Add(60, 18, 1);
  CHECK(probe.ByMinute().at(0) == Approx((30 + 3 + 15) / 60.0));
}

TEST_CASE("a start time after the last sample shows a restart that a higher value hides",
          "[workloads][usage]") {
  Probe probe(kCounter);
  probe.AddStarted(0, 10, -3600);
  CHECK(probe.AddStarted(30, 40, -3600) == UsageOutcome::kTaken);
  CHECK(probe.AddStarted(60, 50, 35) == UsageOutcome::kReset);  // 50 since 35, not 10 since 30
  CHECK(probe.ByMinute() == std::map<int64_t, double>{{0, (30 + 50) / 60.0}});
  CHECK(probe.AddStarted(120, 110, 35) == UsageOutcome::kTaken);
  CHECK(probe.ByMinute().at(1) == Approx(1));

  Probe same(kCounter);  // the value need not rise either
  same.AddStarted(0, 30, -10);
  CHECK(same.AddStarted(60, 30, 20) == UsageOutcome::kReset);
  CHECK(same.ByMinute() == std::map<int64_t, double>{{0, 0.5}});
}

TEST_CASE("a start time that says nothing new changes nothing", "[workloads][usage]") {
  const auto minutes = [](double start) {
    Probe probe(kCounter);
    probe.AddStarted(0, 10, start);
    CHECK(probe.AddStarted(60, 40, start) == UsageOutcome::kTaken);
    return probe.ByMinute();
  };
  const std::map<int64_t, double> expected = {{0, 0.5}};
  CHECK(minutes(-3600) == expected);
  CHECK(minutes(0) == expected);   // at the last sample: its value has been counted since then
  CHECK(minutes(61) == expected);  // after the sample itself: no start at all
  CHECK(minutes(-static_cast<double>(kT0) / 1000) == expected);  // not said

  // The first sample of a series is no increase, however young its counter is.
  Probe first(kCounter);
  CHECK(first.AddStarted(30, 1000, 29) == UsageOutcome::kTaken);
  first.AddStarted(90, 1060, 29);
  CHECK(first.ByMinute() == std::map<int64_t, double>{{0, 1.0}});

  Probe level(kLevel);
  level.AddStarted(0, 5, 0);
  CHECK(level.AddStarted(30, 7, 20) == UsageOutcome::kTaken);
}

TEST_CASE("a counter that says it started anew in another series is a restart",
          "[workloads][usage]") {
  Probe probe(kCounter);
  probe.AddStarted(0, 10, -60, 0);
  probe.AddStarted(30, 20, -60, 0);
  CHECK(probe.AddStarted(40, 21, -60, 1) == UsageOutcome::kSecondScrape);
  CHECK(probe.AddStarted(45, 25, 31, 1) == UsageOutcome::kReset);
  probe.AddStarted(60, 40, 31, 1);
  CHECK(probe.ByMinute().at(0) == Approx((10 + 25 + 15) / 60.0));
}

TEST_CASE("minutes are given out once and in order whatever comes", "[workloads][usage]") {
  const uint32_t seed = tidemark::testing::Seed();
  INFO("seed " << seed);
  std::mt19937 random(seed);
  for (int round = 0; round < 300; ++round) {
    Probe probe(round % 2 == 0 ? kCounter : kLevel);
    std::map<uint32_t, double> time;
    std::map<uint32_t, double> value;
    for (int i = 0; i < 200; ++i) {
      const uint32_t series = random() % 4;
      time[series] += 0.001 + static_cast<double>(random() % 90'000) / 1000;
      if (random() % 40 == 0) time[series] += 400;
      if (random() % 30 == 0) value[series] = 0;
      const double step = static_cast<double>(random() % 100) / 10;
      value[series] += step;
      if (random() % 25 == 0) probe.End(series);
      probe.Add(time[series], value[series], series, series % 3);
    }
    int64_t last = -1;
    for (const UsageMinute& minute : probe.closed) {
      REQUIRE(minute.start_ms % kMinuteMs == 0);
      REQUIRE(minute.start_ms > last);
      REQUIRE(std::isfinite(minute.usage));
      REQUIRE(minute.usage >= 0);
      last = minute.start_ms;
    }
    REQUIRE(probe.usage.MemoryBytes() < 100'000);
  }
}
