#include "engine/workload_class.h"

#include <optional>

#include "tests/catch.h"
#include "tests/engine/usage_feed.h"

using namespace tidemark;
using namespace tidemark::testing;
using engine::PodNeeds;

namespace {

constexpr double kGiB = 1024.0 * 1024 * 1024;

ContainerAdvice Container(std::optional<double> cores, std::optional<double> bytes,
                          std::optional<double> request = std::nullopt) {
  ContainerAdvice container;
  ResourceAdvice& cpu = container.resources.emplace_back();
  cpu.model_request = cores;
  cpu.current_request = request;
  ResourceAdvice& memory = container.resources.emplace_back();
  memory.resource = Resource::kMemory;
  memory.model_request = bytes;
  return container;
}

WorkloadClass ClassOf(const ContainerAdvice& container,
                      WorkloadClass before = WorkloadClass::kUnknown) {
  PodNeeds needs;
  needs.Add(container);
  return needs.Class(before);
}

WorkloadClass AtRatio(double cores_per_gib, WorkloadClass before = WorkloadClass::kUnknown) {
  return ClassOf(Container(cores_per_gib * 4, 4 * kGiB), before);
}

}  // namespace

TEST_CASE("The class goes by cores per GiB", "[engine][class]") {
  CHECK(AtRatio(0.51) == WorkloadClass::kCompute);
  CHECK(AtRatio(0.49) == WorkloadClass::kBalanced);
  CHECK(AtRatio(0.126) == WorkloadClass::kBalanced);
  CHECK(AtRatio(0.124) == WorkloadClass::kMemory);
  CHECK(ClassOf(Container(1, 0)) == WorkloadClass::kCompute);
}

TEST_CASE("A class stays until a bound is passed by a fifth", "[engine][class]") {
  CHECK(AtRatio(0.42, WorkloadClass::kCompute) == WorkloadClass::kCompute);
  CHECK(AtRatio(0.41, WorkloadClass::kCompute) == WorkloadClass::kBalanced);
  CHECK(AtRatio(0.59, WorkloadClass::kBalanced) == WorkloadClass::kBalanced);
  CHECK(AtRatio(0.61, WorkloadClass::kBalanced) == WorkloadClass::kCompute);
  CHECK(AtRatio(0.149, WorkloadClass::kMemory) == WorkloadClass::kMemory);
  CHECK(AtRatio(0.151, WorkloadClass::kMemory) == WorkloadClass::kBalanced);
  CHECK(AtRatio(0.105, WorkloadClass::kBalanced) == WorkloadClass::kBalanced);
  CHECK(AtRatio(0.103, WorkloadClass::kBalanced) == WorkloadClass::kMemory);
  CHECK(AtRatio(0.55, WorkloadClass::kIdle) == WorkloadClass::kCompute);
  // From one end to the other at once.
  CHECK(AtRatio(0.01, WorkloadClass::kCompute) == WorkloadClass::kMemory);
}

TEST_CASE("Idle is who uses hardly any CPU, and hardly any of what was asked for",
          "[engine][class]") {
  CHECK(ClassOf(Container(0.01, kGiB)) == WorkloadClass::kIdle);
  CHECK(ClassOf(Container(0, kGiB)) == WorkloadClass::kIdle);
  CHECK(ClassOf(Container(0.011, kGiB)) == WorkloadClass::kMemory);
  CHECK(ClassOf(Container(0.01, kGiB, 0.2)) == WorkloadClass::kIdle);
  CHECK(ClassOf(Container(0.01, kGiB, 0.1)) == WorkloadClass::kMemory);
  CHECK(ClassOf(Container(0.01, kGiB, 0.17), WorkloadClass::kIdle) == WorkloadClass::kIdle);
  CHECK(ClassOf(Container(0.0119, kGiB), WorkloadClass::kIdle) == WorkloadClass::kIdle);
  CHECK(ClassOf(Container(0.0121, kGiB), WorkloadClass::kIdle) == WorkloadClass::kMemory);
  PodNeeds two;
  two.Add(Container(0.01, kGiB, 1));
  two.Add(Container(0.01, kGiB, std::nullopt));
  CHECK(two.Class(WorkloadClass::kUnknown) == WorkloadClass::kIdle);
  two.Add(Container(0.02, kGiB, std::nullopt));
  CHECK(two.Class(WorkloadClass::kUnknown) == WorkloadClass::kMemory);
}

TEST_CASE("Without CPU or memory there is no class", "[engine][class]") {
  CHECK(PodNeeds().Class(WorkloadClass::kMemory) == WorkloadClass::kUnknown);
  CHECK(ClassOf(Container(1, std::nullopt)) == WorkloadClass::kUnknown);
  CHECK(ClassOf(Container(std::nullopt, 1)) == WorkloadClass::kUnknown);
}

TEST_CASE("The Snapshot says what a workload lives on", "[engine][class]") {
  const auto class_of = [](double cores, double bytes) {
    Bench bench;
    bench.Put(PodOwner("db-0", "StatefulSet", "db"), kT0, 1);
    UsageFeed(bench, "db-0").Go(26 * 60, cores, bytes);
    const auto workloads = bench.Workloads();
    REQUIRE(workloads.size() == 1);
    return workloads[0].workload_class;
  };
  CHECK(class_of(4, kGiB) == WorkloadClass::kCompute);
  CHECK(class_of(0.25, 8 * kGiB) == WorkloadClass::kMemory);
  CHECK(class_of(1, 4 * kGiB) == WorkloadClass::kBalanced);
  CHECK(class_of(0.002, kGiB) == WorkloadClass::kIdle);
}
