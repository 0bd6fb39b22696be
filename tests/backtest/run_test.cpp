// Back-tests of made-up demands, their means and their reports.
#include "cmd/backtest/run.h"

#include <boost/json/parse.hpp>
#include <boost/json/value.hpp>
#include <cmath>
#include <numbers>
#include <random>
#include <string>
#include <vector>

#include "cmd/backtest/report_page.h"
#include "cmd/backtest/report_text.h"
#include "tests/catch.h"

namespace tidemark::backtest {
namespace {

Demand Waves(std::string name, double noise, size_t minutes) {
  std::mt19937_64 random(5);
  std::normal_distribution<> normal;
  Demand demand;
  demand.name = std::move(name);
  demand.kind = "periodic";
  demand.minutes.first = 20'000 * 1440LL;
  for (size_t i = 0; i < minutes; ++i) {
    const double value = 50 + 20 * std::sin(2 * std::numbers::pi * static_cast<double>(i) / 60) +
                         noise * normal(random);
    demand.minutes.values.push_back(std::max(0.0, value));
  }
  return demand;
}

BacktestRun TestTwo() {
  forecast::BacktestOptions options;
  options.rule.models = {ForecastModel::kLastValue, ForecastModel::kDayRise,
                         ForecastModel::kRidge60};
  options.keep_forecasts = true;
  std::vector<Demand> demands;
  demands.push_back(Waves("calm <&>", 0.5, 3 * 1440));
  demands.push_back(Waves("loud", 8, 3 * 1440));
  demands.push_back(Waves("short", 8, 1000));
  return RunBacktests(std::move(demands), options, [](size_t, size_t) {});
}

}  // namespace

TEST_CASE("Each demand is tested, what cannot be says why, means are over the others",
          "[backtest]") {
  const BacktestRun run = TestTwo();
  REQUIRE(run.tested.size() == 3);
  CHECK(run.TestedCount() == 2);
  CHECK_FALSE(run.tested[2].report);
  CHECK(run.tested[2].why.find("too short to be judged") != std::string::npos);
  CHECK(run.Models().size() == 3);
  double sum = 0;
  for (size_t i = 0; i < 2; ++i) {
    const auto& ridge = run.tested[i].report->horizons[2].models[2];
    REQUIRE(ridge.model == ForecastModel::kRidge60);
    REQUIRE(ridge.error_ratio);
    CHECK(*ridge.error_ratio < 0.5);  // a wave of an hour is seen through
    sum += *ridge.error_ratio;
  }
  const MeanScore mean = run.Mean(2, ForecastModel::kRidge60);
  CHECK(mean.series == 2);
  REQUIRE(mean.error_ratio);
  CHECK(*mean.error_ratio == Approx(sum / 2));
  CHECK(*run.Mean(0, ForecastModel::kLastValue).error_ratio == Approx(1));
  CHECK_FALSE(run.Mean(0, ForecastModel::kArima).error_ratio);
  CHECK(*run.Mean(2, std::nullopt).error_ratio < 0.6);
  CHECK(run.Mean(2, std::nullopt).coverage_ratio);
}

TEST_CASE("The reports say the same figures", "[backtest]") {
  const BacktestRun run = TestTwo();
  const std::string table = ReportTable(run);
  for (const std::string part :
       {"calm <&> (periodic): 4320 minutes", "short (periodic): not tested: ", "3m error",
        "in use now, 10m: ridge_60, expects ", "90 % intervals held: 1m ", "mean over 2 series"}) {
    INFO(part);
    CHECK(table.find(part) != std::string::npos);
  }
  CHECK(table.find(RatioText(run.Mean(2, ForecastModel::kRidge60).error_ratio)) !=
        std::string::npos);

  const std::string text = ReportJson(run);
  CHECK(text.back() == '\n');
  const auto rows = boost::json::parse(text).as_array();
  // Two series of three horizons with three models and the chosen one, one that says why, means.
  CHECK(rows.size() == 2 * 3 * 4 + 1 + 3 * 4);
  int found = 0;
  for (const auto& row : rows) {
    if (row.at("trace").as_string() != "*" || row.at("horizon_seconds").as_int64() != 600) continue;
    if (row.at("model").as_string() != "ridge_60") continue;
    ++found;
    CHECK(row.at("error_ratio").to_number<double>() ==
          Approx(*run.Mean(2, ForecastModel::kRidge60).error_ratio).epsilon(1e-6));
  }
  CHECK(found == 1);

  const std::string page = ReportPage(run);
  CHECK(page.find("calm &lt;&amp;&gt;") != std::string::npos);
  CHECK(page.find("calm <") == std::string::npos);
  size_t charts = 0;
  for (size_t at = 0; (at = page.find("<svg ", at)) != std::string::npos; ++at) ++charts;
  CHECK(charts == 2 * (1 + 3));
  CHECK(page.find(R"(class="band")") != std::string::npos);
  CHECK(page.find("http") == std::string::npos);
}

TEST_CASE("A series that was interpolated says so", "[backtest]") {
  Tested one;
  one.demand.step_seconds = 300;
  CHECK(LengthText(one).find("interpolated between steps of 300 s") != std::string::npos);
  one.demand.step_seconds = 60;
  CHECK(LengthText(one) == "0 minutes");
}

}  // namespace tidemark::backtest
