// How policies are named, and the knob of each.
#include "cmd/replay_policies/policies.h"

#include <algorithm>
#include <string>
#include <vector>

#include "tests/catch.h"

namespace tidemark::replay_policies {
namespace {

std::vector<NamedPolicy> Good(std::string_view list, const CommonSettings& common = {}) {
  const auto policies = ParsePolicies(list, common);
  INFO((policies ? "" : policies.error().message));
  REQUIRE(policies);
  return *policies;
}

std::string Wrong(std::string_view list, const CommonSettings& common = {}) {
  const auto policies = ParsePolicies(list, common);
  REQUIRE_FALSE(policies);
  CHECK(policies.error().code == ErrorCode::kInvalidArgument);
  return policies.error().message;
}

std::vector<std::string> Names(const std::vector<NamedPolicy>& policies) {
  std::vector<std::string> names;
  names.reserve(policies.size());
  for (const NamedPolicy& policy : policies) names.push_back(policy.name);
  return names;
}

}  // namespace

TEST_CASE("HPA at 50, 60 and 70 % stands beside what was asked for, once", "[replay_policies]") {
  CHECK(Names(Good("debi")) == std::vector<std::string>{"debi", "hpa@50", "hpa@60", "hpa@70"});
  const auto policies = Good("hpa@70,tidemark,hpa@50");
  CHECK(Names(policies) == std::vector<std::string>{"hpa@70", "tidemark", "hpa@50", "hpa@60"});
  CHECK(policies[0].is_asked);
  CHECK(policies[2].is_asked);
  CHECK_FALSE(policies[3].is_asked);
  // Who asks for hpa finds hpa; what all are compared with has its own row.
  CHECK(Names(Good("hpa")) == std::vector<std::string>{"hpa", "hpa@50", "hpa@60", "hpa@70"});
}

TEST_CASE("What stands behind the @ is the knob, in per cent", "[replay_policies]") {
  const auto policies = Good("hpa@70,arima-hpa@62.5,debi@65,debi-paper@60,tidemark@1,hpa@150");
  CHECK(policies[0].settings.target_utilization_ratio == 0.7);
  CHECK(policies[1].settings.target_utilization_ratio == 0.625);
  CHECK(policies[2].settings.utilization_high_ratio == 0.65);
  CHECK(policies[3].settings.utilization_high_ratio == 0.6);
  CHECK(policies[3].settings.high_water_risk == 0.1);
  CHECK(policies[4].settings.slo_time_ratio == 0.01);
  CHECK(policies[5].settings.target_utilization_ratio == 1.5);
  for (const NamedPolicy& policy : policies) CHECK(CheckSettings(policy.settings));
}

TEST_CASE("A ratio behind the @ is refused with what was meant", "[replay_policies]") {
  CHECK(Wrong("hpa@0.6").find("did you mean hpa@60?") != std::string::npos);
  CHECK(Wrong("hpa@1.5").find("did you mean hpa@150?") != std::string::npos);
  CHECK(Wrong("debi@0.7").find("did you mean debi@70?") != std::string::npos);
  CHECK(Wrong("tidemark@0.02").find("allowed: per cent of 0.05 to below 50, such as tidemark@2") !=
        std::string::npos);
}

TEST_CASE("What is no policy is told with those that are", "[replay_policies]") {
  CHECK(Wrong("vpa") ==
        "vpa is no policy, allowed: hpa, arima-hpa, lstm-hpa, bilstm-hpa, evt-bilstm-hpa, debi, "
        "debi-paper, tidemark, comma-separated, each also as hpa@70");
  for (const std::string bad :
       {"", ",", "hpa,", "hpa@", "hpa@x", "hpa@-5", "hpa@nan", "hpa@inf", "hpa@1001", "@50",
        "debi@20", "debi@101", "tidemark@50", "tidemark@0", "HPA", "hpa@50@60"}) {
    INFO(bad);
    CHECK(Wrong(bad).find("allowed: ") != std::string::npos);
  }
  CHECK(Wrong("hpa,debi,hpa") == "hpa stands there twice, allowed: once");
  std::string many = "hpa@2";
  for (int i = 0; i < 40; ++i) many += ",hpa@" + std::to_string(100 + i);
  CHECK(Wrong(many) == "too many policies, allowed: 32");
}

TEST_CASE("What is said of all policies goes to all that read it", "[replay_policies]") {
  CommonSettings common;
  common.tolerance_ratio = 0.05;
  common.window_minutes = 7;
  common.slo_time_ratio = 0.01;
  common.utilization_high_ratio = 0.8;
  for (const NamedPolicy& policy : Good("debi,tidemark,hpa", common)) {
    CHECK(policy.settings.tolerance_ratio == 0.05);
    CHECK(policy.settings.window_minutes == 7);
    CHECK(policy.settings.slo_time_ratio == 0.01);
    CHECK(policy.settings.utilization_high_ratio == 0.8);
  }
  // But for what stands behind its own name.
  CHECK(Good("tidemark@5", common).front().settings.slo_time_ratio == 0.05);
  CHECK(Good("tidemark").front().settings.window_minutes !=
        Good("hpa").front().settings.window_minutes);
}

TEST_CASE("A knob's range rises and has the present setting in it", "[replay_policies]") {
  for (const NamedPolicy& policy : Good("hpa@52.5,debi@71.5,tidemark@1.1")) {
    const std::vector<double> range = KnobRange(policy.settings);
    CHECK(std::ranges::is_sorted(range));
    CHECK(std::ranges::adjacent_find(range) == range.end());
    CHECK(std::ranges::find(range, KnobOf(policy.settings)) != range.end());
    for (const double knob : range) {
      const PolicySettings turned = WithKnob(policy.settings, knob);
      CHECK(KnobOf(turned) == knob);
      CHECK(CheckSettings(turned));
    }
  }
  CHECK(KnobRange(Good("hpa").front().settings).size() == 91);
  CHECK(KnobRange(Good("debi").front().settings).front() == 0.3);
  CHECK(KnobText(ScalingPolicy::kHpa, 0.55) == "target 55 %");
  CHECK(KnobText(ScalingPolicy::kDebi, 0.7) == "U_hi 70 %");
  CHECK(KnobText(ScalingPolicy::kTidemark, 0.00315) == "slo time 0.315 %");
}

}  // namespace tidemark::replay_policies
