// Recorded demand, brought to minutes.
#include "cmd/backtest/demand.h"

#include <cmath>
#include <string>
#include <vector>

#include "cmd/backtest/demand_csv.h"
#include "tests/catch.h"

namespace tidemark::backtest {
namespace {

constexpr int64_t kStart = 1'700'006'400;  // a whole minute

std::string Wrong(const std::string& text) {
  const auto demand = ParseDemandCsv(text, "x.csv");
  REQUIRE_FALSE(demand);
  CHECK(demand.error().code == ErrorCode::kInvalidArgument);
  return demand.error().message;
}

Demand Good(const std::string& text) {
  const auto demand = ParseDemandCsv(text, "x.csv");
  INFO((demand ? "" : demand.error().message));
  REQUIRE(demand);
  return *demand;
}

/// NaN written as -1.
std::vector<double> ValuesOf(const Demand& demand) {
  std::vector<double> values;
  for (const double value : demand.minutes.values) {
    values.push_back(std::isnan(value) ? -1 : double{value});
  }
  return values;
}

}  // namespace

TEST_CASE("A value a minute is taken as it is, a minute without one is a gap", "[backtest]") {
  const Demand demand = Good(
      "unix_seconds,value\n1700006400,1\n1700006460,2.5\n1700006580,4\r\n\n1700006640,\n"
      "1700006700,0\n");
  CHECK(demand.step_seconds == 60);
  CHECK_FALSE(demand.IsInterpolated());
  CHECK(demand.minutes.first == kStart / 60);
  CHECK(ValuesOf(demand) == std::vector<double>{1, 2.5, -1, 4, -1, 0});
}

TEST_CASE("Shorter steps are averaged by the minute", "[backtest]") {
  const Demand demand = Good(
      "unix_seconds,value\n1700006415,1\n1700006430,2\n1700006445,6\n1700006460,5\n"
      "1700006595,7\n");
  CHECK(demand.step_seconds == 15);
  CHECK(ValuesOf(demand) == std::vector<double>{3, 5, -1, 7});
}

TEST_CASE("Longer steps are joined by lines, but not over what is missing", "[backtest]") {
  const Demand demand =
      Good("unix_seconds,value\n1700006400,0\n1700006700,10\n1700007300,4\n1700007600,4\n");
  CHECK(demand.step_seconds == 300);
  CHECK(demand.IsInterpolated());
  const std::vector<double> expected{0,  2,  4,  6,  8, 10, -1, -1, -1, -1, -1,
                                     -1, -1, -1, -1, 4, 4,  4,  4,  4,  4};
  const auto values = ValuesOf(demand);
  REQUIRE(values.size() == expected.size());
  for (size_t i = 0; i < values.size(); ++i) CHECK(values[i] == Approx(expected[i]));
}

TEST_CASE("Times between whole minutes are read at the minutes in between", "[backtest]") {
  const Demand demand = Good("unix_seconds,value\n1700006430,0\n1700006520,9\n1700006610,9\n");
  const auto values = ValuesOf(demand);
  REQUIRE(values.size() == 4);
  CHECK(values[0] == -1);
  CHECK(values[1] == Approx(3));
  CHECK(values[2] == Approx(9));
  CHECK(values[3] == Approx(9));
}

TEST_CASE("The CPU of all pods is a demand too", "[backtest]") {
  const Demand demand = Good(
      "unix_seconds,pod,cpu_cores,memory_bytes\n1700006400,a,1,5\n1700006400,b,2,5\n"
      "1700006460,a,,5\n1700006460,b,2.5,5\n1700006520,a,,\n1700006580,b,1,\n");
  CHECK(ValuesOf(demand) == std::vector<double>{3, 2.5, -1, 1});
}

TEST_CASE("What is no demand is refused with its line and what is allowed", "[backtest]") {
  const std::string head = "unix_seconds,value\n";
  CHECK(Wrong("") ==
        "x.csv:1: \"\" is not the first line of a demand, allowed: unix_seconds,value or "
        "unix_seconds,pod,cpu_cores,memory_bytes");
  CHECK(Wrong("a,b\n1,2\n").find("x.csv:1: ") == 0);
  CHECK(Wrong(head + "60\n") == "x.csv:2: 1 cells, allowed: 2");
  CHECK(Wrong(head + "x,1\n") ==
        "x.csv:2: unix_seconds: \"x\" is no time, allowed: whole seconds since 1970");
  CHECK(Wrong(head + "60,1\n60,2\n") ==
        "x.csv:3: unix_seconds: 60 comes after 60, allowed: rows sorted by time, each time once");
  for (const std::string bad : {"-1", "nan", "inf", "1e31", "1 "}) {
    CHECK(Wrong(head + "60," + bad + "\n").find("is no demand, allowed: 0 to 1e+30") !=
          std::string::npos);
  }
  CHECK(Wrong(head + "60,1\n") == "x.csv:2: 1 values, allowed: at least 2");
  CHECK(Wrong(head + "0,1\n7200,1\n") == "x.csv:3: steps of 7200 s, allowed: 1 s to 3600 s");
  CHECK(Wrong(head + "0,1\n60,1\n99999999999,1\n").find("days, allowed: 366") != std::string::npos);
}

}  // namespace tidemark::backtest
