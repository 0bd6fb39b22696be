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

constexpr const char* kAmounts[] = {"target", "lower_bound", "upper_bound"};

class Estimates {
 public:
  explicit Estimates(double margin_ratio) : margin_ratio_(margin_ratio) {}

  /// CHECKs those of `wanted` that are there. Every amount is a comparison.
  void Check(const Json& wanted, double confidence, size_t containers) {
    CheckResource(wanted, "cpu_millicores",
                  EstimateRequest(Bases(cpu), Policy(kPodMinimumMillicores, confidence, containers),
                                  kMillicoresPerCore));
    CheckResource(
        wanted, "memory_bytes",
        EstimateRequest(Bases(memory), Policy(kPodMinimumBytes, confidence, containers), 1));
  }

  int compared = 0;
  HistogramOptions cpu_options = HistogramOptions::Cpu();
  HistogramOptions memory_options = HistogramOptions::Memory();
  DecayingHistogram cpu{&cpu_options, 24h};
  DecayingHistogram memory{&memory_options, 24h};

 private:
  static RequestBases Bases(const DecayingHistogram& histogram) {
    return {.target = histogram.Percentile(0.9),
            .lower = histogram.Percentile(0.5),
            .upper = histogram.Percentile(0.95)};
  }

  RequestPolicy Policy(int64_t pod_minimum, double confidence, size_t containers) const {
    return {.margin_ratio = margin_ratio_,
            .minimum = ShareOfMinimum(pod_minimum, containers),
            .confidence = confidence,
            .as_vpa = true};
  }

  void CheckResource(const Json& wanted, const char* resource, const RequestEstimate& estimate) {
    REQUIRE(estimate.upper_bound);
    const int64_t actual[] = {estimate.recommended_amount, estimate.lower_bound,
                              *estimate.upper_bound};
    for (size_t i = 0; i < 3; ++i) {
      const auto* amounts = wanted.as_object().if_contains(kAmounts[i]);
      if (amounts == nullptr) continue;
      INFO(kAmounts[i] << " of " << resource);
      CHECK(actual[i] == amounts->at(resource).to_number<int64_t>());
      ++compared;
    }
  }

  double margin_ratio_;
};

/// `samples` of them, from the first to the last `covered`.
SampleSpan Span(uint64_t samples, std::chrono::nanoseconds covered) {
  const Time start{std::chrono::seconds(1'700'000'000)};
  SampleSpan span;
  for (uint64_t n = 0; n < samples; ++n) span.Record(n + 1 == samples ? start + covered : start);
  return span;
}

}  // namespace

TEST_CASE("requests and their bounds equal the reference", "[estimators][golden]") {
  const Json file = golden::Read("estimators.json");
  const double margin = Number(file.at("margin_fraction"));
  const auto& cases = file.at("cases").as_array();
  REQUIRE_FALSE(cases.empty());
  int compared = 0;
  for (size_t i = 0; i < cases.size(); ++i) {
    INFO("case " << i);
    Estimates estimates(margin);
    const Time start{std::chrono::seconds(1'700'000'000)};
    REQUIRE(estimates.cpu.Add(Number(cases[i].at("cpu_cores")), 0.1, start));
    REQUIRE(estimates.memory.Add(Number(cases[i].at("memory_bytes")), 1, start));

    const auto samples = cases[i].at("samples").to_number<uint64_t>();
    const std::chrono::nanoseconds covered =
        golden::ToTime(cases[i].at("span_seconds")).time_since_epoch();
    if (samples <= 1) REQUIRE(covered == 0s);
    const double confidence =
        Confidence(Span(samples, covered),
                   golden::ToTime(cases[i].at("confidence_interval_seconds")).time_since_epoch());
    CHECK(golden::Close(confidence, Number(cases[i].at("confidence"))));
    estimates.Check(cases[i], confidence, 1);
    CHECK(estimates.compared == 6);
    compared += estimates.compared + 1;
  }
  Estimates empty(margin);
  empty.Check(file.at("empty_histograms"), 0, 1);
  CHECK(empty.compared == 6);
  std::cout << "estimators.json: " << cases.size() << " cases and the empty histograms, "
            << compared + empty.compared
            << " targets, bounds and confidences compared, none of them sensitive\n";
}

TEST_CASE("containers share the pod's minimum as in the reference", "[estimators][golden]") {
  const Json file = golden::Read("estimators.json");
  const auto& rows = file.at("minimum_split").as_array();
  REQUIRE_FALSE(rows.empty());
  Estimates empty(Number(file.at("margin_fraction")));
  for (const Json& row : rows) {
    INFO(row);
    empty.Check(row, 0, row.at("containers").to_number<size_t>());
  }
  CHECK(empty.compared == static_cast<int>(2 * rows.size()));
  std::cout << "estimators.json: " << empty.compared << " shares of a minimum compared\n";
}

TEST_CASE("amounts are rounded up as in the reference", "[estimators][golden]") {
  const Json file = golden::Read("estimators.json");
  const auto& rows = file.at("round_up").as_array();
  REQUIRE_FALSE(rows.empty());
  for (const bool as_vpa : {false, true}) {
    for (const Json& row : rows) {
      INFO(row);
      const RequestPolicy policy{.margin_ratio = 0,
                                 .minimum = row.at(0).to_number<int64_t>(),
                                 .rounding = row.at(1).to_number<int64_t>(),
                                 .as_vpa = as_vpa};
      const auto wanted = row.at(2).to_number<int64_t>();
      CHECK(EstimateRequest({}, policy, 1).recommended_amount == wanted);
      CHECK(EstimateRequest({}, policy, 1).rounded == (wanted != policy.minimum));
    }
  }
  std::cout << "estimators.json: " << rows.size() << " amounts rounded up as there\n";
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
