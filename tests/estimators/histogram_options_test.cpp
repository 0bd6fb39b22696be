#include "estimators/histogram_options.h"

#include <cmath>
#include <limits>

#include "tests/catch.h"

using namespace tidemark::estimators;

namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

}  // namespace

TEST_CASE("the layouts for CPU and memory have the starts of VPA",
          "[estimators][histogram_options]") {
  const HistogramOptions cpu = HistogramOptions::Cpu();
  CHECK(cpu.NumBuckets() == 176);
  CHECK(cpu.BucketStart(0) == 0);
  CHECK(cpu.BucketStart(1) == 0.01);
  CHECK(cpu.BucketStart(2) == 0.020499999999999987);
  CHECK(cpu.BucketStart(3) == 0.031525);
  CHECK(cpu.BucketStart(175) == 1021.1094089048601);
  const HistogramOptions memory = HistogramOptions::Memory();
  CHECK(memory.NumBuckets() == 176);
  CHECK(memory.BucketStart(2) == 20499999.99999999);
  CHECK(memory.BucketStart(175) == 1.02110940890486e12);
  CHECK(cpu == HistogramOptions::Cpu());
  CHECK(cpu != memory);
}

TEST_CASE("every value has a bucket", "[estimators][histogram_options]") {
  const auto linear = HistogramOptions::Linear(10, 0.5, 0.001);
  REQUIRE(linear);
  for (const HistogramOptions& options :
       {HistogramOptions::Cpu(), HistogramOptions::Memory(), *linear}) {
    const int last = options.NumBuckets() - 1;
    for (const double value :
         {0.0, -0.0, -1.0, -1e308, -kInfinity, std::nan(""), -std::nan(""), 5e-324}) {
      CHECK(options.FindBucket(value) == 0);
    }
    for (const double value : {1e30, 1e307, 1e308, std::numeric_limits<double>::max(), kInfinity}) {
      CHECK(options.FindBucket(value) == last);
    }
    int before = 0;
    for (double value = options.BucketStart(1) / 8; value < options.BucketStart(last) * 8;
         value *= 1.01) {
      const int bucket = options.FindBucket(value);
      REQUIRE(bucket >= before);
      REQUIRE(options.BucketStart(bucket) <= value);
      if (bucket < last) REQUIRE(value < options.BucketStart(bucket + 1));
      before = bucket;
    }
    CHECK(before == last);
  }
}

TEST_CASE("a layout that makes no sense is refused by name", "[estimators][histogram_options]") {
  const auto message = [](const tidemark::Result<HistogramOptions>& made) {
    REQUIRE_FALSE(made.has_value());
    CHECK(made.error().code == tidemark::ErrorCode::kInvalidArgument);
    return made.error().message;
  };
  for (const double bad : {0.0, -1.0, std::nan(""), kInfinity}) {
    CHECK_THAT(message(HistogramOptions::Exponential(bad, 1, 2, 0.1)),
               Catch::Contains("maximum value"));
    CHECK_THAT(message(HistogramOptions::Exponential(10, bad, 2, 0.1)),
               Catch::Contains("first bucket"));
    CHECK_THAT(message(HistogramOptions::Exponential(10, 1, bad, 0.1)), Catch::Contains("ratio"));
    CHECK_THAT(message(HistogramOptions::Exponential(10, 1, 2, bad)), Catch::Contains("epsilon"));
    CHECK_THAT(message(HistogramOptions::Linear(bad, 1, 0.1)), Catch::Contains("maximum value"));
    CHECK_THAT(message(HistogramOptions::Linear(10, bad, 0.1)), Catch::Contains("bucket size"));
    CHECK_THAT(message(HistogramOptions::Linear(10, 1, bad)), Catch::Contains("epsilon"));
  }
  CHECK_THAT(message(HistogramOptions::Exponential(10, 1, 1, 0.1)), Catch::Contains("above 1"));
}

TEST_CASE("a layout with too many or endless buckets is refused",
          "[estimators][histogram_options]") {
  CHECK(HistogramOptions::Linear(65'534, 1, 0.1).has_value());
  CHECK_FALSE(HistogramOptions::Linear(65'535, 1, 0.1).has_value());
  CHECK_FALSE(HistogramOptions::Linear(1e300, 1e-300, 0.1).has_value());
  CHECK_FALSE(HistogramOptions::Exponential(1e12, 1, 1 + 1e-9, 0.1).has_value());
  CHECK_FALSE(HistogramOptions::Exponential(1e300, 1e-300, 1.5, 0.1).has_value());
  CHECK_FALSE(HistogramOptions::Exponential(1.7e308, 1e300, 1e9, 0.1).has_value());
}

TEST_CASE("one bucket is enough", "[estimators][histogram_options]") {
  const auto tiny = HistogramOptions::Exponential(1e-30, 1, 2, 0.1);
  REQUIRE(tiny);
  CHECK(tiny->FindBucket(kInfinity) == tiny->NumBuckets() - 1);
  CHECK(tiny->BucketStart(0) == 0);
}
