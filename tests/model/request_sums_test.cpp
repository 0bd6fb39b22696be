#include "model/request_sums.h"

#include <limits>

#include "model/prices.h"
#include "tests/catch.h"

namespace tidemark {
namespace {

constexpr double kMib = 1024.0 * 1024;

ResourceAdvice Advice(Resource resource, std::optional<double> current,
                      std::optional<double> recommended) {
  ResourceAdvice advice;
  advice.resource = resource;
  advice.current_request = current;
  advice.recommended_request = recommended;
  return advice;
}

RequestFit Cpu(std::optional<double> current, std::optional<double> recommended) {
  return FitOf(Advice(Resource::kCpu, current, recommended));
}

}  // namespace

TEST_CASE("A request fits within a tenth", "[model][sums]") {
  CHECK(Cpu({}, {}) == RequestFit::kUnknown);
  CHECK(Cpu(1, {}) == RequestFit::kUnknown);
  CHECK(Cpu({}, 1) == RequestFit::kAbsent);
  CHECK(Cpu(0.89, 1) == RequestFit::kUnder);
  CHECK(Cpu(0.91, 1) == RequestFit::kFitting);
  CHECK(Cpu(1.09, 1) == RequestFit::kFitting);
  CHECK(Cpu(1.2, 1) == RequestFit::kOver);
  CHECK(Cpu(3.99, 1) == RequestFit::kOver);
  CHECK(Cpu(4, 1) == RequestFit::kFarOver);
}

TEST_CASE("Four times a small amount is nobody's worry", "[model][sums]") {
  CHECK(Cpu(0.01, 0.001) == RequestFit::kOver);
  CHECK(Cpu(0.06, 0.009) == RequestFit::kFarOver);
  CHECK(FitOf(Advice(Resource::kMemory, 64 * kMib, 10 * kMib)) == RequestFit::kOver);
  CHECK(FitOf(Advice(Resource::kMemory, 80 * kMib, 16 * kMib)) == RequestFit::kFarOver);
}

TEST_CASE("Sums are of what both sides are known of, times replicas", "[model][sums]") {
  WorkloadAdvice workload;
  workload.replicas = 4;
  ContainerAdvice& app = workload.containers.emplace_back();
  app.resources = {Advice(Resource::kCpu, 1, 0.5), Advice(Resource::kMemory, {}, 100)};
  app.resources[0].reclaimable = 2;
  workload.containers.push_back({"side", {Advice(Resource::kCpu, 0.5, {})}, nullptr});
  AllRequestSums sums;
  sums.Add(workload);
  const RequestSums& cpu = sums.Of(Resource::kCpu);
  CHECK(cpu.current == 4);
  CHECK(cpu.recommended == 2);
  CHECK(cpu.reclaimable == 2);
  CHECK(cpu.known == 1);
  CHECK(cpu.Containers() == 2);
  CHECK(cpu.Of(RequestFit::kUnknown) == 1);
  CHECK(sums.Of(Resource::kMemory).known == 0);
  CHECK(sums.Of(Resource::kMemory).Of(RequestFit::kAbsent) == 1);
  CHECK(sums.Of(Resource::kGpuMemory).Containers() == 0);
}

TEST_CASE("A month has 730 hours, and what has no price costs nothing that is known",
          "[model][prices]") {
  const Prices prices{.currency = "USD", .cpu_core_hour = 0.03, .memory_gib_hour = 0.004};
  CHECK(MonthlyCost(prices, Resource::kCpu, 2).value() == Approx(2 * 0.03 * 730));
  CHECK(MonthlyCost(prices, Resource::kMemory, 512 * kMib).value() == Approx(0.5 * 0.004 * 730));
  CHECK_FALSE(MonthlyCost(prices, Resource::kGpuMemory, 1));
  CHECK_FALSE(MonthlyCost(Prices{}, Resource::kCpu, 1));
  CHECK_FALSE(Prices{}.Any());
  ResourceAdvice advice = Advice(Resource::kCpu, 1, 2);
  CHECK_FALSE(MonthlySavings(prices, advice));
  advice.reclaimable = -1;
  CHECK(MonthlySavings(prices, advice).value() == Approx(-21.9));
  WorkloadAdvice workload;
  CHECK_FALSE(MonthlySavings(prices, workload));
  workload.containers.push_back({"a", {advice}, nullptr});
  workload.containers.push_back({"b", {advice}, nullptr});
  CHECK(MonthlySavings(prices, workload).value() == Approx(-43.8));
}

TEST_CASE("A currency is a short word or a sign", "[model][prices]") {
  for (const char* good : {"USD", "EUR", "\xE2\x82\xAC", "$", "credits"}) CHECK(IsCurrency(good));
  for (const char* bad : {"", "US D", "a,b", "a\"b", "a\\b", "a\nb", "01234567890123456"}) {
    CHECK_FALSE(IsCurrency(bad));
  }
}

}  // namespace tidemark
