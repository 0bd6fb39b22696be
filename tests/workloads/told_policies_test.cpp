#include "workloads/told_policies.h"

#include <string>
#include <vector>

#include "tests/catch.h"

using namespace tidemark;
using workloads::Fact;
using workloads::LimitRanges;
using workloads::UtilizationTargets;

namespace {

constexpr int64_t kNow = 1'700'000'000'000;

std::vector<LabelView> Limit(std::string_view resource, std::string_view constraint,
                             std::string_view type = "Container") {
  return {{"constraint", constraint}, {"resource", resource}, {"type", type}};
}

}  // namespace

TEST_CASE("what an autoscaler aims at is a ratio while somebody says so", "[workloads][policies]") {
  const std::vector<LabelView> cpu = {{"metric_name", "cpu"},
                                      {"metric_target_type", "utilization"}};
  const std::vector<LabelView> average = {{"metric_name", "cpu"},
                                          {"metric_target_type", "average"}};
  const std::vector<LabelView> other = {{"metric_name", "rps"},
                                        {"metric_target_type", "utilization"}};
  CHECK(UtilizationTargets::ResourceOf(cpu) == Resource::kCpu);
  CHECK_FALSE(UtilizationTargets::ResourceOf(average));
  CHECK_FALSE(UtilizationTargets::ResourceOf(other));

  UtilizationTargets targets;
  CHECK_FALSE(targets.At("web", Resource::kCpu, kNow));
  Fact* const fact = targets.Bind("web", Resource::kCpu);
  CHECK(targets.Bind("web", Resource::kCpu) == fact);
  fact->Set(1, {kNow, 70});
  CHECK(targets.At("web", Resource::kCpu, kNow + 60'000) == 0.7);
  CHECK_FALSE(targets.At("web", Resource::kMemory, kNow));
  CHECK_FALSE(targets.At("web", Resource::kCpu, kNow + 301'000));
  for (const double odd : {0.0, -1.0, 1e300 * 1e10}) {
    fact->Set(1, {kNow, odd});
    CHECK_FALSE(targets.At("web", Resource::kCpu, kNow));
  }
  targets.Release("web", Resource::kCpu);
  fact->Set(1, {kNow, 50});
  CHECK(targets.At("web", Resource::kCpu, kNow) == 0.5);
  targets.Release("web", Resource::kCpu);
  CHECK_FALSE(targets.At("web", Resource::kCpu, kNow));
}

TEST_CASE("of several LimitRanges the strictest holds", "[workloads][policies]") {
  LimitRanges ranges;
  const auto tell = [&](std::string_view name, std::string_view resource,
                        std::string_view constraint, double value) {
    const auto key = LimitRanges::KeyOf(name, Limit(resource, constraint));
    REQUIRE(key);
    CHECK(LimitRanges::KeyFrom(name, LimitRanges::TextOf(*key)) == key);
    ranges.Bind(*key)->Set(1, {kNow, value});
    return *key;
  };
  tell("a", "cpu", "min", 0.1);
  const auto stricter = tell("b", "cpu", "min", 0.2);
  tell("a", "cpu", "max", 4);
  tell("b", "cpu", "max", 2);
  tell("a", "cpu", "maxLimitRequestRatio", 10);
  tell("b", "cpu", "maxLimitRequestRatio", 0.5);  // none
  tell("a", "memory", "max", 1e9);
  tell("a", "ephemeral_storage", "max", 5e9);
  const auto limits = ranges.At(kNow);
  CHECK(limits.Get(Resource::kCpu) == ContainerLimits{0.2, 2, 10});
  CHECK(limits.Get(Resource::kMemory) == ContainerLimits{std::nullopt, 1e9, std::nullopt});
  CHECK(limits.Get(Resource::kEphemeralStorage).max == 5e9);
  ranges.Release(stricter);
  CHECK(ranges.At(kNow).Get(Resource::kCpu).min == 0.1);
  CHECK(ranges.At(kNow + 301'000).Get(Resource::kCpu) == ContainerLimits{});
}

TEST_CASE("what is no bound of containers is left out", "[workloads][policies]") {
  CHECK_FALSE(LimitRanges::KeyOf("a", Limit("cpu", "default")));
  CHECK_FALSE(LimitRanges::KeyOf("a", Limit("cpu", "min", "Pod")));
  CHECK_FALSE(LimitRanges::KeyOf("a", Limit("storage", "min")));
  for (const char* const text : {"", "cpu", "cpu/", "/min", "x/min"}) {
    CHECK_FALSE(LimitRanges::KeyFrom("a", text));
  }
}
