#include <cmath>
#include <iostream>

#include "estimators/histogram_options.h"
#include "tests/catch.h"
#include "tests/estimators/golden.h"

using namespace tidemark::estimators;
using golden::Number;

TEST_CASE("bucket layouts equal the reference", "[estimators][golden]") {
  const golden::Json file = golden::Read("histogram_options.json");
  int starts = 0;
  int lookups = 0;
  int edges = 0;
  int edges_apart = 0;
  for (const golden::Json& layout : file.at("options").as_array()) {
    INFO("layout " << golden::Text(layout, "name"));
    const auto made = golden::MakeOptions(layout.at("definition"));
    REQUIRE(made);
    const HistogramOptions& options = *made;

    const auto& bucket_starts = layout.at("bucket_starts").as_array();
    REQUIRE(options.NumBuckets() == layout.at("num_buckets").to_number<int>());
    REQUIRE(static_cast<size_t>(options.NumBuckets()) == bucket_starts.size());
    CHECK(options.Epsilon() == Number(layout.at("definition").at("epsilon")));
    for (int i = 0; i < options.NumBuckets(); ++i) {
      INFO("bucket " << i);
      // To the last bit: a start becomes a request by truncation.
      CHECK(options.BucketStart(i) == Number(bucket_starts[static_cast<size_t>(i)]));
      ++starts;
    }
    for (const char* list : {"find_bucket", "find_bucket_at_exact_start"}) {
      for (const golden::Json& pair : layout.at(list).as_array()) {
        INFO(list << " of " << Number(pair.at(0)));
        CHECK(options.FindBucket(Number(pair.at(0))) == pair.at(1).to_number<int>());
        ++lookups;
      }
    }
    for (const golden::Json& edge : layout.at("find_bucket_at_computed_start").as_array()) {
      const double start = Number(edge.at(1));
      INFO("around " << start);
      const double around[] = {start, std::nextafter(start, -HUGE_VAL),
                               std::nextafter(start, HUGE_VAL)};
      for (size_t i = 0; i < 3; ++i) {
        const int found = options.FindBucket(around[i]);
        const int reference = edge.at(i + 2).to_number<int>();
        CHECK(std::abs(found - reference) <= 1);
        edges_apart += found == reference ? 0 : 1;
        ++edges;
      }
    }
  }
  std::cout << "histogram_options.json: " << starts << " bucket starts, " << lookups
            << " look-ups and " << edges << " look-ups on an edge compared, " << edges_apart
            << " of the latter one bucket apart\n";
  CHECK(starts > 0);
  CHECK(lookups > 0);
}

TEST_CASE("the layouts for CPU and memory are those of the reference", "[estimators][golden]") {
  const golden::Json file = golden::Read("histogram_options.json");
  int found = 0;
  for (const golden::Json& layout : file.at("options").as_array()) {
    const auto made = golden::MakeOptions(layout.at("definition"));
    REQUIRE(made);
    if (golden::Text(layout, "name") == "cpu") {
      CHECK(*made == HistogramOptions::Cpu());
      ++found;
    } else if (golden::Text(layout, "name") == "memory") {
      CHECK(*made == HistogramOptions::Memory());
      ++found;
    }
  }
  CHECK(found == 2);
}

TEST_CASE("layouts that the reference refuses are refused", "[estimators][golden]") {
  const golden::Json file = golden::Read("histogram_options.json");
  const auto& rows = file.at("invalid_exponential").as_array();
  REQUIRE_FALSE(rows.empty());
  for (const golden::Json& row : rows) {
    INFO(row);
    const auto made = HistogramOptions::Exponential(Number(row.at(0)), Number(row.at(1)),
                                                    Number(row.at(2)), Number(row.at(3)));
    CHECK(made.has_value() != row.at(4).as_bool());
  }
}
