// The policy tidemark: what it holds, what it does before it knows anything, and its saved state.
// What all policies must hold is in policies_property_test.cpp, what it is worth in
// scaling_traces_test.cpp.
#include "scaling/tidemark_policy.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <random>
#include <string>

#include "scaling/replay.h"
#include "scaling/replay_forecasts.h"
#include "tests/catch.h"
#include "tests/scaling/fake_forecast.h"
#include "tests/seed.h"

namespace tidemark::scaling {
namespace {

PolicyInput InputOf(int64_t minute, double demand, int32_t replicas) {
  return {.minute = minute,
          .demand = demand,
          .base = 1,
          .replicas = replicas,
          .bounds = {.min = 1, .max = 200},
          .lead_minutes = 3};
}

std::string SavedOf(const ReplicaPolicy& policy) {
  std::string state;
  ByteWriter out(state);
  policy.Save(out);
  return state;
}

/// Days of demand with forecasts that are exact but for an error of up to `spread`.
class Days {
 public:
  Days(double spread, std::function<double(int64_t)> demand)
      : spread_(spread), demand_(std::move(demand)) {}

  PolicyAnswer Pass(ReplicaPolicy& policy, int64_t minute, int32_t lead = 3) {
    const double demand = demand_(minute);
    forecast.history.Put(minute, demand);
    const double shift = spread_ * std::sin(static_cast<double>(minute) * 12.9898);
    forecast.expected = std::max(0.0, demand + shift);
    PolicyInput input = InputOf(minute, demand, replicas);
    input.lead_minutes = lead;
    const PolicyAnswer answer = policy.Decide(input, forecast);
    replicas = answer.replicas;
    return answer;
  }

  FakeForecast forecast;
  int32_t replicas = 20;

 private:
  double spread_;
  std::function<double(int64_t)> demand_;
};

/// Share of minutes in which ready pods were above the objective, in a replay of eight days.
double ShareAbove(const std::function<double(int64_t)>& demand, int32_t startup_minutes,
                  double time_ratio) {
  ReplayDemand minutes{.first = 29'000'160, .values = {}};  // a midnight
  for (int64_t i = 0; i < 8 * 1440; ++i) minutes.values.push_back(demand(i));
  PolicySettings settings = UsualSettings(ScalingPolicy::kTidemark);
  settings.slo_time_ratio = time_ratio;
  TrackForecasts forecasts{ReplayForecastOptions{}};
  ReplayOptions options;
  options.startup_minutes = startup_minutes;
  const auto replayed = Replay(minutes, {settings}, options, forecasts);
  REQUIRE(replayed);
  const ReplayOutcome& outcome = replayed->front().outcome;
  return static_cast<double>(outcome.minutes_over_slo) / static_cast<double>(outcome.minutes);
}

}  // namespace

TEST_CASE("The objective is held whatever the start-up, also where a wave bends between horizons",
          "[scaling]") {
  const uint32_t seed = tidemark::testing::Seed();
  INFO("seed " << seed);
  const double time_ratio = UsualSettings(ScalingPolicy::kTidemark).slo_time_ratio;
  for (const int32_t startup : {0, 1, 2, 5, 9}) {
    INFO("start-up " << startup << " min");
    const auto wave = [](int64_t minute) {
      return 8 + 6 * std::sin(static_cast<double>(minute) / 8);
    };
    CHECK(ShareAbove(wave, startup, time_ratio) <= 2 * time_ratio);
    std::mt19937 random(seed);
    std::normal_distribution<double> normal;
    const auto noisy = [&](int64_t minute) {
      return (10 + 6 * std::sin(static_cast<double>(minute) / 30)) * (1 + 0.03 * normal(random));
    };
    CHECK(ShareAbove(noisy, startup, time_ratio) <= 2 * time_ratio);
    double at = 10;
    const auto walk = [&](int64_t /*minute*/) {
      at += 0.3 * normal(random);
      if (at < 2) at = 4 - at;
      if (at > 35) at = 70 - at;
      return at;
    };
    CHECK(ShareAbove(walk, startup, time_ratio) <= 2 * time_ratio);
  }
}

TEST_CASE("Bursts that nothing tells of are covered as an objective asks", "[scaling]") {
  const uint32_t seed = tidemark::testing::Seed();
  INFO("seed " << seed);
  for (const double time_ratio : {0.01, 0.02, 0.05}) {
    INFO("objective " << time_ratio);
    std::mt19937 random(seed);
    std::normal_distribution<double> normal;
    std::uniform_real_distribution<double> even;
    const auto bursts = [&](int64_t /*minute*/) {
      const double burst = even(random) < 0.03 ? 9 + 5 * normal(random) : 0;
      return std::max(0.0, 6 + 0.5 * normal(random) + std::max(0.0, burst));
    };
    CHECK(ShareAbove(bursts, 2, time_ratio) <= 2.2 * time_ratio);  // one in 33 minutes is one
  }
}

TEST_CASE("Nothing known: the demand of now is kept free once more", "[scaling]") {
  const auto policy = MakeTidemarkPolicy(UsualSettings(ScalingPolicy::kTidemark));
  const FakeForecast nothing;
  const PolicyAnswer answer = policy->Decide(InputOf(100, 7.2, 3), nothing);
  CHECK(answer.replicas == 15);
  CHECK(answer.mode == ScalingMode::kReactive);
  CHECK(answer.reason == DecisionReason::kLoad);
  CHECK_FALSE(answer.forecast_load_ratio);
  CHECK_THAT(answer.target_utilization_ratio, Catch::Matchers::WithinAbs(7.2 / 15, 1e-12));
}

TEST_CASE("The forecast's quantiles serve until own errors are known", "[scaling]") {
  const auto policy = MakeTidemarkPolicy(UsualSettings(ScalingPolicy::kTidemark));
  FakeForecast forecast;
  forecast.expected = 20;
  forecast.quantile = [](double p) { return 20 + 2 * p; };
  const PolicyAnswer answer = policy->Decide(InputOf(100, 9, 15), forecast);
  CHECK(answer.replicas >= 22);  // 20 / 0.9 and more, at most 22 / 0.9
  CHECK(answer.replicas <= 25);
  CHECK(answer.mode == ScalingMode::kPredictive);
  CHECK(answer.reason == DecisionReason::kRisk);
  REQUIRE(answer.forecast_load_ratio);
  CHECK_THAT(*answer.forecast_load_ratio,
             Catch::Matchers::WithinAbs(answer.replicas * 0.9 / 15, 1e-9));
}

TEST_CASE("Never fewer than the demand of now needs at the objective", "[scaling]") {
  const auto policy = MakeTidemarkPolicy(UsualSettings(ScalingPolicy::kTidemark));
  FakeForecast falling;
  falling.Surround(2, 0.1);
  const PolicyAnswer answer = policy->Decide(InputOf(100, 18, 30), falling);
  CHECK(answer.replicas == 20);
  CHECK(answer.mode == ScalingMode::kReactive);
}

TEST_CASE("A well-known demand is kept with little room, an uncertain one with more", "[scaling]") {
  int32_t before = 0;
  for (const double spread : {0.05, 1.0, 3.0}) {
    INFO("spread " << spread);
    const auto policy = MakeTidemarkPolicy(UsualSettings(ScalingPolicy::kTidemark));
    Days days(spread, [](int64_t /*minute*/) { return 20.0; });
    days.replicas = 1;
    for (int64_t minute = 1; minute < 1000; ++minute) days.Pass(*policy, minute);
    CHECK(days.replicas > before);
    before = days.replicas;
  }
  CHECK(before <= 30);
}

TEST_CASE("A peak that came at this time each day is there before it comes", "[scaling]") {
  const auto policy = MakeTidemarkPolicy(UsualSettings(ScalingPolicy::kTidemark));
  constexpr int64_t kStart = 600;
  // The model behind the forecast never sees it coming.
  const auto demand = [](int64_t minute) {
    return minute % 1440 >= kStart && minute % 1440 < kStart + 10 ? 40.0 : 8.0;
  };
  Days days(0.2, demand);
  for (int64_t minute = 0; minute < 3 * 1440 + kStart - 3; ++minute) days.Pass(*policy, minute);
  CHECK(days.replicas < 20);
  const PolicyAnswer answer = days.Pass(*policy, 3 * 1440 + kStart - 3);
  CHECK(answer.replicas >= 44);
  CHECK(answer.reason == DecisionReason::kRecurringPeak);
}

TEST_CASE("What came at one time and never again is not waited for", "[scaling]") {
  const auto policy = MakeTidemarkPolicy(UsualSettings(ScalingPolicy::kTidemark));
  std::mt19937 random(tidemark::testing::Seed());
  std::uniform_real_distribution<double> even;
  Days days(0.2, [&](int64_t /*minute*/) { return even(random) < 0.02 ? 40.0 : 8.0; });
  int64_t minute = 0;
  for (; minute < 5 * 1440; ++minute) days.Pass(*policy, minute);
  int waited = 0;
  for (; minute < 6 * 1440; ++minute) {
    const PolicyAnswer answer = days.Pass(*policy, minute);
    if (answer.reason == DecisionReason::kRecurringPeak && answer.replicas >= 40) ++waited;
  }
  CHECK(waited < 30);  // there is one of some day before in each tenth minute
}

TEST_CASE("A small decrease waits an hour and then has to be worth it", "[scaling]") {
  const auto policy = MakeTidemarkPolicy(UsualSettings(ScalingPolicy::kTidemark));
  Days days(0.2, [](int64_t /*minute*/) { return 40.0; });
  int64_t minute = 0;
  for (; minute < 300; ++minute) days.Pass(*policy, minute);
  const int32_t settled = days.replicas;
  days.replicas = settled + 3;
  int held = 0;
  for (; days.replicas == settled + 3 && held < 100; ++minute, ++held) {
    const PolicyAnswer answer = days.Pass(*policy, minute);
    if (days.replicas == settled + 3) CHECK(answer.reason == DecisionReason::kSmallScaleDown);
  }
  CHECK(held == 61);
  CHECK(days.replicas <= settled);
  days.replicas = 2 * settled;  // a large one does not
  days.Pass(*policy, minute);
  CHECK(days.replicas <= settled);
}

TEST_CASE("Considering another demand moves nothing", "[scaling]") {
  const auto policy = MakeTidemarkPolicy(UsualSettings(ScalingPolicy::kTidemark));
  Days days(1, [](int64_t minute) { return 10 + 5 * std::sin(static_cast<double>(minute) / 50); });
  for (int64_t minute = 0; minute < 2000; ++minute) days.Pass(*policy, minute);
  const std::string before = SavedOf(*policy);
  const PolicyAnswer more = policy->Consider(InputOf(1999, 90, 20), days.forecast);
  CHECK(more.replicas >= 100);
  CHECK(SavedOf(*policy) == before);
}

TEST_CASE("A policy goes on from what it saved, and refuses what is no such thing", "[scaling]") {
  const PolicySettings settings = UsualSettings(ScalingPolicy::kTidemark);
  const auto policy = MakeTidemarkPolicy(settings);
  Days days(1, [](int64_t minute) {
    return 10 + 5 * std::sin(static_cast<double>(minute) / 50) + (minute % 1440 < 9 ? 20 : 0);
  });
  for (int64_t minute = 0; minute < 4000; ++minute) days.Pass(*policy, minute);
  const std::string saved = SavedOf(*policy);
  CHECK(saved.size() < 1024);
  CHECK(policy->MemoryBytes() < 1024);
  const auto restored = MakeTidemarkPolicy(settings);
  ByteReader in(saved);
  REQUIRE(restored->Restore(in));
  CHECK(in.AtEnd());
  CHECK(SavedOf(*restored) == saved);
  Days other = days;
  for (int64_t minute = 4000; minute < 4400; ++minute) {
    REQUIRE(days.Pass(*policy, minute).replicas == other.Pass(*restored, minute).replicas);
  }
  CHECK(SavedOf(*restored) == SavedOf(*policy));
  const std::string now = SavedOf(*policy);
  for (size_t size = 0; size < saved.size(); ++size) {
    ByteReader cut(std::string_view(saved).substr(0, size));
    CHECK_FALSE(policy->Restore(cut));
  }
  CHECK(SavedOf(*policy) == now);
}

TEST_CASE("The longest lead takes about a kilobyte; another lead begins with care", "[scaling]") {
  const auto policy = MakeTidemarkPolicy(UsualSettings(ScalingPolicy::kTidemark));
  Days days(0.2, [](int64_t /*minute*/) { return 20.0; });
  int64_t minute = 0;
  for (; minute < 500; ++minute) days.Pass(*policy, minute, 31);
  CHECK(policy->MemoryBytes() <= 1200);
  const int32_t before = days.replicas;
  days.forecast.quantile = [](double p) { return 20 + 10 * p; };
  days.Pass(*policy, minute, 6);
  CHECK(days.replicas > before);  // the higher of what was and what the forecast says
  for (++minute; minute < 600; ++minute) days.Pass(*policy, minute, 6);
  CHECK(days.replicas <= before + 1);
}

}  // namespace tidemark::scaling
