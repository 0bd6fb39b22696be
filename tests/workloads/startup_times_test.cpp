#include "workloads/startup_times.h"

#include <algorithm>
#include <random>

#include "model/scaling.h"
#include "tests/catch.h"
#include "tests/seed.h"
#include "workloads/readiness.h"

using namespace tidemark;
using workloads::kMinuteMs;
using workloads::kNever;
using workloads::PodReadiness;
using workloads::StartupTimes;
using State = PodReadiness::State;

namespace {

constexpr int64_t kT0 = 1'700'000'040'000;
constexpr int64_t kSecond = 1000;

}  // namespace

TEST_CASE("the usual start-up time is the second longest of the last eight",
          "[workloads][startup]") {
  StartupTimes times;
  CHECK_FALSE(times.Usual());
  times.Add(kT0, 40 * kSecond);
  CHECK(times.Usual() == 40 * kSecond);
  times.Add(kT0 + 1, 30 * kSecond);
  times.Add(kT0 + 2, 10 * kSecond);
  times.Add(kT0 + 3, 20 * kSecond);
  CHECK(times.Usual() == 40 * kSecond);  // of four the longest
  times.Add(kT0 + 4, 20 * kSecond);
  CHECK(times.Usual() == 30 * kSecond);
  for (int i = 5; i < 8; ++i) times.Add(kT0 + i, 25 * kSecond);
  CHECK(times.Usual() == 30 * kSecond);
  times.Add(kT0 + 8, 25 * kSecond);  // the first is forgotten, then the second
  CHECK(times.Usual() == 25 * kSecond);
  times.Add(kT0, 600 * kSecond);  // of a pod that started before all of these
  CHECK(times.Usual() == 25 * kSecond);
}

TEST_CASE("a start-up takes half an hour at most, and never less than nothing",
          "[workloads][startup]") {
  StartupTimes times;
  times.Add(kT0, 10 * kMaxStartupMs);
  CHECK(times.Usual() == kMaxStartupMs);
  StartupTimes early;
  early.Add(kT0, -5);
  CHECK(early.Usual() == 0);
}

TEST_CASE("what was heard of old pods counts until a start is seen", "[workloads][startup]") {
  StartupTimes times;
  times.Hear(-1);
  times.Hear(kMaxStartupMs + 1);
  CHECK_FALSE(times.Usual());
  times.Hear(90 * kSecond);
  times.Hear(50 * kSecond);
  times.Hear(70 * kSecond);
  CHECK(times.Usual() == 50 * kSecond);
  times.Add(kT0, 80 * kSecond);
  CHECK(times.Usual() == 80 * kSecond);
}

TEST_CASE("start-up times are the same in whatever order they come, and when they are restored",
          "[workloads][startup]") {
  const uint32_t seed = tidemark::testing::Seed();
  INFO("seed " << seed);
  std::mt19937 random(seed);
  for (int round = 0; round < 200; ++round) {
    std::vector<std::pair<int64_t, int64_t>> starts(random() % 14);
    for (auto& [start_ms, took_ms] : starts) {
      start_ms = kT0 + static_cast<int64_t>(random() % 6) * kMinuteMs;
      took_ms = static_cast<int64_t>(random() % 300) * kSecond;
    }
    StartupTimes one;
    StartupTimes half;
    StartupTimes rest;
    for (const auto& [start_ms, took_ms] : starts) one.Add(start_ms, took_ms);
    std::ranges::shuffle(starts, random);
    for (const auto& [start_ms, took_ms] : starts) {
      (random() % 2 == 0 ? half : rest).Add(start_ms, took_ms);
    }
    if (random() % 2 == 0) {
      one.Hear(7 * kSecond);
      rest.Hear(7 * kSecond);
    }
    half.TakeOver(rest);
    REQUIRE(one == half);
    std::string bytes;
    ByteWriter out(bytes);
    one.Save(out, kT0);
    ByteReader in(bytes);
    const auto restored = StartupTimes::Restore(in, kT0);
    REQUIRE(restored);
    REQUIRE(in.AtEnd());
    REQUIRE(*restored == one);
    for (size_t cut = 0; cut < bytes.size(); ++cut) {
      ByteReader less(std::string_view(bytes).substr(0, cut));
      REQUIRE_FALSE(StartupTimes::Restore(less, kT0));
    }
  }
}

TEST_CASE("start-up times that nobody can have saved are refused", "[workloads][startup]") {
  const auto refuses = [](auto write) {
    std::string bytes;
    ByteWriter out(bytes);
    write(out);
    ByteReader in(bytes);
    return !StartupTimes::Restore(in, kT0) && in.failed();
  };
  CHECK(refuses([](ByteWriter& out) {  // too many
    out.Varint(9);
    for (int i = 0; i < 18; ++i) out.Varint(1);
    out.Varint(0);
  }));
  CHECK(refuses([](ByteWriter& out) {  // too long
    out.Varint(1);
    out.Varint(1);
    out.Varint(kMaxStartupMs + 1);
    out.Varint(0);
  }));
  const auto in_order = [](const std::vector<int>& before_base_ms) {
    return [before_base_ms](ByteWriter& out) {
      out.Varint(2);
      for (const int before : before_base_ms) {
        out.Varint(1 + 2 * static_cast<uint64_t>(before));
        out.Varint(5);
      }
      out.Varint(0);
    };
  };
  CHECK_FALSE(refuses(in_order({1, 0})));
  CHECK(refuses(in_order({0, 1})));
  CHECK(refuses([](ByteWriter& out) {  // heard too long
    out.Varint(0);
    out.Varint(kMaxStartupMs + 2);
  }));
}

TEST_CASE("readiness is known as of the end of a minute that is closed later",
          "[workloads][readiness]") {
  PodReadiness pod;
  static_assert(sizeof(PodReadiness) == 24);
  CHECK(pod.At(kT0, kNever) == State::kUnknown);
  pod.Say(1, kT0, false, kNever);
  CHECK(pod.At(kT0 - 1, kT0) == State::kUnknown);
  CHECK(pod.At(kT0, kT0) == State::kUnready);
  pod.Say(1, kT0 + 30 * kSecond, true, kT0);
  CHECK(pod.At(kT0 + 29 * kSecond, kT0 + 30 * kSecond) == State::kUnready);
  CHECK(pod.At(kT0 + 30 * kSecond, kT0 + 30 * kSecond) == State::kReady);
  pod.Say(1, kT0 + 60 * kSecond, true, kT0 + 30 * kSecond);
  CHECK(pod.changed_ms == kT0 + 30 * kSecond);
  CHECK(pod.At(kT0 + 360 * kSecond, kT0 + 60 * kSecond) == State::kReady);
  CHECK(pod.At(kT0 + 361 * kSecond, kT0 + 60 * kSecond) == State::kUnknown);  // silent
  pod.End(2, kT0 + 61 * kSecond);  // another's end is not its own
  CHECK(pod.now == State::kReady);
  pod.End(1, kT0 + 61 * kSecond);
  CHECK(pod.At(kT0 + 60 * kSecond, kNever) == State::kReady);
  CHECK(pod.At(kT0 + 61 * kSecond, kNever) == State::kUnknown);
  pod.Say(2, kT0 + 50 * kSecond, false, kNever);  // late
  CHECK(pod.now == State::kUnknown);
  pod.Say(2, kT0 + 61 * kSecond, false, kNever);
  CHECK(pod.now == State::kUnready);
  CHECK(pod.before == State::kUnknown);
}

TEST_CASE("what was said before a long silence is not what was there before the change",
          "[workloads][readiness]") {
  PodReadiness pod;
  pod.Say(1, kT0, false, kNever);
  pod.Say(1, kT0 + 6 * kMinuteMs, true, kT0);
  CHECK(pod.before == State::kUnknown);
  CHECK(pod.At(kT0 + 5 * kMinuteMs, kT0 + 6 * kMinuteMs) == State::kUnknown);
  // Two that tell the same pod in turns, as pairs of kube-state-metrics do.
  pod.Say(2, kT0 + 7 * kMinuteMs, true, kT0 + 6 * kMinuteMs);
  CHECK(pod.changed_ms == kT0 + 6 * kMinuteMs);
  CHECK(pod.series == 2);
  pod.Say(1, kT0 + 7 * kMinuteMs - 1, false, kT0 + 7 * kMinuteMs);  // an older word
  CHECK(pod.now == State::kReady);
}
