// What the scaler does around every policy: missing pods, demand that is cut off, the window.
#include "scaling/scaler.h"

#include <string>

#include "tests/catch.h"
#include "tests/scaling/fake_forecast.h"

namespace tidemark::scaling {
namespace {

ScalingMinute MinuteOf(int64_t minute, int32_t replicas, double load_ratio) {
  return {.minute = minute,
          .demand = load_ratio * replicas * 2,
          .base = 2,
          .replicas = replicas,
          .ready_pods = replicas,
          .bounds = {.min = 1, .max = 100}};
}

/// Of policies without a forecast.
ReplicaDecision DecideOnce(const PolicySettings& settings, const ScalingMinute& minute) {
  return Scaler(settings).Decide(minute, FakeForecast());
}

TEST_CASE("The lead is the start-up in whole minutes and one more", "[scaling]") {
  CHECK(LeadMinutes(0) == 1);
  CHECK(LeadMinutes(1) == 2);
  CHECK(LeadMinutes(60'000) == 2);
  CHECK(LeadMinutes(90'000) == 3);
  CHECK(LeadMinutes(120'000) == 3);
  CHECK(LeadMinutes(kMaxStartupMs) == 31);
  CHECK(LeadMinutes(-5) == 1);
  CHECK(LeadMinutes(100 * kMaxStartupMs) == 31);
}

TEST_CASE("Missing pods count as busy where fewer replicas would be asked for", "[scaling]") {
  const PolicySettings hpa = UsualSettings(ScalingPolicy::kHpa);
  // Ten replicas, W 0.3: six would do.
  ScalingMinute minute = MinuteOf(5, 10, 0.3);
  CHECK(DecideOnce(hpa, minute).target == 6);
  // One missing pod at its whole request: W 0.4, eight.
  minute.missing_pods = 1;
  auto decision = DecideOnce(hpa, minute);
  CHECK(decision.target == 8);
  CHECK(decision.reason == DecisionReason::kLoad);
  CHECK(decision.load_ratio == Approx(0.3));
  // Two: W 0.5, as it should be; three: more would be wanted. Both are no change.
  for (const uint32_t missing : {2U, 3U, 1000U}) {
    minute.missing_pods = missing;
    decision = DecideOnce(hpa, minute);
    CHECK(decision.target == 10);
    CHECK(decision.reason == DecisionReason::kMissingPods);
  }
}

TEST_CASE("Missing pods count for nothing where more replicas would be asked for", "[scaling]") {
  const PolicySettings hpa = UsualSettings(ScalingPolicy::kHpa);
  ScalingMinute minute = MinuteOf(5, 10, 0.8);
  minute.missing_pods = 3;
  const auto decision = DecideOnce(hpa, minute);
  CHECK(decision.target == 16);
  CHECK(decision.reason == DecisionReason::kLoad);
}

TEST_CASE("No policy goes down by the pods it does not see", "[scaling]") {
  for (const PolicySettings& settings : AllPolicies()) {
    INFO(ToString(settings.policy));
    ScalingMinute minute = MinuteOf(5, 40, 0.01);
    const int32_t fewer = DecideOnce(settings, minute).target;
    CHECK(fewer < 5);
    minute.missing_pods = 38;
    const auto decision = DecideOnce(settings, minute);
    CHECK(decision.target >= 40);
    CHECK(decision.reason == DecisionReason::kMissingPods);
    minute.missing_pods = 4;
    const int32_t careful = DecideOnce(settings, minute).target;
    CHECK(careful > fewer);
    CHECK(careful < 40);
  }
}

TEST_CASE("Demand that is cut off is taken for half as much again, step by step", "[scaling]") {
  for (const PolicySettings& settings : AllPolicies()) {
    INFO(ToString(settings.policy));
    Scaler scaler(settings);
    int32_t replicas = 1;
    int64_t at = 5;
    for (const int32_t expected : {2, 3, 5, 8, 12, 18, 27, 41, 62, 93, 100, 100}) {
      ScalingMinute minute = MinuteOf(++at, replicas, 0.2);
      minute.is_censored = true;
      const auto decision = scaler.Decide(minute, FakeForecast());
      CHECK(decision.target == expected);
      if (replicas < 100) CHECK(decision.reason == DecisionReason::kCensored);
      replicas = decision.target;
    }
    // Not any more: what the load needs, once the window has passed.
    for (int32_t i = 0; i < settings.window_minutes; ++i) {
      scaler.Decide(MinuteOf(++at, 100, 0.02), FakeForecast());
    }
    CHECK(scaler.last()->target < 10);
    // The policy's own answer stands where it is more.
    ScalingMinute minute = MinuteOf(++at, 10, 9);
    minute.is_censored = true;
    CHECK(scaler.Decide(minute, FakeForecast()).target >= 90);
    CHECK(scaler.last()->reason != DecisionReason::kCensored);
  }
}

TEST_CASE("The highest recommendation of the window holds", "[scaling]") {
  for (PolicySettings settings : AllPolicies()) {
    INFO(ToString(settings.policy));
    settings.window_minutes = 4;
    Scaler scaler(settings);
    const auto high = scaler.Decide(MinuteOf(100, 10, 2), FakeForecast());
    REQUIRE(high.target >= 20);
    for (int64_t at = 101; at < 104; ++at) {
      const auto held = scaler.Decide(MinuteOf(at, 10, 0.01), FakeForecast());
      CHECK(held.target == high.target);
      CHECK(held.recommended < 10);
      CHECK(held.reason == DecisionReason::kStabilized);
    }
    const auto free = scaler.Decide(MinuteOf(104, 10, 0.01), FakeForecast());
    CHECK(free.target == free.recommended);
    CHECK(free.reason != DecisionReason::kStabilized);
  }
}

TEST_CASE("A window of one minute holds nothing", "[scaling]") {
  PolicySettings settings = UsualSettings(ScalingPolicy::kHpa);
  settings.window_minutes = 1;
  for (const bool seeds_window : {false, true}) {
    Scaler scaler(settings, seeds_window);
    CHECK(scaler.Decide(MinuteOf(1, 10, 2), FakeForecast()).target == 40);
    CHECK(scaler.Decide(MinuteOf(2, 40, 0.05), FakeForecast()).target == 4);
  }
}

TEST_CASE("Bounds that have become narrower hold for what was recommended before", "[scaling]") {
  Scaler scaler(UsualSettings(ScalingPolicy::kHpa));
  CHECK(scaler.Decide(MinuteOf(1, 10, 2), FakeForecast()).target == 40);
  ScalingMinute minute = MinuteOf(2, 40, 0.1);
  minute.bounds = {.min = 1, .max = 12};
  const auto decision = scaler.Decide(minute, FakeForecast());
  CHECK(decision.target == 12);
  CHECK(decision.recommended == 8);
}

TEST_CASE("Live, the first decision and one after a gap do not go down at once", "[scaling]") {
  for (PolicySettings settings : AllPolicies()) {
    INFO(ToString(settings.policy));
    settings.window_minutes = 5;
    Scaler live(settings, true);
    Scaler replayed(settings, false);
    int64_t at = 50;
    for (const int64_t gap : {0, 100}) {
      at += gap;
      for (int minute = 0; minute < 4; ++minute, ++at) {
        CHECK(live.Decide(MinuteOf(at, 30, 0.01), FakeForecast()).target == 30);
      }
      CHECK(live.Decide(MinuteOf(at, 30, 0.01), FakeForecast()).target < 5);
      CHECK(replayed.Decide(MinuteOf(at, 30, 0.01), FakeForecast()).target < 5);
    }
    // A gap within the window is none; what was asked for before it counts on.
    const int32_t low = live.last()->target;
    CHECK(live.Decide(MinuteOf(at + 4, 30, 0.01), FakeForecast()).target == low);
  }
}

TEST_CASE("A workload of 0 replicas is let be, and taken up again", "[scaling]") {
  for (const PolicySettings& settings : AllPolicies()) {
    Scaler scaler(settings);
    ScalingMinute minute = MinuteOf(5, 0, 0);
    minute.bounds.min = 3;
    const auto decision = scaler.Decide(minute, FakeForecast());
    CHECK(decision.target == 0);
    CHECK(decision.reason == DecisionReason::kSuspended);
    minute.minute = 6;
    minute.replicas = 1;
    CHECK(scaler.Decide(minute, FakeForecast()).target == 3);
  }
}

TEST_CASE("Settings change under way", "[scaling]") {
  Scaler scaler(UsualSettings(ScalingPolicy::kHpa));
  CHECK(scaler.Decide(MinuteOf(1, 10, 2), FakeForecast()).target == 40);
  // Another policy; the window goes on.
  scaler.Adapt(UsualSettings(ScalingPolicy::kDebi));
  CHECK(scaler.settings() == UsualSettings(ScalingPolicy::kDebi));
  auto decision = scaler.Decide(MinuteOf(2, 40, 0.05), FakeForecast());
  CHECK(decision.target == 40);
  CHECK(decision.recommended == 4);  // ceil((2 + 0.4) / 0.7)
  // Another target, and a window that is over.
  PolicySettings settings = UsualSettings(ScalingPolicy::kHpa);
  settings.target_utilization_ratio = 0.2;
  settings.window_minutes = 1;
  scaler.Adapt(settings);
  decision = scaler.Decide(MinuteOf(3, 40, 0.05), FakeForecast());
  CHECK(decision.target == 10);
  CHECK(decision.target_utilization_ratio == 0.2);
}

TEST_CASE("State of another policy is taken over but for the policy", "[scaling]") {
  for (const PolicySettings& from : AllPolicies()) {
    Scaler scaler(from);
    const int32_t high = scaler.Decide(MinuteOf(1, 10, 2), FakeForecast()).target;
    std::string bytes;
    ByteWriter out(bytes);
    scaler.Save(out);
    for (PolicySettings to : AllPolicies()) {
      INFO(ToString(from.policy) << " to " << ToString(to.policy));
      ByteReader in(bytes);
      auto restored = Scaler::Restore(in, to);
      REQUIRE(restored);
      CHECK(in.AtEnd());
      CHECK(restored->settings() == to);
      CHECK(restored->last_minute() == 1);
      CHECK(restored->last()->target == high);
      CHECK(restored->Decide(MinuteOf(2, high, 0.01), FakeForecast()).target == high);
    }
  }
}

}  // namespace
}  // namespace tidemark::scaling
