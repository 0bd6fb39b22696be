// The flags of `tidetool forecast`.
#include <string>
#include <vector>

#include "cmd/command_line.h"
#include "cmd/forecast_flags.h"
#include "tests/catch.h"

namespace tidemark::cmd {
namespace {

constexpr int64_t kNow = 1'700'000'000'000;
constexpr int64_t kDay = 24LL * 60 * 60 * 1000;

Result<ForecastOrder> Read(std::vector<std::string> args) {
  const auto line = ParseCommandLine(ForecastSpec(), args);
  INFO((line ? "" : line.error().message));
  REQUIRE(line);
  return ReadForecastFlags(*line, kNow);
}

ForecastOrder Good(std::vector<std::string> args) {
  const auto order = Read(std::move(args));
  INFO((order ? "" : order.error().message));
  REQUIRE(order);
  return *order;
}

std::string Wrong(std::vector<std::string> args) {
  const auto order = Read(std::move(args));
  REQUIRE_FALSE(order);
  CHECK(order.error().code == ErrorCode::kInvalidArgument);
  return order.error().message;
}

}  // namespace

TEST_CASE("A file is tested with all models but the networks", "[backtest][flags]") {
  const ForecastOrder order = Good({"x.csv"});
  CHECK(order.path == "x.csv");
  CHECK_FALSE(order.prometheus);
  CHECK(order.options.rule.models.size() == kForecastModelCount - 2);
  CHECK(order.options.settings.horizons_minutes == std::vector<int32_t>{1, 3, 10});
  CHECK(order.options.warm_up_minutes == 1440);
  CHECK(order.output == ForecastOutput::kTable);
  CHECK_FALSE(order.options.keep_forecasts);
}

TEST_CASE("Models, horizons and the rest are read", "[backtest][flags]") {
  const ForecastOrder order =
      Good({"x.csv", "--models=ridge_60,bilstm", "--horizons=2m,1h", "--interval=0.8",
            "--warm-up=2d", "--output=html", "--output.file=y.html"});
  CHECK(order.options.rule.models == std::vector<ForecastModel>{ForecastModel::kLastValue,
                                                                ForecastModel::kRidge60,
                                                                ForecastModel::kBiLstm});
  CHECK(order.options.settings.horizons_minutes == std::vector<int32_t>{2, 60});
  CHECK(order.options.settings.interval_ratio == 0.8);
  CHECK(order.options.warm_up_minutes == 2880);
  CHECK(order.output == ForecastOutput::kHtml);
  CHECK(order.options.keep_forecasts);
  CHECK(order.output_file == "y.html");
  CHECK(Good({"x.csv", "--models=all"}).options.rule.models.size() == kForecastModelCount);
}

TEST_CASE("A query of Prometheus goes eight days back", "[backtest][flags]") {
  const ForecastOrder order = Good({"--prometheus=http://localhost:9090", "--query=up"});
  REQUIRE(order.prometheus);
  CHECK(order.prometheus->query == "up");
  CHECK(order.prometheus->end_ms == kNow);
  CHECK(order.prometheus->start_ms == kNow - 8 * kDay);
  const ForecastOrder older =
      Good({"--prometheus=http://localhost:9090", "--query=up", "--start=30d", "--end=20d"});
  CHECK(older.prometheus->start_ms == kNow - 30 * kDay);
  CHECK(older.prometheus->end_ms == kNow - 20 * kDay);
}

TEST_CASE("Wrong flags are told with what is allowed", "[backtest][flags]") {
  CHECK(Wrong({}).find("nothing to forecast, allowed: a CSV file") == 0);
  CHECK(Wrong({"x.csv", "--prometheus=http://h", "--query=up"}) ==
        "--prometheus: it does not go with a path, allowed: one of them");
  CHECK(Wrong({"x.csv", "--query=up"}) ==
        "--query: it does not go with a path, allowed: with --prometheus");
  CHECK(Wrong({"x.csv", "--username=me"}).find("--username: it does not go with a path") == 0);
  CHECK(Wrong({"--prometheus=http://h"}).find("--query: it is missing") == 0);
  CHECK(Wrong({"--prometheus=h", "--query=up"}).find("--prometheus: ") == 0);
  CHECK(Wrong({"--prometheus=http://h", "--query=up", "--start=1h"}).find("--start: ") == 0);
  CHECK(Wrong({"x.csv", "--models=ridge"}).find("--models: ridge is no model, allowed: last") == 0);
  CHECK(Wrong({"x.csv", "--models="}).find("--models: ") == 0);
  for (const std::string bad : {"0m", "90s", "2h", "3m,1m", "1m,1m", "", "x", "1m,2m,3m,4m,5m"}) {
    CHECK(Wrong({"x.csv", "--horizons=" + bad}).find("--horizons: ") == 0);
  }
  for (const std::string bad : {"0.5", "1", "90%", "nan", ""}) {
    CHECK(Wrong({"x.csv", "--interval=" + bad}).find("--interval: ") == 0);
  }
  CHECK(Wrong({"x.csv", "--warm-up=1s"}).find("--warm-up: ") == 0);
  CHECK(Wrong({"x.csv", "--output=csv"}) ==
        "--output: csv is no form of output, allowed: table, json, html");
  std::vector<std::string> two = {"a", "b"};
  CHECK_FALSE(ParseCommandLine(ForecastSpec(), two));
}

}  // namespace tidemark::cmd
