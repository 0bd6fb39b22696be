// What the estimators cost: a sample, a percentile, a recommendation, bytes of a histogram.
//
//   estimators_bench [ROUNDS]     default 200
//
// The exact and the compact histogram of estimators/ and a naive one do the same work in turns,
// some ten thousand operations at a time; the best turn of each counts. Prints one line for each:
// `SYSTEM STEP VALUE UNIT`, and last what the workload of the benchmark was.

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "bench/estimators/heap_bytes.h"
#include "bench/estimators/naive_histogram.h"
#include "estimators/amount.h"
#include "estimators/decaying_histogram.h"
#include "estimators/request_estimator.h"

namespace {

using namespace tidemark;
using namespace tidemark::estimators;
using bench::NaiveHistogram;

constexpr size_t kSamples = 4096;  // a power of two, as are the next ones
constexpr size_t kHistograms = 16;
constexpr int64_t kStart = 1'700'000'000'000'000'000;
constexpr int64_t kMinute = 60'000'000'000;
constexpr double kWeight = 0.1;
constexpr double kPoints[] = {0.5, 0.9, 0.95};

struct Sample {
  double cores;
  double bytes;
  int64_t time;
};

/// Usage around half a core and 400 MB, a minute apart; `spread` in buckets.
std::vector<Sample> MakeSamples(uint32_t seed, double spread) {
  std::mt19937 random(seed);
  std::vector<Sample> samples(kSamples);
  for (size_t i = 0; i < kSamples; ++i) {
    const auto noise = [&] {
      return std::clamp(std::normal_distribution<double>()(random) / 3, -1.0, 1.0) * spread / 2 *
             std::log(1.05);
    };
    samples[i] = {0.5 * std::exp(noise()), std::floor(1e9 * std::exp(noise())),
                  kStart + static_cast<int64_t>(i) * kMinute};
  }
  return samples;
}

/// Keeps the compiler from leaving work out.
template <class T>
void Keep(const T& value) {
  asm volatile("" : : "r,m"(value) : "memory");
}

class Steps {
 public:
  void Add(std::string name, size_t operations, std::function<void()> work) {
    steps_.push_back({std::move(name), operations, std::move(work), HUGE_VAL});
  }

  void Run(int rounds) {
    for (int round = 0; round < rounds; ++round) {
      for (Step& step : steps_) {
        const auto began = std::chrono::steady_clock::now();
        step.work();
        const std::chrono::duration<double, std::nano> took =
            std::chrono::steady_clock::now() - began;
        step.best = std::min(step.best, took.count() / static_cast<double>(step.operations));
      }
    }
    for (const Step& step : steps_) std::printf("%s %.2f ns\n", step.name.c_str(), step.best);
  }

 private:
  struct Step {
    std::string name;
    size_t operations;
    std::function<void()> work;
    double best;
  };
  std::vector<Step> steps_;
};

struct Layouts {
  HistogramOptions cpu = HistogramOptions::Cpu();
  HistogramOptions memory = HistogramOptions::Memory();
};

Time ToTime(int64_t nanoseconds) { return Time(std::chrono::nanoseconds(nanoseconds)); }

/// The two histograms of as many containers.
struct Ours {
  Ours(const Layouts& layouts, const std::vector<Sample>& samples, Precision precision) {
    for (size_t h = 0; h < kHistograms; ++h) {
      cpu.emplace_back(&layouts.cpu, std::chrono::hours(24), precision);
      memory.emplace_back(&layouts.memory, std::chrono::hours(24), precision);
      for (size_t i = 0; i < kSamples; ++i) {
        const Sample& sample = samples[(i + h * 100) % kSamples];
        if (i % (h + 1) == 0) cpu[h].Add(sample.cores, kWeight, ToTime(sample.time));
        if (i % (h + 1) == 0) memory[h].Add(sample.bytes, 1, ToTime(sample.time));
      }
    }
  }
  std::vector<DecayingHistogram> cpu;
  std::vector<DecayingHistogram> memory;
};

struct Naive {
  explicit Naive(const std::vector<Sample>& samples) {
    for (size_t h = 0; h < kHistograms; ++h) {
      cpu.emplace_back(0.01, 1000);
      memory.emplace_back(1e7, 1e12);
      for (size_t i = 0; i < kSamples; ++i) {
        const Sample& sample = samples[(i + h * 100) % kSamples];
        if (i % (h + 1) == 0) cpu[h].Add(sample.cores, kWeight, sample.time);
        if (i % (h + 1) == 0) memory[h].Add(sample.bytes, 1, sample.time);
      }
    }
  }
  std::vector<NaiveHistogram> cpu;
  std::vector<NaiveHistogram> memory;
};

void AddOurSteps(Steps& steps, const std::string& name, Ours& ours, const Layouts& layouts,
                 const std::vector<Sample>& samples) {
  steps.Add(name + " add", kSamples, [&] {
    for (const Sample& sample : samples) {
      Keep(ours.cpu[0].Add(sample.cores, kWeight, ToTime(sample.time)));
    }
  });
  // As the engine does: the minute of many containers, then the next one.
  steps.Add(name + " add_same_minute", kSamples, [&] {
    DecayCache cache;
    for (size_t i = 0; i < kSamples; ++i) {
      Keep(ours.cpu[i % kHistograms].Add(samples[i].cores, kWeight,
                                         ToTime(samples[i / kHistograms].time), &cache));
    }
  });
  steps.Add(name + " percentile", kSamples, [&] {
    for (size_t i = 0; i < kSamples; ++i) Keep(ours.cpu[i % kHistograms].Percentile(0.95));
  });
  steps.Add(name + " recommend", kSamples, [&] {
    for (size_t i = 0; i < kSamples; ++i) {
      for (size_t container = 0; container < 2; ++container) {
        for (const bool is_cpu : {true, false}) {
          const auto& histogram = (is_cpu ? ours.cpu : ours.memory)[(i + container) % kHistograms];
          double answers[3];
          histogram.Percentiles(kPoints, answers);
          const RequestPolicy policy{.minimum = ShareOfMinimum(is_cpu ? 25 : 262'144'000, 2),
                                     .rounding = is_cpu ? 1 : 1'048'576,
                                     .confidence = 2.5};
          Keep(EstimateRequest({.target = answers[1], .lower = answers[0], .upper = answers[2]},
                               policy, is_cpu ? 1000 : 1));
        }
      }
    }
  });
  steps.Add(name + " find_bucket", kSamples, [&] {
    for (const Sample& sample : samples) Keep(layouts.cpu.FindBucket(sample.cores));
  });
  auto merged = std::make_shared<DecayingHistogram>(ours.cpu[0]);
  steps.Add(name + " merge", kSamples, [&ours, merged] {
    *merged = ours.cpu[0];
    for (size_t i = 0; i < kSamples; ++i) {
      if (!merged->Merge(ours.cpu[i % kHistograms])) std::abort();
    }
  });
  steps.Add(name + " save_checkpoint", kSamples / 16, [&] {
    for (size_t i = 0; i < kSamples / 16; ++i) Keep(ours.cpu[i % kHistograms].SaveCheckpoint());
  });
  steps.Add(name + " save", kSamples / 16, [&] {
    std::string bytes;
    for (size_t i = 0; i < kSamples / 16; ++i) {
      bytes.clear();
      ByteWriter out(bytes);
      ours.cpu[i % kHistograms].Save(out);
      Keep(bytes);
    }
  });
}

int64_t AddMargin(int64_t amount) {
  return amount + static_cast<int64_t>(static_cast<double>(amount) * 0.15);
}

void AddNaiveSteps(Steps& steps, Naive& naive, const std::vector<Sample>& samples) {
  steps.Add("naive add", kSamples, [&] {
    for (const Sample& sample : samples) naive.cpu[0].Add(sample.cores, kWeight, sample.time);
  });
  steps.Add("naive add_same_minute", kSamples, [&] {
    for (size_t i = 0; i < kSamples; ++i) {
      naive.cpu[i % kHistograms].Add(samples[i].cores, kWeight, samples[i / kHistograms].time);
    }
  });
  steps.Add("naive percentile", kSamples, [&] {
    for (size_t i = 0; i < kSamples; ++i) Keep(naive.cpu[i % kHistograms].Percentile(0.95));
  });
  steps.Add("naive recommend", kSamples, [&] {
    for (size_t i = 0; i < kSamples; ++i) {
      for (size_t container = 0; container < 2; ++container) {
        for (const bool is_cpu : {true, false}) {
          const auto& histogram =
              (is_cpu ? naive.cpu : naive.memory)[(i + container) % kHistograms];
          const int64_t minimum = (is_cpu ? 25 : 262'144'000) / 2;
          const double factors[] = {std::pow(1 + 0.001 / 2.5, -2), 1, 1 + 1 / 2.5};
          for (size_t p = 0; p < 3; ++p) {
            const double base = histogram.Percentile(kPoints[p]) * (is_cpu ? 1000 : 1);
            const int64_t amount = AddMargin(static_cast<int64_t>(base));
            const auto bound = static_cast<int64_t>(static_cast<double>(amount) * factors[p]);
            Keep(std::max(bound, minimum));
          }
        }
      }
    }
  });
  steps.Add("naive find_bucket", kSamples, [&] {
    for (const Sample& sample : samples) Keep(naive.cpu[0].FindBucket(sample.cores));
  });
  auto merged = std::make_shared<NaiveHistogram>(naive.cpu[0]);
  steps.Add("naive merge", kSamples, [&naive, merged] {
    *merged = naive.cpu[0];
    for (size_t i = 0; i < kSamples; ++i) merged->Merge(naive.cpu[i % kHistograms]);
  });
  steps.Add("naive save_checkpoint", kSamples / 16, [&] {
    for (size_t i = 0; i < kSamples / 16; ++i) Keep(naive.cpu[i % kHistograms].SaveCheckpoint());
  });
}

/// Heap bytes of one histogram that `make` puts on the heap.
template <class Make>
void SayBytes(const char* name, Make&& make) {
  const size_t before = bench::HeapBytes();
  const auto made = make();
  std::printf("%s bytes %zu B\n", name, bench::HeapBytes() - before);
}

}  // namespace

int main(int argc, char** argv) {
  const int rounds = argc > 1 ? std::atoi(argv[1]) : 200;
  if (rounds < 1) {
    std::fputs("usage: estimators_bench [ROUNDS, at least 1]\n", stderr);
    return 2;
  }
  const Layouts layouts;
  const std::vector<Sample> samples = MakeSamples(1, 93);
  Ours exact(layouts, samples, Precision::kExact);
  Ours compact(layouts, samples, Precision::kCompact);
  Naive naive(samples);
  for (size_t h = 0; h < kHistograms; ++h) {
    for (const double p : kPoints) {
      // To pow and the table of starts a start is not the same to the last bit.
      const double ours = exact.cpu[h].Percentile(p);
      if (std::abs(ours - naive.cpu[h].Percentile(p)) > 1e-9 * ours) {
        std::fputs("the naive histogram does not say what the exact one says\n", stderr);
        return 1;
      }
    }
  }
  const int occupied = exact.cpu[0].MaxBucket() - exact.cpu[0].MinBucket() + 1;

  Steps steps;
  AddOurSteps(steps, "exact", exact, layouts, samples);
  AddOurSteps(steps, "compact", compact, layouts, samples);
  AddNaiveSteps(steps, naive, samples);
  steps.Run(rounds);

  const std::vector<Sample> narrow = MakeSamples(2, 58);
  int touched = 0;
  const auto make = [&](Precision precision) {
    auto made =
        std::make_unique<DecayingHistogram>(&layouts.cpu, std::chrono::hours(24), precision);
    for (const Sample& sample : narrow) made->Add(sample.cores, kWeight, ToTime(sample.time));
    touched = made->MaxBucket() - made->MinBucket() + 1;
    return made;
  };
  SayBytes("exact", [&] { return make(Precision::kExact); });
  SayBytes("compact", [&] { return make(Precision::kCompact); });
  SayBytes("naive", [&] { return std::make_unique<NaiveHistogram>(0.01, 1000.0); });
  std::printf("%d buckets occupied, %d for bytes; %d rounds of %zu operations\n", occupied, touched,
              rounds, kSamples);
  return 0;
}
