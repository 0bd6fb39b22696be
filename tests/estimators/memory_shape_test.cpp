// Leaks, collected heaps and use at the limit are told apart.
#include <cmath>
#include <functional>

#include "estimators/memory_shape.h"
#include "tests/catch.h"

using namespace tidemark::estimators;

namespace {

constexpr double kMiB = 1048576;

HourRing RingOf(int hours, const std::function<double(int)>& level) {
  HourRing ring;
  for (int hour = 0; hour < hours; ++hour) {
    const double bytes = level(hour);
    if (bytes > 0) ring.Put(hour, bytes);
  }
  return ring;
}

MemoryShape ShapeOf(int hours, const std::function<double(int)>& level,
                    std::optional<double> limit = std::nullopt) {
  return FindMemoryShape(RingOf(hours, level), limit).shape;
}

}  // namespace

TEST_CASE("a climb between restarts is a leak, with its numbers", "[estimators][shape]") {
  const auto leak = [](int hour) { return (100 + 10 * (hour % 60)) * kMiB; };
  const auto found = FindMemoryShape(RingOf(192, leak), std::nullopt);
  CHECK(found.shape == MemoryShape::kLeak);
  CHECK(found.from == Approx(100 * kMiB).epsilon(0.01));
  CHECK(found.to == Approx(690 * kMiB).epsilon(0.01));
  CHECK(found.hours == 59);
  CHECK(found.times == 3);
  CHECK(found.bytes_an_hour == Approx(10 * kMiB).epsilon(0.01));
  CHECK(ToString(found.shape) == "grows steadily between restarts: a leak?");
}

TEST_CASE("a climb without a restart is a leak after two days", "[estimators][shape]") {
  const auto leak = [](int hour) { return (100 + 10 * hour) * kMiB; };
  CHECK(ShapeOf(40, leak) == MemoryShape::kNothingSpecial);
  CHECK(ShapeOf(49, leak) == MemoryShape::kLeak);
  // Hours that nobody measured are stepped over.
  CHECK(ShapeOf(100, [&](int hour) { return hour % 10 == 3 ? 0 : leak(hour); }) ==
        MemoryShape::kLeak);
}

TEST_CASE("what fills up, follows the day or stands still is no leak", "[estimators][shape]") {
  const auto cache = [](int hour) { return (100 + 500 * (1 - std::exp(-hour / 8.0))) * kMiB; };
  const auto day = [](int hour) { return (300 + 200 * std::sin(hour * 0.2618)) * kMiB; };
  const auto still = [](int) { return 100 * kMiB; };
  const auto step = [](int hour) { return (hour < 100 ? 100 : 300) * kMiB; };
  for (int hours = 1; hours <= 192; ++hours) {
    REQUIRE(ShapeOf(hours, cache) == MemoryShape::kNothingSpecial);
    REQUIRE(ShapeOf(hours, day) == MemoryShape::kNothingSpecial);
    REQUIRE(ShapeOf(hours, still) == MemoryShape::kNothingSpecial);
    REQUIRE(ShapeOf(hours, step) == MemoryShape::kNothingSpecial);
  }
  CHECK(FindMemoryShape(HourRing(), 1.0).shape == MemoryShape::kNothingSpecial);
  CHECK(ToString(MemoryShape::kNothingSpecial).empty());
}

TEST_CASE("a heap that is collected is a saw-tooth, with its numbers", "[estimators][shape]") {
  const auto heap = [](int hour) { return (400 + 100 * (hour % 4)) * kMiB; };
  const auto found = FindMemoryShape(RingOf(192, heap), std::nullopt);
  CHECK(found.shape == MemoryShape::kSawTooth);
  CHECK(found.from == Approx(400 * kMiB).epsilon(0.01));
  CHECK(found.to == Approx(700 * kMiB).epsilon(0.01));
  CHECK(found.hours == 4);
  CHECK(found.times == 17);
  CHECK(ToString(found.shape) == "saw-tooth: heap that is collected");
  CHECK(ShapeOf(20, heap) == MemoryShape::kNothingSpecial);  // too few teeth yet
}

TEST_CASE("tops that are not alike, or a climb that falls back, is no saw-tooth",
          "[estimators][shape]") {
  CHECK(ShapeOf(192, [](int hour) {
          return (hour % 4 == 0 ? 400 : 500 + 90 * (hour * 7 % 11)) * kMiB;
        }) == MemoryShape::kNothingSpecial);
  CHECK(ShapeOf(192, [](int hour) {
          const int levels[] = {400, 700, 640, 580, 520, 480};
          return levels[hour % 6] * kMiB;
        }) == MemoryShape::kNothingSpecial);
}

TEST_CASE("use at the limit is told when it stays there", "[estimators][shape]") {
  const auto full = [](int hour) { return (995 + hour % 4) * kMiB; };
  CHECK(ShapeOf(100, full, 1000 * kMiB) == MemoryShape::kAtLimit);
  CHECK(ShapeOf(20, full, 1000 * kMiB) == MemoryShape::kNothingSpecial);
  CHECK(ShapeOf(100, full, 1100 * kMiB) == MemoryShape::kNothingSpecial);
  CHECK(ShapeOf(100, full, 0.0) == MemoryShape::kNothingSpecial);
  CHECK(ShapeOf(100, full) == MemoryShape::kNothingSpecial);
  CHECK(ShapeOf(
            100, [&](int hour) { return hour % 5 == 0 ? kMiB : full(hour); }, 1000 * kMiB) !=
        MemoryShape::kAtLimit);
  const auto found = FindMemoryShape(RingOf(100, full), 1000 * kMiB);
  CHECK(found.to == Approx(997 * kMiB).epsilon(0.005));
  CHECK(ToString(found.shape) == "at the limit, and stays there");
}
