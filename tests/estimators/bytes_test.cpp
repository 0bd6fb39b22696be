// What a histogram takes of memory: there are two for each container of a workload.
#include <iostream>
#include <memory>

#include "estimators/decaying_histogram.h"
#include "estimators/memory_peak_window.h"
#include "tests/catch.h"
#include "tests/remote_write/counting_new.h"

using namespace tidemark::estimators;
using namespace std::chrono_literals;
using tidemark::remote_write::test::HeldBytes;

namespace {

constexpr Time kStart{std::chrono::seconds(1'700'000'000)};
constexpr size_t kAllocations = 2;    // the histogram and its weights
constexpr size_t kAllocatorWord = 8;  // that malloc keeps beside each

}  // namespace

TEST_CASE("a compact histogram with 40 buckets takes 250 bytes at most", "[estimators][bytes]") {
  const HistogramOptions cpu = HistogramOptions::Cpu();
  const auto bytes_of = [&](Precision precision) {
    const size_t before = HeldBytes();
    const auto histogram = std::make_unique<DecayingHistogram>(&cpu, 24h, precision);
    for (int bucket = 20; bucket < 60; ++bucket) {
      const double value = (cpu.BucketStart(bucket) + cpu.BucketStart(bucket + 1)) / 2;
      for (int i = 0; i < 100; ++i) histogram->Add(value, 0.1, kStart + i * 1h);
    }
    REQUIRE(histogram->MaxBucket() - histogram->MinBucket() + 1 == 40);
    const size_t held = HeldBytes() - before;
    // The two ways to count agree, but for what malloc rounds up.
    CHECK(histogram->MemoryBytes() <= held);
    CHECK(held <= histogram->MemoryBytes() + kAllocations * 16);
    return held + kAllocations * kAllocatorWord;
  };
  const size_t exact = bytes_of(Precision::kExact);
  const size_t compact = bytes_of(Precision::kCompact);
  std::cout << "bytes of a histogram with 40 buckets: " << compact << " compact, " << exact
            << " exact\n";
  CHECK(compact <= 250);
  CHECK(exact <= 410);
}

TEST_CASE("the memory of buckets that hold nothing any more is given up", "[estimators][bytes]") {
  const HistogramOptions cpu = HistogramOptions::Cpu();
  DecayingHistogram histogram(&cpu, 24h, Precision::kCompact);
  histogram.Add(900, 0.1, kStart);  // one outlier, 130 buckets away
  for (int day = 0; day < 60; ++day) histogram.Add(0.5, 0.1, kStart + day * 24h);
  CHECK(histogram.MemoryBytes() <= sizeof histogram + 4 * 4);
}

TEST_CASE("the parts of a history have their known sizes", "[estimators][bytes]") {
  CHECK(sizeof(DecayingHistogram) <= 56);
  CHECK(sizeof(MemoryPeakWindow) <= 48);
}
