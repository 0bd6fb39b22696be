// `scaling:` of the configuration.

#include <string>
#include <string_view>
#include <vector>

#include "cmd/config.h"
#include "cmd/explain_profile.h"
#include "cmd/explain_scaling.h"
#include "tests/catch.h"

namespace tidemark::cmd {
namespace {

Config Parsed(const std::string& yaml) {
  auto config = ParseConfig(yaml, "f");
  INFO((config ? "" : config.error().message));
  REQUIRE(config);
  return *std::move(config);
}

ScalingRule RuleWith(const std::string& keys) {
  const Config config = Parsed("scaling: {workloads: [{selector: '{}', " + keys + "}]}");
  REQUIRE(config.engine.scaling->rules.size() == 1);
  return config.engine.scaling->rules[0];
}

/// What is said of the second line.
std::string Wrong(const std::string& section) {
  const auto config = ParseConfig("scaling:\n  " + section + "\n", "f");
  REQUIRE_FALSE(config);
  CHECK(config.error().code == ErrorCode::kInvalidArgument);
  CHECK(config.error().message.starts_with("f:2: scaling."));
  return config.error().message.substr(std::string_view("f:2: scaling.").size());
}

struct BadRule {
  std::string_view keys;
  std::string_view message;
};

const BadRule kBadRules[] = {
    {"policy: tidemarc",
     "policy: there is no policy tidemarc (did you mean tidemark?), allowed: tidemark, hpa, "
     "arima-hpa, lstm-hpa, bilstm-hpa, evt-bilstm-hpa, debi, debi-paper"},
    {"enabled: yes", "enabled: yes is not a boolean, allowed: true, false"},
    {"min_replicas: 0",
     "min_replicas: 0 is out of range, allowed: 1 <= x <= 100000, or autoscaler"},
    {"max_replicas: 100001",
     "max_replicas: 100001 is out of range, allowed: 1 <= x <= 100000, or autoscaler"},
    {"max_replicas: many",
     "max_replicas: many is not a whole number, allowed: 1 <= x <= 100000, or autoscaler"},
    {"min_replicas: 5, max_replicas: 3",
     "max_replicas: min_replicas (5) is more than max_replicas (3), allowed: at most as many"},
    {"max_replicas: 3, min_replicas: 5",
     "min_replicas: min_replicas (5) is more than max_replicas (3), allowed: at most as many"},
    {"base: 0",
     "base: 0 is out of range, allowed: 0 < x <= 1000000000000000, or request, limit or original"},
    {"base: -1",
     "base: -1 is out of range, allowed: 0 < x <= 1000000000000000, or request, limit or original"},
    {"startup: 31m", "startup: 31m is out of range, allowed: 0s <= x <= 30m, or measured"},
    {"window: 30s", "window: 30s is out of range, allowed: 1m <= x <= 1h"},
    {"window: 61m", "window: 61m is out of range, allowed: 1m <= x <= 1h"},
    {"window: 90s", "window: 1m30s are no whole minutes, allowed: whole minutes, 1m to 1h"},
    {"tolerance: 1", "tolerance: 1 is out of range, allowed: 0 <= x < 1"},
    {"tolerance: -0.1", "tolerance: -0.1 is out of range, allowed: 0 <= x < 1"},
    {"target_utilization: 0", "target_utilization: 0 is out of range, allowed: 0 < x <= 100"},
    {"target_utilization: 50%", "target_utilization: 50% is not a number, allowed: 0 < x <= 100"},
    {"utilization: {low: 0}", "utilization.low: 0 is out of range, allowed: 0 < x <= 1"},
    {"utilization: {high: 1.1}", "utilization.high: 1.1 is out of range, allowed: 0 < x <= 1"},
    {"utilization: {low: 0.8}",
     "utilization: low (0.8) is more than high (0.7), allowed: at most as much"},
    {"utilization: {lo: 0.2}",
     "utilization.lo: there is no such key (did you mean low?), allowed: low, high"},
    {"high_water_risk: 0.5", "high_water_risk: 0.5 is out of range, allowed: 0 < x < 0.5"},
    {"slo: {utilization: 90}", "slo.utilization: 90 is out of range, allowed: 0 < x <= 1"},
    {"slo: {time: 0.5}", "slo.time: 0.5 is out of range, allowed: 0 < x < 0.5"},
    {"slo: 0.9", "slo: 0.9 is not a map, allowed: the keys utilization, time"},
    {"maxreplicas: 3",
     "maxreplicas: there is no such key (did you mean max_replicas?), allowed: selector, enabled, "
     "policy, min_replicas, max_replicas, base, escape_dead_band, startup, window, tolerance, "
     "target_utilization, "
     "utilization, high_water_risk, slo"},
};

/// From the line on scaling on.
std::string Explained(const std::string& yaml, const WorkloadId& workload) {
  const auto answer =
      ExplainProfile(Parsed(yaml), {.workload = workload, .container = {}, .pod_labels = {}});
  REQUIRE(answer);
  return answer->substr(answer->find("\nscaling: ") + 1);
}

}  // namespace

TEST_CASE("Without a section there is no rule of scaling", "[cmd][config][scaling]") {
  for (const std::string yaml :
       {"{}", "scaling:\n", "scaling: {}\n", "scaling: {workloads: []}\n"}) {
    CAPTURE(yaml);
    const Config config = Parsed(yaml);
    CHECK(config.engine.scaling->rules.empty());
    CHECK(config.engine.scaling->usual.policy == UsualSettings(ScalingPolicy::kTidemark));
  }
}

TEST_CASE("Every key of scaling reaches its setting", "[cmd][config][scaling]") {
  const ScalingRule rule = Parsed(R"(
scaling:
  workloads:
    - selector: '{namespace="shop", workload_type!~"job"}'
      enabled: false
      policy: debi
      min_replicas: 2
      max_replicas: 20
      base: 500m
      startup: 90s
      window: 7m
      tolerance: 0.2
      target_utilization: 0.6
      utilization: {low: 0.2, high: 0.8}
      high_water_risk: 0.01
      slo: {utilization: 0.8, time: 0.05}
)")
                               .engine.scaling->rules.at(0);
  CHECK(rule.selector.text() == R"({namespace="shop", workload_type!~"job"})");
  CHECK_FALSE(rule.enabled);
  CHECK(rule.min_replicas == 2);
  CHECK(rule.max_replicas == 20);
  CHECK(rule.base == 0.5);
  CHECK(rule.startup_ms == 90'000);
  CHECK(rule.policy == PolicySettings{.policy = ScalingPolicy::kDebi,
                                      .target_utilization_ratio = 0.6,
                                      .utilization_low_ratio = 0.2,
                                      .utilization_high_ratio = 0.8,
                                      .tolerance_ratio = 0.2,
                                      .high_water_risk = 0.01,
                                      .slo_utilization_ratio = 0.8,
                                      .slo_time_ratio = 0.05,
                                      .window_minutes = 7});
}

TEST_CASE("What is not given is as usual for the policy, wherever that stands",
          "[cmd][config][scaling]") {
  CHECK(RuleWith("enabled: true").policy == UsualSettings(ScalingPolicy::kTidemark));
  for (size_t i = 0; i < kScalingPolicyCount; ++i) {
    const auto policy = static_cast<ScalingPolicy>(i);
    const std::string name(ToString(policy));
    CAPTURE(name);
    CHECK(RuleWith("policy: " + name).policy == UsualSettings(policy));
    PolicySettings settings = UsualSettings(policy);
    settings.tolerance_ratio = 0.2;
    CHECK(RuleWith("tolerance: 0.2, policy: " + name).policy == settings);
  }
  const ScalingRule rule = RuleWith("policy: debi-paper");
  CHECK(rule.policy.high_water_risk == 0.1);
  CHECK(rule.enabled);
  CHECK_FALSE(rule.min_replicas);
  CHECK_FALSE(rule.max_replicas);
  CHECK_FALSE(rule.base);
  CHECK_FALSE(rule.startup_ms);
}

TEST_CASE("Where a value comes from elsewhere, that can be written", "[cmd][config][scaling]") {
  const ScalingRule rule = RuleWith(
      "min_replicas: autoscaler, max_replicas: autoscaler, base: request, startup: measured");
  CHECK_FALSE(rule.min_replicas);
  CHECK_FALSE(rule.max_replicas);
  CHECK_FALSE(rule.base);
  CHECK_FALSE(rule.startup_ms);
  CHECK(RuleWith("startup: 0").startup_ms == 0);
  CHECK(RuleWith("base: 512Mi").base == 512.0 * 1024 * 1024);
  CHECK(RuleWith("min_replicas: 3, max_replicas: 3").min_replicas == 3);
}

TEST_CASE("a base is an amount, or what it is taken from", "[config]") {
  CHECK(RuleWith("base: limit").base_kind == UtilizationBase::kLimit);
  CHECK_FALSE(RuleWith("base: limit").base);
  CHECK(RuleWith("base: original").base_kind == UtilizationBase::kOriginal);
  CHECK(RuleWith("base: request").base_kind == UtilizationBase::kRequest);
  CHECK(RuleWith("base: 2").base_kind == UtilizationBase::kRequest);
  CHECK(RuleWith("base: 2").base == 2);
  CHECK(RuleWith("escape_dead_band: true").escape_dead_band);
  CHECK_FALSE(RuleWith("base: 2").escape_dead_band);
}

TEST_CASE("A dump of scaling has every key and reads as the same", "[cmd][config][scaling]") {
  const Config config = Parsed("scaling: {workloads: [{selector: '{}'}]}");
  const std::string dump = DumpConfig(config);
  const size_t begin = dump.find("scaling:\n");
  REQUIRE(begin != std::string::npos);
  CHECK(dump.substr(begin, dump.find("rightsizing:\n") - begin) == R"(scaling:
  workloads:
    - selector: "{}"
      enabled: true
      policy: tidemark
      min_replicas: autoscaler
      max_replicas: autoscaler
      base: request
      escape_dead_band: false
      startup: measured
      window: 3m
      tolerance: 0.1
      target_utilization: 0.5
      utilization:
        low: 0.3
        high: 0.7
      high_water_risk: 0.001
      slo:
        utilization: 0.9
        time: 0.02
)");
  CHECK(DumpConfig(Parsed(dump)) == dump);
}

TEST_CASE("What is wrong with scaling is said with what is allowed", "[cmd][config][scaling]") {
  for (const BadRule& bad : kBadRules) {
    CAPTURE(bad.keys);
    CHECK(Wrong("workloads: [{selector: '{}', " + std::string(bad.keys) + "}]") ==
          "workloads[0]." + std::string(bad.message));
  }
  CHECK(Wrong("workload: []") ==
        "workload: there is no such key (did you mean workloads?), allowed: workloads");
  CHECK(Wrong("workloads: [{enabled: true}]") ==
        "workloads[0].selector: the key is missing, allowed: whom the rule is for, as in "
        "{namespace=\"shop\"}; {} is everybody");
  CHECK(Wrong("workloads: [{selector: '{container=\"a\"}'}]") ==
        "workloads[0].selector: scaling cannot be selected by the label container, allowed: "
        "cluster, namespace, workload_type, workload");
  CHECK(Wrong("workloads: {a: b}").starts_with("workloads: "));
  const auto late = ParseConfig(
      "scaling:\n  workloads:\n    - selector: '{}'\n      min_replicas: 4\n      slo:\n"
      "        time: 1\n",
      "f");
  REQUIRE_FALSE(late);
  CHECK(late.error().message ==
        "f:6: scaling.workloads[0].slo.time: 1 is out of range, allowed: 0 < x < 0.5");
}

TEST_CASE("It is said which rule of scaling applies, and what it means",
          "[cmd][explain][scaling]") {
  const std::string yaml = R"(
forecast:
  workloads:
    - {selector: '{namespace="dark"}', steps: none}
    - {selector: '{namespace="drawn"}', steps: five_minutes}
scaling:
  workloads:
    - {selector: '{namespace="off"}', enabled: false}
    - {selector: '{namespace="shop"}', min_replicas: 2, max_replicas: 20, base: 500m, startup: 90s}
    - {selector: '{namespace="bank"}', policy: hpa, min_replicas: 3}
    - {selector: '{namespace="paper"}', policy: debi-paper, max_replicas: 9}
    - {selector: '{namespace="evt"}', policy: evt-bilstm-hpa}
    - {selector: '{namespace="drawn", workload_type="statefulset"}', policy: hpa}
    - {selector: '{namespace="based"}', base: original, escape_dead_band: true}
)";
  constexpr std::string_view kUsual =
      "tidemark, utilisation above 0.9 in at most 0.02 of the time, tolerance 0.1, window 3m; ";
  constexpr std::string_view kNoBounds =
      "as many replicas as its HorizontalPodAutoscaler allows; without one there is no target; ";
  constexpr std::string_view kRest = "one pod counts for its request; start-up as measured\n";
  const std::string unmatched = "scaling: no rule matches: " + std::string(kUsual) +
                                std::string(kNoBounds) + std::string(kRest);
  const auto explained = [&](const char* name_space, const char* type) {
    return Explained(yaml, {"", name_space, type, "web"});
  };
  CHECK(explained("other", "deployment") == unmatched);
  CHECK(explained("shop", "deployment") ==
        "scaling: rule 2 {namespace=\"shop\"}: " + std::string(kUsual) +
            "2 to 20 replicas; one pod counts for 500m; "
            "start-up 1m30s\n");
  CHECK(explained("bank", "cloneset") ==
        "scaling: rule 3 {namespace=\"bank\"}: hpa, utilisation of 0.5, tolerance 0.1, window 5m; "
        "3 replicas to its HorizontalPodAutoscaler's maximum; " +
            std::string(kRest));
  CHECK(explained("paper", "statefulset") ==
        "scaling: rule 4 {namespace=\"paper\"}: debi-paper, utilisation of 0.3 to 0.7, high-water "
        "risk 0.1, tolerance 0.1, window 5m; its HorizontalPodAutoscaler's minimum, or 1, to 9 "
        "replicas; " +
            std::string(kRest));
  CHECK(explained("evt", "deployment") ==
        "scaling: rule 5 {namespace=\"evt\"}: evt-bilstm-hpa, utilisation of 0.5, high-water risk "
        "0.001, tolerance 0.1, window 5m; " +
            std::string(kNoBounds) + std::string(kRest) +
            "  the target goes by the load of the last minute alone: its forecast has no bilstm "
            "among its models, as is usual for its type\n");

  CHECK(explained("based", "deployment")
            .find("one pod counts for its original request; start-up "
                  "as measured; targets leave an HPA's dead band\n") != std::string::npos);

  const auto obstacle = [&](const char* name_space, const char* type) {
    const std::string lines = explained(name_space, type);
    return lines.substr(lines.find('\n') + 1);
  };
  CHECK(obstacle("off", "deployment") == "  there is no target: the rule turns it off\n");
  for (const std::string type : {"daemonset", "staticpod", "process", "job", "cronjob", "pod"}) {
    CHECK(obstacle("shop", type.c_str()) ==
          "  there is no target: a " + type + " has no number of replicas that could be set\n");
  }
  CHECK(obstacle("dark", "deployment") ==
        "  there is no target: its demand is not kept, by rule 1 of forecast.workloads\n");
  CHECK(obstacle("drawn", "deployment") ==
        "  the target goes by the load of the last minute alone: its demand is kept in steps of "
        "five minutes and not forecast, by rule 2 of forecast.workloads\n");
  CHECK(obstacle("drawn", "statefulset").empty());  // hpa asks for no forecast
}

TEST_CASE("Rules that will surprise are warned of", "[cmd][config][scaling]") {
  const auto warnings = [](const std::string& rules, const std::string& section = "scaling") {
    return RuleWarnings(Parsed(section + ": {workloads: [" + rules + "]}"));
  };
  using Lines = std::vector<std::string>;
  CHECK(warnings("{selector: '{namespace=\"a\"}'}, {selector: '{namespace=\"b\"}'}").empty());
  CHECK(warnings("{selector: '{namespace=\"a\", workload=\"x\"}'}, {selector: "
                 "'{namespace=\"a\"}'}, {selector: '{}'}")
            .empty());
  CHECK(warnings("{selector: '{}'}, {selector: '{namespace=\"a\"}'}") ==
        Lines{"scaling.workloads[1]: it never applies, since scaling.workloads[0] {} comes before "
              "it"});
  CHECK(warnings("{selector: '{workload=\"x\", namespace=\"a\"}'}, {selector: '{ "
                 "namespace=\"a\",workload=\"x\" }'}") ==
        Lines{"scaling.workloads[1]: it never applies, since scaling.workloads[0] "
              "{workload=\"x\", namespace=\"a\"} comes before it"});
  CHECK(warnings("{selector: '{namespace=\"a\"}'}, {selector: '{}'}, {selector: "
                 "'{namespace=\"a\", workload=\"x\"}'}") ==
        Lines{"scaling.workloads[2]: it never applies, since scaling.workloads[0] "
              "{namespace=\"a\"} comes before it"});
  CHECK(warnings("{selector: '{workload_type=\"Deployment\"}'}") ==
        Lines{"scaling.workloads[0].selector: workload_type=\"Deployment\": types are in lower "
              "case, as in deployment"});
  CHECK(warnings("{selector: '{workload_type=~\"\\\\S+set\"}'}").empty());
  CHECK(warnings("{selector: '{workload=\"Deployment\"}'}").empty());
  CHECK(warnings("{selector: '{workload_type!~\"Job|cronjob\"}'}", "forecast").size() == 1);
  CHECK(warnings("{selector: '{}', policy: hpa, slo: {time: 0.1}, target_utilization: 0.6}") ==
        Lines{"scaling.workloads[0].slo: policy hpa does not read it"});
  CHECK(warnings("{selector: '{}', target_utilization: 0.6, utilization: {high: 0.8}, "
                 "high_water_risk: 0.01, slo: {time: 0.1}}") ==
        Lines{"scaling.workloads[0].target_utilization: policy tidemark does not read it",
              "scaling.workloads[0].utilization: policy tidemark does not read it",
              "scaling.workloads[0].high_water_risk: policy tidemark does not read it"});
  CHECK(warnings("{selector: '{}', policy: debi, utilization: {high: 0.8}, high_water_risk: 0.01}")
            .empty());
}

}  // namespace tidemark::cmd
