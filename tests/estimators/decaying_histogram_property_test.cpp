#include <algorithm>
#include <cmath>
#include <limits>
#include <random>

#include "estimators/decaying_histogram.h"
#include "tests/catch.h"
#include "tests/estimators/dense_histogram.h"
#include "tests/seed.h"

using namespace tidemark::estimators;
using namespace std::chrono_literals;

namespace {

constexpr Time kStart{std::chrono::seconds(1'700'000'000)};

struct Sample {
  double value;
  double weight;
  Time time;
};

class Random {
 public:
  explicit Random(uint32_t seed) : engine_(seed) {}

  double Between(double low, double high) {
    return std::uniform_real_distribution<double>(low, high)(engine_);
  }
  int Below(int limit) { return std::uniform_int_distribution<int>(0, limit - 1)(engine_); }
  /// From 1 to `most`.
  size_t Count(size_t most) { return std::uniform_int_distribution<size_t>(1, most)(engine_); }
  /// A usage around `middle`, over three orders of magnitude.
  double Usage(double middle) {
    return std::lognormal_distribution<double>(std::log(middle), 1)(engine_);
  }
  template <class T>
  void Shuffle(std::vector<T>& items) {
    std::shuffle(items.begin(), items.end(), engine_);
  }

  std::vector<Sample> Samples(size_t count, std::chrono::nanoseconds within) {
    std::vector<Sample> samples(count);
    for (Sample& sample : samples) {
      const double at = Between(0, static_cast<double>(within.count()));
      sample = {Usage(0.5), Between(0.1, 2),
                kStart + std::chrono::nanoseconds(static_cast<int64_t>(at))};
    }
    return samples;
  }

 private:
  std::mt19937 engine_;
};

bool Equal(const DecayingHistogram& sparse, const DenseHistogram& dense) {
  for (const double p : {0.0, 0.01, 0.5, 0.9, 0.95, 0.99, 1.0}) {
    if (sparse.Percentile(p) != dense.Percentile(p)) return false;
  }
  return sparse.TotalWeight() == dense.total() && sparse.MinBucket() == dense.min() &&
         sparse.MaxBucket() == dense.max() && sparse.ReferenceTime() == dense.reference() &&
         sparse.SaveCheckpoint() == dense.Save();
}

/// The bucket whose end (or start, if it is the last) a percentile answered.
int BucketOf(const DecayingHistogram& histogram, double answer) {
  int bucket = 0;
  while (bucket + 1 < histogram.options().NumBuckets() &&
         histogram.options().BucketStart(bucket) < answer)
    ++bucket;
  return bucket;
}

}  // namespace

TEST_CASE("the stored range behaves as all buckets would, to the last bit",
          "[estimators][histogram][property]") {
  const uint32_t seed = tidemark::testing::Seed();
  INFO("seed " << seed);
  Random random(seed);
  const HistogramOptions layouts[] = {HistogramOptions::Cpu(),
                                      *HistogramOptions::Exponential(1000, 0.1, 2, 0.0001),
                                      *HistogramOptions::Linear(10, 0.5, 0.0001)};
  const std::chrono::seconds half_lives[] = {86'400s, 25'200s, 77s};
  for (int round = 0; round < 150; ++round) {
    INFO("round " << round);
    const HistogramOptions& options = layouts[round % 3];
    const std::chrono::seconds half_life = half_lives[random.Below(3)];
    std::vector<DecayingHistogram> sparse(2, DecayingHistogram(&options, half_life));
    std::vector<DenseHistogram> dense(2, DenseHistogram(&options, half_life));
    std::vector<Sample> added;
    Time now = kStart;
    for (int step = 0; step < 200; ++step) {
      INFO("step " << step);
      const auto one = static_cast<size_t>(random.Below(2));
      const int action = random.Below(100);
      const double jump = random.Below(40) == 0 ? random.Between(0, 250) : random.Between(-1, 1.5);
      now += std::chrono::nanoseconds(
          static_cast<int64_t>(jump * 1e9 * static_cast<double>(half_life.count())));
      const double weight = random.Below(4) == 0 ? random.Between(0, 0.0002) : random.Between(0, 3);
      if (action < 70) {
        const Sample sample{random.Usage(1) - 0.1, weight, now};
        added.push_back(sample);
        REQUIRE(sparse[one].Add(sample.value, sample.weight, sample.time));
        dense[one].Add(sample.value, sample.weight, sample.time);
      } else if (action < 90 && !added.empty()) {
        const Sample sample =
            added[static_cast<size_t>(random.Below(static_cast<int>(added.size())))];
        REQUIRE(sparse[one].Subtract(sample.value, sample.weight, sample.time));
        dense[one].Subtract(sample.value, sample.weight, sample.time);
      } else if (action < 95) {
        REQUIRE(sparse[one].Merge(sparse[1 - one]));
        dense[one].Merge(dense[1 - one]);
      } else if (action < 98) {
        const HistogramCheckpoint checkpoint = sparse[1 - one].SaveCheckpoint();
        REQUIRE(sparse[one].LoadCheckpoint(checkpoint));
        dense[one].Load(checkpoint);
      } else {
        sparse[one] = sparse[1 - one];
        dense[one] = dense[1 - one];
      }
      REQUIRE(Equal(sparse[0], dense[0]));
      REQUIRE(Equal(sparse[1], dense[1]));
    }
  }
}

TEST_CASE("a higher percentile is never a smaller answer", "[estimators][histogram][property]") {
  const uint32_t seed = tidemark::testing::Seed();
  INFO("seed " << seed);
  Random random(seed);
  const HistogramOptions options = HistogramOptions::Cpu();
  for (int round = 0; round < 50; ++round) {
    DecayingHistogram histogram(&options, 24h);
    const auto count = random.Count(200);
    for (const Sample& s : random.Samples(count, 24h * 300))
      REQUIRE(histogram.Add(s.value, s.weight, s.time));
    double before = 0;
    for (int i = 0; i <= 1000; ++i) {
      const double answer = histogram.Percentile(i / 1000.0);
      REQUIRE(answer >= before);
      before = answer;
    }
    CHECK(before > 0);
  }
}

TEST_CASE("merged parts equal the whole", "[estimators][histogram][property]") {
  const uint32_t seed = tidemark::testing::Seed();
  INFO("seed " << seed);
  Random random(seed);
  const HistogramOptions options = HistogramOptions::Cpu();
  for (int round = 0; round < 50; ++round) {
    DecayingHistogram whole(&options, 24h);
    std::vector<DecayingHistogram> parts(5, DecayingHistogram(&options, 24h));
    for (const Sample& s : random.Samples(500, 24h * 8)) {
      REQUIRE(whole.Add(s.value, s.weight, s.time));
      REQUIRE(parts[static_cast<size_t>(random.Below(5))].Add(s.value, s.weight, s.time));
    }
    for (size_t i = 1; i < parts.size(); ++i) REQUIRE(parts[0].Merge(parts[i]));
    // References differ by whole half-lives: compare what the weights are worth at the whole's
    // reference.
    const std::chrono::duration<double> apart = *parts[0].ReferenceTime() - *whole.ReferenceTime();
    const double factor = std::exp2(apart / std::chrono::duration<double>(24h));
    CHECK(parts[0].TotalWeight() * factor == Approx(whole.TotalWeight()).epsilon(1e-9));
    for (const double p : {0.1, 0.5, 0.9, 0.95, 0.99}) {
      // The order of summation may tip a threshold that is met exactly; so look a billionth to
      // either side.
      CHECK(parts[0].Percentile(p) >= whole.Percentile(p * (1 - 1e-9)));
      CHECK(parts[0].Percentile(p) <= whole.Percentile(p * (1 + 1e-9)));
    }
    const HistogramCheckpoint merged = parts[0].SaveCheckpoint();
    const HistogramCheckpoint direct = whole.SaveCheckpoint();
    REQUIRE(merged.buckets.size() == direct.buckets.size());
    for (size_t i = 0; i < merged.buckets.size(); ++i) {
      CHECK(merged.buckets[i].bucket == direct.buckets[i].bucket);
      CHECK(std::abs(int64_t{merged.buckets[i].weight} - int64_t{direct.buckets[i].weight}) <= 1);
    }
  }
}

TEST_CASE("what is added and taken back leaves nothing", "[estimators][histogram][property]") {
  const uint32_t seed = tidemark::testing::Seed();
  INFO("seed " << seed);
  Random random(seed);
  const HistogramOptions options = HistogramOptions::Cpu();
  for (int round = 0; round < 50; ++round) {
    DecayingHistogram histogram(&options, 24h);
    std::vector<Sample> samples = random.Samples(random.Count(300), 72h);
    for (const Sample& s : samples) REQUIRE(histogram.Add(s.value, s.weight, s.time));
    CHECK_FALSE(histogram.IsEmpty());
    random.Shuffle(samples);
    for (const Sample& s : samples) REQUIRE(histogram.Subtract(s.value, s.weight, s.time));
    CHECK(histogram.IsEmpty());
    CHECK(histogram.TotalWeight() == 0);
    CHECK(histogram.Percentile(0.9) == 0);
  }
}

TEST_CASE("a checkpoint moves the middle percentiles by at most one bucket",
          "[estimators][histogram][property]") {
  const uint32_t seed = tidemark::testing::Seed();
  INFO("seed " << seed);
  Random random(seed);
  const HistogramOptions options = HistogramOptions::Cpu();
  for (int round = 0; round < 100; ++round) {
    DecayingHistogram histogram(&options, 24h);
    const auto count = random.Count(2000);
    for (const Sample& s : random.Samples(count, 24h * 8))
      REQUIRE(histogram.Add(s.value, s.weight, s.time));
    DecayingHistogram loaded(&options, 24h);
    REQUIRE(loaded.LoadCheckpoint(histogram.SaveCheckpoint()));
    CHECK(loaded.TotalWeight() == histogram.TotalWeight());
    for (const double p : {0.5, 0.6, 0.7, 0.8, 0.9, 0.95}) {
      INFO("percentile " << p << " was " << histogram.Percentile(p) << ", is "
                         << loaded.Percentile(p));
      // In a histogram of few samples the next occupied bucket can be far away.
      const int was = BucketOf(histogram, histogram.Percentile(p));
      const int is = BucketOf(histogram, loaded.Percentile(p));
      if (count >= 500) CHECK(std::abs(was - is) <= 1);
      CHECK(loaded.Percentile(p) >= histogram.Percentile(p - 0.01));
      CHECK(loaded.Percentile(p) <= histogram.Percentile(p + 0.01));
    }
  }
}

TEST_CASE("what is no number changes nothing, whatever is there",
          "[estimators][histogram][property]") {
  const uint32_t seed = tidemark::testing::Seed();
  INFO("seed " << seed);
  Random random(seed);
  const HistogramOptions options = HistogramOptions::Cpu();
  constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  DecayingHistogram clean(&options, 24h);
  DecayingHistogram attacked(&options, 24h);
  for (const Sample& s : random.Samples(500, 24h * 300)) {
    REQUIRE(clean.Add(s.value, s.weight, s.time));
    REQUIRE(attacked.Add(s.value, s.weight, s.time));
    const double bad_values[] = {kNan, kInfinity, -kInfinity};
    const double bad_weights[] = {kNan, kInfinity, -kInfinity, -1, -s.weight};
    const Time time = s.time + std::chrono::hours(random.Below(10'000));
    REQUIRE_FALSE(attacked.Add(bad_values[random.Below(3)], s.weight, time));
    REQUIRE_FALSE(attacked.Add(s.value, bad_weights[random.Below(5)], time));
    REQUIRE_FALSE(attacked.Subtract(bad_values[random.Below(3)], s.weight, time));
    REQUIRE_FALSE(attacked.Subtract(s.value, bad_weights[random.Below(5)], time));
    REQUIRE(attacked.SaveCheckpoint() == clean.SaveCheckpoint());
    REQUIRE(attacked.ReferenceTime() == clean.ReferenceTime());
    REQUIRE(attacked.TotalWeight() == clean.TotalWeight());
  }
}
