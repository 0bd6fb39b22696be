#include "estimators/high_water.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <random>
#include <string>
#include <vector>

#include "tests/catch.h"

namespace tidemark::estimators {
namespace {

constexpr int64_t kDay = ExcessWindow::kMinutesPerDay;
constexpr int64_t kStart = 20000 * kDay;
constexpr HighWaterBounds kNoBounds{.cap = std::nullopt, .most_over_largest = 1e9};

/// Use whose tail is known: P(X > 1 + y) = exp(-y).
double Draw(std::mt19937_64& random) {
  return 1 + std::exponential_distribution<double>(1)(random);
}

HighWaterTrack Observe(int64_t minutes, uint64_t seed = 1) {
  std::mt19937_64 random(seed);
  HighWaterTrack track;
  for (int64_t i = 0; i < minutes; ++i) {
    track.Add(kStart + i, Draw(random), nullptr, FitChoice::kAuto);
  }
  return track;
}

std::string Bytes(const HighWaterTrack& track) {
  std::string bytes;
  ByteWriter out(bytes);
  track.Save(out);
  return bytes;
}

TEST_CASE("marks of a known tail are where it is", "[estimators][high_water]") {
  const HighWaterTrack track = Observe(7 * kDay);
  REQUIRE(track.tail());
  CHECK(track.tail()->IsTrusted());
  CHECK(track.tail()->clusters > 50);
  const auto at = [&](double risk) { return track.LevelOf(risk, nullptr, kNoBounds)->value; };
  CHECK(at(0.01) == Approx(1 + std::log(100)).epsilon(0.05));
  CHECK(at(0.001) == Approx(1 + std::log(1000)).epsilon(0.08));
  CHECK(track.LevelOf(0.001, nullptr, kNoBounds)->source == LevelSource::kTail);
  // Below the threshold nothing is known without a histogram but that it is not above it.
  CHECK(at(0.3) == track.tail()->threshold);
  CHECK(track.LevelOf(0.3, nullptr, kNoBounds)->source == LevelSource::kEmpirical);
}

TEST_CASE("where no tail is needed the histogram answers", "[estimators][high_water]") {
  const HistogramOptions layout = HistogramOptions::Cpu();
  DecayingHistogram histogram(&layout, std::chrono::hours(24), Precision::kCompact);
  std::mt19937_64 random(2);
  HighWaterTrack track;
  for (int64_t i = 0; i < 3 * kDay; ++i) {
    const double value = Draw(random);
    track.Add(kStart + i, value, &histogram, FitChoice::kAuto);
    histogram.Add(value, 0.1, Time(std::chrono::minutes(kStart + i + 1)));
  }
  const auto level = track.LevelOf(0.2, &histogram, kNoBounds);
  REQUIRE(level);
  CHECK(level->value == histogram.Percentile(0.8));
  // The gate has kept the number of values near what the threshold needs.
  const auto kept = track.window().CountAtCap(-1, 1e9).excesses;
  CHECK(kept > 3 * kDay * 2 / 100);
  CHECK(kept < 64 + 64 + 64);
}

TEST_CASE("the tail is fitted once an hour, in the order of the minutes",
          "[estimators][high_water]") {
  std::mt19937_64 random(3);
  HighWaterTrack track;
  int fits = 0;
  for (int64_t i = 0; i < 2 * kDay; ++i) {
    const bool fitted = track.Add(kStart + i, Draw(random), nullptr, FitChoice::kAuto);
    fits += fitted ? 1 : 0;
    CHECK(track.tail().has_value() == (fits > 0));
  }
  CHECK(fits == 48);
  // Hours without a minute are not made up for.
  CHECK(track.Add(kStart + 2 * kDay + 600, 1, nullptr, FitChoice::kAuto));
  CHECK_FALSE(track.Add(kStart + 2 * kDay + 601, 1, nullptr, FitChoice::kAuto));
  // A late one changes no hour.
  CHECK_FALSE(track.Add(kStart + kDay, 1, nullptr, FitChoice::kAuto));
}

TEST_CASE("not all containers are fitted in the same minute", "[estimators][high_water]") {
  std::vector<int> fitted(60);
  for (uint64_t seed = 1; seed <= 600; ++seed) {
    std::mt19937_64 random(seed);
    HighWaterTrack track;
    for (int64_t i = 0; i < 70; ++i) {
      if (track.Add(kStart + i, Draw(random), nullptr, FitChoice::kAuto) && i < 60) {
        ++fitted[static_cast<size_t>(i)];
      }
    }
  }
  CHECK(*std::ranges::max_element(fitted) < 40);
  CHECK(std::ranges::count(fitted, 0) < 20);
}

TEST_CASE("no level is above the limit, nor above so many times the largest value",
          "[estimators][high_water]") {
  const HighWaterTrack track = Observe(2 * kDay);
  const double free = track.LevelOf(1e-5, nullptr, kNoBounds)->value;
  const double largest = track.window().Largest();
  REQUIRE(free > 0.9 * largest);
  const auto capped = track.LevelOf(1e-5, nullptr, {.cap = 4.0, .most_over_largest = 3});
  CHECK(capped->value == 4.0);
  CHECK(capped->capped);
  const auto bounded =
      track.LevelOf(1e-12, nullptr, {.cap = std::nullopt, .most_over_largest = 1.5});
  CHECK(bounded->value == 1.5 * largest);
  CHECK(bounded->capped);
  CHECK_FALSE(track.LevelOf(0.01, nullptr, kNoBounds)->capped);
}

TEST_CASE("use that lies at the limit is said to be censored from a twentieth of the excesses on",
          "[estimators][high_water]") {
  const auto censored = [](int at_limit_of_hundred) {
    std::mt19937_64 random(4);
    HighWaterTrack track;
    for (int64_t i = 0; i < 5 * kDay; ++i) {
      double value = 1;
      if (i % 50 == 0) {
        value = 2 + std::uniform_real_distribution<double>(0, 1)(random);
        if (i / 50 % 100 < at_limit_of_hundred) value = 3.999;
      }
      track.Add(kStart + i, value, nullptr, FitChoice::kAuto);
    }
    CHECK_FALSE(track.IsCensored(100));
    CHECK_FALSE(track.IsCensored(0));
    return track.IsCensored(4);
  };
  CHECK_FALSE(censored(0));
  CHECK_FALSE(censored(3));
  CHECK(censored(8));
  CHECK(censored(100));
  HighWaterTrack always;
  for (int64_t i = 0; i < 100; ++i) always.Add(kStart + i, 4, nullptr, FitChoice::kAuto);
  CHECK(always.IsCensored(4));
  CHECK_FALSE(always.IsCensored(5));
}

TEST_CASE("a constant use has itself for a mark", "[estimators][high_water]") {
  HighWaterTrack track;
  CHECK_FALSE(track.LevelOf(0.01, nullptr, {}));
  for (int64_t i = 0; i < kDay; ++i) track.Add(kStart + i, 0.25, nullptr, FitChoice::kAuto);
  const auto level = track.LevelOf(0.001, nullptr, {});
  REQUIRE(level);
  CHECK(level->value == 0.25);
  CHECK_FALSE(track.tail()->IsFitted());
  CHECK_FALSE(track.tail()->IsTrusted());
}

TEST_CASE("a track goes on after being saved as if nothing had been", "[estimators][high_water]") {
  std::mt19937_64 random(6);
  HighWaterTrack track;
  HighWaterTrack restored;
  for (int64_t i = 0; i < 4 * kDay; ++i) {
    const double value = Draw(random);
    track.Add(kStart + i, value, nullptr, FitChoice::kAuto);
    restored.Add(kStart + i, value, nullptr, FitChoice::kAuto);
    if (i % 997 != 0) continue;
    const std::string bytes = Bytes(restored);
    ByteReader in(bytes);
    auto read = HighWaterTrack::Restore(in);
    REQUIRE(read);
    restored = std::move(*read);
    CHECK(restored.tail() == track.tail());
  }
  CHECK(Bytes(restored) == Bytes(track));
}

TEST_CASE("a damaged track is refused", "[estimators][high_water]") {
  const std::string good = Bytes(Observe(kDay));
  for (size_t length = 0; length < good.size(); ++length) {
    ByteReader in(std::string_view(good).substr(0, length));
    CHECK_FALSE(HighWaterTrack::Restore(in));
  }
  std::mt19937_64 random(8);
  for (int turn = 0; turn < 5000; ++turn) {
    std::string bad = good;
    bad[random() % bad.size()] = static_cast<char>(random());
    ByteReader in(bad);
    auto track = HighWaterTrack::Restore(in);
    if (!track) continue;
    track->Add(kStart + kDay + 70, 3, nullptr, FitChoice::kAuto);
    const auto level = track->LevelOf(1e-3, nullptr, {});
    if (level) CHECK(level->value >= 0);
  }
}

TEST_CASE("the past of a container is added to what is known of it live",
          "[estimators][high_water]") {
  HighWaterTrack live;
  std::mt19937_64 random(9);
  for (int64_t i = 0; i < 200; ++i) {
    live.Add(kStart + 3 * kDay + i, Draw(random), nullptr, FitChoice::kAuto);
  }
  const HighWaterTrack past = Observe(3 * kDay, 10);
  live.Merge(past);
  CHECK(live.tail() == past.tail());  // more is behind it
  CHECK(live.Add(kStart + 3 * kDay + 200, 1, nullptr, FitChoice::kAuto));
  CHECK(live.tail()->observations == 3 * kDay + 200);
  HighWaterTrack empty;
  empty.Merge(past);
  CHECK(Bytes(empty) == Bytes(past));
  empty.Merge(HighWaterTrack());
  CHECK(Bytes(empty) == Bytes(past));
}

}  // namespace
}  // namespace tidemark::estimators
