// What each policy reads of the future, and what it makes of it.
#include "scaling/policy.h"

#include "tests/catch.h"
#include "tests/scaling/fake_forecast.h"

namespace tidemark::scaling {
namespace {

/// Ten replicas at W 0.5, in units of half a core.
PolicyInput Input() {
  return {.minute = 10,
          .demand = 2.5,
          .base = 0.5,
          .replicas = 10,
          .bounds = {.min = 1, .max = 100},
          .lead_minutes = 4};
}

PolicyAnswer Ask(ScalingPolicy policy, const FakeForecast& forecast, PolicyInput input = Input()) {
  return MakePolicy(UsualSettings(policy))->Decide(input, forecast);
}

/// In units of what the present replicas request.
double Ratio(double ratio) { return ratio * 10 * 0.5; }

TEST_CASE("The HPA reads no forecast", "[scaling]") {
  FakeForecast forecast;
  forecast.Surround(Ratio(3), 0.5);
  const auto answer = Ask(ScalingPolicy::kHpa, forecast);
  CHECK(answer.replicas == 10);
  CHECK(answer.reason == DecisionReason::kWithinTolerance);
  CHECK(answer.mode == ScalingMode::kReactive);
  CHECK_FALSE(answer.forecast_load_ratio);
  CHECK_FALSE(answer.high_water_load_ratio);
  CHECK(answer.target_utilization_ratio == 0.5);
}

TEST_CASE("Predictive HPAs read the forecast of their model at the lead", "[scaling]") {
  const std::pair<ScalingPolicy, ForecastModel> kin[] = {
      {ScalingPolicy::kArimaHpa, ForecastModel::kArima},
      {ScalingPolicy::kLstmHpa, ForecastModel::kLstm},
      {ScalingPolicy::kBiLstmHpa, ForecastModel::kBiLstm},
      {ScalingPolicy::kEvtBiLstmHpa, ForecastModel::kBiLstm}};
  for (const auto& [policy, model] : kin) {
    INFO(ToString(policy));
    FakeForecast forecast;
    forecast.expected = Ratio(9);  // of the model in use: not theirs
    CHECK(Ask(policy, forecast).replicas == 10);
    forecast.expected_by[model] = Ratio(0.8);
    auto answer = Ask(policy, forecast);
    CHECK(answer.replicas == 16);
    CHECK(answer.mode == ScalingMode::kPredictive);
    CHECK(answer.forecast_load_ratio == Approx(0.8));
    CHECK(forecast.asked_minutes == 4);
    // Never below what the load of now needs.
    forecast.expected_by[model] = Ratio(0.1);
    answer = Ask(policy, forecast);
    CHECK(answer.replicas == 10);
    CHECK(answer.mode == ScalingMode::kReactive);
  }
}

TEST_CASE("Only evt-bilstm-hpa caps its forecast at the high-water mark", "[scaling]") {
  FakeForecast forecast;
  forecast.expected_by[ForecastModel::kBiLstm] = Ratio(1.6);
  forecast.high_water = Ratio(0.9);
  const auto capped = Ask(ScalingPolicy::kEvtBiLstmHpa, forecast);
  CHECK(capped.replicas == 18);
  CHECK(capped.high_water_load_ratio == Approx(0.9));
  CHECK(forecast.asked_risk == 0.001);
  CHECK(Ask(ScalingPolicy::kBiLstmHpa, forecast).replicas == 32);
  // Of the mark, what the load of now passes does not count.
  forecast.high_water = Ratio(0.2);
  CHECK(Ask(ScalingPolicy::kEvtBiLstmHpa, forecast).mode == ScalingMode::kReactive);
}

TEST_CASE("DEBI reads the model in use, and caps it at the mark of its risk", "[scaling]") {
  FakeForecast forecast;
  forecast.expected = Ratio(0.86);
  forecast.high_water = Ratio(2);
  const auto up = Ask(ScalingPolicy::kDebi, forecast);
  CHECK(up.replicas == 13);  // (8.6 + 0.4) / 0.7 = 12.86
  CHECK(up.mode == ScalingMode::kPredictive);
  CHECK(up.target_utilization_ratio == Approx(0.66));
  CHECK(forecast.asked_risk == 0.001);
  CHECK(forecast.asked_minutes == 4);
  forecast.expected = Ratio(0.9);
  CHECK(Ask(ScalingPolicy::kDebi, forecast).replicas == 14);  // 13.43
  CHECK(Ask(ScalingPolicy::kDebiPaper, forecast).replicas == 13);
  CHECK(forecast.asked_risk == 0.1);
  forecast.high_water = Ratio(0.75);
  CHECK(Ask(ScalingPolicy::kDebi, forecast).replicas == 12);  // 11.29
  CHECK(Ask(ScalingPolicy::kDebiPaper, forecast).replicas == 11);
  forecast.expected.reset();
  const auto reactive = Ask(ScalingPolicy::kDebi, forecast);
  CHECK(reactive.mode == ScalingMode::kReactive);
  CHECK(reactive.replicas == 8);  // (5 + 0.4) / 0.7 = 7.71
  CHECK(reactive.high_water_load_ratio == Approx(0.75));
}

TEST_CASE("A forecast that is no demand is not known", "[scaling]") {
  for (const double none : {std::nan(""), std::numeric_limits<double>::infinity(), -1.0}) {
    FakeForecast forecast;
    forecast.Surround(none, 0);
    for (const PolicySettings& settings : AllPolicies()) {
      INFO(ToString(settings.policy) << ", forecast " << none);
      const auto answer = MakePolicy(settings)->Decide(Input(), forecast);
      CHECK_FALSE(answer.forecast_load_ratio);
      CHECK_FALSE(answer.high_water_load_ratio);
      CHECK(answer.replicas == MakePolicy(settings)->Decide(Input(), FakeForecast()).replicas);
    }
  }
}

TEST_CASE("The HPA grows by no more than it can in a minute", "[scaling]") {
  PolicyInput input = Input();
  input.replicas = 1;
  input.demand = 1000;
  for (const ScalingPolicy policy : {ScalingPolicy::kHpa, ScalingPolicy::kEvtBiLstmHpa}) {
    // 1, 5, 10, 20, 40: four more at first, then as many again.
    CHECK(Ask(policy, FakeForecast(), input).replicas == 40);
    CHECK(Ask(policy, FakeForecast(), input).reason == DecisionReason::kLoad);
  }
  input.replicas = 7;
  CHECK(Ask(ScalingPolicy::kHpa, FakeForecast(), input).replicas == 100);
  CHECK(Ask(ScalingPolicy::kHpa, FakeForecast(), input).reason == DecisionReason::kAtMaximum);
  // A minimum is reached at once.
  input.replicas = 1;
  input.bounds.min = 60;
  CHECK(Ask(ScalingPolicy::kHpa, FakeForecast(), input).replicas == 60);
}

TEST_CASE("To consider moves nothing: the answer is that of Decide", "[scaling]") {
  FakeForecast forecast;
  forecast.Surround(Ratio(0.7), 0.3);
  for (const PolicySettings& settings : AllPolicies()) {
    INFO(ToString(settings.policy));
    const auto policy = MakePolicy(settings);
    std::string before;
    ByteWriter before_out(before);
    policy->Save(before_out);
    PolicyInput busier = Input();
    busier.demand *= 4;
    CHECK(policy->Consider(busier, forecast).replicas >= 20);
    std::string after;
    ByteWriter after_out(after);
    policy->Save(after_out);
    CHECK(before == after);
    const auto considered = policy->Consider(Input(), forecast);
    CHECK(considered.replicas == policy->Decide(Input(), forecast).replicas);
  }
}

}  // namespace
}  // namespace tidemark::scaling
