// Levels in 16 bits, rings of hours, and the high quantile of an hour.
#include <algorithm>
#include <cmath>
#include <limits>
#include <random>
#include <string>
#include <vector>

#include "estimators/hour_samples.h"
#include "estimators/level_code.h"
#include "estimators/level_ring.h"
#include "tests/catch.h"
#include "tests/seed.h"

using namespace tidemark;
using namespace tidemark::estimators;
using namespace std::chrono_literals;

namespace {

template <class T>
std::string Saved(const T& what) {
  std::string bytes;
  ByteWriter out(bytes);
  what.Save(out);
  return bytes;
}

/// numpy's default.
double ExactQuantile(std::vector<double> values, double share) {
  std::ranges::sort(values);
  const double place = share * static_cast<double>(values.size() - 1);
  const auto below = static_cast<size_t>(place);
  if (below + 1 == values.size()) return values.back();
  return values[below] + (values[below + 1] - values[below]) * (place - std::floor(place));
}

}  // namespace

TEST_CASE("a level is kept to a tenth of a percent, and never rounded down",
          "[estimators][hours]") {
  for (double level = 1.3e-6; level < 9e14; level *= 1.0371) {
    const double kept = DecodeLevel(EncodeLevel(level));
    REQUIRE(kept >= level);
    REQUIRE(kept <= level * 1.0008);
    REQUIRE(EncodeLevel(kept) <= EncodeLevel(level) + 1);
    REQUIRE(EncodeLevel(level * 1.002) > EncodeLevel(level));
  }
  CHECK(EncodeLevel(0) == kNoLevel);
  CHECK(EncodeLevel(-1) == kNoLevel);
  CHECK(DecodeLevel(kNoLevel) == 0);
  CHECK(DecodeLevel(kUnknownLevel) == 0);
  CHECK(EncodeLevel(1e300) == 65535);
  CHECK(DecodeLevel(65535) == Approx(kGreatestLevel));
}

TEST_CASE("hours are counted by the clock, also before 1970", "[estimators][hours]") {
  CHECK(HourOf(Time(0h)) == 0);
  CHECK(HourOf(Time(1h - 1ns)) == 0);
  CHECK(HourOf(Time(-1ns)) == -1);
  CHECK(DayOfHour(0) == 0);
  CHECK(DayOfHour(23) == 0);
  CHECK(DayOfHour(24) == 1);
  CHECK(DayOfHour(-1) == -1);
  CHECK(DayOfHour(-24) == -1);
  CHECK(DayOfHour(-25) == -2);
}

TEST_CASE("a ring knows the last eight days and forgets what is older", "[estimators][hours]") {
  for (const int32_t start : {-500, -3, 0, 480'000}) {
    HourRing ring;
    CHECK(ring.IsEmpty());
    CHECK(ring.CodeAt(start) == kUnknownLevel);
    for (int32_t hour = 0; hour < 300; ++hour) ring.Put(start + hour, 1 + hour);
    CHECK(ring.newest() == start + 299);
    CHECK(ring.At(start + 299) == Approx(300).epsilon(0.001));
    CHECK(ring.At(start + 108) == Approx(109).epsilon(0.001));
    CHECK(ring.CodeAt(start + 107) == kUnknownLevel);
    CHECK(ring.CodeAt(start + 300) == kUnknownLevel);
    ring.Put(start + 107, 5);  // too old
    CHECK(ring.CodeAt(start + 299) == EncodeLevel(300));
    ring.Raise(start + 200, 1);
    CHECK(ring.CodeAt(start + 200) == EncodeLevel(201));
    ring.Raise(start + 200, 1000);
    CHECK(ring.CodeAt(start + 200) == EncodeLevel(1000));
    CHECK(ring.Largest(start + 299, 50) == EncodeLevel(300));
    CHECK(ring.Largest(start + 299, 192) == EncodeLevel(1000));
    ring.Put(start + 310, 7);  // ten hours without anything
    CHECK(ring.CodeAt(start + 305) == kUnknownLevel);
    CHECK(ring.CodeAt(start + 299) == EncodeLevel(300));
    CHECK(ring.CodeAt(start + 310 - 192) == kUnknownLevel);
    ring.Put(start + 100'000, 9);
    CHECK(ring.Largest(start + 99'999, 191) == kUnknownLevel);
    CHECK(ring.At(start + 100'000) == Approx(9).epsilon(0.001));
  }
}

TEST_CASE("rings add up by the larger level of each hour, in either order", "[estimators][hours]") {
  HourRing left;
  HourRing right;
  for (int32_t hour = 0; hour < 100; ++hour) left.Put(hour, hour % 7);
  for (int32_t hour = 60; hour < 220; ++hour) right.Put(hour, hour % 5);
  HourRing both = left;
  both.Merge(right);
  HourRing other = right;
  other.Merge(left);
  for (int32_t hour = -5; hour < 230; ++hour) {
    const LevelCode of_left = hour > 219 - 192 ? left.CodeAt(hour) : kUnknownLevel;
    REQUIRE(both.CodeAt(hour) == std::max(of_left, right.CodeAt(hour)));
    REQUIRE(other.CodeAt(hour) == both.CodeAt(hour));
  }
  CHECK(Saved(both) == Saved(other));
  HourRing same = both;
  same.Merge(HourRing());
  CHECK(Saved(same) == Saved(both));
}

TEST_CASE("a ring survives, a damaged one is refused", "[estimators][hours]") {
  HourRing ring;
  for (int32_t hour = -300; hour < -100; hour += 1 + (hour & 3)) ring.Put(hour, 0.01 * -hour);
  for (const HourRing& one : {HourRing(), ring}) {
    const std::string bytes = Saved(one);
    ByteReader in(bytes);
    HourRing read;
    read.Put(3, 3);
    read.Restore(in);
    REQUIRE(in.AtEnd());
    CHECK(Saved(read) == bytes);
    for (size_t cut = 0; cut < bytes.size(); ++cut) {
      ByteReader part(std::string_view(bytes).substr(0, cut));
      read.Restore(part);
      REQUIRE(part.failed());
      REQUIRE(read.IsEmpty());
    }
  }
  const auto refused = [](int64_t newest, uint64_t newest_code) {
    std::string bytes;
    ByteWriter out(bytes);
    out.Bool(true);
    out.Signed(newest);
    for (int i = 0; i < 191; ++i) out.Varint(2);
    out.Varint(newest_code);
    ByteReader in(bytes);
    HourRing read;
    read.Restore(in);
    return in.failed();
  };
  CHECK_FALSE(refused(5, 2));
  CHECK(refused(5, 0));  // the newest is not known
  CHECK(refused(5, 65536));
  CHECK(refused(int64_t{1} << 40, 2));
}

TEST_CASE("a high quantile of an hour is within a bucket of the exact one", "[estimators][hours]") {
  const uint32_t seed = tidemark::testing::Seed();
  INFO("seed " << seed);
  std::mt19937 random(seed);
  for (const size_t count : {size_t{1}, size_t{2}, size_t{12}, size_t{60}, size_t{3000}}) {
    for (int round = 0; round < 100; ++round) {
      HourSamples samples;
      std::vector<double> values;
      std::lognormal_distribution<double> usage(round % 5 - 3, 0.3);
      for (size_t i = 0; i < count; ++i) values.push_back(usage(random));
      for (const double value : values) samples.Add(value);
      const double largest = *std::ranges::max_element(values);
      REQUIRE(samples.largest() == largest);
      REQUIRE(samples.Quantile(1) == Approx(largest));
      double before = largest * (1 + 1e-12);
      for (const double share : {0.999, 0.98, 0.95, 0.9, 0.5}) {
        const double told = samples.Quantile(share);
        REQUIRE(told <= before);  // falls with the share, never above the largest
        before = told;
        const double exact = ExactQuantile(values, share);
        REQUIRE(told <= std::max(1.051 * exact, largest / 8));
        REQUIRE(told >= exact / 1.051);
      }
    }
  }
  CHECK(HourSamples().Quantile(0.98) == 0);
}

TEST_CASE("thousands of pods do not overflow an hour's counts", "[estimators][hours]") {
  HourSamples samples;
  std::vector<double> values;
  values.reserve(400'000);
  for (int i = 0; i < 400'000; ++i) values.push_back(1 + 0.001 * (i % 1000));
  for (const double value : values) samples.Add(value);
  samples.Add(10);  // one outlier does not hide the rest
  CHECK(samples.Quantile(0.98) == Approx(ExactQuantile(values, 0.98)).epsilon(0.05));
  CHECK(samples.largest() == 10);
}

TEST_CASE("the samples of an hour add up", "[estimators][hours]") {
  std::mt19937 random(7);
  HourSamples whole;
  HourSamples halves[2];
  for (int i = 0; i < 5000; ++i) {
    const double usage = std::lognormal_distribution<double>(0, 1)(random);
    whole.Add(usage);
    halves[i % 2].Add(usage);
  }
  HourSamples reversed = halves[1];
  reversed.Merge(halves[0]);
  halves[0].Merge(halves[1]);
  CHECK(Saved(halves[0]) == Saved(whole));
  CHECK(Saved(reversed) == Saved(whole));
  const std::string bytes = Saved(whole);
  ByteReader in(bytes);
  HourSamples read;
  read.Restore(in);
  CHECK(in.AtEnd());
  CHECK(Saved(read) == bytes);
  for (size_t cut = 0; cut < bytes.size(); ++cut) {
    ByteReader part(std::string_view(bytes).substr(0, cut));
    read.Restore(part);
    REQUIRE(part.failed());
  }
}
