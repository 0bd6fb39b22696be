// The closed loop on demands whose outcome can be counted by hand, and on one with a daily rise
// that forecasts know.
#include "scaling/replay.h"

#include <cmath>
#include <string>

#include "scaling/replay_forecasts.h"
#include "tests/catch.h"

namespace tidemark::scaling {
namespace {

const double kGap = std::nan("");

PolicySettings Hpa(int32_t window_minutes = 1) {
  PolicySettings settings = UsualSettings(ScalingPolicy::kHpa);
  settings.window_minutes = window_minutes;
  return settings;
}

ReplayOptions Options() {
  ReplayOptions options;
  options.warm_up_minutes = 0;
  options.keep_minutes = true;
  return options;
}

ReplayOutcome ReplayOne(const std::vector<double>& values, const PolicySettings& settings,
                        const ReplayOptions& options) {
  NoForecasts forecasts;
  auto replayed = Replay({.first = 1000, .values = values}, {settings}, options, forecasts);
  REQUIRE(replayed);
  REQUIRE(replayed->size() == 1);
  CHECK(replayed->front().settings == settings);
  return std::move(replayed->front().outcome);
}

std::vector<int32_t> ReplicasOf(const ReplayOutcome& outcome) {
  std::vector<int32_t> replicas;
  for (const ReplayedMinute& minute : outcome.minutes_kept) replicas.push_back(minute.replicas);
  return replicas;
}

std::vector<int32_t> ReadyOf(const ReplayOutcome& outcome) {
  std::vector<int32_t> ready;
  for (const ReplayedMinute& minute : outcome.minutes_kept) ready.push_back(minute.ready);
  return ready;
}

TEST_CASE("Replicas follow the demand, and serve after their start-up", "[scaling]") {
  const auto outcome = ReplayOne({1, 3, 3, 3, 3, 0.4, 0.4}, Hpa(), Options());
  CHECK(ReplicasOf(outcome) == std::vector<int32_t>{2, 2, 6, 6, 6, 6, 1});
  CHECK(ReadyOf(outcome) == std::vector<int32_t>{2, 2, 2, 2, 6, 6, 1});
  CHECK(outcome.minutes == 7);
  CHECK(outcome.pod_minutes == 29);
  CHECK(outcome.demand == Approx(13.8));
  CHECK(outcome.minutes_over_100 == 3);
  CHECK(outcome.longest_over_100 == 3);
  CHECK(outcome.minutes_over_90 == 3);
  CHECK(outcome.minutes_over_slo == 3);
  CHECK(outcome.unserved == Approx(3));
  CHECK(outcome.scale_events == 2);
  CHECK(outcome.least_replicas == 1);
  CHECK(outcome.most_replicas == 6);
  CHECK(outcome.UtilizationRatio() == Approx(13.8 / 29));
  CHECK(outcome.UnservedRatio() == Approx(3 / 13.8));
  CHECK(outcome.PerDay(outcome.scale_events) == Approx(2 * 1440 / 7.0));
  CHECK(outcome.minutes_kept[1].minute == 1001);
  REQUIRE(outcome.minutes_kept[1].decision);
  CHECK(outcome.minutes_kept[1].decision->target == 6);
  CHECK(outcome.minutes_kept[1].decision->load_ratio == 1.5);
}

TEST_CASE("The demand's unit does not matter, only what a pod counts for", "[scaling]") {
  const auto pods = ReplayOne({1, 3, 2, 5, 0.5}, Hpa(5), Options());
  ReplayOptions options = Options();
  options.base = 0.25;
  const auto cores = ReplayOne({0.25, 0.75, 0.5, 1.25, 0.125}, Hpa(5), options);
  CHECK(ReplicasOf(pods) == ReplicasOf(cores));
  CHECK(pods.demand == cores.demand);
  CHECK(pods.unserved == cores.unserved);
}

TEST_CASE("A warm-up is scaled on and not measured", "[scaling]") {
  ReplayOptions options = Options();
  options.warm_up_minutes = 2;
  const auto outcome = ReplayOne({1, 3, 3, 3, 3, 0.4, 0.4}, Hpa(), options);
  CHECK(outcome.minutes == 5);
  CHECK(outcome.pod_minutes == 25);
  CHECK(outcome.minutes_over_100 == 2);
  CHECK(outcome.scale_events == 1);  // not that into the first minute that is measured
  CHECK(outcome.minutes_kept.size() == 7);
}

TEST_CASE("A start-up of nothing, and one of three minutes", "[scaling]") {
  ReplayOptions options = Options();
  options.startup_minutes = 0;
  CHECK(ReadyOf(ReplayOne({1, 3, 3, 3, 3, 3, 3}, Hpa(), options)) ==
        std::vector<int32_t>{2, 2, 6, 6, 6, 6, 6});
  options.startup_minutes = 3;
  CHECK(ReadyOf(ReplayOne({1, 3, 3, 3, 3, 3, 3}, Hpa(), options)) ==
        std::vector<int32_t>{2, 2, 2, 2, 2, 6, 6});
}

TEST_CASE("A minute without demand is neither decided on nor measured", "[scaling]") {
  const auto outcome = ReplayOne({kGap, 1, kGap, 3, kGap, 3}, Hpa(), Options());
  CHECK(ReplicasOf(outcome) == std::vector<int32_t>{2, 2, 2, 2, 6, 6});
  CHECK(outcome.minutes == 3);
  CHECK(outcome.pod_minutes == 10);
  for (const size_t at : {0, 2, 4}) CHECK_FALSE(outcome.minutes_kept[at].decision);
}

TEST_CASE("With a longer period it decides in some minutes only", "[scaling]") {
  ReplayOptions options = Options();
  options.period_minutes = 3;
  const auto outcome = ReplayOne({3, 1, 1, 2, 3, 4, 5}, Hpa(), options);
  CHECK(ReplicasOf(outcome) == std::vector<int32_t>{6, 6, 6, 2, 2, 2, 8});
}

TEST_CASE("A perfect forecast is never short and costs the least", "[scaling]") {
  std::vector<double> values;
  for (int i = 0; i < 2000; ++i) values.push_back(10 + 8 * std::sin(i / 40.0) + (i % 97 == 0));
  ReplayOptions options = Options();
  options.warm_up_minutes = 100;
  for (const int32_t startup : {0, 2, 7}) {
    for (const int32_t period : {1, 4}) {
      options.startup_minutes = startup;
      options.period_minutes = period;
      const auto perfect = ReplayPerfect({.first = 0, .values = values}, 0.9, options);
      REQUIRE(perfect);
      CHECK(perfect->minutes == 1900);
      CHECK(perfect->minutes_over_90 == 0);
      CHECK(perfect->minutes_over_100 == 0);
      CHECK(perfect->pod_minutes < ReplayOne(values, Hpa(5), options).pod_minutes);
    }
  }
}

TEST_CASE("Replays refuse what they cannot replay", "[scaling]") {
  NoForecasts forecasts;
  const auto error = [&](const std::vector<double>& values, const ReplayOptions& options,
                         const PolicySettings& settings = Hpa()) {
    const ReplayDemand demand{.first = 0, .values = values};
    const auto replayed = Replay(demand, {settings}, options, forecasts);
    REQUIRE_FALSE(replayed);
    CHECK(replayed.error().code == ErrorCode::kInvalidArgument);
    return replayed.error().message;
  };
  const std::vector<double> good = {1, 2, 3};
  using Catch::Contains;
  ReplayOptions options = Options();
  CHECK_THAT(error({}, options), Contains("demand"));
  CHECK_THAT(error({1, -1}, options), Contains("-1 in minute 1"));
  CHECK_THAT(error({1, INFINITY}, options), Contains("inf in minute 1"));
  CHECK_THAT(error({kGap, kGap}, options), Contains("of no minute"));
  options.warm_up_minutes = 3;
  CHECK_THAT(error(good, options), Contains("warm-up"));
  options.warm_up_minutes = 2;
  CHECK_THAT(error({1, 2, kGap}, options), Contains("after the warm-up"));
  options.warm_up_minutes = -1;
  CHECK_THAT(error(good, options), Contains("warm-up"));
  for (const int32_t startup : {-1, 31}) {
    options = Options();
    options.startup_minutes = startup;
    CHECK_THAT(error(good, options), Contains("startup: " + std::to_string(startup)));
  }
  for (const int32_t period : {0, 61}) {
    options = Options();
    options.period_minutes = period;
    CHECK_THAT(error(good, options), Contains("period: " + std::to_string(period)));
  }
  options = Options();
  options.base = 0;
  CHECK_THAT(error(good, options), Contains("base"));
  options = Options();
  options.bounds = {.min = 4, .max = 3};
  CHECK_THAT(error(good, options), Contains("4 to 3"));
  CHECK_THAT(ReplayPerfect({.first = 0, .values = good}, 1, options).error().message,
             Contains("4 to 3"));
  options = Options();
  CHECK_THAT(error(good, options, Hpa(0)), Contains("window"));
  CHECK_THAT(ReplayPerfect({.first = 0, .values = good}, 0, options).error().message,
             Contains("utilisation"));
  CHECK_THAT(ReplayPerfect({.first = 0, .values = good}, 1, options, 0).error().message,
             Contains("window"));
  CHECK_THAT(ReplayPerfect({.first = -1, .values = good}, 1, options).error().message,
             Contains("1970"));
}

/// Four days of minutes: every hour on the hour the load trebles for ten minutes.
ReplayDemand HourlyJobs() {
  ReplayDemand demand{.first = 1440LL * 20'000, .values = {}};
  for (int i = 0; i < 4 * 1440; ++i) {
    const double noise = 0.3 * std::sin(i * 12.9898) * std::sin(i * 78.233);
    demand.values.push_back((i % 60 < 10 ? 12 : 4) + noise);
  }
  return demand;
}

TEST_CASE("Forecasts of a track make peaks that recur less bad", "[scaling]") {
  const ReplayDemand demand = HourlyJobs();
  ReplayOptions options;
  options.warm_up_minutes = 2 * 1440;
  std::vector<PolicySettings> policies;
  for (const ScalingPolicy policy :
       {ScalingPolicy::kDebi, ScalingPolicy::kTidemark, ScalingPolicy::kHpa}) {
    policies.push_back(UsualSettings(policy));
  }
  NoForecasts nothing;
  const auto reactive = Replay(demand, policies, options, nothing);
  REQUIRE(reactive);
  std::vector<double> told;
  const auto replay = [&] {
    told.clear();
    TrackForecasts forecasts{ReplayForecastOptions{}};
    auto replayed =
        Replay(demand, policies, options, forecasts, [&](double share) { told.push_back(share); });
    REQUIRE(replayed);
    return *std::move(replayed);
  };
  const auto predictive = replay();
  for (size_t i = 0; i < 2; ++i) {
    INFO(ToString(policies[i].policy));
    CHECK((*reactive)[i].outcome.minutes_over_100 > 0);
    CHECK(2 * predictive[i].outcome.minutes_over_100 < (*reactive)[i].outcome.minutes_over_100);
  }
  CHECK(predictive[2].outcome.pod_minutes == (*reactive)[2].outcome.pod_minutes);
  REQUIRE(told.size() > 10);
  CHECK(std::is_sorted(told.begin(), told.end()));
  CHECK(told.front() == 0);
  CHECK(told.back() == 1);
  const auto again = replay();
  for (size_t i = 0; i < policies.size(); ++i) {
    CHECK(again[i].outcome.pod_minutes == predictive[i].outcome.pod_minutes);
    CHECK(again[i].outcome.unserved == predictive[i].outcome.unserved);
    CHECK(again[i].outcome.scale_events == predictive[i].outcome.scale_events);
  }
}

TEST_CASE("Policies that need a model have it, once it is among the candidates", "[scaling]") {
  std::vector<PolicySettings> policies;
  for (size_t i = 0; i < kScalingPolicyCount; ++i) {
    policies.push_back(UsualSettings(static_cast<ScalingPolicy>(i)));
  }
  CHECK(ModelsFor(policies) == std::vector<ForecastModel>{ForecastModel::kArima,
                                                          ForecastModel::kLstm,
                                                          ForecastModel::kBiLstm});
  CHECK(ModelsFor({Hpa(), UsualSettings(ScalingPolicy::kTidemark)}).empty());
  policies = {UsualSettings(ScalingPolicy::kArimaHpa)};
  CHECK(ModelsFor(policies) == std::vector<ForecastModel>{ForecastModel::kArima});
  ReplayDemand demand = HourlyJobs();
  demand.values.resize(2 * 1440);
  ReplayOptions options = Options();
  for (const bool has_model : {false, true}) {
    ReplayForecastOptions with;
    if (has_model) {
      for (const ForecastModel model : ModelsFor(policies)) with.rule.models.push_back(model);
    }
    TrackForecasts forecasts(with);
    const auto replayed = Replay(demand, policies, options, forecasts);
    REQUIRE(replayed);
    const auto& last = replayed->front().outcome.minutes_kept.back().decision;
    REQUIRE(last);
    CHECK(last->forecast_load_ratio.has_value() == has_model);
  }
}

}  // namespace
}  // namespace tidemark::scaling
