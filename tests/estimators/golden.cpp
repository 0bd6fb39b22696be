#include "tests/estimators/golden.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdlib>
#include <iostream>
#include <stdexcept>

#include "tests/catch.h"
#include "tests/estimators/json_file.h"

namespace tidemark::estimators::golden {

namespace {

constexpr double kTolerance = 1e-9;

/// The bucket whose start is nearest to a percentile's answer.
int NearestStart(const HistogramOptions& options, double value) {
  int nearest = 0;
  for (int i = 1; i < options.NumBuckets(); ++i) {
    if (std::abs(options.BucketStart(i) - value) < std::abs(options.BucketStart(nearest) - value))
      nearest = i;
  }
  return nearest;
}

}  // namespace

Json Read(std::string_view name) {
  const char* folder = std::getenv("TIDEMARK_GOLDEN");
  const std::string root =
      folder != nullptr && *folder != '\0' ? folder : TIDEMARK_TEST_DATA "/golden";
  return ReadJsonFile(root + "/vpa/" + std::string(name));
}

double Number(const Json& value) { return value.to_number<double>(); }

Time ToTime(const Json& seconds) {
  if (seconds.is_int64()) return Time(std::chrono::seconds(seconds.get_int64()));
  const double whole = std::floor(Number(seconds));
  const double fraction = Number(seconds) - whole;
  return Time(std::chrono::seconds(static_cast<int64_t>(whole))) +
         std::chrono::nanoseconds(std::llround(fraction * 1e9));
}

bool Close(double actual, double expected) {
  return std::abs(actual - expected) <= kTolerance * std::abs(expected);
}

std::string Text(const Json& value, std::string_view key) {
  return std::string(value.at(key).as_string());
}

Result<HistogramOptions> MakeOptions(const Json& definition) {
  const double max_value = Number(definition.at("max_value"));
  const double epsilon = Number(definition.at("epsilon"));
  if (Text(definition, "kind") == "linear") {
    return HistogramOptions::Linear(max_value, Number(definition.at("bucket_size")), epsilon);
  }
  return HistogramOptions::Exponential(max_value, Number(definition.at("first_bucket_size")),
                                       Number(definition.at("ratio")), epsilon);
}

OptionsByName::OptionsByName(const Json& file) {
  for (const auto& entry : file.at("options").as_object()) {
    auto options = MakeOptions(entry.value());
    if (!options) throw std::runtime_error(options.error().message);
    options_.emplace_back(std::string(entry.key()), *std::move(options));
  }
}

const HistogramOptions& OptionsByName::at(std::string_view name) const {
  const auto found = std::find_if(options_.begin(), options_.end(),
                                  [&](const auto& o) { return o.first == name; });
  if (found == options_.end()) throw std::runtime_error("no layout is called " + std::string(name));
  return found->second;
}

void Apply(const Json& op, DecayingHistogram& histogram) {
  const double value = Number(op.at(1));
  const double weight = Number(op.at(2));
  const Time time = ToTime(op.at(3));
  if (op.at(0).as_string() == "a") {
    REQUIRE(histogram.Add(value, weight, time));
  } else {
    REQUIRE(op.at(0).as_string() == "s");
    REQUIRE(histogram.Subtract(value, weight, time));
  }
}

HistogramCheckpoint ToCheckpoint(const Json& checkpoint) {
  HistogramCheckpoint result;
  if (const Json& reference = checkpoint.at("reference_timestamp"); !reference.is_null()) {
    result.reference_time = std::chrono::floor<std::chrono::seconds>(ToTime(reference));
  }
  result.total_weight = Number(checkpoint.at("total_weight"));
  for (const auto& entry : checkpoint.at("bucket_weights").as_object()) {
    const std::string key(entry.key());
    int32_t bucket = 0;
    const auto parsed = std::from_chars(key.data(), key.data() + key.size(), bucket);
    REQUIRE(parsed.ec == std::errc{});
    result.buckets.push_back({.bucket = bucket, .weight = entry.value().to_number<uint32_t>()});
  }
  std::sort(result.buckets.begin(), result.buckets.end(),
            [](const auto& a, const auto& b) { return a.bucket < b.bucket; });
  return result;
}

Comparison::Comparison(std::string name, const Json& file) : name_(std::move(name)) {
  for (const Json& point : file.at("percentile_points").as_array())
    points_.push_back(Number(point));
}

void Comparison::CheckState(const DecayingHistogram& actual, const Json& expected) {
  const bool sensitive = expected.at("ulp_sensitive").as_bool();
  const int slack = sensitive ? 1 : 0;
  bool exact = true;

  const auto& percentiles = expected.at("percentiles").as_array();
  REQUIRE(percentiles.size() == points_.size());
  for (size_t i = 0; i < points_.size(); ++i) {
    INFO("percentile " << points_[i]);
    const double answer = actual.Percentile(points_[i]);
    const double wanted = Number(percentiles[i]);
    if (Close(answer, wanted)) continue;
    exact = false;
    INFO("answer " << answer << ", reference " << wanted);
    CHECK(sensitive);
    CHECK(std::abs(NearestStart(actual.options(), answer) -
                   NearestStart(actual.options(), wanted)) <= 1);
  }

  const int min_bucket = expected.at("min_bucket").to_number<int>();
  const int max_bucket = expected.at("max_bucket").to_number<int>();
  exact = exact && actual.MinBucket() == min_bucket && actual.MaxBucket() == max_bucket;
  CHECK(std::abs(actual.MinBucket() - min_bucket) <= slack);
  CHECK(std::abs(actual.MaxBucket() - max_bucket) <= slack);
  CHECK(actual.IsEmpty() == expected.at("is_empty").as_bool());
  INFO("total weight " << actual.TotalWeight() << ", reference " << expected.at("total_weight"));
  CHECK(Close(actual.TotalWeight(), Number(expected.at("total_weight"))));
  const Json& reference = expected.at("reference_timestamp");
  CHECK(actual.ReferenceTime() ==
        (reference.is_null() ? std::nullopt : std::optional(ToTime(reference))));

  ++compared_;
  sensitive_ += slack;
  different_ += exact ? 0 : 1;
}

void Comparison::CheckCheckpoint(const HistogramCheckpoint& actual, const Json& expected,
                                 bool sensitive) {
  const HistogramCheckpoint wanted = ToCheckpoint(expected);
  CHECK(actual.reference_time == wanted.reference_time);
  CHECK(Close(actual.total_weight, wanted.total_weight));
  const bool exact = actual.buckets == wanted.buckets;
  if (!exact) {
    CHECK(sensitive);
    // A weight off by one may be one that is 0 on the other side, and then not listed there.
    const auto weight_of = [](const HistogramCheckpoint& checkpoint, int32_t bucket) -> int64_t {
      for (const auto& entry : checkpoint.buckets) {
        if (entry.bucket == bucket) return entry.weight;
      }
      return 0;
    };
    for (const auto* side : {&actual, &wanted}) {
      for (const auto& [bucket, weight] : side->buckets) {
        INFO("bucket " << bucket);
        CHECK(std::abs(weight_of(actual, bucket) - weight_of(wanted, bucket)) <= 1);
      }
    }
  }
  ++compared_;
  sensitive_ += sensitive ? 1 : 0;
  different_ += exact ? 0 : 1;
}

void Comparison::Finish() const {
  std::cout << name_ << ": " << compared_ << " states compared, " << sensitive_
            << " of them sensitive to the last bit, " << different_
            << " not equal but within the tolerance for these\n";
  CHECK(compared_ > 0);
}

}  // namespace tidemark::estimators::golden
