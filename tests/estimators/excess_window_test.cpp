#include "estimators/excess_window.h"

#include <algorithm>
#include <cmath>
#include <random>
#include <string>
#include <vector>

#include "estimators/excess_code.h"
#include "tests/catch.h"

namespace tidemark::estimators {
namespace {

constexpr int64_t kDay = ExcessWindow::kMinutesPerDay;
constexpr int64_t kStart = 20000 * kDay;

std::string Bytes(const ExcessWindow& window) {
  std::string bytes;
  ByteWriter out(bytes);
  window.Save(out);
  return bytes;
}

Result<ExcessWindow> FromBytes(const std::string& bytes) {
  ByteReader in(bytes);
  return ExcessWindow::Restore(in);
}

/// Minutes of exponential use around a level.
std::vector<double> Minutes(size_t count, uint64_t seed) {
  std::mt19937_64 random(seed);
  std::exponential_distribution<double> use(1);
  std::vector<double> minutes;
  for (size_t i = 0; i < count; ++i) minutes.push_back(1 + use(random));
  return minutes;
}

TEST_CASE("a kept value and its minute survive their four bytes", "[estimators][high_water]") {
  for (const double value : {0.0, 1e-6, 0.123456, 1.0, 3.99999, 1e9, 7.7e13, 1e30}) {
    for (const uint32_t minute : {0U, 1U, 719U, 1439U}) {
      const uint32_t code = CodeOf(value, minute);
      CHECK(ValueOf(code) == Approx(value).epsilon(6.2e-5));
      CHECK(MinuteOf(code) == minute);
    }
  }
  CHECK(CodeOf(1.01, 0) > CodeOf(1.0, 1439));
}

TEST_CASE("the tail of a window is that of all its values as long as enough of them are kept",
          "[estimators][high_water]") {
  for (const size_t count : {300U, 1440U, 5000U, 10080U}) {
    INFO(count << " minutes");
    std::vector<double> values = Minutes(count, 3);
    ExcessWindow window;
    for (size_t i = 0; i < count; ++i) {
      REQUIRE(window.Add(kStart + static_cast<int64_t>(i), values[i], 0));
    }
    const double level = count < 2000 ? 0.96 : 0.98;  // 64 of 1440 are 4.4 %
    std::ranges::sort(values);
    const TailFit exact = FitWindow(values, level);
    const TailFit kept = window.Fit(level, 0, FitChoice::kAuto);
    REQUIRE(kept.IsFitted());
    CHECK(window.Observations() == count);
    CHECK(window.Largest() == Approx(values.back()).epsilon(1e-6));
    CHECK(window.Largest() <= values.back());
    // Days are uneven, so that one of them may have let go of what the quantile would still count.
    CHECK(kept.excesses >= exact.excesses * 8 / 10);
    CHECK(kept.excesses <= exact.excesses);
    CHECK(kept.threshold == Approx(exact.threshold).epsilon(0.05));
    CHECK(kept.Level(1e-3) == Approx(exact.Level(1e-3)).epsilon(0.02));
  }
}

TEST_CASE("of a day the 64 largest are kept, and nothing is missing above the floor",
          "[estimators][high_water]") {
  std::vector<double> values = Minutes(kDay, 9);
  ExcessWindow window;
  for (size_t i = 0; i < values.size(); ++i) {
    window.Add(kStart + static_cast<int64_t>(i), values[i], 0);
  }
  std::ranges::sort(values, std::greater<>{});
  CHECK(window.Floor() == Approx(values[64]).epsilon(6.2e-5));
  CHECK(window.CountAtCap(window.Floor(), 1e9).excesses == 64);
  const auto quantile = window.Empirical(0.01);
  REQUIRE(quantile);
  CHECK(*quantile == Approx(values[14]).epsilon(0.01));
  CHECK_FALSE(window.Empirical(0.1));
}

TEST_CASE("what a gate lets go is counted, and is the floor", "[estimators][high_water]") {
  ExcessWindow window;
  for (int i = 0; i < 200; ++i) window.Add(kStart + i, i % 10, 6.5);
  CHECK(window.Observations() == 200);
  CHECK(window.Floor() == 6);
  CHECK(window.CountAtCap(0, 8).excesses == 60);
  CHECK(window.CountAtCap(0, 8).at_cap == 40);
  CHECK(window.Largest() == 9);
  for (int i = 0; i < 200; ++i) window.Add(kStart + kDay + i, 100 + i % 10, 500);
  CHECK(window.Largest() == 109);  // also what is not kept
}

TEST_CASE("after seven days a day is forgotten, with its floor and its largest value",
          "[estimators][high_water]") {
  ExcessWindow window;
  for (int i = 0; i < 100; ++i) window.Add(kStart + i, 50 + i, 0);
  for (int day = 1; day < 7; ++day) window.Add(kStart + day * kDay, day, 0);
  CHECK(window.Largest() == 149);
  CHECK(window.Observations() == 106);
  window.Add(kStart + 7 * kDay, 3, 0);
  CHECK(window.Observations() == 7);
  CHECK(window.Largest() == 6);
  CHECK(window.Floor() == 0);
  CHECK_FALSE(window.Add(kStart + 5, 1000, 0));  // too late
  CHECK(window.Observations() == 7);
  CHECK(window.Add(kStart + kDay + 5, 1000, 0));  // late
  CHECK(window.Largest() == 1000);
}

TEST_CASE("days without observations take no room", "[estimators][high_water]") {
  ExcessWindow window;
  for (int64_t week = 0; week < 50; ++week) {
    for (int i = 0; i < 100; ++i) window.Add(kStart + week * 9 * kDay + i, i, 0);
    CHECK(window.Observations() == 100);
    CHECK(window.CountAtCap(-1, 1e9).excesses == 64);
  }
  CHECK(window.MemoryBytes() <= sizeof(ExcessWindow) + 4 * 90);
}

TEST_CASE("older days keep what a threshold at the quantile 0.98 needs and no more",
          "[estimators][high_water]") {
  const std::vector<double> values = Minutes(7 * kDay, 4);
  ExcessWindow window;
  for (size_t i = 0; i < values.size(); ++i) {
    window.Add(kStart + static_cast<int64_t>(i), values[i], 0);
  }
  CHECK(window.CountAtCap(-1, 1e9).excesses == 5 * 33 + 2 * 64);
  CHECK(window.MemoryBytes() <= 1500);
  // Of many pods' minutes the full number is kept, and never more.
  ExcessWindow busy;
  for (int64_t i = 0; i < 7 * kDay; ++i) {
    for (int pod = 0; pod < 5; ++pod) {
      busy.Add(kStart + i, values[static_cast<size_t>((i * 7 + pod * 31) % (7 * kDay))], 0);
    }
  }
  CHECK(busy.CountAtCap(-1, 1e9).excesses == 7 * 64);
  CHECK(busy.MemoryBytes() <= 2100);
}

TEST_CASE("runs of excesses are counted by ten minutes without one", "[estimators][high_water]") {
  const auto clusters = [](const std::vector<int64_t>& minutes) {
    ExcessWindow window;
    for (int64_t i = 0; i < 3 * kDay; ++i) window.Add(kStart + i, 1, 1);
    for (const int64_t minute : minutes) {
      window.Add(kStart + minute, 5 + static_cast<double>(minute % 7), 1);
    }
    return window.Fit(0.98, 1, FitChoice::kAuto).clusters;
  };
  CHECK(clusters({}) == 0);
  CHECK(clusters({100}) == 1);
  CHECK(clusters({100, 101, 110, 120}) == 1);
  CHECK(clusters({100, 111}) == 2);
  CHECK(clusters({1435, 1441, 1500, 2880, 2881}) == 3);  // over midnight
  CHECK(clusters({300, 100, 200}) == 3);
}

TEST_CASE("the order in which minutes come does not matter", "[estimators][high_water]") {
  std::vector<std::pair<int64_t, double>> minutes;
  const std::vector<double> values = Minutes(3 * kDay, 12);
  for (size_t i = 0; i < values.size(); ++i) {
    minutes.emplace_back(kStart + static_cast<int64_t>(i), values[i]);
  }
  // Within two days, so that nothing is trimmed before all of it has come.
  std::erase_if(minutes, [](const auto& minute) { return minute.first >= kStart + 2 * kDay; });
  ExcessWindow ordered;
  for (const auto& [minute, value] : minutes) ordered.Add(minute, value, 0);
  std::ranges::shuffle(minutes, std::mt19937_64(5));
  ExcessWindow shuffled;
  for (const auto& [minute, value] : minutes) shuffled.Add(minute, value, 0);
  CHECK(ordered.Fit(0.98, 0, FitChoice::kAuto) == shuffled.Fit(0.98, 0, FitChoice::kAuto));
  CHECK(ordered.Floor() == shuffled.Floor());
}

TEST_CASE("two windows add up to the window of both", "[estimators][high_water]") {
  const std::vector<double> values = Minutes(2 * kDay, 21);
  ExcessWindow all;
  ExcessWindow even;
  ExcessWindow odd;
  for (size_t i = 0; i < values.size(); ++i) {
    const int64_t minute = kStart + static_cast<int64_t>(i);
    all.Add(minute, values[i], 0);
    (i % 2 == 0 ? even : odd).Add(minute, values[i], 0);
  }
  even.Merge(odd);
  CHECK(even.Observations() == all.Observations());
  CHECK(even.Largest() == all.Largest());
  CHECK(even.Floor() == all.Floor());
  CHECK(even.Fit(0.98, 0, FitChoice::kAuto) == all.Fit(0.98, 0, FitChoice::kAuto));
  ExcessWindow later;
  later.Add(kStart + 30 * kDay, 2, 0);
  later.Merge(all);  // all of it too old
  CHECK(later.Observations() == 1);
}

TEST_CASE("a window survives being saved, to the last byte", "[estimators][high_water]") {
  const std::vector<double> values = Minutes(9 * kDay, 31);
  ExcessWindow window;
  CHECK(Bytes(*FromBytes(Bytes(window))) == Bytes(window));
  for (size_t i = 0; i < values.size(); ++i) {
    window.Add(kStart + static_cast<int64_t>(i), values[i], 2);
    if (i % 1500 != 0) continue;
    auto restored = FromBytes(Bytes(window));
    REQUIRE(restored);
    CHECK(Bytes(*restored) == Bytes(window));
    CHECK(restored->Fit(0.98, 0, FitChoice::kAuto) == window.Fit(0.98, 0, FitChoice::kAuto));
    window = std::move(*restored);  // and goes on
  }
}

TEST_CASE("a damaged window is refused and nothing else happens", "[estimators][high_water]") {
  ExcessWindow window;
  for (int i = 0; i < 300; ++i) window.Add(kStart + i * 20, 1 + i % 50, 3);
  const std::string good = Bytes(window);
  for (size_t length = 0; length < good.size(); ++length) {
    CHECK_FALSE(FromBytes(good.substr(0, length)));
  }
  std::mt19937_64 random(77);
  int taken = 0;
  for (int turn = 0; turn < 5000; ++turn) {
    std::string bad = good;
    bad[random() % bad.size()] = static_cast<char>(random());
    const auto restored = FromBytes(bad);
    if (!restored) continue;
    ++taken;  // a value that could be
    static_cast<void>(restored->Fit(0.98, 0, FitChoice::kAuto));
    CHECK(restored->MemoryBytes() < 4000);
  }
  CHECK(taken < 5000);
}

TEST_CASE("what is no use of a minute is not counted", "[estimators][high_water]") {
  ExcessWindow window;
  CHECK_FALSE(window.Add(kStart, NAN, 0));
  CHECK_FALSE(window.Add(kStart, HUGE_VAL, 0));
  CHECK_FALSE(window.Add(kStart, -1, 0));
  CHECK_FALSE(window.Add(kStart, 1e31, 0));
  CHECK_FALSE(window.Add(-1, 1, 0));
  CHECK_FALSE(window.Add(int64_t{1} << 40, 1, 0));
  CHECK(window.Observations() == 0);
  CHECK(window.Fit(0.98, 0, FitChoice::kAuto).unfitted == Unfitted::kNothing);
  CHECK_FALSE(window.Empirical(0.1));
}

}  // namespace
}  // namespace tidemark::estimators
