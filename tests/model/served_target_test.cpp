#include "model/scaling.h"
#include "tests/catch.h"

using namespace tidemark;

namespace {

WorkloadScaling Deciding(int32_t current, int32_t target, bool escape) {
  WorkloadScaling scaling;
  ReplicaDecision decision;
  decision.target = target;
  scaling.decision = decision;
  scaling.current_replicas = current;
  scaling.escape_dead_band = escape;
  return scaling;
}

/// What an HPA on AverageValue 1 sets, with the tolerance that is usual (kubernetes/pkg/controller/
/// podautoscaler, GetExternalPerPodMetricReplicas).
int32_t HpaLandsOn(int32_t current, int32_t value) {
  const double ratio = static_cast<double>(value) / current;
  return ratio >= 1 - 0.1 && ratio <= 1 + 0.1 ? current : value;
}

}  // namespace

TEST_CASE("a target is served as it was decided", "[model][scaling]") {
  CHECK_FALSE(ServedTarget(WorkloadScaling{}));
  CHECK(ServedTarget(Deciding(20, 22, false)) == ServedReplicas{22, false});
  CHECK(ServedTarget(Deciding(20, 18, true)) == ServedReplicas{18, false});
  CHECK(ServedTarget(Deciding(20, 23, true)) == ServedReplicas{23, false});
  CHECK(ServedTarget(Deciding(0, 3, true)) == ServedReplicas{3, false});
}

TEST_CASE("escaping the dead band gives the least that an HPA follows", "[model][scaling]") {
  for (int32_t current = 1; current <= 400; ++current) {
    for (int32_t target = 1; target <= 2 * current + 2; ++target) {
      const ServedReplicas served = *ServedTarget(Deciding(current, target, true));
      CAPTURE(current, target, served.replicas);
      CHECK(served.replicas >= target);
      CHECK(served.is_escaped == (served.replicas != target));
      if (target <= current) {
        CHECK_FALSE(served.is_escaped);
      } else {
        // It never stays where it is, and one less would not have moved it (or is the target).
        CHECK(HpaLandsOn(current, served.replicas) == served.replicas);
        if (served.is_escaped) CHECK(HpaLandsOn(current, served.replicas - 1) == current);
      }
    }
  }
}

TEST_CASE("escaping ends at the maximum", "[model][scaling]") {
  WorkloadScaling scaling = Deciding(100, 105, true);
  scaling.bounds = ReplicaBounds{.min = 1, .max = 108};
  CHECK(ServedTarget(scaling) == ServedReplicas{108, true});
  scaling.bounds = ReplicaBounds{.min = 1, .max = 105};
  CHECK(ServedTarget(scaling) == ServedReplicas{105, false});
}
