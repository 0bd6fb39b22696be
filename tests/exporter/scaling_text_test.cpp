#include "model/scaling_text.h"

#include "tests/catch.h"
#include "tests/exporter/scaling_fakes.h"

using namespace tidemark;
using namespace tidemark::exporter;

namespace {

WorkloadScaling Because(DecisionReason reason, int32_t target = 12) {
  WorkloadScaling scaling = WholeScaling();
  scaling.decision->reason = reason;
  scaling.decision->target = scaling.decision->recommended = target;
  return scaling;
}

std::string Text(const WorkloadScaling& scaling) { return ScalingText(scaling, Resource::kCpu); }

struct Reasoned {
  DecisionReason reason;
  int32_t target;
  std::string_view text;
};

const Reasoned kReasons[] = {
    {DecisionReason::kSuspended, 0,
     "0 replicas (10 now): the workload is scaled to 0, and stays so until somebody scales it up."},
    {DecisionReason::kFixed, 10, "10 replicas, as now: minimum and maximum are the same."},
    {DecisionReason::kWithinTolerance, 10,
     "10 replicas, as now: the demand that is expected is a load of 106 %, which is within 10 % of "
     "the target of 50 %."},
    {DecisionReason::kAtMinimum, 2,
     "2 replicas (10 now): fewer would do for demand of 5.62, but that is the minimum."},
    {DecisionReason::kAtMaximum, 20,
     "20 replicas (10 now): demand of 5.62 may reach 7.97 within 3 minutes and needs more, but "
     "that is the maximum."},
    {DecisionReason::kLoad, 12,
     "12 replicas (10 now): demand of 5.62 may reach 7.97 within 3 minutes; 12 pods of 750m keep "
     "that at 88.5 %."},
    {DecisionReason::kRisk, 12,
     "12 replicas (10 now): demand of 5.62 may reach 7.97 within 3 minutes; 12 pods of 750m keep "
     "that at 88.5 %, with the objective of more than 90 % in at most 2 % of the time."},
    {DecisionReason::kRecurringPeak, 1,
     "1 replica (10 now): demand of 5.62 may reach 7.97 within 3 minutes, as it has at this time "
     "before; 1 pod of 750m keeps that at 1062 %, with the objective of more than 90 % in at most "
     "2 % of the time."},
    {DecisionReason::kSmallScaleDown, 10,
     "10 replicas, as now: fewer would do for demand of 5.62, but not by enough: the tolerance is "
     "10 %."},
    {DecisionReason::kCensored, 15,
     "15 replicas (10 now): pods sit at their limit or are throttled, so that demand is more than "
     "the 5.62 that is seen; half as many again each minute until it is known."},
    {DecisionReason::kMissingPods, 10,
     "10 replicas, as now: usage of 1 pod is not known, and without it no step is sure to be "
     "right."},
    {DecisionReason::kStabilized, 12,
     "12 replicas (10 now): 12 would do now, but the most that was needed in the last 3 minutes "
     "counts."},
};

}  // namespace

TEST_CASE("every reason is a sentence", "[exporter][scaling]") {
  size_t next = 0;
  for (const Reasoned& each : kReasons) {
    CHECK(static_cast<size_t>(each.reason) == next++);  // none is left out
    CHECK(Text(Because(each.reason, each.target)) == each.text);
  }
  CHECK(ToString(static_cast<DecisionReason>(next - 1)) == "stabilized");
}

TEST_CASE("a target before and after the window are told apart", "[exporter][scaling]") {
  WorkloadScaling scaling = Because(DecisionReason::kStabilized);
  scaling.decision->recommended = 9;
  scaling.current_replicas = 12;
  scaling.policy.window_minutes = 1;
  CHECK(Text(scaling) ==
        "12 replicas, as now: 9 would do now, but the most that was needed in the last 1 minute "
        "counts.");
}

TEST_CASE("a forecast is spoken of where the decision goes by it", "[exporter][scaling]") {
  WorkloadScaling scaling = Because(DecisionReason::kLoad, 15);
  scaling.policy = UsualSettings(ScalingPolicy::kDebi);
  CHECK(Text(scaling) ==
        "15 replicas (10 now): demand of 5.62 is expected to reach 7.97 within 3 minutes; 15 pods "
        "of 750m keep that at 70.8 %.");
  scaling.decision->high_water_load_ratio = 0.9;  // caps the forecast
  CHECK(Text(scaling) ==
        "15 replicas (10 now): demand of 5.62 is expected to reach 7.97 within 3 minutes but "
        "hardly ever passes 6.75; 15 pods of 750m keep that at 60 %.");
  scaling.decision->mode = ScalingMode::kReactive;
  CHECK(Text(scaling) ==
        "15 replicas (10 now): demand is 5.62; 15 pods of 750m keep that at 50 %.");
  scaling.decision->mode = ScalingMode::kPredictive;
  scaling.decision->forecast_load_ratio = 0.5;  // less than there is
  CHECK(Text(scaling) ==
        "15 replicas (10 now): demand is 5.62; 15 pods of 750m keep that at 50 %.");
}

TEST_CASE("the load that is right is that which the policy aims at", "[exporter][scaling]") {
  WorkloadScaling scaling = Because(DecisionReason::kWithinTolerance, 10);
  scaling.decision->mode = ScalingMode::kReactive;
  scaling.decision->load_ratio = 0.52;
  CHECK(Text(scaling) ==
        "10 replicas, as now: demand of 5.62 is a load of 52 %, which is within 10 % of the target "
        "of 50 %.");
  scaling.decision->target_utilization_ratio = 0;
  CHECK(Text(scaling) == "10 replicas, as now: demand of 5.62 is within the tolerance of 10 %.");
}

TEST_CASE("demand that is cut off is doubled no more at the maximum", "[exporter][scaling]") {
  CHECK(Text(Because(DecisionReason::kCensored, 20))
            .ends_with("until it is known, but that is the maximum."));
}

TEST_CASE("a minute that is none changes nothing", "[exporter][scaling]") {
  WorkloadScaling scaling = Because(DecisionReason::kMissingPods, 10);
  scaling.missing_pods = 0;
  CHECK(Text(scaling) ==
        "10 replicas, as now: the minute cannot be decided on, so nothing changes.");
}

TEST_CASE("what is not known is not spoken of", "[exporter][scaling]") {
  for (size_t i = 0; i < 12; ++i) {
    WorkloadScaling scaling;
    ReplicaDecision& decision = scaling.decision.emplace();
    decision.target = decision.recommended = 3;
    decision.reason = static_cast<DecisionReason>(i);
    const std::string text = Text(scaling);
    CAPTURE(text);
    CHECK(text.starts_with("3 replicas: "));
    CHECK(text.ends_with("."));
    CHECK(text.find("unknown") == std::string::npos);
    CHECK(text.find("nan") == std::string::npos);
  }
}

TEST_CASE("amounts are in the unit of the resource", "[exporter][scaling]") {
  WorkloadScaling scaling = Because(DecisionReason::kAtMinimum, 2);
  scaling.demand = 3.0 * 1024 * 1024 * 1024;
  CHECK(ScalingText(scaling, Resource::kMemory).find("demand of 3Gi,") != std::string::npos);
}

TEST_CASE("a target that leaves the dead band says what was decided", "[exporter][scaling]") {
  WorkloadScaling scaling = Because(DecisionReason::kLoad, 11);
  scaling.decision->mode = ScalingMode::kReactive;
  scaling.escape_dead_band = true;
  CHECK(Text(scaling) ==
        "12 replicas (10 now): demand is 5.62; 11 pods of 750m keep that at 68.2 %; 11 would do, "
        "but fewer than 12 an autoscaler with the usual tolerance does not follow.");
}

TEST_CASE("what to set at an autoscaler is said", "[exporter][scaling]") {
  AutoscalerUtilization target = WholeUtilization();
  const std::string points =
      "HorizontalPodAutoscaler web scales at 50 % of the cpu that a pod requests: 1.5 a pod by the "
      "original requests, 1 a pod by those of now, 750m a pod by the recommended ones. ";
  // 100 % of the recommended request is no target.
  CHECK(UtilizationTargetText(target) ==
        points +
            "With the recommended requests set type AverageValue, averageValue: 1500m to keep its "
            "scale point: a utilisation of 100 % is no target to set.");
  target.preserving_target_ratio = 0.904;  // 90 in whole percent
  CHECK(UtilizationTargetText(target) ==
        points +
            "With the recommended requests set averageUtilization: 90 to keep its scale point.");
  target.preserving_target_ratio = 0.29;
  CHECK(UtilizationTargetText(target).find("averageValue: 1500m") != std::string::npos);
  target.preserving_target_ratio = 0.499;
  CHECK(UtilizationTargetText(target) == points + "Its target may stay.");
  target.resource = Resource::kMemory;
  target.scale_point_before = 1536.0 * 1024 * 1024;
  target.preserving_target_ratio = 2;
  CHECK(UtilizationTargetText(target).find("averageValue: 1536Mi to keep") != std::string::npos);
  target.scale_point_before.reset();
  target.scale_point_now.reset();
  CHECK(UtilizationTargetText(target) ==
        "HorizontalPodAutoscaler web scales at 50 % of the memory that a pod requests, but not all "
        "containers of its pods have a request: until they do it cannot scale.");
}

TEST_CASE("without a decision it is said what is missing", "[exporter][scaling]") {
  CHECK(Text(WithoutDecision("disabled")) ==
        "No target: a rule of scaling.workloads turns it off.");
  CHECK(Text(WithoutDecision("no_bounds")) ==
        "No target: neither a HorizontalPodAutoscaler nor a rule of scaling.workloads says how "
        "many replicas there may be.");
  CHECK(Text(WithoutDecision("no_replicas")) ==
        "No target: how many replicas its spec asks for is not known; "
        "kube_deployment_spec_replicas, kube_statefulset_replicas or the like are missing.");
  CHECK(Text(WithoutDecision("no_request")) ==
        "No target: what one of its pods requests is not known; set a request, or base in "
        "scaling.workloads.");
  CHECK(Text(WithoutDecision("no_demand")) ==
        "No target: what its pods use together is not known for any whole minute; a few minutes "
        "after a start that is as it should be.");
  CHECK(Text(WithoutDecision("stale")) ==
        "No target: the last known minute of its demand is too old to decide by; usage or replicas "
        "come in no more.");
  WorkloadScaling stale = WithoutDecision("stale");
  stale.minute_ms = 1'699'999'980'000;
  CHECK(Text(stale).find("(2023-11-14T22:13:00.000Z)") != std::string::npos);
  CHECK(Text(WithoutDecision("")) == "No target yet.");
}
