#include <iostream>

#include "estimators/amount.h"
#include "estimators/confidence.h"
#include "estimators/request_estimator.h"
#include "tests/catch.h"
#include "tests/estimators/golden.h"

using namespace tidemark::estimators;
using namespace std::chrono_literals;
using golden::Json;
using golden::Number;

namespace {

/// The defaults of the reference.
constexpr int64_t kPodMinimumMillicores = 25;
constexpr int64_t kPodMinimumBytes = int64_t{250} * 1024 * 1024;
constexpr double kMillicoresPerCore = 1000;

class Estimates {
 public:
  explicit Estimates(double margin_ratio) : margin_ratio_(margin_ratio) {}

  void CheckTarget(const Json& target, size_t containers) const {
    const RequestPolicy cpu_policy{0.9, margin_ratio_, kPodMinimumMillicores};
    const RequestPolicy memory_policy{0.9, margin_ratio_, kPodMinimumBytes};
    CHECK(EstimateRequest(cpu, cpu_policy, kMillicoresPerCore, containers).recommended_amount ==
          target.at("cpu_millicores").to_number<int64_t>());
    CHECK(EstimateRequest(memory, memory_policy, 1, containers).recommended_amount ==
          target.at("memory_bytes").to_number<int64_t>());
  }

 private:
  double margin_ratio_;
  HistogramOptions cpu_options_ = HistogramOptions::Cpu();
  HistogramOptions memory_options_ = HistogramOptions::Memory();

 public:
  DecayingHistogram cpu{&cpu_options_, 24h};
  DecayingHistogram memory{&memory_options_, 24h};
};

}  // namespace

TEST_CASE("requests equal the reference", "[estimators][golden]") {
  const Json file = golden::Read("estimators.json");
  const double margin = Number(file.at("margin_fraction"));
  const auto& cases = file.at("cases").as_array();
  REQUIRE_FALSE(cases.empty());
  for (size_t i = 0; i < cases.size(); ++i) {
    INFO("case " << i);
    Estimates estimates(margin);
    const Time start{std::chrono::seconds(1'700'000'000)};
    REQUIRE(estimates.cpu.Add(Number(cases[i].at("cpu_cores")), 0.1, start));
    REQUIRE(estimates.memory.Add(Number(cases[i].at("memory_bytes")), 1, start));
    estimates.CheckTarget(cases[i].at("target"), 1);

    SampleSpan span;
    const auto samples = cases[i].at("samples").to_number<uint64_t>();
    const std::chrono::nanoseconds covered =
        golden::ToTime(cases[i].at("span_seconds")).time_since_epoch();
    for (uint64_t n = 0; n < samples; ++n) span.Record(n + 1 == samples ? start + covered : start);
    if (samples == 1) REQUIRE(covered == 0s);
    CHECK(golden::Close(
        Confidence(span,
                   golden::ToTime(cases[i].at("confidence_interval_seconds")).time_since_epoch()),
        Number(cases[i].at("confidence"))));
  }
  Estimates(margin).CheckTarget(file.at("empty_histograms").at("target"), 1);
  std::cout << "estimators.json: " << cases.size()
            << " targets and confidences compared, none of them sensitive\n";
}

TEST_CASE("containers share the pod's minimum as in the reference", "[estimators][golden]") {
  const Json file = golden::Read("estimators.json");
  const auto& rows = file.at("minimum_split").as_array();
  REQUIRE_FALSE(rows.empty());
  const Estimates empty(Number(file.at("margin_fraction")));
  for (const Json& row : rows) {
    INFO(row);
    empty.CheckTarget(row.at("target"), row.at("containers").to_number<size_t>());
  }
}

TEST_CASE("cores become millicores as in the reference", "[estimators][golden]") {
  const Json file = golden::Read("estimators.json");
  const auto& rows = file.at("cores_to_millicores").as_array();
  REQUIRE_FALSE(rows.empty());
  for (const Json& row : rows) {
    INFO(row);
    CHECK(AmountFromDouble(Number(row.at(0)) * kMillicoresPerCore) ==
          row.at(1).to_number<int64_t>());
  }
}
