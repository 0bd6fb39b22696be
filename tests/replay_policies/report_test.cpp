// The table, JSON, CSV and the page say the same figures.
#include "cmd/replay_policies/report.h"

#include <boost/json/parse.hpp>
#include <boost/json/value.hpp>
#include <cmath>
#include <sstream>
#include <string>
#include <vector>

#include "cmd/replay_policies/summary.h"
#include "tests/catch.h"

namespace tidemark::replay_policies {
namespace {

backtest::Demand Saw(std::string name, std::string kind, size_t minutes) {
  backtest::Demand demand;
  demand.name = std::move(name);
  demand.kind = std::move(kind);
  demand.minutes.first = 20'000 * 1440LL;
  for (size_t i = 0; i < minutes; ++i) {
    demand.minutes.values.push_back(4 + static_cast<double>(i % 90) / 10 + (i % 200 < 6 ? 9 : 0));
  }
  return demand;
}

ReplayRun RunOf(std::vector<backtest::Demand> demands,
                std::string_view policies = "debi,tidemark@1") {
  ReplayPlan plan;
  const auto named = ParsePolicies(policies, {});
  REQUIRE(named);
  plan.policies = *named;
  plan.warm_up_minutes = 600;
  plan.draws = true;
  auto run = RunReplay(plan, std::move(demands), {}, [](size_t, double) {});
  REQUIRE(run);
  return *std::move(run);
}

std::vector<backtest::Demand> Three() {
  std::vector<backtest::Demand> demands = {Saw("calm <&>", "periodic", 1500),
                                           Saw("other, one", "smooth", 1600),
                                           Saw("short", "smooth", 300)};
  demands[1].step_seconds = 300;
  return demands;
}

size_t CountOf(const std::string& text, std::string_view part) {
  size_t count = 0;
  for (size_t at = 0; (at = text.find(part, at)) != std::string::npos; ++at) ++count;
  return count;
}

}  // namespace

TEST_CASE("JSON has the fields that others rely on, a row for each trace and policy",
          "[replay_policies]") {
  const ReplayRun run = RunOf(Three());
  const std::string text = ReportJson(run);
  CHECK(text.back() == '\n');
  const auto rows = boost::json::parse(text).as_array();
  CHECK(rows.size() == 2 * 5 + 1);
  const std::vector<std::string> fields = {"trace",
                                           "class",
                                           "policy",
                                           "utilization_ratio",
                                           "cost_ratio",
                                           "pod_minutes",
                                           "minutes_over_100_per_day",
                                           "minutes_over_90_per_day",
                                           "unserved_ratio",
                                           "scale_events_per_day"};
  size_t whole = 0;
  for (const auto& row : rows) {
    if (row.as_object().contains("why")) {
      CHECK(row.at("trace").as_string() == "short");
      continue;
    }
    size_t place = 0;
    for (const std::string& field : fields) {
      CHECK((row.as_object().begin() + static_cast<std::ptrdiff_t>(place++))->key() == field);
    }
    ++whole;
    CHECK(row.at("minutes").to_number<int>() > 0);
    const bool is_tidemark = row.at("policy").as_string() == "tidemark@1";
    CHECK(row.at("slo_time_ratio").is_null() == !is_tidemark);
    if (is_tidemark) CHECK(row.at("slo_time_ratio").to_number<double>() == 0.01);
    if (row.at("policy").as_string() == "hpa@50") {
      CHECK(row.at("cost_ratio").to_number<double>() == 1);
    }
  }
  CHECK(whole == 10);
  CHECK(rows[0].at("policy").as_string() == "debi");
  CHECK(rows[0].at("utilization_ratio").to_number<double>() ==
        Approx(run.traces[0].outcomes[0].UtilizationRatio()));
  CHECK(rows[5].at("step_seconds").to_number<int>() == 300);
}

TEST_CASE("CSV has the same and the means", "[replay_policies]") {
  const ReplayRun run = RunOf(Three());
  const std::string text = ReportCsv(run);
  std::istringstream lines(text);
  std::string head;
  std::getline(lines, head);
  CHECK(head.starts_with("trace,class,policy,utilization_ratio,cost_ratio,pod_minutes,"));
  std::string line;
  size_t rows = 0;
  while (std::getline(lines, line)) {
    ++rows;
    if (line.find('"') == std::string::npos) CHECK(CountOf(line, ",") == CountOf(head, ","));
  }
  // Two traces, two classes and all; each with five policies and the perfect forecast.
  CHECK(rows == 5 * 6);
  CHECK(text.find("\"other, one\",smooth,debi,") != std::string::npos);
  CHECK(text.find("\r\n*,*,perfect forecast at 90 %,") != std::string::npos);
}

TEST_CASE("The table says what was replayed, how, and what the marks mean", "[replay_policies]") {
  const ReplayRun run = RunOf(Three());
  const std::string table = ReportTable(run);
  for (const std::string part :
       {"2 traces, 1900 minutes measured, after 10h of each to warm up",
        "a pod serves 2m after it is asked for; decisions each 1m, 3m ahead; 1 to 50 replicas",
        "replicas; a pod requests 1\n", "debi: U_lo 30 %, U_hi 70 %",
        "tidemark@1: above 90 % in no more than 1 % of minutes", "hpa: tolerance 10 %, window 5m",
        "ridge_60; seed 0",
        "other, one (smooth): 1000 minutes measured, straight lines between steps of 300 s",
        "300 s, which flatters forecasts\n", "short (smooth): not replayed: ",
        "mean over 1 trace of class periodic", "mean over 2 traces\n", "perfect forecast at 90 %",
        "tidemark@1: objective: above 90 % in no more than 1 % of minutes; reached: ",
        "cost × at equal min > 100 %"}) {
    INFO(part);
    CHECK(table.find(part) != std::string::npos);
  }
  // A trace alone has one table.
  const std::string alone = ReportTable(RunOf({Saw("a", "periodic", 1500)}));
  CHECK(alone.find("mean over") == std::string::npos);
  CHECK(CountOf(alone, "  hpa@50 ") == 1);
}

TEST_CASE("What may be chance is marked", "[replay_policies]") {
  backtest::Demand flat = Saw("flat", "", 1500);
  for (double& value : flat.minutes.values) value = 4;
  const std::string table = ReportTable(RunOf({flat}, "hpa@70"));
  CHECK(table.find(" 0.00* ") != std::string::npos);
  flat.minutes.values[1000] = 100;  // beyond everybody for a minute: still few
  CHECK(ReportTable(RunOf({flat}, "hpa@70")).find(" 1.60* ") != std::string::npos);
  for (size_t i = 1000; i < 1010; ++i) flat.minutes.values[i] = 100;
  const std::string many = ReportTable(RunOf({flat}, "hpa@70"));
  CHECK(many.find(" 16.00 ") != std::string::npos);
  CHECK(many.find("in 10 of them demand is more than the most replicas request") !=
        std::string::npos);
}

TEST_CASE("The page escapes names, loads nothing and has the charts", "[replay_policies]") {
  const ReplayRun run = RunOf(Three());
  const std::string page = ReportPage(run);
  CHECK(page.find("calm &lt;&amp;&gt;") != std::string::npos);
  CHECK(page.find("calm <") == std::string::npos);
  CHECK(page.find("http") == std::string::npos);
  CHECK(page.find("<script") == std::string::npos);
  CHECK(CountOf(page, "<svg ") == 2 * 4);
  CHECK(CountOf(page, R"(class="band")") == 2 * 2);
  CHECK(page.find(R"(class="line p4")") != std::string::npos);
  CHECK(page.find("short (smooth): not replayed: ") != std::string::npos);
  CHECK(page.find("nan") == std::string::npos);
  // HPA alone needs no forecast, and none is drawn.
  const std::string plain = ReportPage(RunOf({Saw("a", "", 1500)}, "hpa@50"));
  CHECK(plain.find(R"(class="band")") == std::string::npos);
  CHECK(plain.find("forecasts: none") != std::string::npos);
}

TEST_CASE("The same run gives the same bytes", "[replay_policies]") {
  const ReplayRun one = RunOf(Three());
  const ReplayRun other = RunOf(Three());
  CHECK(ReportTable(one) == ReportTable(other));
  CHECK(ReportJson(one) == ReportJson(other));
  CHECK(ReportCsv(one) == ReportCsv(other));
  CHECK(ReportPage(one) == ReportPage(other));
}

}  // namespace tidemark::replay_policies
