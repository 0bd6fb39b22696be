// Histograms with weights of 4 bytes say what those with 8 say.
#include <algorithm>
#include <cmath>
#include <random>

#include "estimators/decaying_histogram.h"
#include "tests/catch.h"
#include "tests/seed.h"

using namespace tidemark::estimators;
using namespace std::chrono_literals;

namespace {

constexpr Time kStart{std::chrono::seconds(1'700'006'400)};  // a midnight
const HistogramOptions kCpu = HistogramOptions::Cpu();

DecayingHistogram Compact() { return {&kCpu, 24h, Precision::kCompact}; }

struct Sample {
  double value;
  double weight;
  Time time;
};

std::vector<Sample> Samples(std::mt19937& random, size_t count, std::chrono::minutes within) {
  std::vector<Sample> samples(count);
  for (Sample& sample : samples) {
    sample.value = std::lognormal_distribution<double>(-1, 0.7)(random);
    sample.weight = random() % 2 == 0 ? 0.1 : 0.1 + static_cast<double>(random() % 8);
    sample.time = kStart + std::chrono::minutes(random() % static_cast<uint64_t>(within.count()));
  }
  std::sort(samples.begin(), samples.end(),
            [](const Sample& a, const Sample& b) { return a.time < b.time; });
  return samples;
}

/// The bucket whose end a percentile answered.
int BucketOf(double answer) { return kCpu.FindBucket(answer * (1 - 1e-6)); }

/// Whether every percentile of `actual` is at most one bucket from where `wanted` has it, or as far
/// as a thousandth of the weight moves it.
bool Agree(const DecayingHistogram& actual, const DecayingHistogram& wanted) {
  for (const double p : {0.01, 0.1, 0.5, 0.9, 0.95, 0.99}) {
    const double answer = actual.Percentile(p);
    if (std::abs(BucketOf(answer) - BucketOf(wanted.Percentile(p))) <= 1) continue;
    if (answer >= wanted.Percentile(p - 0.001) && answer <= wanted.Percentile(p + 0.001)) continue;
    return false;
  }
  return true;
}

}  // namespace

TEST_CASE("67 million equal samples are all counted in 4 bytes", "[estimators][compact]") {
  constexpr int kCount = 1 << 26;
  // Just adding floats stops at 2^24: what is tested here is not given.
  volatile float plain = 0x1p24F;
  plain = plain + 1;
  REQUIRE(plain == 0x1p24F);
  for (const double weight : {1.0, 0.1}) {
    DecayingHistogram histogram = Compact();
    DecayCache cache;
    for (int i = 0; i < kCount; ++i) histogram.Add(0.5, weight, kStart, &cache);
    const int bucket = histogram.MaxBucket();
    CHECK(histogram.TotalWeight() == Approx(kCount * weight).epsilon(1e-7));
    CHECK(histogram.Weight(bucket) == Approx(kCount * weight).epsilon(1e-3));
    // As good as it says: a ten thousandth.
    CHECK(histogram.Weight(bucket) == Approx(kCount * weight).epsilon(1e-4));
  }
}

TEST_CASE("small samples are not lost in a heavy bucket", "[estimators][compact]") {
  // Of 10,000 pods for a week, beside those of one pod.
  for (const double heavy : {1e5, 1e7, 1e9}) {
    DecayingHistogram histogram = Compact();
    DecayCache cache;
    histogram.Add(0.5, heavy, kStart, &cache);
    constexpr int kCount = 4'000'000;
    for (int i = 0; i < kCount; ++i) {
      histogram.Add(0.5, 0.1, kStart + std::chrono::minutes(i % 1440), &cache);
    }
    // The mean of 2^x over a day is 1 / ln 2.
    const double added = kCount * 0.1 / std::log(2.0);
    CHECK(histogram.Weight(histogram.MaxBucket()) - heavy == Approx(added).epsilon(0.01));
  }
}

TEST_CASE("compact and exact percentiles agree within one bucket",
          "[estimators][compact][property]") {
  const uint32_t seed = tidemark::testing::Seed();
  INFO("seed " << seed);
  std::mt19937 random(seed);
  for (const std::chrono::minutes within :
       {std::chrono::minutes(24h * 8), 1min, std::chrono::minutes(24h * 400)}) {
    for (int round = 0; round < 20; ++round) {
      DecayingHistogram compact = Compact();
      DecayingHistogram exact(&kCpu, 24h);
      for (const Sample& s : Samples(random, 20'000, within)) {
        REQUIRE(compact.Add(s.value, s.weight, s.time));
        REQUIRE(exact.Add(s.value, s.weight, s.time));
      }
      REQUIRE(Agree(compact, exact));
      REQUIRE_FALSE(compact.IsEmpty());
    }
  }
}

TEST_CASE("compact parts merge to what the exact whole is", "[estimators][compact][property]") {
  const uint32_t seed = tidemark::testing::Seed();
  INFO("seed " << seed);
  std::mt19937 random(seed);
  for (int round = 0; round < 20; ++round) {
    DecayingHistogram whole(&kCpu, 24h);
    std::vector<DecayingHistogram> parts(4, Compact());
    parts.emplace_back(&kCpu, 24h, Precision::kExact);
    for (const Sample& s : Samples(random, 20'000, 24h * 200)) {
      whole.Add(s.value, s.weight, s.time);
      parts[random() % parts.size()].Add(s.value, s.weight, s.time);
    }
    DecayingHistogram exact(&kCpu, 24h);
    DecayingHistogram compact = Compact();
    for (const DecayingHistogram& part : parts) {
      DecayingHistogram one = part;
      DecayingHistogram other = part;
      REQUIRE(exact.Merge(one));
      REQUIRE(compact.Merge(other));
    }
    CHECK(compact.precision() == Precision::kCompact);
    CHECK(exact.precision() == Precision::kExact);
    REQUIRE(Agree(compact, whole));
    REQUIRE(Agree(exact, whole));
    DecayingHistogram from_nothing = Compact();
    REQUIRE(from_nothing.Merge(whole));
    REQUIRE(Agree(from_nothing, whole));
  }
}

TEST_CASE("a peak that was added and taken back leaves nothing occupied",
          "[estimators][compact][property]") {
  const uint32_t seed = tidemark::testing::Seed();
  INFO("seed " << seed);
  std::mt19937 random(seed);
  for (int round = 0; round < 200; ++round) {
    DecayingHistogram histogram = Compact();
    const auto samples = Samples(random, random() % 300, 24h * 60);
    for (const Sample& s : samples) histogram.Add(s.value, s.weight, s.time);
    const bool was_empty = histogram.IsEmpty();
    const int first = histogram.MinBucket();
    const int last = histogram.MaxBucket();
    const Time at = kStart + std::chrono::hours(random() % 2000);
    for (const double peak : {0.001, 900.0}) {
      REQUIRE(histogram.Add(peak, 1, at));
      const int bucket = kCpu.FindBucket(peak);
      REQUIRE(histogram.Weight(bucket) > 0);
      REQUIRE(histogram.Subtract(peak, 1, at));
      REQUIRE(histogram.Weight(bucket) == 0);
      // Unless what was there has become nothing beside it.
      if (!histogram.IsEmpty()) {
        REQUIRE(histogram.MinBucket() >= first);
        REQUIRE(histogram.MaxBucket() <= last);
      }
    }
    if (was_empty) REQUIRE(histogram.IsEmpty());
  }
}

TEST_CASE("what is added and taken back in any order leaves a compact histogram empty",
          "[estimators][compact][property]") {
  const uint32_t seed = tidemark::testing::Seed();
  INFO("seed " << seed);
  std::mt19937 random(seed);
  for (int round = 0; round < 100; ++round) {
    DecayingHistogram histogram = Compact();
    auto samples = Samples(random, 1 + random() % 300, 72h);
    for (const Sample& s : samples) REQUIRE(histogram.Add(s.value, s.weight, s.time));
    REQUIRE_FALSE(histogram.IsEmpty());
    std::shuffle(samples.begin(), samples.end(), random);
    for (const Sample& s : samples) REQUIRE(histogram.Subtract(s.value, s.weight, s.time));
    REQUIRE(histogram.IsEmpty());
    REQUIRE(histogram.TotalWeight() == 0);
    REQUIRE(histogram.Percentile(0.9) == 0);
    REQUIRE(histogram.MemoryBytes() == sizeof histogram);
  }
}

TEST_CASE("no phantom stays when weights have grown", "[estimators][compact]") {
  // 95 half-lives after the reference, where the exact histogram's epsilon is nothing beside the
  // rounding of a weight: values of one bucket are added and taken back in another order.
  const auto phantoms = [](Precision precision) {
    std::mt19937 random(1);
    int count = 0;
    for (int round = 0; round < 100; ++round) {
      DecayingHistogram histogram(&kCpu, 24h, precision);
      histogram.Add(5, 1, kStart);
      const Time late = kStart + 24h * 95;
      histogram.Add(5, 1, late);
      Time times[5];
      for (Time& time : times) time = late + std::chrono::minutes(random() % 1440);
      for (const Time time : times) histogram.Add(0.02, 0.1, time);
      std::shuffle(std::begin(times), std::end(times), random);
      for (const Time time : times) histogram.Subtract(0.02, 0.1, time);
      count += histogram.Percentile(0) < 5 ? 1 : 0;
    }
    return count;
  };
  CHECK(phantoms(Precision::kExact) > 0);
  CHECK(phantoms(Precision::kCompact) == 0);
}

TEST_CASE("what has become too little to count is not the lowest percentile",
          "[estimators][compact]") {
  DecayingHistogram histogram = Compact();
  histogram.Add(0.02, 0.1, kStart);
  histogram.Add(900, 0.1, kStart);
  for (int day = 0; day <= 40; ++day) {
    histogram.Add(0.5, 0.1, kStart + day * 24h);
    INFO("day " << day);
    if (day == 29) continue;  // 2^-30 of the total, which is twice the newest sample
    const bool counts = day < 29;
    CHECK((histogram.MinBucket() == 1) == counts);
    CHECK((histogram.Percentile(0) < 0.1) == counts);
    CHECK((histogram.Percentile(1) > 100) == counts);
  }
}

TEST_CASE("samples too heavy for a float are refused", "[estimators][compact]") {
  DecayingHistogram histogram = Compact();
  CHECK_FALSE(histogram.Add(1, 1.1e15, kStart));
  CHECK_FALSE(histogram.ReferenceTime());
  for (int day = 0; day < 400; ++day) CHECK(histogram.Add(1, 1e15, kStart + day * 24h));
  CHECK(std::isfinite(histogram.TotalWeight()));
  CHECK(histogram.Weight(histogram.MaxBucket()) == Approx(histogram.TotalWeight()).epsilon(1e-5));
  CHECK(histogram.Add(1, 1, kStart - 24h * 400));  // so late that it is nothing
  DecayingHistogram late = Compact();
  late.Add(1, 1, kStart);
  const double before = late.TotalWeight();
  CHECK(late.Add(1, 1, kStart - 24h * 200));
  CHECK(late.TotalWeight() == before);
}

TEST_CASE("a histogram of any age becomes compact and stays what it was",
          "[estimators][compact][property]") {
  const uint32_t seed = tidemark::testing::Seed();
  INFO("seed " << seed);
  std::mt19937 random(seed);
  for (const int days : {1, 8, 40, 90, 99, 110, 300}) {
    INFO(days << " days");
    DecayingHistogram histogram(&kCpu, 24h);
    for (const Sample& s : Samples(random, 5000, std::chrono::minutes(24h * days))) {
      histogram.Add(s.value, s.weight, s.time);
    }
    const DecayingHistogram exact = histogram;
    histogram.SetPrecision(Precision::kCompact);
    CHECK(histogram.precision() == Precision::kCompact);
    CHECK(histogram.TotalWeight() <= DecayingHistogram::kMaxCompactTotalWeight);
    CHECK(Agree(histogram, exact));
    // A new sample weighs against it what it weighed before.
    const Time now = kStart + days * 24h;
    const auto share = [now](DecayingHistogram h) {
      const double before = h.TotalWeight();
      REQUIRE(h.Add(0.5, 100, now));
      return before / h.TotalWeight();
    };
    if (days < 99) CHECK(share(histogram) == Approx(share(exact)).epsilon(1e-6));
    CHECK(histogram.MemoryBytes() < exact.MemoryBytes());
    histogram.SetPrecision(Precision::kExact);
    CHECK(histogram.precision() == Precision::kExact);
    CHECK(Agree(histogram, exact));
  }
}

TEST_CASE("a decay cache changes no bit", "[estimators][compact]") {
  std::mt19937 random(7);
  for (const Precision precision : {Precision::kExact, Precision::kCompact}) {
    DecayCache cache;
    std::vector<DecayingHistogram> with;
    std::vector<DecayingHistogram> without;
    for (const std::chrono::hours half_life : {6h, 24h, 168h}) {
      with.emplace_back(&kCpu, half_life, precision);
      without.emplace_back(&kCpu, half_life, precision);
    }
    for (const Sample& s : Samples(random, 20'000, 24h * 30)) {
      const size_t i = random() % with.size();
      REQUIRE(with[i].Add(s.value, s.weight, s.time, &cache));
      REQUIRE(without[i].Add(s.value, s.weight, s.time));
      REQUIRE(with[i].TotalWeight() == without[i].TotalWeight());
    }
    for (size_t i = 0; i < with.size(); ++i) {
      CHECK(with[i].SaveCheckpoint() == without[i].SaveCheckpoint());
    }
  }
}
