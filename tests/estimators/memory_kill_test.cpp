// Kills for want of memory as peaks of their interval.
#include <algorithm>
#include <cmath>
#include <limits>
#include <random>

#include "estimators/memory_peak_window.h"
#include "tests/catch.h"
#include "tests/seed.h"

using namespace tidemark::estimators;
using namespace std::chrono_literals;

namespace {

constexpr Time kStart{std::chrono::seconds(1'700'000'000)};
constexpr double kMiB = 1024 * 1024;

struct Container {
  explicit Container(bool as_vpa = false)
      : policy{.as_vpa = as_vpa}, window(24h, as_vpa ? WindowRule::kVpa : WindowRule::kMended) {}

  bool Add(Time time, double bytes) { return window.AddSample(histogram, time, bytes); }
  std::optional<double> Kill(Time time, double requested) {
    return window.AddKill(histogram, time, requested, policy);
  }
  /// Whether the histogram holds just these peaks.
  bool Holds(std::initializer_list<std::pair<double, Time>> peaks) {
    DecayingHistogram expected(&options, 24h);
    for (const auto& [bytes, time] : peaks) expected.Add(bytes, 1, time);
    return histogram.SaveCheckpoint().buckets == expected.SaveCheckpoint().buckets &&
           histogram.TotalWeight() == Approx(expected.TotalWeight()).epsilon(1e-12);
  }

  KillPolicy policy;
  HistogramOptions options = HistogramOptions::Memory();
  DecayingHistogram histogram{&options, 24h};
  MemoryPeakWindow window;
};

}  // namespace

TEST_CASE("a kill needs a fifth or 100 MiB more than there was, whichever is more",
          "[estimators][kill]") {
  for (const bool as_vpa : {false, true}) {
    const auto needed = [&](double used, double requested) {
      Container container(as_vpa);
      container.Add(kStart, used);
      return container.Kill(kStart + 1min, requested);
    };
    CHECK(needed(300 * kMiB, 0) == 400 * kMiB);
    CHECK(needed(300 * kMiB, 200 * kMiB) == 400 * kMiB);
    CHECK(needed(200 * kMiB, 300 * kMiB) == 400 * kMiB);
    CHECK(needed(500 * kMiB, 0) == 600 * kMiB);
    CHECK(needed(500 * kMiB + 1, 0) == std::trunc((500 * kMiB + 1) * 1.2));
    CHECK(needed(1e13, 9e13) == 1e14);  // there is no larger amount
    CHECK(needed(0, 0) == 100 * kMiB);
  }
}

TEST_CASE("a kill's numbers can be chosen", "[estimators][kill]") {
  Container container;
  container.policy = {.bump_ratio = 2, .min_bump_bytes = 10};
  CHECK(container.Kill(kStart, 100) == 200);
  container.policy.min_bump_bytes = 1000;
  CHECK(container.Kill(kStart, 100) == 1100);
  container.policy = {.bump_ratio = std::nan(""), .min_bump_bytes = std::nan("")};
  CHECK(container.Kill(kStart, 100) == 100);
  container.policy = {.bump_ratio = 0.5, .min_bump_bytes = -50};
  CHECK(container.Kill(kStart, 100) == 100);  // never less than there was
}

TEST_CASE("a kill is the interval's peak at once, and usage above it takes its place",
          "[estimators][kill]") {
  Container container;
  CHECK(container.Add(kStart, 300 * kMiB));
  CHECK(container.Kill(kStart + 1min, 0) == 400 * kMiB);
  CHECK(container.window.Peak() == 300 * kMiB);
  CHECK(container.window.KillPeak() == 400 * kMiB);
  CHECK(container.Holds({{400 * kMiB, kStart + 24h}}));
  CHECK(container.Add(kStart + 2min, 350 * kMiB));
  CHECK(container.window.Peak() == 350 * kMiB);
  CHECK(container.Holds({{400 * kMiB, kStart + 24h}}));
  CHECK(container.Add(kStart + 3min, 450 * kMiB));
  CHECK(container.Holds({{450 * kMiB, kStart + 24h}}));
  CHECK(container.Add(kStart + 24h, 100 * kMiB));
  CHECK(container.window.KillPeak() == 0);
  CHECK(container.Holds({{450 * kMiB, kStart + 24h}, {100 * kMiB, kStart + 48h}}));
}

TEST_CASE("repeated kills in one interval do not build on each other", "[estimators][kill]") {
  for (const bool as_vpa : {false, true}) {
    Container container(as_vpa);
    CHECK(container.Add(kStart, 300 * kMiB));
    for (int i = 1; i <= 20; ++i) {
      CHECK(container.Kill(kStart + i * 1min, 256 * kMiB) == 400 * kMiB);
    }
    CHECK(container.Holds({{400 * kMiB, kStart + 24h}}));
  }
}

TEST_CASE("usage below a kill's estimate is the base of the next kill", "[estimators][kill]") {
  Container container;
  CHECK(container.Kill(kStart, 256 * kMiB) == 356 * kMiB);
  CHECK(container.Add(kStart + 1min, 340 * kMiB));
  CHECK(container.Kill(kStart + 2min, 256 * kMiB) == 440 * kMiB);
  Container vpa(true);  // which does not remember it
  CHECK(vpa.Kill(kStart, 256 * kMiB) == 356 * kMiB);
  CHECK(vpa.Add(kStart + 1min, 340 * kMiB));
  CHECK(vpa.Kill(kStart + 2min, 256 * kMiB) == 356 * kMiB);
}

TEST_CASE("a kill never moves the time up to which usage is accepted", "[estimators][kill]") {
  Container container;
  CHECK(container.Add(kStart, 300 * kMiB));
  CHECK(container.Kill(kStart + 5h, 0));  // from the future
  CHECK(container.window.LastSample() == kStart);
  CHECK(container.Add(kStart + 1min, 310 * kMiB));
  CHECK(container.Kill(kStart - 5h, 0));  // from the past
  CHECK(container.window.LastSample() == kStart + 1min);
  CHECK_FALSE(container.Add(kStart, 900 * kMiB));

  Container vpa(true);
  CHECK(vpa.Add(kStart, 300 * kMiB));
  CHECK(vpa.Kill(kStart + 5h, 0));
  CHECK_FALSE(vpa.Add(kStart + 1min, 310 * kMiB));
  CHECK(vpa.Kill(kStart - 5h, 0));
  CHECK(vpa.Add(kStart - 4h, 900 * kMiB));
}

TEST_CASE("a kill up to one interval older than the window counts at the window's end",
          "[estimators][kill]") {
  Container container;
  CHECK(container.Add(kStart, 100 * kMiB));
  CHECK(container.Add(kStart + 24h * 3 + 10min, 110 * kMiB));
  const auto before = container.histogram.SaveCheckpoint();
  CHECK_FALSE(container.Kill(kStart + 24h * 2 - 1ns, 500 * kMiB));
  CHECK(container.histogram.SaveCheckpoint() == before);
  CHECK(container.Kill(kStart + 24h * 2, 500 * kMiB) == 600 * kMiB);
  CHECK(container.Holds({{100 * kMiB, kStart + 24h}, {600 * kMiB, kStart + 24h * 4}}));
}

TEST_CASE("just before and just after an interval's end a kill counts the same, whenever it comes",
          "[estimators][kill]") {
  // VPA 1.7.1 and older lost what came late over that edge (issue 8548).
  for (const auto killed : {kStart + 24h - 30s, kStart + 24h + 30s}) {
    for (const auto heard : {0min, 1min, 2min, 3min}) {
      Container container;
      CHECK(container.Add(kStart, 300 * kMiB));
      const Time began = kStart + 24h - 90s;
      for (auto minute = 0min; minute < 4min; ++minute) {
        if (minute == heard) CHECK(container.Kill(killed, 600 * kMiB) == 720 * kMiB);
        CHECK(container.Add(began + minute, 300 * kMiB));
      }
      CHECK(container.histogram.Percentile(1) >= 720 * kMiB);
      CHECK(container.histogram.Percentile(1) < 720 * kMiB * 1.07);
      CHECK(container.window.LastSample() == began + 3min);
    }
  }
}

TEST_CASE("a kill before any usage opens the first interval", "[estimators][kill]") {
  Container container;
  CHECK(container.Kill(kStart, 100 * kMiB) == 200 * kMiB);
  CHECK(container.window.WindowEnd() == kStart + 24h);
  CHECK_FALSE(container.window.LastSample());
  CHECK(container.Add(kStart - 10min, 150 * kMiB));
  CHECK(container.window.LastSample() == kStart - 10min);
  CHECK(container.window.Peak() == 150 * kMiB);
  CHECK(container.Holds({{200 * kMiB, kStart + 24h}}));
}

TEST_CASE("a kill from far ahead leaves usage its own intervals", "[estimators][kill]") {
  Container container;
  CHECK(container.Add(kStart, 300 * kMiB));
  CHECK(container.Kill(kStart + 24h * 9 + 1h, 0));
  CHECK(container.window.WindowEnd() == kStart + 24h * 10);
  CHECK(container.Add(kStart + 25h, 310 * kMiB));
  CHECK(container.window.WindowEnd() == kStart + 48h);
  CHECK(container.Add(kStart + 49h, 320 * kMiB));
  CHECK(container.Holds({{300 * kMiB, kStart + 24h},
                         {400 * kMiB, kStart + 24h * 10},
                         {310 * kMiB, kStart + 48h},
                         {320 * kMiB, kStart + 72h}}));
}

TEST_CASE("an interval that begins with 0 is open to what comes", "[estimators][kill]") {
  Container container;
  CHECK(container.Add(kStart, 0));
  CHECK(container.Holds({{0, kStart + 24h}}));
  CHECK(container.Add(kStart + 1min, 300 * kMiB));
  CHECK(container.Holds({{300 * kMiB, kStart + 24h}}));
  Container killed;
  CHECK(killed.Add(kStart, 0));
  CHECK(killed.Kill(kStart + 1min, 300 * kMiB) == 400 * kMiB);
  CHECK(killed.Holds({{400 * kMiB, kStart + 24h}}));
  Container vpa(true);
  CHECK(vpa.Add(kStart, 0));
  CHECK(vpa.Kill(kStart + 1min, 300 * kMiB) == 400 * kMiB);
  CHECK(vpa.Holds({{0, kStart + 24h}}));
  CHECK(vpa.window.KillPeak() == 0);
}

TEST_CASE("a kill that is no number or beyond time changes nothing", "[estimators][kill]") {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  for (const bool as_vpa : {false, true}) {
    Container container(as_vpa);
    for (const double bytes : {-1.0, std::nan(""), kInfinity, -kInfinity}) {
      CHECK_FALSE(container.Kill(kStart, bytes));
    }
    CHECK_FALSE(container.Kill(Time::max(), 3e8));
    CHECK_FALSE(container.window.WindowEnd());
    CHECK_FALSE(container.histogram.ReferenceTime());
    CHECK(container.Add(kStart, 3e8));
    CHECK_FALSE(container.Kill(Time::max(), 3e8));
    CHECK_FALSE(container.Kill(Time::min(), 3e8));
    CHECK(container.window.LastSample() == kStart);
    CHECK(container.Holds({{3e8, kStart + 24h}}));
  }
}

TEST_CASE("what is taken back is the running interval's peak", "[estimators][kill]") {
  Container container;
  container.window.TakeBack(container.histogram, kStart);  // nothing there
  CHECK(container.histogram.IsEmpty());
  CHECK(container.Add(kStart, 300 * kMiB));
  CHECK(container.Add(kStart + 24h, 300 * kMiB));
  CHECK(container.Kill(kStart + 25h, 0) == 400 * kMiB);
  DecayingHistogram saved = container.histogram;
  container.window.TakeBack(saved, kStart + 48h);  // over
  CHECK(saved.SaveCheckpoint() == container.histogram.SaveCheckpoint());
  container.window.TakeBack(saved, kStart + 48h - 1ns);
  CHECK(saved.Percentile(1) < 340 * kMiB);
  CHECK(container.Holds({{300 * kMiB, kStart + 24h}, {400 * kMiB, kStart + 48h}}));
  std::swap(saved, container.histogram);
  CHECK(container.Holds({{300 * kMiB, kStart + 24h}}));
}

TEST_CASE("kills in any order never lower the answer below what was used",
          "[estimators][kill][property]") {
  const uint32_t seed = tidemark::testing::Seed();
  INFO("seed " << seed);
  std::mt19937 random(seed);
  for (int round = 0; round < 200; ++round) {
    Container container;
    if (round % 2 == 0) {
      container.histogram = DecayingHistogram(&container.options, 24h, Precision::kCompact);
    }
    Container undisturbed;
    double highest = 0;
    double highest_kill = 0;
    double base = 0;  // no kill can ask for more than follows from this
    for (int minute = 0; minute < 3000; minute += 1 + static_cast<int>(random() % 20)) {
      const Time now = kStart + minute * 1min;
      if (random() % 10 == 0) {
        const Time killed = now + std::chrono::minutes(static_cast<int>(random() % 2000) - 1500);
        const auto requested = static_cast<double>(random() % 2000) * kMiB;
        if (const auto needed = container.Kill(killed, requested)) {
          highest_kill = std::max(highest_kill, *needed);
          base = std::max(base, requested);
        }
      }
      const auto used = static_cast<double>(random() % 1500) * kMiB;
      REQUIRE(container.Add(now, used));
      REQUIRE(undisturbed.Add(now, used));
      highest = std::max(highest, used);
      REQUIRE(container.histogram.Percentile(1) >= undisturbed.histogram.Percentile(1));
      REQUIRE(container.histogram.Percentile(1) >= std::max(highest, highest_kill));
      const double most = std::max(base, highest);
      REQUIRE(highest_kill <= std::max(most * 1.2, most + 100 * kMiB));
      REQUIRE(container.window.LastSample() == now);
    }
  }
}
