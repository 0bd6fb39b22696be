// Policies replayed over made-up demands, and what that comes to.
#include "cmd/replay_policies/run.h"

#include <cmath>
#include <numbers>
#include <random>
#include <sstream>
#include <string>
#include <vector>

#include "cmd/replay_policies/minutes_csv.h"
#include "cmd/replay_policies/summary.h"
#include "scaling/replay_forecasts.h"
#include "tests/catch.h"

namespace tidemark::replay_policies {
namespace {

backtest::Demand Waves(std::string name, std::string kind, double noise, size_t minutes) {
  std::mt19937_64 random(7);
  std::normal_distribution<> normal;
  backtest::Demand demand;
  demand.name = std::move(name);
  demand.kind = std::move(kind);
  demand.minutes.first = 20'000 * 1440LL;
  for (size_t i = 0; i < minutes; ++i) {
    const double value = 8 + 4 * std::sin(2 * std::numbers::pi * static_cast<double>(i) / 240) +
                         noise * normal(random);
    demand.minutes.values.push_back(std::max(0.0, value));
  }
  return demand;
}

ReplayPlan PlanOf(std::string_view policies) {
  ReplayPlan plan;
  const auto named = ParsePolicies(policies, {});
  REQUIRE(named);
  plan.policies = *named;
  plan.warm_up_minutes = 600;
  return plan;
}

ReplayRun RunOf(const ReplayPlan& plan, std::vector<backtest::Demand> demands) {
  auto run = RunReplay(plan, std::move(demands), {}, [](size_t, double) {});
  INFO((run ? "" : run.error().message));
  REQUIRE(run);
  return *std::move(run);
}

}  // namespace

TEST_CASE("Figures are those of the replay, ratios are to HPA at 50 %", "[replay_policies]") {
  const ReplayPlan plan = PlanOf("debi,hpa@70");
  const backtest::Demand demand = Waves("a", "periodic", 1, 2000);
  const ReplayRun run = RunOf(plan, {demand});
  REQUIRE(run.traces.size() == 1);
  const ReplayedTrace& trace = run.traces[0];
  CHECK(trace.minutes == 1400);
  CHECK(trace.base == 1);

  // The same policy by itself.
  scaling::ReplayOptions options;
  options.warm_up_minutes = 600;
  scaling::NoForecasts none;
  const auto alone = scaling::Replay({demand.minutes.first, demand.minutes.values},
                                     {plan.policies[1].settings}, options, none);
  REQUIRE(alone);
  CHECK(trace.outcomes[1].pod_minutes == alone->front().outcome.pod_minutes);
  CHECK(trace.outcomes[1].minutes_over_100 == alone->front().outcome.minutes_over_100);

  const Summary summary = Summarise(run, {0}, "periodic");
  const PolicyFigures& baseline = summary.policies[plan.Baseline()];
  CHECK(plan.policies[plan.Baseline()].name == "hpa@50");
  CHECK(baseline.cost_ratio == 1);
  CHECK(summary.policies[1].cost_ratio ==
        Approx(static_cast<double>(trace.outcomes[1].pod_minutes) /
               static_cast<double>(trace.outcomes[plan.Baseline()].pod_minutes)));
  CHECK(summary.policies[1].cost == static_cast<double>(trace.outcomes[1].pod_minutes));
  CHECK(summary.policies[1].cost_ratio < 1);
  CHECK(summary.perfect.over_100_per_day == 0);
}

TEST_CASE("At equal minutes the knob found does what is said of it", "[replay_policies]") {
  const ReplayPlan plan = PlanOf("debi,tidemark");
  const backtest::Demand demand = Waves("a", "periodic", 1.5, 2200);
  const ReplayRun run = RunOf(plan, {demand});
  const Summary summary = Summarise(run, {0}, "periodic");
  const size_t baseline = plan.Baseline();
  const double allowed = summary.policies[baseline].over_100_per_day;
  REQUIRE(run.families.size() == 3);  // all hpa are one
  CHECK(run.family_of[2] == run.family_of[4]);
  for (size_t p : {size_t{0}, size_t{1}, baseline}) {
    const size_t family = run.family_of[p];
    const auto& equal = summary.equal[family];
    INFO(plan.policies[p].name);
    if (!equal) {
      // Then no setting of the whole range does it.
      for (const KnobOutcome& turned : run.traces[0].turned[family]) {
        CHECK(1440.0 * static_cast<double>(turned.minutes_over_100) / 1600 > allowed);
      }
      continue;
    }
    CHECK(equal->over_100_per_day <= allowed + 1e-9);
    // Asked for by itself it gives the same.
    ReplayPlan alone = plan;
    alone.policies[p].settings = WithKnob(plan.policies[p].settings, equal->knob);
    if (p == baseline) {
      alone.policies.push_back(plan.policies[baseline]);
      alone.policies[p].name = "turned";
    }
    const Summary turned = Summarise(RunOf(alone, {demand}), {0}, "periodic");
    CHECK(turned.policies[p].cost_ratio == Approx(equal->cost_ratio).epsilon(1e-9));
    CHECK(turned.policies[p].over_100_per_day == Approx(equal->over_100_per_day));
  }
  // HPA at 50 % is one of its own settings, so turning it cannot cost more.
  REQUIRE(summary.equal[run.family_of[baseline]]);
  CHECK(summary.equal[run.family_of[baseline]]->cost_ratio <= 1);
}

TEST_CASE("Where no setting is safe enough, that is said", "[replay_policies]") {
  ReplayRun run;
  run.plan = PlanOf("hpa@50");
  run.families.push_back({run.plan.policies[0].settings, {0.5, 0.6}});
  run.family_of = {0, 0, 0};
  ReplayedTrace trace;
  trace.minutes = 1440;
  trace.outcomes.resize(3);
  for (auto& outcome : trace.outcomes) {
    outcome.minutes = 1440;
    outcome.pod_minutes = 100;
  }
  trace.turned = {{{90, 3}, {80, 2}}};
  run.traces.push_back(trace);
  CHECK_FALSE(Summarise(run, {0}, "").equal[0]);
  run.traces[0].turned[0][1].minutes_over_100 = 0;
  const Summary summary = Summarise(run, {0}, "");
  REQUIRE(summary.equal[0]);
  CHECK(summary.equal[0]->knob == 0.6);
  CHECK(summary.equal[0]->cost_ratio == 0.8);
}

TEST_CASE("How many pods a unit keeps busy changes the scale and nothing else",
          "[replay_policies]") {
  const backtest::Demand plain = Waves("a", "", 1, 1500);
  backtest::Demand scaled = plain;
  scaled.pods_per_unit = 0.25;
  for (double& value : scaled.minutes.values) value *= 4;
  ReplayPlan plan = PlanOf("debi");
  plan.request = 5;  // of a pod's worth: what it costs
  const ReplayRun run = RunOf(plan, {scaled});
  plan.request.reset();
  const ReplayRun other = RunOf(plan, {plain});
  CHECK(run.traces[0].base == 4);
  CHECK(run.traces[0].cost_request == 5);
  for (size_t p = 1; p < plan.policies.size(); ++p) {  // those without forecasts, bit by bit
    CHECK(run.traces[0].outcomes[p].pod_minutes == other.traces[0].outcomes[p].pod_minutes);
  }
  CHECK(Summarise(run, {0}, "").policies[1].cost == 5 * Summarise(other, {0}, "").policies[1].cost);
  // Without it the request is what demand is counted by.
  plan.request = 2;
  const ReplayRun counted = RunOf(plan, {plain});
  CHECK(counted.traces[0].base == 2);
  CHECK(counted.traces[0].outcomes[1].pod_minutes < other.traces[0].outcomes[1].pod_minutes);
}

TEST_CASE("Means are over traces, by class and of all", "[replay_policies]") {
  const ReplayPlan plan = PlanOf("hpa@60");
  const ReplayRun run = RunOf(plan, {Waves("a", "x", 1, 1500), Waves("b", "y", 2, 1500),
                                     Waves("short", "y", 2, 500), Waves("c", "x", 3, 1500)});
  CHECK(run.ReplayedCount() == 3);
  CHECK(run.traces[2].why.find("too short to be judged") != std::string::npos);
  const auto means = MeansOf(run);
  REQUIRE(means.size() == 3);
  CHECK(means[0].kind == "x");
  CHECK(means[0].traces == 2);
  CHECK(means[1].kind == "y");
  CHECK(means[2].kind == "*");
  CHECK(means[2].traces == 3);
  const auto one = [&](size_t trace) { return Summarise(run, {trace}, "").policies[0]; };
  CHECK(means[0].policies[0].cost_ratio == Approx((one(0).cost_ratio + one(3).cost_ratio) / 2));
  CHECK(means[0].policies[0].over_100_per_day ==
        Approx((one(0).over_100_per_day + one(3).over_100_per_day) / 2));
  CHECK(means[0].policies[0].over_100 == one(0).over_100 + one(3).over_100);
  // One trace alone is its own mean; of one class there is one table.
  CHECK(MeansOf(RunOf(plan, {Waves("a", "x", 1, 1500)})).empty());
  CHECK(MeansOf(RunOf(plan, {Waves("a", "x", 1, 1500), Waves("b", "x", 1, 1500)})).size() == 1);
}

TEST_CASE("Each minute can be written, and a file that fails ends the run", "[replay_policies]") {
  const ReplayPlan plan = PlanOf("debi,tidemark");
  backtest::Demand demand = Waves("a,\"b\"", "", 1, 1000);
  demand.minutes.values[700] = std::nan("");
  std::ostringstream out;
  const auto run = RunReplay(
      plan, {demand},
      [&](const TraceMinutes& minutes) -> Result<void> {
        WriteMinuteRows(minutes, out);
        return {};
      },
      [](size_t, double) {});
  REQUIRE(run);
  // Minutes of the settings that were turned are not kept, nor those that were written.
  for (const auto& outcome : run->traces[0].outcomes) CHECK(outcome.minutes_kept.empty());
  std::istringstream lines(out.str());
  std::string line;
  size_t rows = 0;
  size_t measured = 0;
  size_t replicas = 0;
  while (std::getline(lines, line)) {
    ++rows;
    CHECK(line.starts_with(R"("a,""b""",)"));
    if (line.find(",debi,") == std::string::npos || !line.ends_with(",1")) continue;
    ++measured;
    const size_t at = line.find(",debi,") + 6;
    replicas += std::stoul(line.substr(at));
  }
  CHECK(rows == 1000 * plan.policies.size());
  CHECK(measured == 399);  // 400 less the gap
  CHECK(measured == run->traces[0].minutes);
  CHECK(replicas == run->traces[0].outcomes[0].pod_minutes);

  const auto failed = RunReplay(
      plan, {demand},
      [](const TraceMinutes&) -> Result<void> { return Fail(ErrorCode::kIo, "full"); },
      [](size_t, double) {});
  REQUIRE_FALSE(failed);
  CHECK(failed.error().message == "full");
}

TEST_CASE("Demand beyond the most replicas is counted as nobody's fault", "[replay_policies]") {
  ReplayPlan plan = PlanOf("hpa@50");
  plan.bounds = {.min = 1, .max = 10};
  const backtest::Demand demand = Waves("a", "", 0, 1500);
  const ReplayRun run = RunOf(plan, {demand});
  uint64_t above = 0;
  for (size_t i = 600; i < 1500; ++i) above += demand.minutes.values[i] > 10 ? 1 : 0;
  REQUIRE(above > 0);
  CHECK(run.traces[0].minutes_over_bounds == above);
  CHECK(run.traces[0].perfect.minutes_over_100 == above);
}

TEST_CASE("Forecasts are made where a policy reads them", "[replay_policies]") {
  CHECK_FALSE(PlanOf("hpa@50,hpa").Forecasts());
  CHECK(PlanOf("hpa").Models().empty());
  CHECK(PlanOf("tidemark").Models() == ForecastRule().models);
  ReplayPlan plan = PlanOf("debi,arima-hpa");
  CHECK(plan.Models().back() == ForecastModel::kArima);
  plan.trains_networks = true;
  CHECK(plan.Models().back() == ForecastModel::kBiLstm);
  plan.startup_ms = 90'000;
  CHECK(plan.StartupMinutes() == 2);
  CHECK(plan.LeadMinutes() == 3);
  plan.period_minutes = 5;
  CHECK(plan.LeadMinutes() == 7);
  plan.startup_ms = 0;
  plan.period_minutes = 1;
  CHECK(plan.StartupMinutes() == 0);
  CHECK(plan.LeadMinutes() == 1);
}

}  // namespace tidemark::replay_policies
