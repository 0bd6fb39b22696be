// `forecast:` of the configuration.

#include <string>
#include <string_view>
#include <vector>

#include "cmd/config.h"
#include "cmd/explain_profile.h"
#include "tests/catch.h"

namespace tidemark::cmd {
namespace {

ForecastSettings Settings(const std::string& yaml) {
  const auto config = ParseConfig(yaml, "f");
  INFO((config ? "" : config.error().message));
  REQUIRE(config);
  return *config->engine.forecast;
}

std::string Wrong(const std::string& section) {
  const auto config = ParseConfig("forecast:\n  " + section + "\n", "f");
  REQUIRE_FALSE(config);
  CHECK(config.error().code == ErrorCode::kInvalidArgument);
  CHECK(config.error().message.starts_with("f:2: forecast."));
  return config.error().message.substr(std::string_view("f:2: forecast.").size());
}

std::string WrongRule(const std::string& keys) {
  const std::string message = Wrong("workloads: [{selector: '{}', " + keys + "}]");
  CHECK(message.starts_with("workloads[0]."));
  return message.substr(std::string_view("workloads[0].").size());
}

/// The line on forecasts of what --explain says.
std::string Explained(const std::string& yaml, const WorkloadId& workload) {
  const auto config = ParseConfig(yaml, "f");
  REQUIRE(config);
  const auto answer =
      ExplainProfile(*config, {.workload = workload, .container = {}, .pod_labels = {}});
  REQUIRE(answer);
  const size_t begin = answer->find("\nforecast: ") + 1;
  return answer->substr(begin, answer->find('\n', begin) + 1 - begin);
}

constexpr std::string_view kModels =
    "last_value, day_rise, seasonal_day, seasonal_week, holt_winters, ridge_30, ridge_60, arima, "
    "lstm, bilstm";

}  // namespace

TEST_CASE("Without a section forecasts are as the settings stand", "[cmd][config][forecast]") {
  const ForecastSettings settings = Settings("{}");
  CHECK(settings.horizons_minutes == std::vector<int32_t>{1, 3, 10});
  CHECK(settings.rules.empty());
  CHECK(Settings("forecast:\n").max_workloads == settings.max_workloads);
}

TEST_CASE("Every key of the forecasts reaches its setting", "[cmd][config][forecast]") {
  const ForecastSettings settings = Settings(R"(
forecast:
  horizons: [120s, 1h]
  interval_ratio: 0.8
  network_margin_ratio: 0.1
  high_water_risk: 0.01
  training_budget_ratio: 0.5
  max_workloads: 7
  workloads:
    - selector: '{namespace="shop", workload_type!~"job"}'
      resource: gpu_utilization
      models: [bilstm, ridge_30]
      model: bilstm
      startup: 90s
    - selector: '{}'
      steps: five_minutes
      model: best
    - selector: '{cluster="a"}'
      steps: none
      models: []
)");
  CHECK(settings.horizons_minutes == std::vector<int32_t>{2, 60});
  CHECK(settings.interval_ratio == 0.8);
  CHECK(settings.network_margin_ratio == 0.1);
  CHECK(settings.high_water_risk == 0.01);
  CHECK(settings.training_budget_ratio == 0.5);
  CHECK(settings.max_workloads == 7);
  REQUIRE(settings.rules.size() == 3);
  const ForecastRule& shop = settings.rules[0];
  CHECK(shop.selector.text() == R"({namespace="shop", workload_type!~"job"})");
  CHECK(shop.steps == DemandSteps::kMinutes);
  CHECK(shop.resource == Resource::kGpuUtilization);
  CHECK(shop.models ==
        std::vector{ForecastModel::kLastValue, ForecastModel::kRidge30, ForecastModel::kBiLstm});
  CHECK(shop.always == ForecastModel::kBiLstm);
  CHECK(shop.startup_ms == 90'000);
  CHECK(settings.rules[1].steps == DemandSteps::kFiveMinutes);
  CHECK_FALSE(settings.rules[1].always);
  CHECK(settings.rules[1].models == ForecastRule().models);
  CHECK(settings.rules[2].steps == DemandSteps::kNone);
  CHECK(settings.rules[2].models == std::vector{ForecastModel::kLastValue});
}

TEST_CASE("A resource of the file's own can be forecast, wherever it stands",
          "[cmd][config][forecast]") {
  const std::string yaml = R"(
forecast: {workloads: [{selector: '{}', resource: requests}]}
sources: [{metric: rps, role: usage_gauge, resource: requests, unit: request_per_second}]
)";
  const auto config = ParseConfig(yaml, "f");
  INFO((config ? "" : config.error().message));
  REQUIRE(config);
  CHECK(config->engine.forecast->rules[0].resource == Resource::kFirstCustom);
  const auto again = ParseConfig(DumpConfig(*config), "f");
  REQUIRE(again);
  CHECK(again->engine.forecast->rules[0].resource == Resource::kFirstCustom);
  CHECK(DumpConfig(*again) == DumpConfig(*config));
}

TEST_CASE("What is wrong with forecasts is said with what is allowed", "[cmd][config][forecast]") {
  CHECK(Wrong("horizon: 1m") ==
        "horizon: there is no such key (did you mean horizons?), allowed: horizons, "
        "interval_ratio, network_margin_ratio, high_water_risk, training_budget_ratio, "
        "max_workloads, workloads");
  CHECK(Wrong("horizons: []") ==
        "horizons: there is none, allowed: 1 to 4 durations, as in [1m, 3m, 10m]");
  CHECK(Wrong("horizons: [3m, 1m]") ==
        "horizons[1]: 1m stands behind 3m, allowed: rising durations");
  CHECK(Wrong("horizons: [3m, 3m]").starts_with("horizons[1]: 3m stands behind 3m"));
  CHECK(Wrong("horizons: [90s]") ==
        "horizons[0]: 1m30s are no whole minutes, allowed: whole minutes");
  CHECK(Wrong("horizons: [30s]") == "horizons[0]: 30s is out of range, allowed: 1m <= x <= 1h");
  CHECK(Wrong("horizons: [61m]") == "horizons[0]: 61m is out of range, allowed: 1m <= x <= 1h");
  CHECK(Wrong("horizons: [1m, 2m, 3m, 4m, 5m]").starts_with("horizons: "));
  CHECK(Wrong("horizons: 1m").starts_with("horizons: "));
  CHECK(Wrong("interval_ratio: 0.5") ==
        "interval_ratio: 0.5 is out of range, allowed: 0.5 < x <= 0.999");
  CHECK(Wrong("interval_ratio: 90").ends_with("allowed: 0.5 < x <= 0.999"));
  CHECK(Wrong("network_margin_ratio: 1").ends_with("allowed: 0 <= x <= 0.9"));
  CHECK(Wrong("high_water_risk: 0").ends_with("allowed: 1e-06 <= x <= 0.49"));
  CHECK(Wrong("training_budget_ratio: 1.5").ends_with("allowed: 0 <= x <= 1"));
  CHECK(Wrong("max_workloads: -1").ends_with("allowed: 0 <= x <= 1000000"));
  CHECK(Wrong("workloads: [{steps: none}]") ==
        "workloads[0].selector: the key is missing, allowed: whom the rule is for, as in "
        "{namespace=\"shop\"}; {} is everybody");
  CHECK(Wrong("workloads: [{selector: '{container=\"a\"}'}]") ==
        "workloads[0].selector: forecasts cannot be selected by the label container, allowed: "
        "cluster, namespace, workload_type, workload");
  CHECK(Wrong("workloads: [{selector: '{workloads=\"a\"}'}]").find("(did you mean workload?)") !=
        std::string::npos);
  CHECK(WrongRule("steps: minute") ==
        "steps: there is no kind of steps minute (did you mean minutes?), allowed: none, "
        "five_minutes, minutes");
  CHECK(WrongRule("resource: cpus") ==
        "resource: there is no resource cpus (did you mean cpu?), allowed: cpu, memory, "
        "gpu_utilization, gpu_memory, ephemeral_storage");
  CHECK(WrongRule("models: [ridge]").ends_with("allowed: " + std::string(kModels)));
  CHECK(WrongRule("models: [arima, arima]") ==
        "models[1]: arima stands there already, allowed: each model once");
  CHECK(WrongRule("models: [best]").starts_with("models[0]: there is no model best"));
  CHECK(WrongRule("model: bilstn") ==
        "model: there is no model bilstn (did you mean bilstm?), "
        "allowed: best, " +
            std::string(kModels));
  CHECK(WrongRule("startup: 2h") == "startup: 2h is out of range, allowed: 0s <= x <= 1h");
  CHECK(WrongRule("start_up: 2m").starts_with("start_up: there is no such key"));
}

TEST_CASE("It is said which rule of the forecasts applies", "[cmd][explain][forecast]") {
  const std::string yaml = R"(
forecast:
  horizons: [1m, 5m]
  workloads:
    - selector: '{namespace="batch"}'
      steps: none
    - selector: '{namespace="shop", workload_type="deployment"}'
      models: [ridge_30]
      model: bilstm
      startup: 0s
    - selector: '{cluster="eu"}'
      resource: memory
      models: [arima]
)";
  CHECK(Explained(yaml, {"", "batch", "deployment", "x"}) ==
        "forecast: rule 1 {namespace=\"batch\"}: its demand is not kept\n");
  CHECK(Explained(yaml, {"", "shop", "deployment", "web"}) ==
        "forecast: rule 2 {namespace=\"shop\", workload_type=\"deployment\"}: cpu 1m, 5m ahead by "
        "bilstm once it is fitted, before that by the best of last_value, ridge_30\n");
  CHECK(Explained(yaml, {"eu", "a", "job", "x"}) ==
        "forecast: rule 3 {cluster=\"eu\"}: memory 1m, 5m ahead by the best of last_value, arima; "
        "pods count in full from an age of 2m on\n");
  CHECK(Explained(yaml, {"us", "a", "job", "x"}) ==
        "forecast: no rule matches, as is usual for its type: its demand is not kept\n");
  CHECK(Explained(yaml, {"us", "a", "daemonset", "x"}) ==
        "forecast: no rule matches, as is usual for its type: demand of cpu is kept in steps of "
        "five minutes and not forecast; pods count in full from an age of 2m on\n");
}

}  // namespace tidemark::cmd
